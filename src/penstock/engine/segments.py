"""The payload of held rows: immutable Arrow segments, few and mostly alive.

A batch's survivors become one new segment.  Segments of like size are merged, and
one that has lost two fifths of its rows is rewritten, so that the number of
segments grows with the logarithm of the rows and a row is copied a few times in its life.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.compact import compacted
from penstock.kernels.store import PLACE

NOWHERE = np.int64(-1)  # the place of a row that nothing is kept of but numbers
_SHIFT = 32
_LOW = np.int64(0xFFFFFFFF)
_ALIVE = 0.6
_LARGE = 4 << 20  # bytes: merging beyond this would hold too much twice while it copies


def place_of(segment: int, rows: Any) -> Any:
    """Return the places of rows of a segment."""
    return (np.int64(segment) << _SHIFT) | rows


def segment_of(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the segment numbers of places."""
    return places >> _SHIFT


def row_of(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of places within their segments."""
    return places & _LOW


@dataclass
class Segment:
    """Rows that were laid down together, and the slots that still hold them."""

    stream: int
    table: pa.Table
    slots: NDArray[np.int32]  # -1: the row is gone
    alive: int


class Segments:
    """All segments of a join, by number; 0 is the batch at hand and never here."""

    def __init__(self) -> None:
        self.by_number: dict[int, Segment] = {}
        self._next = 1

    @property
    def nbytes(self) -> int:
        """What the segments take."""
        return sum(s.table.nbytes + s.slots.nbytes for s in self.by_number.values())

    def lay_down(self, wide: NDArray[np.int64], stream: int, table: pa.Table, slots: Any) -> None:
        """Add rows as a new segment, and tell their slots where they lie."""
        if table.num_columns == 0:
            wide[slots, PLACE] = NOWHERE
        if table.num_rows == 0 or table.num_columns == 0:
            return
        number, self._next = self._next, self._next + 1
        wide[slots, PLACE] = place_of(number, np.arange(len(slots)))
        table = compacted(table.combine_chunks())
        self.by_number[number] = Segment(stream, table, slots, len(slots))

    def restore(self, number: int, segment: Segment) -> None:
        """Put back a segment that was saved."""
        self.by_number[number] = segment
        self._next = max(self._next, number + 1)

    def bury(self, places: NDArray[np.int64]) -> None:
        """Note which rows are gone."""
        if len(places) == 0:
            return
        numbers = segment_of(places)
        order = np.argsort(numbers, kind="stable")
        distinct, first = np.unique(numbers[order], return_index=True)
        for number, rows in zip(distinct, np.split(row_of(places[order]), first[1:]), strict=True):
            segment = self.by_number.get(int(number))
            if segment is not None:
                segment.slots[rows] = -1
                segment.alive -= len(rows)

    def tidy(self, wide: NDArray[np.int64]) -> None:
        """Drop, rewrite and merge segments until few are left and most of their rows live."""
        for number, segment in list(self.by_number.items()):
            if segment.alive == 0:
                del self.by_number[number]
        streams = {segment.stream for segment in self.by_number.values()}
        for stream in streams:
            mine = [n for n, segment in self.by_number.items() if segment.stream == stream]
            run: list[int] = []
            size = 0
            for number in sorted(mine, reverse=True):
                segment = self.by_number[number]
                together = sum(self.by_number[n].alive for n in run)
                size += segment.table.nbytes
                if run and (segment.alive > 2 * together or size > _LARGE):
                    break
                run.append(number)
            if len(run) > 1:
                self._rewrite(wide, stream, run)
        for number, segment in list(self.by_number.items()):
            if segment.alive < _ALIVE * len(segment.slots):
                self._rewrite(wide, segment.stream, [number])

    def _rewrite(self, wide: NDArray[np.int64], stream: int, numbers: list[int]) -> None:
        tables, slots = [], []
        for number in sorted(numbers):
            segment = self.by_number.pop(number)
            living = segment.slots >= 0
            whole = segment.alive == len(segment.slots)
            tables.append(segment.table if whole else segment.table.filter(pa.array(living)))
            slots.append(segment.slots[living])
        self.lay_down(wide, stream, pa.concat_tables(tables), np.concatenate(slots))

    def take(self, places: NDArray[np.int64], batch_table: Any) -> tuple[pa.Table, Any]:
        """Return the rows at `places` segment by segment, and the order in which they come.

        Parameters
        ----------
        places
            Where the rows lie; at least one.
        batch_table
            A function from places in the sequence at hand to their rows.
        """
        numbers = segment_of(places)
        if (numbers == numbers[0]).all():
            order = np.arange(len(places))
            runs = [(int(numbers[0]), row_of(places))]
        else:
            order = np.argsort(numbers, kind="stable")
            distinct, first = np.unique(numbers[order], return_index=True)
            rows = np.split(row_of(places[order]), first[1:])
            runs = list(zip((int(n) for n in distinct), rows, strict=True))
        tables = [
            batch_table(rows) if number == 0 else self.by_number[number].table.take(pa.array(rows))
            for number, rows in runs
        ]
        return pa.concat_tables(tables), order
