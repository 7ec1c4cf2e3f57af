"""One shard's join as Spark runs it: cells in, cells out, one micro-batch at a time.

A thin shell with nothing to decide: it brings the state, the cells and the watermarks
together, lets the engine work, and puts the state away.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from penstock.engine.plan import Plan
from penstock.engine.state import State
from penstock.engine.step import Flow, change
from penstock.kernels.pages import provided_by
from penstock.spark.cells import batch_of, bodies
from penstock.spark.division import Division, Piece
from penstock.spark.health import record_of
from penstock.spark.keeper import Keeper
from penstock.spark.shards import label_of
from penstock.spark.spec import Spec

JOINED = "body binary, shard int, health string"


class ShardJoin(StatefulProcessor):
    """The join of the shard whose cells come in.

    Parameters
    ----------
    spec
        The join.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state variables."""
        self._keeper = Keeper(handle)
        self._division = Division(self._spec)
        self._plans: dict[int, tuple[int, Plan]] = {}

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Join the cells of one shard and one batch."""
        shard, plan = self._plan_of(int(key[0]))
        before = self._keeper.open(plan, self._spec.shards)
        batch = batch_of(self._spec, rows)
        after = before.with_news(batch)
        pieces = self._division.pieces(shard, batch, after.census, before.slice)
        marks = self._spec.marks(before.newest), self._spec.marks(after.newest)
        joining = Joining(before.state, pieces, marks)
        with provided_by(self._keeper.map):
            for body in joining:
                yield pd.DataFrame({"body": [body], "shard": [shard], "health": [None]})
        health = json.dumps(record_of(joining.state.health(), shard))
        self._keeper.close(after.after(joining.state, pieces[-1].slice))
        yield pd.DataFrame({"body": [None], "shard": [shard], "health": [health]})

    def close(self) -> None:
        """Nothing is held beyond a batch."""

    def _plan_of(self, label: int) -> tuple[int, Plan]:
        if label not in self._plans:
            shard = next(s for s in range(self._spec.shards) if label_of(s) == label)
            self._plans[label] = shard, self._spec.plan(shard)
        return self._plans[label]


class Joining:
    """The join of a batch, bit by bit: iterate over its matches as bytes, then take `state`.

    Parameters
    ----------
    state
        It is taken over.
    pieces
        The batch, cut where the budget is divided anew.
    marks
        The watermarks that rows of this batch are held against, and those of the next one.
    """

    def __init__(
        self, state: State, pieces: Sequence[Piece], marks: tuple[list[int], list[int]]
    ) -> None:
        self.state = state
        self._pieces, self._marks = pieces, marks

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if piece.part is not None:
                # What the division finds must not depend on where the last batch ended.
                yield from self._step([None, None], until=piece.begins)
                self.state = change(self.state, **vars(piece.part))
            yield from self._step(piece.tables, until=piece.ends)

    def _step(self, tables: list[pa.Table | None], *, until: int | None) -> Iterator[bytes]:
        now, then = self._marks
        coming = then if until is None else [min(mark, until) for mark in then]
        flow = Flow(self.state, tables, watermark=now, next_watermark=coming)
        for matches in flow:
            yield from bodies(matches)
        self.state = flow.state
