"""From the tables of a batch to the sequence: rows in the order (time, stream, arrival)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.compiled import compiled
from penstock.engine.checks import is_event_time
from penstock.engine.columns import Source, addresses_of
from penstock.engine.plan import Plan
from penstock.engine.scratch import borrow, hand_back
from penstock.errors import InvalidData
from penstock.kernels.terms import (
    KEY,
    MATCHABLE,
    OF_STREAM,
    ROW_COST,
    ROW_PLACE,
    TIME,
    Batch,
)

CURRENT = 0  # the segment number of the rows of the batch at hand
LATEST = 2**61  # event times beyond this would overflow with a window added
# How many of a unit make a microsecond, and how many microseconds a unit makes.
_UNITS = {
    "one": (1, 1),
    "ns": (1_000, 1),
    "us": (1, 1),
    "ms": (1, 1_000),
    "s": (1, 10**6),
    "day": (1, 86_400 * 10**6),
}
_MOST_IMPORTANT = 1e100
_LISTS = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)


class Sequenced(NamedTuple):
    """A batch as kernels see it, and how to find its rows in the tables again."""

    batch: Batch
    kept: tuple[pa.Table, ...]  # per stream, of rows with an event time what stays with them
    row: NDArray[np.int64]  # per place in the sequence, the row in its table
    untimed: list[int]  # per stream, rows without an event time
    slots: NDArray[np.int32]  # filled in as rows are taken in
    sources: tuple[Source | None, ...]  # per stream, where `kept` lies; None: ask Arrow

    def forget(self) -> None:
        """Hand back what was borrowed, once the batch is taken in."""
        hand_back(self.row, self.batch.numbers, self.batch.flags)


def ticks(column: pa.ChunkedArray, *, name: str) -> NDArray[np.int64]:
    """Return event times as integers: microseconds, or the unit of a column of numbers.

    A null becomes 0; times finer than a microsecond are rounded down.
    """
    numbers = _numbers(column, name=name)
    per_tick, ticks_per = _UNITS[_unit(column.type)]
    values = np.asarray(numbers.fill_null(0).to_numpy(), np.int64)
    if per_tick > 1:
        values = values // per_tick
    return values * ticks_per if ticks_per > 1 else values


def refuse_times(plan: Plan, tables: Sequence[pa.Table]) -> None:
    """Refuse a batch with event times that lie too far away."""
    for table, name in zip(tables, plan.query.time, strict=True):
        _numbers(table[name], name=name)


def _numbers(column: pa.ChunkedArray, *, name: str) -> pa.ChunkedArray:
    """Return event times as integers in their own unit."""
    kind = column.type
    if not is_event_time(kind):
        raise InvalidData(
            f"time={name!r}: {kind} is not an event time; use a timestamp, a date or an integer."
        )
    numbers = column.cast(pa.int32()) if pa.types.is_date32(kind) else column
    numbers = numbers if pa.types.is_integer(numbers.type) else numbers.cast(pa.int64())
    per_tick, ticks_per = _UNITS[_unit(kind)]
    least, most = pc.min_max(numbers).as_py().values()
    latest = LATEST * per_tick // ticks_per
    if least is not None and not -latest < least <= most < latest:
        raise InvalidData(
            f"time={name!r}: event times must lie between -2**61 and 2**61, in microseconds or in "
            "the unit of a column of numbers; correct the rows that lie beyond, or leave them out."
        )
    return numbers.cast(pa.int64())


def _unit(kind: pa.DataType) -> str:
    if pa.types.is_date(kind):
        return "day" if pa.types.is_date32(kind) else "ms"
    return str(kind.unit) if pa.types.is_timestamp(kind) else "one"


def row_bytes(table: pa.Table) -> NDArray[np.int64]:
    """Return what each row's payload takes in memory, offsets and null marks included."""
    total = np.zeros(table.num_rows, np.int64)
    for column in table.columns:
        total += _value_bytes(column.combine_chunks())
    return total


def _value_bytes(array: pa.Array) -> Any:
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _value_bytes(array.dictionary_decode()) + kind.index_type.bit_width // 8
    if isinstance(array, pa.ExtensionArray):
        return _value_bytes(array.storage)
    if pa.types.is_struct(kind):
        return sum(
            (_value_bytes(child) for child in array.flatten()), np.ones(len(array), np.int64)
        )
    if pa.types.is_map(kind):
        array = array.cast(pa.list_(pa.struct([("key", kind.key_type), ("value", kind.item_type)])))
        kind = array.type
    if any(is_list(kind) for is_list in _LISTS):
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
        items = np.concatenate([[0], np.cumsum(_value_bytes(pc.list_flatten(array)))])
        ends = np.cumsum(lengths)
        return (items[ends] - items[ends - lengths]).astype(np.int64) + 9
    if pa.types.is_null(kind):
        return np.zeros(len(array), np.int64)
    try:
        return np.full(len(array), kind.bit_width // 8 + 1, np.int64)
    except ValueError:  # no fixed width: text and bytes
        lengths = pc.fill_null(pc.binary_length(array.cast(pa.large_binary())), 0)
        return np.asarray(lengths.to_numpy(zero_copy_only=False), np.int64) + 9


def importance_of(table: pa.Table, column: str | None) -> NDArray[np.float64]:
    """Return a side's importance: 1 without a column, 0 where it is null or NaN.

    Beyond 1e100 either way it counts as that, so that products and sums stay numbers.
    """
    if column is None:
        return np.ones(table.num_rows)
    values = table[column].cast(pa.float64(), safe=False).combine_chunks().fill_null(0.0)
    finite = np.nan_to_num(values.to_numpy(zero_copy_only=False), nan=0.0)
    return np.clip(finite, -_MOST_IMPORTANT, _MOST_IMPORTANT)


def sequence(plan: Plan, tables: Sequence[pa.Table | None]) -> Sequenced:
    """Read keys and times, and bring the rows of all streams into one order."""
    given: list[pa.Table] = []
    untimed, times, hashes, valid = [], [], [], []
    for stream, offered in enumerate(tables):
        table = plan.accept(stream, offered)
        name = plan.query.time[stream]
        nulls = table[name].null_count
        if nulls:
            table = table.filter(table[name].is_valid())
        untimed.append(nulls)
        given.append(table)
        times.append(ticks(table[name], name=name))
        columns = plan.keys.read([table[pair[stream]] for pair in plan.query.on])
        key, matchable = plan.keys.hashes(columns)
        hashes.append(key)
        valid.append(matchable)
    time = np.concatenate(times)
    rows, left = len(time), len(times[0])
    row, flags = borrow((rows,), np.int64), borrow((rows, 2), np.int8)
    numbers = borrow((rows, 4), np.int64)
    if not _merge(time, left, flags, row):
        order = np.argsort(time, kind="stable")
        row[:], flags[:, 0] = order - left * (order >= left), order >= left
    _write(np.concatenate(hashes), time, np.concatenate(valid), left, row, flags, numbers)
    order = row
    if plan.batch_columns or plan.costed:
        order = row + np.where(flags[:, 0] == 1, left, 0)
    if plan.costed:
        numbers[:, 3] = np.concatenate([plan.cost_of(row_bytes(table)) for table in given])[order]
    worth = np.zeros((rows, plan.batch_columns))
    if plan.query.valued:
        columns_of = zip(given, plan.query.importance, strict=True)
        worth[:, 0] = np.concatenate([importance_of(t, column) for t, column in columns_of])[order]
    if plan.known is not None:
        expected = [plan.known.of(1 - stream, key) for stream, key in enumerate(hashes)]
        worth[:, 1] = np.concatenate(expected)[order]
    slots = np.full(rows, -1, np.int32)
    batch = Batch(numbers, flags, worth)
    kept = tuple(
        table.select(names).combine_chunks()
        for table, names in zip(given, plan.columns, strict=True)
    )
    known = tuple(addresses_of(table) for table in kept)
    sources = tuple(None if known is None else Source(known, row) for known in known)
    return Sequenced(batch, kept, row, untimed, slots, sources)


@compiled
def _merge(time: Any, left: int, flags: Any, row: Any) -> bool:
    """Bring rows of two streams, both in the order of time, into one; say whether they were so.

    The first `left` times are the left stream's.
    """
    for i in range(1, len(time)):
        if i != left and time[i] < time[i - 1]:
            return False
    a, b = 0, left
    for at in range(len(time)):
        if b == len(time) or (a < left and time[a] <= time[b]):
            flags[at, OF_STREAM], row[at] = 0, a
            a += 1
        else:
            flags[at, OF_STREAM], row[at] = 1, b - left
            b += 1
    return True


@compiled
def _write(
    hashes: Any, time: Any, valid: Any, left: int, row: Any, flags: Any, numbers: Any
) -> None:
    for at in range(len(row)):
        i = row[at] + (left if flags[at, OF_STREAM] == 1 else 0)
        numbers[at, KEY], numbers[at, TIME] = hashes[i], time[i]
        numbers[at, ROW_PLACE], numbers[at, ROW_COST] = at, 0
        flags[at, MATCHABLE] = valid[i]
