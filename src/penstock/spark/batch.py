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
from pyspark.sql.types import StructType

from penstock.engine.sequence import ticks
from penstock.engine.state import State, start
from penstock.engine.step import Flow
from penstock.spark.cells import Batches
from penstock.spark.shards import label_of, shard_of
from penstock.spark.spec import Spec, fitted

if TYPE_CHECKING:
    from penstock.spark.join import Wanted

_LABEL, _TIME, _STREAM, _PART, _NUMBER = (
    f"_penstock_{name}" for name in ("shard", "time", "stream", "part", "number")
)
_TAGS = f"{_LABEL} int, {_TIME} long, {_STREAM} int, {_PART} int, {_NUMBER} long"
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
    tags = cast(StructType, StructType.fromDDL(_TAGS))
    schema = StructType([*tags.fields, *frame.schema.fields])
    rows = frame.mapInArrow(tagger(spec, stream), schema)
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
        keys, time = spec.plan(0).keys, spec.query.time[stream]
        labels = np.array([label_of(shard) for shard in range(spec.shards)], np.int32)
        number = 0
        for batch in batches:
            given = pa.Table.from_batches([batch])
            rows = fitted(given, spec.schemas[stream])
            count = rows.num_rows
            hashes, _ = keys.hashes(keys.read([rows[pair[stream]] for pair in spec.query.on]))
            untimed = rows[time].is_null().combine_chunks().to_numpy(zero_copy_only=False)
            tags = [
                pa.array(labels[shard_of(hashes, spec.shards)]),
                pa.array(ticks(rows[time], name=time), mask=untimed),
                pa.array(np.full(count, stream, np.int32)),
                pa.array(np.full(count, context.partitionId(), np.int32)),
                pa.array(np.arange(number, number + count)),
            ]
            number += count
            names = [_LABEL, _TIME, _STREAM, _PART, _NUMBER, *given.schema.names]
            yield pa.RecordBatch.from_arrays([*tags, *batch.columns], names)

    return tag


def joiner(spec: Spec) -> Callable[[Batches], Batches]:
    """Return the function that joins the sorted rows of a partition, shard by shard."""

    def run(batches: Batches) -> Batches:
        shards = {label_of(shard): shard for shard in range(spec.shards)}
        label, state = None, None
        for batch in batches:
            for piece in _pieces(batch):
                found = piece.column(0)[0].as_py()
                if found != label:
                    yield from _finished(state)
                    label, state = found, start(spec.plan(shards[found]))
                assert state is not None
                flow = Flow(state, _sides(piece, spec))
                yield from _batches(flow)
                state = flow.state
        yield from _finished(state)

    return run


def _finished(state: State | None) -> Batches:
    if state is not None:
        yield from _batches(Flow(state, (None, None), last=True))


def _batches(flow: Flow) -> Batches:
    for matches in flow:
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


def _sides(piece: pa.RecordBatch, spec: Spec) -> list[pa.Table]:
    """Return the rows of each side."""
    streams = piece.column(2).to_numpy()
    tables, first = [], 3
    for stream, schema in enumerate(spec.schemas):
        columns = piece.columns[first : first + len(schema)]
        first += len(schema)
        rows = pa.Table.from_arrays(columns, schema.names)
        mine = rows.filter(pa.array(streams == stream))
        tables.append(fitted(mine, schema))
    return tables
