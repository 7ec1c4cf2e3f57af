"""The join of two tables: rows sorted by Spark within each shard, joined as they come by.

Nothing has to arrive in order and nothing is waited for, so no state is kept: Spark sorts,
spilling to disk what does not fit, and each partition is one pass with the memory of a join.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import StructField, StructType

from penstock.engine.checks import SIDES
from penstock.engine.sequence import ticks
from penstock.engine.state import start
from penstock.engine.step import Flow
from penstock.spark.cells import SLICES, Batch, Batches, slice_length
from penstock.spark.census import Census, between, census_of, empty, together
from penstock.spark.division import Division
from penstock.spark.joining import Joining
from penstock.spark.shards import label_of, shard_of
from penstock.spark.spec import Spec, fitted

if TYPE_CHECKING:
    from penstock.spark.join import Wanted

_LABEL, _TIME, _STREAM, _PART, _NUMBER, _CENSUS = (
    f"_penstock_{name}" for name in ("shard", "time", "stream", "part", "number", "census")
)
_TAGS = pa.schema(
    [
        (_LABEL, pa.int32()),
        (_TIME, pa.int64()),
        (
            _STREAM,
            pa.int32(),
        ),  # below 0 in rows of the census: those come before rows of their time
        (_PART, pa.int32()),
        (_NUMBER, pa.int64()),
        (_CENSUS, pa.binary()),
    ]
)
_DDL = f"{_LABEL} int, {_TIME} long, {_STREAM} int, {_PART} int, {_NUMBER} long, {_CENSUS} binary"
_KEPT = (_LABEL, _TIME, _STREAM, _CENSUS)
_FAR = 2**61  # from any event time
_TOGETHER = 64  # slices of the census that travel as one row
_PARTITIONS = "spark.sql.shuffle.partitions"


def joined(wanted: "Wanted") -> DataFrame:
    """Lay the join out on Spark."""
    spec, sides = wanted.spec, (wanted.left, wanted.right)
    tagged = [_tagged(frame, spec, stream) for stream, frame in enumerate(sides)]
    partitions = int(str(wanted.left.sparkSession.conf.get(_PARTITIONS, str(spec.shards))))
    rows = (
        tagged[0]
        .union(tagged[1])
        .repartition(min(partitions, spec.shards), _LABEL)
        .sortWithinPartitions(_LABEL, _TIME, _STREAM, _PART, _NUMBER)
        .drop(_PART, _NUMBER)
    )
    return rows.mapInArrow(joiner(spec), wanted.schema)


def _tagged(frame: DataFrame, spec: Spec, stream: int) -> DataFrame:
    """Return the rows of one side with their place in the sequence, beside room for the other's."""
    tags = cast(StructType, StructType.fromDDL(_DDL))
    given = [StructField(field.name, field.dataType) for field in frame.schema.fields]
    rows = frame.mapInArrow(tagger(spec.bare, stream), StructType([*tags.fields, *given]))
    columns: list[Column] = [F.col(field.name) for field in tags]
    for side, names in enumerate(schema.names for schema in spec.schemas):
        for at, name in enumerate(names):
            value = F.col(f"`{name}`") if side == stream else F.lit(None)
            columns.append(value.alias(f"_{side}_{at}"))
    return rows.select(*columns)


def tagger(spec: Spec, stream: int) -> Callable[[Batches], Batches]:
    """Return the function that says where in the sequence each row of one side comes."""

    def tag(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context: Any = TaskContext.get()
        yield from tagged(spec, stream, context.partitionId(), batches)

    return tag


def tagged(spec: Spec, stream: int, part: int, batches: Batches) -> Batches:
    """Say where in the sequence rows come; the census of them all comes last."""
    keys, time, length = spec.keys, spec.query.time[stream], slice_length(spec)
    labels = np.array([label_of(shard) for shard in range(spec.shards)], np.int32)
    census, number, schema = empty(spec.shards), 0, None
    for batch in batches:
        rows = fitted(pa.Table.from_batches([batch]), spec.schemas[stream])
        count = rows.num_rows
        columns = keys.read([rows[pair[stream]] for pair in spec.query.on])
        hashes, matchable = keys.hashes(columns)
        shards, times = shard_of(hashes, spec.shards), ticks(rows[time], name=time)
        timed = rows[time].is_valid().combine_chunks().to_numpy(zero_copy_only=False)
        if length:
            seen = matchable & timed
            census = together(
                [
                    census,
                    census_of(
                        times[seen], hashes[seen], shards[seen], length=length, count=spec.shards
                    ),
                ]
            )
        tags = [
            pa.array(labels[shards]),
            pa.array(times, mask=~timed),
            pa.array(np.full(count, stream, np.int32)),
            pa.array(np.full(count, part, np.int32)),
            pa.array(np.arange(number, number + count)),
            pa.nulls(count, pa.binary()),
        ]
        number += count
        schema = pa.schema([*_TAGS, *batch.schema])
        yield pa.RecordBatch.from_arrays([*tags, *batch.columns], schema=schema)
    if schema is not None and len(census.slices):
        yield _told(census, length, (stream, part), labels, schema)


def _told(
    census: Census, length: int, origin: tuple[int, int], labels: Any, schema: pa.Schema
) -> pa.RecordBatch:
    """Return the census as rows for every shard, some slices in each."""
    stream, part = origin
    blocks = np.unique(census.slices // _TOGETHER) * _TOGETHER
    bodies = [between(census, int(b), int(b) + _TOGETHER).to_bytes() for b in blocks]
    shards, count = len(labels), len(labels) * len(blocks)
    tags = [
        pa.array(np.tile(labels, len(blocks))),
        pa.array(np.repeat(blocks * length, shards)),
        pa.array(np.full(count, stream - len(SIDES), np.int32)),
        pa.array(np.full(count, part, np.int32)),
        pa.array(np.arange(count)),
        pa.array([body for body in bodies for _ in range(shards)], pa.binary()),
    ]
    rest = [pa.nulls(count, field.type) for field in list(schema)[len(_TAGS) :]]
    return pa.RecordBatch.from_arrays([*tags, *rest], schema=schema)


def joiner(spec: Spec) -> Callable[[Batches], Batches]:
    """Return the function that joins the sorted rows of a partition, shard by shard."""

    def run(batches: Batches) -> Batches:
        shards = {label_of(shard): shard for shard in range(spec.shards)}
        division, label, shard_join = Division(spec), None, None
        for batch in batches:
            for piece in _pieces(batch):
                found = piece.column(0)[0].as_py()
                if shard_join is None or found != label:
                    yield from shard_join.finish() if shard_join else ()
                    label, shard_join = found, _Sorted(spec, division, shards[found])
                yield from shard_join.take_in(piece)
        yield from shard_join.finish() if shard_join else ()

    return run


class _Sorted:
    """The join of one shard whose rows come in the order of the sequence."""

    def __init__(self, spec: Spec, division: Division, shard: int) -> None:
        self._spec, self._division, self._shard = spec, division, shard
        self._state = start(spec.plan(shard))
        self._census = [empty(spec.shards), empty(spec.shards)]
        self._slice: int | None = None

    def take_in(self, piece: pa.RecordBatch) -> Batches:
        """Yield the matches of some more rows."""
        streams = piece.column(_KEPT.index(_STREAM)).to_numpy()
        for at in np.flatnonzero(streams < 0):
            stream = int(streams[at]) + len(SIDES)
            told = Census.of_bytes(piece.column(_KEPT.index(_CENSUS))[int(at)].as_py())
            self._census[stream] = together([self._census[stream], told])
        if (streams < 0).any():
            piece = piece.filter(pa.array(streams >= 0))
        if piece.num_rows == 0:
            return
        times = piece.column(_KEPT.index(_TIME)).drop_null().to_numpy()
        batch = Batch(_sides(piece, self._spec), [int(t) for t in times[-1:]], self._census)
        pieces = self._division.pieces(self._shard, batch, self._census, self._slice)
        # Rows are sorted: what follows is no older than the last of these.
        first, last = (int(times[0]), int(times[-1])) if len(times) else (-_FAR, -_FAR)
        joining = Joining(self._state, pieces, ([first] * 2, [last] * 2))
        for matches in joining.tables():
            yield from matches.combine_chunks().to_batches()
        self._state, self._slice = joining.state, pieces[-1].slice
        if self._slice is not None:
            oldest = self._slice - 2 * SLICES
            self._census = [between(one, oldest, _FAR) for one in self._census]

    def finish(self) -> Batches:
        """Yield the matches of rows that waited for their instant to be whole."""
        for matches in Flow(self._state, [None, None], last=True):
            yield from matches.combine_chunks().to_batches()


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Cut a batch where a shard ends."""
    labels = batch.column(0).to_numpy()
    ends = [*(np.flatnonzero(np.diff(labels)) + 1), len(labels)]
    first = 0
    for end in ends:
        if end > first:
            yield batch.slice(first, end - first)
        first = end


def _sides(piece: pa.RecordBatch, spec: Spec) -> list[pa.Table | None]:
    """Return the rows of each side."""
    streams = piece.column(_KEPT.index(_STREAM)).to_numpy()
    tables: list[pa.Table | None] = []
    first = len(_KEPT)
    for stream, schema in enumerate(spec.schemas):
        columns = piece.columns[first : first + len(schema)]
        first += len(schema)
        rows = pa.Table.from_arrays(columns, schema.names)
        tables.append(fitted(rows.filter(pa.array(streams == stream)), schema))
    return tables
