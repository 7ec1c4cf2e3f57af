"""The same join by what a user would pick instead, in one process: same rows, same result."""

import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from penstock.engine.state import start
from penstock.engine.step import Flow
from penstock.errors import PenstockError
from penstock.lab.bench.sizes import EXACT, Sizes
from penstock.lab.bench.steady import Progress
from penstock.lab.bench.workload import Stream, Tables

Pairs = tuple[Any, Any]  # the payload of both rows of each match


class Job(NamedTuple):
    """What is to be joined."""

    stream: Stream
    tables: Tables
    batch: int


@dataclass(frozen=True)
class Rival:
    """How one of them did, in seconds of processor time."""

    name: str
    seconds: float
    matches: int


def _penstock(job: Job) -> Pairs:
    state, found = start(EXACT.plan(job.stream)), []
    rows = len(job.tables[0]) + len(job.tables[1])
    times = [table["time"].to_numpy() for table in job.tables]
    for first in range(0, rows, job.batch):
        ends = [np.searchsorted(time, (first, first + job.batch)) for time in times]
        batch = [t.slice(a, b - a) for t, (a, b) in zip(job.tables, ends, strict=True)]
        flow = Flow(state, batch, last=first + job.batch >= rows)
        found += list(flow)
        state = flow.state
    joined = pa.concat_tables(found)
    return joined["value_left"], joined["value_right"]


def _duckdb(job: Job) -> Pairs:
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        connection.register("l", job.tables[0])
        connection.register("r", job.tables[1])
        window = job.stream.window
        query = (
            "SELECT l.time, r.time, l.key, l.value AS a, r.value AS b FROM l JOIN r ON "
            f"l.key = r.key AND r.time BETWEEN l.time - {window} AND l.time + {window}"
        )
        found = connection.sql(query).to_arrow_table()
    return found["a"], found["b"]


def _pandas(job: Job) -> Pairs:
    left, right = (table.to_pandas() for table in job.tables)
    both = left.merge(right, on="key", suffixes=("_left", "_right"))
    near = both[(both["time_left"] - both["time_right"]).abs() <= job.stream.window]
    return near["value_left"], near["value_right"]


def _deques(job: Job) -> Pairs:
    """Join row by row: a deque for each key of each side, whose old end is cut when it is met."""
    rows = [
        (*row, side)
        for side, table in enumerate(job.tables)
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True)
    ]
    rows.sort(key=lambda row: row[0])
    held: list[Any] = [defaultdict(deque), defaultdict(deque)]
    found = []
    for now, key, value, side in rows:
        partners = held[1 - side][key]
        while partners and partners[0][0] < now - job.stream.window:
            partners.popleft()
        for before, other in partners:
            times = (now, before) if side == 0 else (before, now)
            values = (value, other) if side == 0 else (other, value)
            found.append((*times, key, *values))
        held[side][key].append((now, value))
    return [row[3] for row in found], [row[4] for row in found]


_RIVALS: tuple[tuple[str, str, Callable[[Job], Pairs]], ...] = (
    ("Penstock, batch by batch", "penstock", _penstock),
    ("DuckDB, BETWEEN, all rows at once", "duckdb", _duckdb),
    ("pandas, merge then filter, all rows at once", "pandas", _pandas),
    ("Python, a dict of deques, row by row", "penstock", _deques),
)


def side_by_side(sizes: Sizes, progress: Progress) -> tuple[list[Rival], list[str]]:
    """Return how each did, and the names of those that are not installed."""
    stream = Stream(keys=sizes.keys, window=sizes.window)
    job = Job(stream, next(stream.batches(sizes.trace)), sizes.batch)
    here = [(name, join) for name, needed, join in _RIVALS if find_spec(needed)]
    seconds: dict[str, list[float]] = {name: [] for name, _ in here}
    found = {}
    rounds = min(3, sizes.rounds)
    for turn in range(rounds):
        for at, (name, join) in enumerate(here):
            progress(turn * len(here) + at, rounds * len(here))
            began = time.process_time()
            pairs = join(job)
            seconds[name].append(time.process_time() - began)
            found[name] = _described(pairs)
    progress(rounds * len(here), rounds * len(here))
    ours = found[here[0][0]]
    wrong = [name for name, theirs in found.items() if theirs != ours]
    if wrong:
        raise PenstockError(f"bench: {' and '.join(wrong)} found other matches than Penstock did.")
    done = [Rival(name, sorted(seconds[name])[rounds // 2], ours[0]) for name, _ in here]
    return done, [name for name, needed, _ in _RIVALS if not find_spec(needed)]


def _described(pairs: Pairs) -> tuple[int, int, int]:
    """Return how many pairs there are, and two sums that hardly any other pairs would have."""
    left, right = (np.asarray(values).astype(np.uint64) for values in pairs)
    return len(left), int((left * right).sum()), int((left + right * left * left).sum())
