"""Payload columns of a fixed width, read where they lie, however many segments they lie in.

Arrow takes rows from one array at a time, so rows of many segments had to be sorted by segment,
taken piece by piece and put together again: a dozen passes, and a dozen calls a segment.  Here
one pass follows each row's place to the value itself.  Columns of other types, or with nulls,
still go through Arrow.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.compiled import compiled, copy_from, copy_to, inner, prefetch, prefetch_at
from penstock.kernels.store import PLACE

_WORDS = {8: np.int8, 16: np.int16, 32: np.int32, 64: np.int64}
_SHIFT = np.int64(32)
_LOW = np.int64(0xFFFFFFFF)
_SLOT: Any = np.int64(4)  # bytes of a slot's number
_LEAST = 16  # segments for which room is made at once
_SOON = 64  # places that are looked up ahead: more than memory can be asked for at a time


class Source(NamedTuple):
    """Where the columns of one table begin in memory, and which of its rows are meant."""

    addresses: NDArray[np.int64]
    rows: NDArray[np.int64]


def is_plain(kind: pa.DataType) -> bool:
    """Say whether values of a type lie one after the other, in whole bytes."""
    return bool(pa.types.is_primitive(kind)) and kind.bit_width in _WORDS


def addresses_of(table: pa.Table) -> NDArray[np.int64] | None:
    """Return where each column of a table begins in memory, or None where Arrow has to be asked.

    The table must be kept for as long as the addresses are.
    """
    found = np.zeros(table.num_columns, np.int64)
    for at, column in enumerate(table.columns):
        kind = column.type
        if not is_plain(kind) or column.null_count or column.num_chunks > 1:
            return None
        if len(column):
            chunk = column.chunk(0)
            found[at] = chunk.buffers()[1].address + chunk.offset * (kind.bit_width // 8)
    return found


class Directory:
    """Where the columns and the slots of each segment begin in memory, by its number."""

    def __init__(self) -> None:
        self.first = 1  # the number that the first line speaks of
        self.columns = np.zeros((0, 0), np.int64)
        self.slots = np.zeros(0, np.int64)

    @property
    def nbytes(self) -> int:
        """What the directory takes."""
        return self.columns.nbytes + self.slots.nbytes

    def add(
        self, number: int, oldest: int, addresses: NDArray[np.int64], slots: NDArray[np.int32]
    ) -> None:
        """Note where a segment lies; none below `oldest` is left."""
        width = max(self.columns.shape[1], len(addresses))
        if number - self.first >= len(self.slots) or width > self.columns.shape[1]:
            self._move(oldest, number, width)
        self.columns[number - self.first, : len(addresses)] = addresses
        self.slots[number - self.first] = slots.ctypes.data

    def _move(self, oldest: int, number: int, width: int) -> None:
        lines = max(_LEAST, (number - oldest + 1) * 3 // 2)
        columns, slots = np.zeros((lines, width), np.int64), np.zeros(lines, np.int64)
        kept = slice(max(oldest - self.first, 0), min(number - self.first, len(self.slots)))
        count = max(kept.stop - kept.start, 0)
        start = max(self.first - oldest, 0)
        if count:
            columns[start : start + count, : self.columns.shape[1]] = self.columns[kept]
            slots[start : start + count] = self.slots[kept]
        self.first, self.columns, self.slots = oldest, columns, slots


NOWHERE_ELSE = Directory()  # for rows of the batch at hand alone


def _fresh(count: int, kind: Any) -> NDArray[Any]:
    """Return an array in memory that Arrow manages, and so keeps for the next one."""
    return np.frombuffer(pa.allocate_buffer(count * np.dtype(kind).itemsize), kind, count)


@inner
def _address(
    bases: Any, column: int, first: int, current: int, rows: Any, place: int, width: int
) -> int:
    """Return where a value of the row at a place lies; in segment 0 that is the batch at hand."""
    segment, row = place >> _SHIFT, place & _LOW
    if segment == 0:
        return current + rows[row] * width
    return bases[segment - first, column] + row * width


@compiled
def _gather(
    bases: Any, column: int, first: int, current: int, rows: Any, places: Any, into: Any
) -> None:
    width = into.itemsize
    for i in range(len(places)):
        if i + _SOON < len(places):
            soon = places[i + _SOON] + 0
            prefetch_at(_address(bases, column, first, current, rows, soon, width))
        address = _address(bases, column, first, current, rows, places[i] + 0, width)
        copy_from(address, into, i)


def gather(
    schema: pa.Schema,
    columns: Sequence[str],
    directory: Directory,
    batch: Source,
    places: NDArray[np.int64],
) -> pa.Table:
    """Return the rows at `places`, in that order; in segment 0 these are rows of the batch."""
    arrays, fields = [], []
    for at, name in enumerate(columns):
        field = schema.field(name)
        into = _fresh(len(places), _WORDS[field.type.bit_width])
        current = int(batch.addresses[at])
        _gather(directory.columns, at, directory.first, current, batch.rows, places, into)
        arrays.append(pa.Array.from_buffers(field.type, len(into), [None, pa.py_buffer(into)]))
        fields.append(field)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


@compiled
def places_of_pairs(
    pairs: Any, held: int, new: int, flags: Any, of_stream: int, left: Any, right: Any
) -> None:
    """Write, of each pair, the place of its left row and that of its right one."""
    for i in range(len(pairs)):
        row = pairs[i, new]
        if flags[row, of_stream] == 0:
            left[i], right[i] = row, pairs[i, held]
        else:
            left[i], right[i] = pairs[i, held], row


@compiled
def mark_dead(slots: Any, first: int, places: Any, died: Any, nobody: Any) -> None:
    """Strike rows out of their segments, and count them by segment."""
    for i in range(len(places)):
        line = (places[i] >> _SHIFT) - first
        copy_to(slots[line] + _SLOT * (places[i] & _LOW), nobody, 0)
        died[line] += 1


@compiled
def write_places(wide: Any, slots: Any, first: int) -> None:
    """Tell slots that their rows lie one after the other, from the place `first` on."""
    for i in range(len(slots)):
        if i + _SOON < len(slots):
            prefetch(wide, slots[i + _SOON] + 0)
        wide[slots[i], PLACE] = first + i
