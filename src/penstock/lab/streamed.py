"""Runs of a trace on Spark: its rows in files, read as two streams, joined by `penstock.join`."""

import datetime
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

import penstock
from penstock.engine.health import Health
from penstock.lab.traces import Progress, Ran, Trace
from penstock.quality.estimate import recall_in_matches, recall_in_value
from penstock.query import Budget, Window

_BATCHES = 4
_SIDES = ("left", "right")
_LOOK = 0.2  # seconds between two looks at how far a query is
_FIRST_FILE = 1_000_000_000  # seconds since 1970: Spark reads files in the order of their age
_PER_SIDE = ("arrived", "held", "shed", "expired", "late", "unmatchable")
_WHOLE = (
    *("matched", "value", "lost", "lost_variance", "lost_value", "lost_value_variance"),
    *("unseen", "estimated", "peak_rows", "budget", "bytes", "clock"),
)


class OnSpark(NamedTuple):
    """What a streaming query made of a trace."""

    ran: Ran  # its health as the query itself reports it
    rows: pa.Table  # the result
    batches: int


class Streamed:
    """A trace as two streams of files, a few for each side, in time order.

    Its times are timestamps.  Those without a zone are taken for UTC, since Spark has no
    watermark on them otherwise.

    Parameters
    ----------
    trace
        The rows, and the join that is asked of them.
    folder
        Where files may lie; whoever made it removes it.
    session
        A Spark; its types are known to the room `spark` alone.
    """

    def __init__(self, trace: Trace, folder: Path, session: Any) -> None:
        self._trace, self._folder, self._session = trace, folder, session
        self._queries = 0
        self._write()

    def _write(self) -> None:
        trace, folder = self._trace, self._folder
        times = [
            table[name].cast(pa.int64()).to_numpy()
            for table, name in zip(trace.tables, trace.query.time, strict=True)
        ]
        # Both sides are cut at the same moments, so a batch holds what happened at one time.
        together = np.sort(np.concatenate(times))
        cuts = together[[len(together) * part // _BATCHES for part in range(1, _BATCHES)]]
        for side, table, stamps, name in zip(
            _SIDES, trace.tables, times, trace.query.time, strict=True
        ):
            (folder / side).mkdir()
            edges = [0, *(int(at) for at in np.searchsorted(stamps, cuts)), table.num_rows]
            for number, (first, end) in enumerate(pairwise(edges)):
                path = folder / side / f"{number}.parquet"
                pq.write_table(_zoned(table.slice(first, end - first), name), path)
                os.utime(path, (_FIRST_FILE + number,) * 2)

    def run(self, keep: Any, *, memory: Budget | None, seed: int, progress: Progress) -> OnSpark:
        """Run the join as a streaming query to its end: one file of each side in a batch.

        It runs in one shard, so that what it holds is what the engine alone would hold.
        """
        query = self._trace.query
        left, right = (
            self._stream(side).withWatermark(name, "0 seconds")
            for side, name in zip(_SIDES, query.time, strict=True)
        )
        rows = penstock.join(
            left,
            right,
            on=query.on,
            time=query.time,
            within=(_span(query.windows[0]), _span(query.windows[1])),
            memory=_stated(memory),
            keep=keep,
            suffixes=query.suffixes,
            shards=1,
            seed=seed,
        )
        return self._to_the_end(rows, progress)

    def tables(self) -> tuple[Any, Any]:
        """Return the two sides as Spark reads them when they are no streams."""
        left, right = (self._session.read.parquet(str(self._folder / side)) for side in _SIDES)
        return left, right

    def _stream(self, side: str) -> Any:
        files = str(self._folder / side)
        schema = self._session.read.parquet(files).schema
        return (
            self._session.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(files)
        )

    def _to_the_end(self, rows: Any, progress: Progress) -> OnSpark:
        self._queries += 1
        place = self._folder / f"query-{self._queries}"
        began = time.perf_counter()
        query = (
            rows.writeStream.format("parquet")
            .option("path", str(place / "result"))
            .option("checkpointLocation", str(place / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        try:
            while not query.awaitTermination(_LOOK):
                progress(_taken_in(query), self._trace.rows)
        finally:
            with suppress(Exception):  # what went wrong before is what is to be told
                query.stop()
        seconds = time.perf_counter() - began
        progress(self._trace.rows, self._trace.rows)
        health = _health_of(penstock.health(query).rows[-1])
        ran = Ran(health, seconds, recall_in_matches(health), recall_in_value(health))
        result = pq.read_table(place / "result")
        return OnSpark(ran, result, sum(p.numInputRows > 0 for p in query.recentProgress))


def exact_pairs(trace: Trace, number: str) -> NDArray[np.int64]:
    """Return the pairs of the exact join as DuckDB finds them, by a column that numbers rows.

    A pair is `left number x rows of the right + right number`; they come ascending.
    """
    import duckdb  # the demo's extra brings it

    (on,), (left_time, right_time) = trace.query.on, trace.query.time
    before, after = (window.length for window in trace.query.windows)
    # Rows of a pair lie in the same pane or in neighbouring ones, which is quick to look up.
    pane = max(1, before, after)
    with duckdb.connect() as judge:
        for side, table in zip(_SIDES, trace.tables, strict=True):
            judge.register(f"{side}_rows", table)
        found = judge.execute(
            f"""
            with l as (
                select "{on[0]}" as k, epoch_us("{left_time}") as t, t // {pane} as pane,
                    "{number}" as n from left_rows
            ), r as (
                select "{on[1]}" as k, epoch_us("{right_time}") as t, "{number}" as n,
                    unnest([t // {pane} - 1, t // {pane}, t // {pane} + 1]) as pane
                from right_rows
            )
            select l.n * {max(1, trace.tables[1].num_rows)} + r.n as pair
            from l join r using (k, pane) where r.t - l.t between -{after} and {before}
            order by pair
            """
        ).fetchnumpy()
    return np.asarray(found["pair"], np.int64)


def _zoned(table: pa.Table, name: str) -> pa.Table:
    """Return a table whose times have a zone."""
    column = table[name].cast(pa.timestamp("us", "UTC"))
    return table.set_column(table.column_names.index(name), name, column)


def _span(window: Window) -> datetime.timedelta:
    return datetime.timedelta(microseconds=window.length)


def _stated(memory: Budget | None) -> int | str | None:
    if memory is None:
        return None
    return int(memory.amount) if memory.unit == "rows" else f"{int(memory.amount)}B"


def _taken_in(query: Any) -> int:
    return sum(batch.numInputRows for batch in query.recentProgress)


def _health_of(row: Mapping[str, Any]) -> Health:
    """Return what a query's health table says of the whole join, as the engine says it."""
    told: dict[str, Any] = {
        name: tuple(row[f"{name}_{side}"] for side in _SIDES) for name in _PER_SIDE
    }
    told |= {name: row[name] for name in _WHOLE}
    return Health(**told, waiting=(0, 0), ghosts=0)
