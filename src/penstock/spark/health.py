"""What the shards of a running join report, as Spark's own progress carries it."""

from typing import Any

from penstock.engine.health import Health
from penstock.quality.estimate import recall_in_matches

METRICS = "penstock"  # observed metrics whose name begins so are ours
_SIDES = ("left", "right")
_PER_SIDE = ("arrived", "held", "shed", "expired", "late", "unmatchable")
_WHOLE = "long"
RECORD = ", ".join(
    [
        "shard int",
        *(f"{name}_{side} long" for name in _PER_SIDE for side in _SIDES),
        "matched long",
        "lost double",
        "lost_variance double",
        "recall double",
        "recall_low double",
        "recall_high double",
        "value double",
        "lost_value double",
        "bytes long",
        "budget long",
        "peak_rows long",
        "clock long",
    ]
)


def record_of(health: Health, shard: int) -> dict[str, Any]:
    """Return what one shard reports, flat."""
    counts = {
        f"{name}_{side}": getattr(health, name)[at]
        for name in _PER_SIDE
        for at, side in enumerate(_SIDES)
    }
    share = recall_in_matches(health)
    return {
        "shard": shard,
        **counts,
        "matched": health.matched,
        "lost": health.lost,
        "lost_variance": health.lost_variance,
        "recall": share.estimate,
        "recall_low": share.low,
        "recall_high": share.high,
        "value": health.value,
        "lost_value": health.lost_value,
        "bytes": health.bytes,
        "budget": health.budget,
        "peak_rows": health.peak_rows,
        "clock": health.clock,
    }
