"""The payload of held rows: immutable segments, few and mostly alive.

A batch's survivors become one new segment.  Four segments of like size are merged, and
one that has lost two fifths of its rows is rewritten, so that the number of small
segments grows with the logarithm of the rows and a row is copied a few times in its life.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.columns import (
    NO_BATCH,
    Directory,
    Packed,
    mark_dead,
    pack,
    packed,
    write_places,
)
from penstock.engine.compact import compacted
from penstock.kernels.store import PLACE

NOWHERE = np.int64(-1)  # the place of a row that nothing is kept of but numbers
_SHIFT = 32
_LOW = np.int64(0xFFFFFFFF)
_ALIVE = 0.6
_LARGE = 1 << 20  # bytes: merging larger ones would hold too much twice while it copies
_BITS_A_LEVEL = 2  # segments are of like size if they differ by less than a factor of four
_TOGETHER = 4  # so many of like size become one: a row is copied once for each factor of four
_SPAN = 16  # numbers apart, for each segment there is: keeps the directory short
_NOBODY = np.full(1, -1, np.int32)
_UNKNOWN = np.zeros(0, np.uint8)
LAST = 2**31 - 1  # the number of a segment takes half of a place, which has a sign


def place_of(segment: int, rows: Any) -> Any:
    """Return the places of rows of a segment."""
    return (np.int64(segment) << _SHIFT) | rows


def segment_of(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the segment numbers of places."""
    return places >> _SHIFT


def row_of(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows of places within their segments."""
    return places & _LOW


def _settled(rows: pa.Table | Packed) -> pa.Table | Packed:
    """Return rows as they are kept: packed where that can be, else with no more than their own."""
    if isinstance(rows, Packed):
        return rows
    table = rows.combine_chunks()
    kept = packed(table)
    return compacted(table) if kept is None else kept


@dataclass
class Segment:
    """Rows that were laid down together, and the slots that still hold them."""

    stream: int
    rows: pa.Table | Packed
    slots: NDArray[np.int32]  # -1: the row is gone
    alive: int
    payload: int = 0  # bytes; Arrow takes its time to add them up

    @property
    def plain(self) -> bool:
        """Whether the directory knows where the rows lie."""
        return isinstance(self.rows, Packed)

    def take(self, rows: NDArray[np.int64]) -> pa.Table:
        """Return some of the rows."""
        if isinstance(self.rows, Packed):
            return self.rows.take(rows)
        return self.rows.take(pa.array(rows))

    def table(self) -> pa.Table:
        """Return all the rows."""
        if isinstance(self.rows, Packed):
            return self.rows.take(np.arange(self.rows.count))
        return self.rows


class Segments:
    """All segments of a join, by number; 0 is the batch at hand and never here."""

    def __init__(self) -> None:
        self.by_number: dict[int, Segment] = {}
        self.directory = Directory()
        self._next = 1

    @property
    def nbytes(self) -> int:
        """What the segments take."""
        segments = self.by_number.values()
        return self.directory.nbytes + sum(s.payload + s.slots.nbytes for s in segments)

    def lay_down(
        self, wide: NDArray[np.int64], stream: int, rows: pa.Table | Packed, slots: Any
    ) -> None:
        """Add rows as a new segment, and tell their slots where they lie."""
        if isinstance(rows, pa.Table) and rows.num_columns == 0:
            wide[slots, PLACE] = NOWHERE
            return
        if len(slots) == 0:
            return
        if self._next > LAST:
            self._number_anew(wide)
        number, self._next = self._next, self._next + 1
        write_places(wide, slots, int(place_of(number, 0)))
        self._add(number, Segment(stream, _settled(rows), slots, len(slots)))

    @property
    def following(self) -> int:
        """The number of the segment that comes next."""
        return self._next

    def resume(self, segments: Mapping[int, Segment], following: int) -> None:
        """Take over segments as they were."""
        for number in sorted(segments):
            self._add(number, segments[number])
        self._next = following

    def restore(self, number: int, segment: Segment) -> None:
        """Put back a segment that was saved."""
        self._next = max(self._next, number + 1)
        segment.rows = _settled(segment.rows)
        self._add(number, segment)

    def _add(self, number: int, segment: Segment) -> None:
        self.by_number[number] = segment
        segment.payload = segment.rows.nbytes
        known = segment.rows.values if isinstance(segment.rows, Packed) else _UNKNOWN
        self.directory.add(number, min(self.by_number), known, segment.slots)

    def _number_anew(self, wide: NDArray[np.int64]) -> None:
        """Give all segments low numbers: years of small batches use up those there are."""
        segments = [self.by_number[number] for number in sorted(self.by_number)]
        self.by_number, self.directory, self._next = {}, Directory(), 1
        for number, segment in enumerate(segments, 1):
            living = np.flatnonzero(segment.slots >= 0)
            wide[segment.slots[living], PLACE] = place_of(number, living)
            self._next = number + 1
            self._add(number, segment)

    def are_plain(self, stream: int) -> bool:
        """Say whether the directory knows all columns of all segments of a stream."""
        return all(s.plain for s in self.by_number.values() if s.stream == stream)

    def bury(self, places: NDArray[np.int64]) -> None:
        """Note which rows are gone."""
        if len(places) == 0 or places[0] == NOWHERE:
            return
        died = np.zeros(len(self.directory.slots), np.int64)
        mark_dead(self.directory.slots, self.directory.first, places, died, _NOBODY.ctypes.data)
        for line in np.flatnonzero(died):
            self.by_number[self.directory.first + int(line)].alive -= int(died[line])

    def tidy(self, wide: NDArray[np.int64]) -> None:
        """Drop, rewrite and merge segments until few are left and most of their rows live."""
        levels: dict[tuple[int, int], list[int]] = {}
        for number, segment in list(self.by_number.items()):
            if segment.alive == 0:
                del self.by_number[number]
            elif segment.payload <= _LARGE:
                level = (segment.alive.bit_length() - 1) // _BITS_A_LEVEL
                levels.setdefault((segment.stream, level), []).append(number)
        for (stream, _), numbers in levels.items():
            if len(numbers) >= _TOGETHER:
                self._rewrite(wide, stream, numbers)
        for number, segment in list(self.by_number.items()):
            if segment.alive < _ALIVE * len(segment.slots):
                self._rewrite(wide, segment.stream, [number])
        if self.by_number:
            oldest = min(self.by_number)
            if self._next - oldest > _SPAN + _SPAN * len(self.by_number):
                self._rewrite(wide, self.by_number[oldest].stream, [oldest])

    def _rewrite(self, wide: NDArray[np.int64], stream: int, numbers: list[int]) -> None:
        segments = [(number, self.by_number.pop(number)) for number in numbers]
        living = [np.flatnonzero(segment.slots >= 0) for _, segment in segments]
        slots = [s.slots[rows] for (_, s), rows in zip(segments, living, strict=True)]
        rows: pa.Table | Packed
        if all(segment.plain for _, segment in segments):
            schema = segments[0][1].rows.schema
            places = [place_of(n, rows) for (n, _), rows in zip(segments, living, strict=True)]
            rows = pack(schema, self.directory, NO_BATCH, np.concatenate(places))
        else:
            rows = pa.concat_tables(
                segment.take(rows) for (_, segment), rows in zip(segments, living, strict=True)
            )
        self.lay_down(wide, stream, rows, np.concatenate(slots))

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
            batch_table(rows) if number == 0 else self.by_number[number].take(rows)
            for number, rows in runs
        ]
        return pa.concat_tables(tables), order
