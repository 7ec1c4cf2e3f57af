"""The runs in this process: throughput, many partners, and the time of a row over rows held."""

from dataclasses import dataclass

from penstock.lab.bench.sizes import EXACT, ON_HALF, SHEDDING, Sizes
from penstock.lab.bench.steady import Pace, Progress, Steady, Way, middle
from penstock.lab.bench.workload import Stream

_FIRST = Stream(keys=500, window=4000)  # for compiling, which is not measured


def compile_all(progress: Progress) -> None:
    """Run a little of every way, so that no measurement includes compiling."""
    ways = (EXACT, *SHEDDING)
    for done, way in enumerate(ways):
        progress(done, len(ways))
        Steady(way, _FIRST, batch=500, filling=500).run(20)
    progress(len(ways), len(ways))


def throughput(sizes: Sizes, progress: Progress) -> dict[Way, Pace]:
    """Return the pace of each way where keys are many and matches few."""
    stream = Stream(keys=sizes.keys, window=sizes.window)
    ways, paces = (EXACT, *SHEDDING), {}
    for done, way in enumerate(ways):
        progress(done, len(ways))
        join = Steady(way, stream, batch=sizes.batch)
        paces[way] = middle([join.run(sizes.batches) for _ in range(sizes.rounds)])
    progress(len(ways), len(ways))
    return paces


def many_partners(sizes: Sizes, progress: Progress) -> dict[Way, Pace]:
    """Return the pace of some ways where keys are few and matches many."""
    stream = Stream(keys=sizes.hot_keys, window=sizes.window)
    paces = {}
    for done, way in enumerate(ON_HALF):
        progress(done, len(ON_HALF))
        join = Steady(way, stream, batch=sizes.batch)
        paces[way] = middle([join.run(sizes.hot_batches) for _ in range(sizes.rounds)])
    progress(len(ON_HALF), len(ON_HALF))
    return paces


@dataclass(frozen=True)
class Slope:
    """The time of a row over the rows held, for one way."""

    retained: tuple[int, ...]
    paces: tuple[Pace, ...]
    ratios: tuple[float, ...]  # to the first, each the median of rounds


def flatness(sizes: Sizes, progress: Progress) -> dict[Way, Slope]:
    """Return how the time of a row grows with the rows held, matches a row being the same."""
    slopes: dict[Way, Slope] = {}
    parts = len(ON_HALF) * (len(sizes.retained) + 1)
    for number, way in enumerate(ON_HALF):
        done = number * (len(sizes.retained) + 1)
        joins = []
        for at, retained in enumerate(sizes.retained):
            progress(done + at, parts)
            joins.append(_holding(way, retained, sizes.batch))
        progress(done + len(sizes.retained), parts)
        # Round by round over all sizes, so that a busy minute of the machine slows all of them.
        rounds = [[join.run(sizes.batches) for join in joins] for _ in range(sizes.rounds)]
        paces = tuple(middle(column) for column in zip(*rounds, strict=True))
        ratios = [[p.nanoseconds / row[0].nanoseconds for p in row] for row in rounds]
        middles = tuple(
            sorted(column)[(len(column) - 1) // 2] for column in zip(*ratios, strict=True)
        )
        slopes[way] = Slope(sizes.retained, paces, middles)
    progress(parts, parts)
    return slopes


def _holding(way: Way, retained: int, batch: int) -> Steady:
    window = int(retained / way.share)
    return Steady(way, Stream(keys=window // 2, window=window), batch=batch)
