"""Benches: how fast, how flat, how large, and beside what a user would pick instead."""

import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from penstock.lab.bench import telling
from penstock.lab.bench.memory import weigh
from penstock.lab.bench.rivals import side_by_side
from penstock.lab.bench.runs import compile_all, flatness, many_partners, throughput
from penstock.lab.bench.sizes import FULL, QUICK, Sizes
from penstock.lab.bench.steady import Progress
from penstock.lab.record import Record, made_with

__all__ = ["FULL", "QUICK", "bench"]

_PROCESSORS = Path("/proc/cpuinfo")


def bench(sizes: Sizes, *, command: str, bars: Callable[[str], Progress]) -> Record:
    """Measure the engine on one core, and record every figure beside what it should be.

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
    with _one_core():
        compile_all(bars("compiling"))
        paces = throughput(sizes, bars("throughput"))
        many = many_partners(sizes, bars("many partners"))
        slopes = flatness(sizes, bars("flatness"))
        weights = weigh(sizes, bars("memory"))
        done, absent = side_by_side(sizes, bars("side by side"))
    found = telling.Found(sizes, paces, many, slopes, weights, done, absent)
    return Record(
        name="bench",
        title="The engine's speed and size",
        question="How many rows and matches a second, how much more slowly when more is held, how "
        "many bytes a row, and what would take its place?",
        workload="drawn: one row per unit of time, sides by chance, keys as `keys * u ** 1.5`",
        command=command,
        seeds=(0,),
        panels=telling.panels(found),
        tables=telling.tables(found),
        notes=(
            f"One process on one core of {_processor()}; Arrow and DuckDB are told to use one "
            "thread. Seconds are of processor time. A figure is the median of "
            f"{sizes.rounds} rounds.",
            "Every joined row is built, and windows are full before a measurement begins. "
            "Compiling and drawing the rows are not part of it.",
            "Between machines, and on a busy one between runs, figures differ by a third; "
            "ratios within one run differ less.",
        ),
        seconds=time.perf_counter() - began,
        made_with=made_with(),
        headlines=telling.headlines(found),
        facts=telling.facts(found),
    )


@contextmanager
def _one_core() -> Iterator[None]:
    """Keep Arrow to one thread for as long as this lasts."""
    threads, readers = pa.cpu_count(), pa.io_thread_count()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    try:
        yield
    finally:
        pa.set_cpu_count(threads)
        pa.set_io_thread_count(readers)


def _processor() -> str:
    """Return what the machine's processor calls itself."""
    if _PROCESSORS.exists():
        for line in _PROCESSORS.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
