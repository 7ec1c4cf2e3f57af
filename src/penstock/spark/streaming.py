"""The join of two streams: rows packed, shuffled by shard, joined with a memory, unpacked."""

import itertools
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from penstock.spark.cells import PACKED, packer, unpacker
from penstock.spark.health import METRICS, RECORD
from penstock.spark.operator import JOINED, ShardJoin

if TYPE_CHECKING:
    from penstock.spark.join import Wanted

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_BY_DEFAULT = "HDFSBackedStateStoreProvider"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
_numbers = itertools.count(1)


def joined(wanted: "Wanted") -> DataFrame:
    """Lay the join out on Spark."""
    spec = wanted.spec
    left, right = (
        frame.mapInArrow(packer(spec.bare, stream), PACKED)
        for stream, frame in enumerate((wanted.left, wanted.right))
    )
    _use_rocksdb(wanted.left)
    cells = (
        left.union(right)
        .groupBy("shard")
        .transformWithStateInPandas(
            ShardJoin(spec), outputStructType=JOINED, outputMode="append", timeMode="none"
        )
    )
    report = F.from_json("health", RECORD)
    told = [
        F.max(F.when(F.col("shard") == shard, report)).alias(f"shard_{shard}")
        for shard in range(spec.shards)
    ]
    cells = cells.observe(f"{METRICS}-{next(_numbers)}", *told)
    return cells.select("body").mapInArrow(unpacker(spec.output), wanted.schema)


def _use_rocksdb(frame: DataFrame) -> None:
    """Choose the only state store that can hold the join's state, unless one is chosen already."""
    conf = frame.sparkSession.conf
    if str(conf.get(_PROVIDER, _BY_DEFAULT)).endswith(_BY_DEFAULT):
        conf.set(_PROVIDER, _ROCKSDB)
        conf.set(_CHANGELOG, "true")
