"""The join of one shard's rows, cut where the budget is divided anew."""

from collections.abc import Iterator, Sequence

import pyarrow as pa

from penstock.engine.change import change
from penstock.engine.state import State
from penstock.engine.step import Flow
from penstock.spark.cells import bodies
from penstock.spark.division import Piece


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
        for table in self.tables():
            yield from bodies(table)

    def tables(self) -> Iterator[pa.Table]:
        """Yield the matches as tables."""
        for piece in self._pieces:
            if piece.part is not None:
                # What the division finds must not depend on where the last batch ended.
                yield from self._step([None, None], until=piece.begins)
                self.state = change(self.state, begins=piece.begins, **vars(piece.part))
            yield from self._step(piece.tables, until=piece.ends)

    def _step(self, tables: list[pa.Table | None], *, until: int | None) -> Iterator[pa.Table]:
        now, then = self._marks
        coming = then if until is None else [min(mark, until) for mark in then]
        flow = Flow(self.state, tables, watermark=now, next_watermark=coming)
        yield from flow
        self.state = flow.state
