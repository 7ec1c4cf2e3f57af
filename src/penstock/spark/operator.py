"""One shard's join as Spark runs it: cells in, cells out, one micro-batch at a time.

A thin shell with nothing to decide: it brings the state, the cells and the watermarks
together, lets the engine work, and puts the state away.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

from penstock.engine.plan import Plan
from penstock.engine.step import Flow
from penstock.spark.cells import NEWS, bodies, rows_of
from penstock.spark.health import record_of
from penstock.spark.keeper import Keeper, Memory
from penstock.spark.shards import label_of
from penstock.spark.spec import Spec

JOINED = "body binary, shard int, health string"


class ShardJoin(StatefulProcessor):  # type: ignore[misc]
    """The join of the shard whose cells come in.

    Parameters
    ----------
    spec
        The join.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._plans: dict[int, tuple[int, Plan]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"_spec": self._spec, "_plans": {}}

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state variables."""
        self._keeper = Keeper(handle)

    def handleInputRows(  # noqa: N802 - Spark's name
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Join the cells of one shard and one batch."""
        shard, plan = self._plan_of(int(key[0]))
        memory = self._keeper.open(plan)
        tables, newest = self._batch(rows)
        left, right = map(_later, memory.newest, newest)
        now, then = self._marks(memory.newest), self._marks((left, right))
        flow = Flow(memory.state, tables, watermark=now, next_watermark=then)
        for matches in flow:
            for body in bodies(matches):
                yield _out(body, shard, None)
        self._keeper.close(Memory(flow.state, (left, right)))
        yield _out(None, shard, json.dumps(record_of(flow.state.health(), shard)))

    def close(self) -> None:
        """Nothing is held beyond a batch."""

    def _plan_of(self, label: int) -> tuple[int, Plan]:
        if label not in self._plans:
            shard = next(s for s in range(self._spec.shards) if label_of(s) == label)
            self._plans[label] = shard, self._spec.plan(shard)
        return self._plans[label]

    def _batch(
        self, frames: Iterator[pd.DataFrame]
    ) -> tuple[list[pa.Table | None], list[int | None]]:
        """Return each side's rows in the order in which they were read, and its newest time."""
        cells = sorted(
            (row for frame in frames for row in frame.itertuples(index=False)),
            key=lambda cell: (cell.stream, cell.part, cell.number),
        )
        tables: list[pa.Table | None] = []
        newest: list[int | None] = []
        for stream, schema in enumerate(self._spec.schemas):
            batches = [rows_of(cell.body, schema) for cell in cells if cell.stream == stream]
            tables.append(pa.Table.from_batches(batches, schema) if batches else None)
            news = [cell.newest for cell in cells if cell.stream == NEWS + stream]
            told = [int(time) for time in news if not pd.isna(time)]
            newest.append(max(told, default=None))
        return tables, newest

    def _marks(self, newest: Sequence[int | None]) -> list[int]:
        """Return each side's watermark, when its newest row is known."""
        return [
            _NO_MARK if time is None or delay is None else time - delay
            for time, delay in zip(newest, self._spec.delays, strict=True)
        ]


_NO_MARK = -(2**61)


def _later(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return max(one, other)


def _out(body: bytes | None, shard: int, health: str | None) -> pd.DataFrame:
    return pd.DataFrame({"body": [body], "shard": [shard], "health": [health]})
