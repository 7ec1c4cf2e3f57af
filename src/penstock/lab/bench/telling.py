"""What the benches found, in tables, a figure, and facts for machines."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.lab.bench.memory import Weight
from penstock.lab.bench.rivals import Rival
from penstock.lab.bench.runs import Slope
from penstock.lab.bench.sizes import BYTES, FLAT, MATCHES, ROWS, Sizes, Target
from penstock.lab.bench.steady import Pace, Way
from penstock.lab.bench.workload import ROW_BYTES, Stream
from penstock.lab.record import Headline, Panel, Series, Table

_MILLION = 1e6


class Found(NamedTuple):
    """Everything that was measured."""

    sizes: Sizes
    throughput: dict[Way, Pace]
    many: dict[Way, Pace]
    slopes: dict[Way, Slope]
    weights: dict[Way, Weight]
    rivals: Sequence[Rival]
    absent: Sequence[str]


def headlines(found: Found) -> tuple[Headline, ...]:
    """Return the slowest of each kind, and how many targets are met."""
    judged = list(_judged(found))
    met = sum(target.met(figure) for target, figure in judged)
    slowest = min(found.throughput.items(), key=lambda item: item[1].rows_per_second)
    densest = min(found.many.items(), key=lambda item: item[1].matches_per_second)
    return (
        Headline(f"{met} of {len(judged)}", "figures are as they should be"),
        Headline(
            f"{slowest[1].rows_per_second / _MILLION:.2f} M rows/s",
            f"by the slowest way to keep to a budget, {slowest[0].name}",
        ),
        Headline(
            f"{densest[1].matches_per_second / _MILLION:.1f} M matches/s",
            f"where rows have many partners, by the slowest, {densest[0].name}",
        ),
    )


def _judged(found: Found) -> list[tuple[Target, float]]:
    return [
        *((ROWS, pace.rows_per_second) for pace in found.throughput.values()),
        *((MATCHES, pace.matches_per_second) for pace in found.many.values()),
        *((FLAT, slope.ratios[-1]) for slope in found.slopes.values()),
        *((BYTES, weight.counted) for weight in found.weights.values()),
        *((BYTES, weight.resident) for weight in found.weights.values()),
    ]


def tables(found: Found) -> tuple[Table, ...]:
    """Return a table for each bench, every figure beside its target."""
    return (_throughput(found), _many(found), _flatness(found), _memory(found), _rivals(found))


def _throughput(found: Found) -> Table:
    sizes = found.sizes
    return Table(
        "Throughput: many keys, few matches",
        ("join", "rows/s", "ns a row", "matches a row", ROWS.said),
        tuple(
            (
                way.name,
                f"{pace.rows_per_second / _MILLION:.2f} M",
                f"{pace.nanoseconds:.0f}",
                f"{pace.matches / pace.rows:.2f}",
                ROWS.verdict(pace.rows_per_second),
            )
            for way, pace in found.throughput.items()
        ),
        f"{sizes.keys:,} keys; a window of {sizes.window // 2:,} rows a side, {ROW_BYTES} bytes "
        f"each. A share is that of the rows held. Batches of {sizes.batch:,} rows.",
    )


def _many(found: Found) -> Table:
    stream = Stream(keys=found.sizes.hot_keys, window=found.sizes.window)
    return Table(
        "Many partners: few keys, many matches",
        ("join", "matches/s", "ns a match", "matches a row", MATCHES.said),
        tuple(
            (
                way.name,
                f"{pace.matches_per_second / _MILLION:.1f} M",
                f"{1e9 / pace.matches_per_second:.0f}",
                f"{pace.matches / pace.rows:.0f}",
                MATCHES.verdict(pace.matches_per_second),
            )
            for way, pace in found.many.items()
        ),
        f"{found.sizes.hot_keys:,} keys in the same windows; an exact join finds about "
        f"{stream.matches_per_row:.0f} matches a row.",
    )


def _flatness(found: Found) -> Table:
    sizes = found.sizes
    return Table(
        "Flatness: the time of a row, in ns, over the rows held",
        ("join", *(f"{rows:,}" for rows in sizes.retained), "last to first", FLAT.said),
        tuple(
            (
                way.name,
                *(f"{pace.nanoseconds:.0f}" for pace in slope.paces),
                f"{slope.ratios[-1]:.2f}",
                FLAT.verdict(slope.ratios[-1]),
            )
            for way, slope in found.slopes.items()
        ),
        "Keys grow with the window, so that a row has as many matches at every size. Batches of "
        f"{sizes.batch:,} rows at every size.",
    )


def _memory(found: Found) -> Table:
    return Table(
        f"Memory: bytes of a held row of {ROW_BYTES}",
        ("join", "rows held", "by its own count", "", "of the process", BYTES.said),
        tuple(
            (
                way.name,
                weight.held,
                f"{weight.counted:.0f}",
                BYTES.verdict(weight.counted),
                f"{weight.resident:.0f}",
                BYTES.verdict(weight.resident),
            )
            for way, weight in found.weights.items()
        ),
        "Index, queue, statistics and ghosts included. The process is a fresh one: its growth up "
        "to its peak, with a batch and its matches in it.",
    )


def _rivals(found: Found) -> Table:
    ours = found.rivals[0].seconds
    rows = found.sizes.trace
    absent = "".join(f" Not installed: {name}." for name in found.absent)
    return Table(
        "Side by side: the exact join of one trace",
        ("by", "seconds", "rows/s", "Penstock's time = 1"),
        tuple(
            (
                rival.name,
                f"{rival.seconds:.2f}",
                f"{rows / rival.seconds / _MILLION:.1f} M",
                f"{rival.seconds / ours:.2f}",
            )
            for rival in found.rivals
        ),
        f"{rows:,} rows, {found.rivals[0].matches:,} matches, the same from all, every one built. "
        "All but Penstock and the deques need the whole trace before they begin." + absent,
    )


def panels(found: Found) -> tuple[Panel, ...]:
    """Return the time of a row over the rows held."""
    lines = tuple(
        Series(
            way.name,
            tuple(map(float, slope.retained)),
            tuple(pace.nanoseconds for pace in slope.paces),
        )
        for way, slope in found.slopes.items()
    )
    return (Panel("The time of a row", "rows held", "ns of processor time", lines, x_scale="log"),)


def facts(found: Found) -> dict[str, Any]:
    """Return all figures for machines."""
    return {
        "batch": found.sizes.batch,
        "throughput": {
            way.name: {
                "rows_per_second": pace.rows_per_second,
                "target": ROWS.limit,
                "met": ROWS.met(pace.rows_per_second),
            }
            for way, pace in found.throughput.items()
        },
        "many_partners": {
            way.name: {
                "matches_per_second": pace.matches_per_second,
                "target": MATCHES.limit,
                "met": MATCHES.met(pace.matches_per_second),
            }
            for way, pace in found.many.items()
        },
        "flatness": {
            way.name: {
                "retained": list(slope.retained),
                "ns_per_row": [pace.nanoseconds for pace in slope.paces],
                "ratios": list(slope.ratios),
                "target": FLAT.limit,
                "met": FLAT.met(slope.ratios[-1]),
            }
            for way, slope in found.slopes.items()
        },
        "memory": {
            way.name: {
                "rows": weight.held,
                "bytes_by_count": weight.counted,
                "bytes_resident": weight.resident,
                "target": BYTES.limit,
                "met": BYTES.met(max(weight.counted, weight.resident)),
            }
            for way, weight in found.weights.items()
        },
        "rivals": {
            rival.name: {"seconds": rival.seconds, "matches": rival.matches}
            for rival in found.rivals
        },
    }
