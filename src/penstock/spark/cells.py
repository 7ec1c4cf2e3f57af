"""Rows on their way between operators: packed, many at a time, into the cells of a few rows.

Spark moves one row of a stream through Python at a tenth of the speed at which it shuffles
it.  So rows of one shard travel together, as one Arrow record batch in a column of bytes.

A cell says where it was packed and which it was there, for cells of one shard meet in any
order, and what the join makes of them must not depend on it.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.compiled import compiled
from penstock.engine.sequence import ticks
from penstock.spark.shards import label_of, shard_of
from penstock.spark.spec import Spec, fitted

NEWS = 2  # in the column `stream`: no rows, but how far a stream has come where it was packed
PACKED = "shard int, stream int, part long, number long, newest long, body binary"
_ROWS = 1 << 17  # packed at once
_BYTES = 48 << 20
_SCHEMA = pa.schema(
    [
        ("shard", pa.int32()),
        ("stream", pa.int32()),
        ("part", pa.int64()),
        ("number", pa.int64()),
        ("newest", pa.int64()),
        ("body", pa.binary()),
    ]
)
Batches = Iterator[pa.RecordBatch]


class Cell(NamedTuple):
    """One row of what is shuffled."""

    shard: int
    stream: int
    part: int
    number: int
    newest: int | None
    body: bytes | None


@compiled
def _sort(shards: Any, ends: Any, order: Any) -> None:
    """Write the rows in the order of their shards, and where each shard ends."""
    for i in range(len(shards)):
        ends[shards[i] + 1] += 1
    for shard in range(1, len(ends)):
        ends[shard] += ends[shard - 1]
    for i in range(len(shards)):
        order[ends[shards[i]]] = i
        ends[shards[i]] += 1


def packer(spec: Spec, stream: int) -> Callable[[Batches], Batches]:
    """Return the function that packs rows of one side."""

    def pack(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context: Any = TaskContext.get()
        # Partitions of the two sides are numbered in one row only once they are put together.
        part = 2 * context.partitionId() + stream if context else stream
        yield from packed(spec, stream, part, batches)

    return pack


def packed(spec: Spec, stream: int, part: int, batches: Batches) -> Batches:
    """Pack rows, and say at the end how far the stream has come."""
    keys = spec.plan(0).keys
    schema, on = spec.schemas[stream], [pair[stream] for pair in spec.query.on]
    time = spec.query.time[stream]
    newest: int | None = None
    number = 0
    for table in _gathered(batches):
        rows = fitted(table, schema).combine_chunks()
        times = rows[time].drop_null() if rows[time].null_count else rows[time]
        if len(times):
            latest = int(ticks(times, name=time).max())
            newest = latest if newest is None else max(newest, latest)
        hashes, _ = keys.hashes(keys.read([rows[name] for name in on]))
        cells = []
        for shard, body in _cut(rows, shard_of(hashes, spec.shards), spec.shards):
            cells.append(Cell(label_of(shard), stream, part, number, None, body))
            number += 1
        yield _batch_of(cells)
    news = [
        Cell(label_of(shard), NEWS + stream, part, number, newest, None)
        for shard in range(spec.shards)
    ]
    yield _batch_of(news)


def _gathered(batches: Batches) -> Iterator[pa.Table]:
    """Put Spark's batches, which are small, together to larger ones."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= _ROWS or size >= _BYTES:
            yield pa.Table.from_batches(waiting)
            waiting, rows, size = [], 0, 0
    if rows:
        yield pa.Table.from_batches(waiting)


def _cut(rows: pa.Table, shards: NDArray[np.int32], count: int) -> Iterator[tuple[int, bytes]]:
    """Yield the rows of each shard that has some, as bytes."""
    if count == 1:
        yield from ((0, body) for body in bodies(rows))
        return
    ends, order = np.zeros(count + 1, np.int64), np.empty(len(shards), np.int64)
    _sort(shards, ends, order)
    sorted_rows, first = rows.take(pa.array(order)), 0
    for shard in range(count):
        end = int(ends[shard])
        for body in bodies(sorted_rows.slice(first, end - first)):
            yield shard, body
        first = end


def bodies(table: pa.Table) -> Iterator[bytes]:
    """Yield a table as the bytes of record batches, without their schema."""
    for batch in table.combine_chunks().to_batches():
        if batch.num_rows:
            yield batch.serialize().to_pybytes()


def rows_of(body: bytes, schema: pa.Schema) -> pa.RecordBatch:
    """Return the rows of a cell."""
    return pa.ipc.read_record_batch(pa.py_buffer(body), schema)


def _batch_of(cells: list[Cell]) -> pa.RecordBatch:
    columns = list(zip(*cells, strict=True)) or [()] * len(_SCHEMA)
    arrays = [
        pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def unpacker(schema: pa.Schema) -> Callable[[Batches], Batches]:
    """Return the function that turns cells of the result into its rows."""

    def unpack(batches: Batches) -> Batches:
        for batch in batches:
            for body in batch.column(0):
                if body.is_valid:
                    yield pa.ipc.read_record_batch(body.as_buffer(), schema)

    return unpack
