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
from penstock.engine.plan import reach
from penstock.engine.sequence import ticks
from penstock.spark.census import Census, census_of, empty, together
from penstock.spark.shards import label_of, shard_of
from penstock.spark.spec import Spec, fitted

NEWS = 2  # in the column `stream`: no rows, but how far a stream has come where it was packed
PACKED = "shard int, stream int, part long, number long, newest long, body binary"
SLICES = 16  # of the census, in a window
_ROWS = 1 << 17  # packed at once
_NEVER = -(2**63)  # not null, for which a column of times would be made one of floats
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
    newest: int  # event time, in a cell of news
    body: bytes | None


class Batch(NamedTuple):
    """What the cells of a batch bring to a shard; a value for each stream."""

    tables: list[pa.Table | None]
    newest: list[int | None]  # event time, of all shards
    census: list[Census]  # of all shards


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


def slice_length(spec: Spec) -> int:
    """Return how long a slice of the census is in ticks; 0: no census is wanted."""
    query = spec.query
    if query.memory is None or spec.shards == 1 or query.counted or not query.bounded_windows:
        return 0
    return max(1, -(-max(reach(window) for window in query.windows) // SLICES))


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
    keys, length = spec.keys, slice_length(spec)
    census = empty(spec.shards)
    schema, on = spec.schemas[stream], [pair[stream] for pair in spec.query.on]
    time = spec.query.time[stream]
    newest: int | None = None
    number = 0
    for table in _gathered(batches):
        rows = fitted(table, schema).combine_chunks()
        hashes, matchable = keys.hashes(keys.read([rows[name] for name in on]))
        shards = shard_of(hashes, spec.shards)
        times = ticks(rows[time], name=time)
        timed = rows[time].is_valid().combine_chunks().to_numpy(zero_copy_only=False)
        if timed.any():
            latest = int(times[timed].max())
            newest = latest if newest is None else max(newest, latest)
        if length:
            count = matchable & timed
            found = census_of(
                times[count], hashes[count], shards[count], length=length, count=spec.shards
            )
            census = together([census, found])
        cells = []
        for shard, body in _cut(rows, shards, spec.shards):
            cells.append(Cell(label_of(shard), stream, part, number, _NEVER, body))
            number += 1
        yield _batch_of(cells)
    told = census.to_bytes() if length else None
    told_time = _NEVER if newest is None else newest
    news = [
        Cell(label_of(shard), NEWS + stream, part, number, told_time, told)
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


def batch_of(spec: Spec, frames: Iterator[Any]) -> Batch:
    """Put the cells of a shard together, in the order in which they were packed."""
    cells = [row for frame in frames for row in frame.itertuples(index=False)]
    cells.sort(key=lambda cell: (cell.stream, cell.part, cell.number))
    tables: list[pa.Table | None] = []
    newest: list[int | None] = []
    census: list[Census] = []
    for stream, schema in enumerate(spec.schemas):
        batches = [
            pa.ipc.read_record_batch(pa.py_buffer(cell.body), schema)
            for cell in cells
            if cell.stream == stream
        ]
        tables.append(pa.Table.from_batches(batches, schema) if batches else None)
        news = [cell for cell in cells if cell.stream == NEWS + stream]
        times = [int(cell.newest) for cell in news if int(cell.newest) != _NEVER]
        newest.append(max(times, default=None))
        told = [Census.of_bytes(cell.body) for cell in news if cell.body is not None]
        census.append(together([empty(spec.shards), *told]))
    return Batch(tables, newest, census)


def _batch_of(cells: list[Cell]) -> pa.RecordBatch:
    columns = list(zip(*cells, strict=True)) or [()] * len(_SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, _SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def unpacker(schema: pa.Schema) -> Callable[[Batches], Batches]:
    """Return the function that turns cells of the result into its rows."""

    def unpack(batches: Batches) -> Batches:
        for batch in batches:
            for body in batch.column(0):
                if body.is_valid:
                    yield pa.ipc.read_record_batch(body.as_buffer(), schema)

    return unpack
