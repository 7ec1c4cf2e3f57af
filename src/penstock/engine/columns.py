"""Payload columns of a fixed width, read where they lie, however many segments they lie in.

Arrow takes rows from one array at a time, so rows of many segments had to be sorted by segment,
taken piece by piece and put together again: a dozen passes, and a dozen calls a segment.  Here
one pass follows each row's place to its values.  In a segment the values of a row lie one beside
the other, so that a partner costs one wait for memory and not one for each of its columns.
Columns of other types, or with nulls, still go through Arrow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.compiled import (
    compiled,
    copy_1,
    copy_2,
    copy_4,
    copy_8,
    inner,
    prefetch,
    prefetch_at,
)
from penstock.kernels.pages import alone
from penstock.kernels.store import PLACE

_WIDTHS = (8, 16, 32, 64)  # bits
_SHIFT = np.int64(32)
_LOW = np.int64(0xFFFFFFFF)
_ONLY = 1  # the number of a segment that is alone
_SLOT: Any = np.int64(4)  # bytes of a slot's number
_LEAST = 16  # segments for which room is made at once
_SOON = 64  # places that are looked up ahead: more than memory can be asked for at a time


class Source(NamedTuple):
    """Where the columns of one table begin in memory, and which of its rows are meant."""

    addresses: NDArray[np.int64]
    rows: NDArray[np.int64]


class Layout(NamedTuple):
    """How the values of a row lie one beside the other."""

    widths: NDArray[np.int64]  # bytes, per column
    offsets: NDArray[np.int64]
    apart: int  # from a row to the next


@dataclass(frozen=True)
class Packed:
    """Rows whose values lie one beside the other."""

    schema: pa.Schema
    values: NDArray[np.uint8]
    count: int

    @property
    def nbytes(self) -> int:
        """What the rows take."""
        return self.values.nbytes

    def take(self, rows: NDArray[np.int64]) -> pa.Table:
        """Return some of the rows."""
        alone = Directory()
        alone.add(_ONLY, _ONLY, self.values, np.zeros(0, np.int32))
        return gather(self.schema, self.schema.names, alone, NO_BATCH, (_ONLY << _SHIFT) | rows)


NO_BATCH = Source(np.zeros(0, np.int64), np.zeros(0, np.int64))


def is_plain(kind: pa.DataType) -> bool:
    """Say whether values of a type lie one after the other, in whole bytes."""
    return bool(pa.types.is_primitive(kind)) and kind.bit_width in _WIDTHS


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
    """Where the rows and the slots of each segment begin in memory, by its number."""

    def __init__(self) -> None:
        self.first = 1  # the number that the first line speaks of
        self.rows = np.zeros(0, np.int64)
        self.slots = np.zeros(0, np.int64)

    @property
    def nbytes(self) -> int:
        """What the directory takes."""
        return self.rows.nbytes + self.slots.nbytes

    def add(
        self, number: int, oldest: int, values: NDArray[np.uint8], slots: NDArray[np.int32]
    ) -> None:
        """Note where a segment lies; none below `oldest` is left."""
        if number - self.first >= len(self.slots):
            self._move(oldest, number)
        self.rows[number - self.first] = values.ctypes.data
        self.slots[number - self.first] = slots.ctypes.data

    def _move(self, oldest: int, number: int) -> None:
        lines = max(_LEAST, (number - oldest + 1) * 3 // 2)
        rows, slots = np.zeros(lines, np.int64), np.zeros(lines, np.int64)
        kept = slice(max(oldest - self.first, 0), min(number - self.first, len(self.slots)))
        count = max(kept.stop - kept.start, 0)
        start = max(self.first - oldest, 0)
        if count:
            rows[start : start + count] = self.rows[kept]
            slots[start : start + count] = self.slots[kept]
        self.first, self.rows, self.slots = oldest, rows, slots


NOWHERE_ELSE = Directory()  # for rows of the batch at hand alone


def _fresh(size: int) -> NDArray[np.uint8]:
    """Return bytes in memory that Arrow manages, and so keeps for the next ones."""
    return np.frombuffer(pa.allocate_buffer(size), np.uint8, size)


def _layout(schema: pa.Schema) -> Layout:
    widths = np.array([kind.bit_width // 8 for kind in schema.types], np.int64)
    ends = np.cumsum(widths)
    return Layout(widths, ends - widths, int(ends[-1]) if len(ends) else 0)


@inner
def _copy(source: int, target: int, width: int) -> None:
    if width == 8:
        copy_8(source, target)
    elif width == 4:
        copy_4(source, target)
    elif width == 2:
        copy_2(source, target)
    else:
        copy_1(source, target)


@compiled
def _write_rows(
    held: Any,
    first: int,
    layout: Layout,
    current: Any,
    rows: Any,
    places: Any,
    into: Any,
    steps: Any,
) -> None:
    """Copy the rows at `places`; each column begins at `into` and goes on a step further."""
    widths, offsets, apart = layout
    for i in range(len(places)):
        if i + _SOON < len(places):
            soon = places[i + _SOON] >> _SHIFT
            if soon != 0:
                address = held[soon - first] + (places[i + _SOON] & _LOW) * apart
                prefetch_at(address)
                prefetch_at(address + apart - 1)
        segment, row = places[i] >> _SHIFT, places[i] & _LOW
        if segment == 0:
            row = rows[row]
            for column in range(len(widths)):
                width = widths[column] + 0
                _copy(current[column] + row * width, into[column] + i * steps[column], width)
        else:
            address = held[segment - first] + row * apart
            for column in range(len(widths)):
                target = into[column] + i * steps[column]
                _copy(address + offsets[column], target, widths[column] + 0)


def gather(
    schema: pa.Schema,
    columns: Sequence[str],
    directory: Directory,
    batch: Source,
    places: NDArray[np.int64],
) -> pa.Table:
    """Return the rows at `places`, in that order; in segment 0 these are rows of the batch."""
    fields = pa.schema([schema.field(name) for name in columns])
    layout = _layout(fields)
    columns_of = [_fresh(len(places) * int(width)) for width in layout.widths]
    into = np.array([values.ctypes.data for values in columns_of], np.int64)
    held = (directory.rows, directory.first)
    _write_rows(*held, layout, batch.addresses, batch.rows, places, into, layout.widths)
    arrays = [
        pa.Array.from_buffers(kind, len(places), [None, pa.py_buffer(values)])
        for kind, values in zip(fields.types, columns_of, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=fields)


def pack(
    schema: pa.Schema, directory: Directory, batch: Source, places: NDArray[np.int64]
) -> Packed:
    """Return the rows at `places`, in that order, the values of each one beside the other."""
    layout = _layout(schema)
    values = alone(len(places) * layout.apart)
    into = values.ctypes.data + layout.offsets
    steps = np.full(len(into), layout.apart, np.int64)
    held = (directory.rows, directory.first)
    _write_rows(*held, layout, batch.addresses, batch.rows, places, into, steps)
    return Packed(schema, values, len(places))


def packed(table: pa.Table) -> Packed | None:
    """Return the rows of a table packed, or None where Arrow has to keep them."""
    addresses = addresses_of(table)
    if addresses is None:
        return None
    rows = np.arange(table.num_rows)
    return pack(table.schema, NOWHERE_ELSE, Source(addresses, rows), rows)


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
def mark_dead(slots: Any, first: int, places: Any, died: Any, nobody: int) -> None:
    """Strike rows out of their segments, and count them by segment.

    `nobody` is where the number lies that is written in place of their slots'.
    """
    for i in range(len(places)):
        line = (places[i] >> _SHIFT) - first
        copy_4(nobody, slots[line] + _SLOT * (places[i] & _LOW))
        died[line] += 1


@compiled
def write_places(wide: Any, slots: Any, first: int) -> None:
    """Tell slots that their rows lie one after the other, from the place `first` on."""
    for i in range(len(slots)):
        if i + _SOON < len(slots):
            prefetch(wide, slots[i + _SOON] + 0)
        wide[slots[i], PLACE] = first + i
