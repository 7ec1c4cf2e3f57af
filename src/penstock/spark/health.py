"""What the shards of a running join report, as Spark's own progress carries it."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from penstock.engine.health import Health
from penstock.quality.estimate import Share, recall_of

METRICS = "penstock"  # observed metrics whose name begins so are ours
_SIDES = ("left", "right")
_PER_SIDE = ("arrived", "held", "shed", "expired", "late", "unmatchable")
_SUMS = ("matched", "value", "lost", "lost_variance", "lost_value", "lost_value_variance", "bytes")
_TYPES = {"matched": "long", "bytes": "long", "budget": "long", "peak_rows": "long"}
_ALONE = ("unseen", "estimated", "budget", "peak_rows", "clock")
RECORD = ", ".join(
    [
        "shard int",
        *(f"{name}_{side} long" for name in _PER_SIDE for side in _SIDES),
        *(f"{name} {_TYPES.get(name, 'double')}" for name in _SUMS),
        "unseen double, estimated boolean, budget long, peak_rows long, clock long",
        "recall double, recall_low double, recall_high double",
    ]
)


def record_of(health: Health, shard: int) -> dict[str, Any]:
    """Return what one shard reports, flat, counted from its first row."""
    counts = {
        f"{name}_{side}": getattr(health, name)[at]
        for name in _PER_SIDE
        for at, side in enumerate(_SIDES)
    }
    for at, side in enumerate(_SIDES):  # rows that wait for the end of their instant are held too
        counts[f"held_{side}"] += health.waiting[at]
    whole = {name: getattr(health, name) for name in (*_SUMS, *_ALONE)}
    return _with_recall({"shard": shard, **counts, **whole})


def _with_recall(record: dict[str, Any]) -> dict[str, Any]:
    share: Share = recall_of(
        record["matched"],
        record["lost"],
        record["lost_variance"],
        unseen=record["unseen"],
        known=record["estimated"],
    )
    told = {"recall": share.estimate, "recall_low": share.low, "recall_high": share.high}
    return {**record, **{k: None if math.isnan(v) else v for k, v in told.items()}}


class Line(NamedTuple):
    """One line of the table: a shard, or all of them together."""

    join: str
    shard: int | None
    record: Mapping[str, Any]


class HealthTable:
    """The health of a query's joins: a line for each shard, and one for all of them.

    Print it, or take `rows`: dictionaries, those of whole joins with `shard` None.
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self.rows = [{"join": line.join, **line.record, "shard": line.shard} for line in lines]

    def __str__(self) -> str:
        if not self.rows:
            return "No batch of a penstock join has ended yet."
        cells = [_COLUMNS, *([_shown(row, name) for name in _COLUMNS] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in cells
        )

    __repr__ = __str__


_COLUMNS = [
    *("join", "shard", "arrived", "held", "shed", "expired", "late", "unmatchable"),
    *("matched", "lost", "recall", "bytes", "budget"),
]


def _shown(row: Mapping[str, Any], name: str) -> str:
    if name == "shard":
        return "all" if row["shard"] is None else str(row["shard"])
    if name in _PER_SIDE:
        return f"{row[name + '_left'] + row[name + '_right']:,}"
    if name == "recall":
        if row["recall"] is None:
            return "unknown"
        return f"{row['recall']:.3f} ({row['recall_low']:.3f} to {row['recall_high']:.3f})"
    if name == "budget" and row["budget"] is None:
        return "none"
    return row[name] if name == "join" else f"{row[name]:,.0f}"


def health(query: Any) -> HealthTable:
    """Return the health of the joins in a streaming query, from its progress.

    Parameters
    ----------
    query
        A `StreamingQuery`, running or ended.

    Returns
    -------
    HealthTable
        Counts since the join began; print it to see it.
    """
    newest: dict[tuple[str, int], Mapping[str, Any]] = {}
    for progress in query.recentProgress:
        for name, metrics in progress.observedMetrics.items():
            if name.split("-")[0] != METRICS:
                continue
            for record in metrics.asDict(recursive=True).values():
                if record is not None:
                    newest[name, record["shard"]] = record
    lines = []
    for join in sorted({name for name, _ in newest}):
        shards = {shard: record for (name, shard), record in newest.items() if name == join}
        lines += [Line(join, shard, shards[shard]) for shard in sorted(shards)]
        lines.append(Line(join, None, together(list(shards.values()))))
    return HealthTable(lines)


def together(records: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the record of all shards as one."""
    added = [f"{name}_{side}" for name in _PER_SIDE for side in _SIDES]
    whole: dict[str, Any] = {
        name: sum(record[name] for record in records) for name in (*added, *_SUMS, "peak_rows")
    }
    clocks = [record["clock"] for record in records if record["clock"] is not None]
    budgets = [record["budget"] for record in records if record["budget"] is not None]
    whole |= {
        "shard": None,
        "unseen": max(record["unseen"] for record in records),
        "estimated": all(record["estimated"] for record in records),
        "budget": sum(budgets) if budgets else None,
        "clock": max(clocks, default=None),
    }
    return _with_recall(whole)
