"""How fast the join is on Spark: beside Spark's own, and beside the bare way of the rows."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from penstock.lab.bench.steady import Progress
from penstock.lab.record import Headline, Panel, Record, Series, Table, made_with
from penstock.spark.bench import EXACT, NATIVE, PIPELINE, ROCKSDB, SHUFFLE, Bench, Run, Work

_BUDGETS = ("50%", "25%", "10%")
_ALL = (NATIVE, ROCKSDB, EXACT, *_BUDGETS, PIPELINE, SHUFFLE)
_BESIDE = (NATIVE, EXACT, "10%")
_CORES = 2
_MB = 1e6


@dataclass(frozen=True)
class Sizes:
    """How large the benches are; rows of each stream, batches of both together."""

    rows: int = 4_000_000
    batches: tuple[int, ...] = (200_000, 2_000_000)
    keys: int = 1_000_000
    window: int = 100_000
    few_keys: int = 1_000
    few_rows: int = 400_000
    wide_rows: int = 1_000_000
    retained: tuple[int, ...] = (100_000, 1_000_000, 4_000_000)
    rounds: int = 3


FULL = Sizes()
QUICK = Sizes(
    rows=600_000,
    batches=(200_000,),
    few_rows=100_000,
    wide_rows=300_000,
    retained=(100_000, 400_000),
    rounds=1,
)

Runs = dict[str, list[Run]]


def bench(sizes: Sizes, *, command: str, bars: Callable[[str], Progress]) -> Record:
    """Measure the join on embedded Spark.

    Parameters
    ----------
    sizes
        How large the benches are.
    command
        The command that asks for them, for the record.
    bars
        Begins the display of one part's progress.
    """
    began = time.perf_counter()
    spark = Bench(_CORES)
    try:
        _warm_up(spark, sizes, bars("starting"))
        few = [_work(sizes, batch) for batch in sizes.batches]
        found = {w: _interleaved(spark, w, _ALL, sizes.rounds, bars(w.name)) for w in few}
        other = [_dense(sizes), _wide(sizes)]
        found |= {w: _interleaved(spark, w, _BESIDE, sizes.rounds, bars(w.name)) for w in other}
        slope = {w: _grown(spark, w, sizes, bars(w.name)) for w in _growing(sizes)}
    finally:
        spark.close()
    return Record(
        name="bench-spark",
        title="The join on Spark: speed and size",
        question="How many rows a second, and how much state, beside Spark's own join and beside "
        "the same pipeline without a join?",
        workload=f"drawn: two streams of one row a millisecond, keys by Zipf's law (1.0) over "
        f"{sizes.keys:,} values, frequent ones not the same on both sides; files of a batch each",
        command=command,
        seeds=(0,),
        tables=(*(_table(work, runs) for work, runs in found.items()), _growth(slope)),
        panels=(_panel(slope),),
        headlines=_headlines(found, few[-1]),
        facts=_facts(found, slope),
        notes=(
            f"Embedded Spark on {_CORES} cores, with as many partitions; a sink that throws "
            "rows away. A figure is the median of "
            f"{sizes.rounds} rounds in which the ways take turns; rows per second leave each "
            "query's first batch out, since it starts processes, and contain planning and commits.",
            "Matches are counted in each query; ways that are exact must agree.",
        ),
        seconds=time.perf_counter() - began,
        made_with=made_with(),
    )


def _work(sizes: Sizes, batch: int) -> Work:
    name = f"{batch:,} rows a batch"
    return Work(name, sizes.rows, batch, sizes.keys, 1.0, sizes.window)


def _dense(sizes: Sizes) -> Work:
    return Work(
        "many matches", sizes.few_rows, sizes.few_rows // 2, sizes.few_keys, 0.0, sizes.window // 5
    )


def _wide(sizes: Sizes) -> Work:
    rows = sizes.wide_rows
    return Work("text and wide rows", rows, rows // 2, sizes.keys, 1.0, sizes.window, wide=True)


def _growing(sizes: Sizes) -> list[Work]:
    """Return works in which ever more rows are held; windows are full after half of the rows."""
    batch = sizes.batches[-1]
    most = max(sizes.retained)
    return [
        Work(f"{held:,} rows held", most + 2 * batch, batch, sizes.keys, 1.0, held // 2)
        for held in sizes.retained
    ]


def _warm_up(spark: Bench, sizes: Sizes, bar: Progress) -> None:
    small = replace(_work(sizes, 20_000), rows=40_000, name="warm up", window=1_000)
    for number, way in enumerate(_ALL):
        bar(number, len(_ALL))
        spark.run(way, small)


def _interleaved(
    spark: Bench, work: Work, ways: tuple[str, ...], rounds: int, bar: Progress
) -> Runs:
    runs: Runs = {way: [] for way in ways}
    for number in range(rounds * len(ways)):
        bar(number, rounds * len(ways))
        way = ways[number % len(ways)]
        runs[way].append(spark.run(way, work))
    exact = {way: runs[way][0].matches for way in (NATIVE, ROCKSDB, EXACT) if way in runs}
    if len(set(exact.values())) > 1:
        raise AssertionError(f"{work.name}: ways that are exact made different matches: {exact}")
    return runs


def _grown(spark: Bench, work: Work, sizes: Sizes, bar: Progress) -> list[Run]:
    found = []
    for number in range(sizes.rounds):
        bar(number, sizes.rounds)
        found.append(spark.run(EXACT, work))
    return found


def _median(runs: list[Run], figure: str) -> float:
    return float(statistics.median(getattr(run, figure) for run in runs))


def _table(work: Work, runs: Runs) -> Table:
    speed = {way: _median(found, "rows_per_second") for way, found in runs.items()}
    rows = []
    for way, found in runs.items():
        of = partial(_median, found)
        rows.append(
            (
                way,
                f"{speed[way] / 1e3:,.0f} k",
                f"{speed[way] / speed[NATIVE]:.2f}",
                f"{speed[PIPELINE] / speed[way]:.2f}" if PIPELINE in speed else "",
                f"{of('matches'):,.0f}",
                f"{of('bytes_per_row'):,.0f}" if of("held") else "",
                f"{of('commit_seconds'):.2f} s" if of("commit_seconds") else "",
                f"{of('checkpoint_bytes') / _MB:.1f} MB",
            )
        )
    return Table(
        f"Side by side: {work.name}",
        (
            *("join", "rows/s", "times Spark's join", "times the pipeline's time", "matches"),
            *("bytes a held row", "commit a batch", "checkpoint a batch"),
        ),
        tuple(rows),
        f"{work.rows:,} rows a stream, {work.keys:,} keys, a window of {work.window:,} rows' time. "
        "A percentage is a budget: that share of the rows the exact join holds.",
    )


def _growth(slope: dict[Work, list[Run]]) -> Table:
    times = {work: _steady(runs) for work, runs in slope.items()}
    least = next(iter(times.values()))
    return Table(
        "The exact join while more rows are held",
        ("rows held", "seconds a batch", "times the first"),
        tuple(
            (f"{_median(slope[work], 'held'):,.0f}", f"{found:.2f}", f"{found / least:.2f}")
            for work, found in times.items()
        ),
        "The same rows in the same batches; only the window differs.",
    )


def _steady(runs: list[Run]) -> float:
    return _median(runs, "batch_seconds")


def _panel(slope: dict[Work, list[Run]]) -> Panel:
    held = tuple(_median(runs, "held") for runs in slope.values())
    seconds = tuple(_steady(runs) for runs in slope.values())
    return Panel(
        "A batch while more rows are held",
        "rows held",
        "seconds a batch",
        (Series(EXACT, held, seconds),),
        x_scale="log",
    )


def _headlines(found: dict[Work, Runs], work: Work) -> tuple[Headline, ...]:
    speed = {way: _median(runs, "rows_per_second") for way, runs in found[work].items()}
    return (
        Headline(f"{speed[EXACT] / speed[NATIVE]:.1f} x", "as fast as Spark's own join, exact"),
        Headline(
            f"{speed[PIPELINE] / speed[EXACT]:.2f} x",
            "the time of the same pipeline without a join",
        ),
        Headline(f"{speed['10%'] / speed[NATIVE]:.1f} x", "as fast on a tenth of the memory"),
    )


def _facts(found: dict[Work, Runs], slope: dict[Work, list[Run]]) -> dict[str, Any]:
    figures = ("rows_per_second", "matches", "bytes_per_row", "commit_seconds", "checkpoint_bytes")
    times = [_steady(runs) for runs in slope.values()]
    return {
        **{
            work.name: {
                way: {figure: _median(each, figure) for figure in figures}
                for way, each in runs.items()
            }
            for work, runs in found.items()
        },
        "growth": {
            "held": [_median(runs, "held") for runs in slope.values()],
            "seconds_a_batch": times,
            "ratio": times[-1] / times[0],
        },
    }
