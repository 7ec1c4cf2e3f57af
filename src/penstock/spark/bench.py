"""The join on Spark beside what a user would pick instead, and beside less than a join."""

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from penstock.policies import by_name
from penstock.query import JoinQuery, Window, pairs_of
from penstock.spark.cells import PACKED, packer, unpacker
from penstock.spark.health import health
from penstock.spark.join import join
from penstock.spark.session import STATE_STORE, embedded
from penstock.spark.spec import Spec
from penstock.spark.types import arrow_schema

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_DEFAULT_STORE = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
_CONF = {
    # The second compiler of the JVM pays in runs as long as these.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=4",
    "spark.driver.memory": "6g",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
}
# Microseconds between two rows of a stream; the first comes at 1, since Spark's join drops rows of
# its very first moment, 1970, as late.
_APART = 1000
_SHARDS = 2


@dataclass(frozen=True)
class Work:
    """Two streams to be joined.

    Parameters
    ----------
    name
        What the table calls it.
    rows
        Of each stream.
    batch
        Rows of a batch, of both streams together.
    keys
        Different keys.
    skew
        The exponent of Zipf's law; which keys are frequent differs between the streams.
    window
        For how many rows' time of its stream a row finds partners.
    wide
        Whether the key is a text, and rows carry 100 bytes of text besides.
    """

    name: str
    rows: int
    batch: int
    keys: int
    skew: float
    window: int
    wide: bool = False


@dataclass(frozen=True)
class Run:
    """What one query did, in its batches after the first: that one starts processes.

    Attributes
    ----------
    rows_per_second
        Over the whole time of the batches, planning and commits included.
    batch_seconds, commit_seconds
        Of the middle batch.
    checkpoint_bytes
        Written for one batch.
    held
        Rows in the state at the end.
    bytes_per_row
        Of state, for each of them.
    matches
        Made by the whole query.
    """

    rows_per_second: float
    batch_seconds: float
    commit_seconds: float
    checkpoint_bytes: float
    held: int
    bytes_per_row: float
    matches: int


class Bench:
    """Runs of queries, each in a checkpoint of its own, on streams that are files.

    Parameters
    ----------
    cores
        How many tasks Spark runs at once; state has as many partitions.
    """

    def __init__(self, cores: int) -> None:
        self._spark = embedded(cores, conf=_CONF)
        self._folder = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
        self._written: dict[Work, Path] = {}

    def close(self) -> None:
        """Throw away what was written."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, way: str, work: Work) -> Run:
        """Run one way to join once.

        Parameters
        ----------
        way
            One of `WAYS`, or a share of the exact join's memory, such as `"10%"`.
        work
            Its streams are written to files before the first run.
        """
        folder = self._files(work)
        frame = WAYS.get(way, _budgeted(way))(self._spark, folder, work)
        checkpoint = Path(tempfile.mkdtemp(dir=self._folder))
        with self._store(way):
            query = (
                frame.observe("made", F.count(F.lit(1)).alias("rows"))
                .writeStream.format("noop")
                .option("checkpointLocation", str(checkpoint))
                .trigger(availableNow=True)
                .start()
            )
            query.awaitTermination()
        run = _measured(query, checkpoint)
        shutil.rmtree(checkpoint, ignore_errors=True)
        return run

    @contextmanager
    def _store(self, way: str) -> Iterator[None]:
        before = str(self._spark.conf.get(_PROVIDER))
        self._spark.conf.set(_PROVIDER, _DEFAULT_STORE if way == NATIVE else STATE_STORE)
        try:
            yield
        finally:
            self._spark.conf.set(_PROVIDER, before)

    def _files(self, work: Work) -> Path:
        if work not in self._written:
            folder = Path(tempfile.mkdtemp(dir=self._folder))
            for stream in (0, 1):
                _write(folder / f"{stream}", work, np.random.default_rng([stream, work.rows]))
            self._written[work] = folder
        return self._written[work]


def _write(folder: Path, work: Work, chance: np.random.Generator) -> None:
    """Write one stream as files that are a batch's part each."""
    folder.mkdir()
    shares = np.cumsum(1.0 / np.arange(1, work.keys + 1) ** work.skew)
    drawn = np.searchsorted(shares / shares[-1], chance.random(work.rows))
    keys: Any = chance.permutation(work.keys)[drawn]
    if work.wide:
        keys = pa.array([f"key-{key:012d}" for key in keys])
    columns = {
        "key": keys,
        "ts": pa.array(np.arange(1, work.rows + 1) * _APART, pa.timestamp("us", "UTC")),
        "value": chance.random(work.rows),
        "row": np.arange(work.rows),
    }
    if work.wide:
        columns["text"] = pa.array([f"{row:0100d}" for row in range(work.rows)])
    table, step = pa.table(columns), work.batch // 2
    for number, begin in enumerate(range(0, work.rows, step)):
        pq.write_table(table.slice(begin, step), folder / f"{number:05d}.parquet")
        time.sleep(0.002)  # files are read in the order of their times


def _stream(spark: SparkSession, folder: Path, stream: int, *, mark: bool = True) -> DataFrame:
    path = str(folder / f"{stream}")
    schema = spark.read.parquet(path).schema
    rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(path)
    return rows.withWatermark("ts", "1 second") if mark else rows


def _both(spark: SparkSession, folder: Path, *, mark: bool = True) -> tuple[DataFrame, DataFrame]:
    return _stream(spark, folder, 0, mark=mark), _stream(spark, folder, 1, mark=mark)


def _within(work: Work) -> str:
    return f"{work.window * _APART} microseconds"


def _budgeted(memory: str | None) -> Callable[[SparkSession, Path, Work], DataFrame]:
    def plan(spark: SparkSession, folder: Path, work: Work) -> DataFrame:
        left, right = _both(spark, folder)
        return join(
            left, right, on="key", time="ts", within=_within(work), memory=memory, shards=_SHARDS
        )

    return plan


def _native(spark: SparkSession, folder: Path, work: Work) -> DataFrame:
    left, right = _both(spark, folder)
    other = right.toDF(*(f"{name}_right" for name in right.columns))
    apart = f"INTERVAL {work.window * _APART / 10**6} SECONDS"
    return left.join(
        other, F.expr(f"key = key_right AND ts_right BETWEEN ts - {apart} AND ts + {apart}")
    )


class _Echo(StatefulProcessor):
    """Hand on what comes, and count batches in the state."""

    def init(self, handle: Any) -> None:
        self._batches = handle.getValueState("batches", "count long")

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        found = self._batches.get()
        self._batches.update(((found[0] if found else 0) + 1,))
        for frame in rows:
            yield pd.DataFrame({"body": [body for body in frame["body"] if body is not None]})

    def close(self) -> None:
        """Nothing is open."""


def _packed(spark: SparkSession, folder: Path, work: Work) -> DataFrame:
    """The way of the rows through the join, without the join: every row comes out again."""
    left, right = _both(spark, folder)
    windows = (Window.of(_within(work)), Window.of(_within(work)))
    spec = Spec(
        query=JoinQuery(pairs_of("key"), ("ts", "ts"), windows),
        schemas=(arrow_schema(left), arrow_schema(right)),
        policy=by_name("random"),
        expectation=None,
        ages=None,
        seed=0,
        shards=_SHARDS,
        delays=(10**6, 10**6),
    )
    cells = left.mapInArrow(packer(spec, 0), PACKED).union(
        right.mapInArrow(packer(spec, 1), PACKED)
    )
    echoed = cells.groupBy("shard").transformWithStateInPandas(
        _Echo(), outputStructType="body binary", outputMode="append", timeMode="none"
    )
    return echoed.mapInArrow(unpacker(spec.schemas[0]), left.schema)


def _shuffled(spark: SparkSession, folder: Path, work: Work) -> DataFrame:
    """Spark's own shuffle of the same rows, without leaving the JVM."""
    left, right = _both(spark, folder, mark=False)
    return left.union(right).repartition(_SHARDS, "key")


NATIVE, ROCKSDB, EXACT, PIPELINE, SHUFFLE = (
    "Spark's join",
    "Spark's join, RocksDB",
    "exact",
    "packed, no join",
    "JVM shuffle",
)
WAYS: dict[str, Callable[[SparkSession, Path, Work], DataFrame]] = {
    NATIVE: _native,
    ROCKSDB: _native,
    EXACT: _budgeted(None),
    PIPELINE: _packed,
    SHUFFLE: _shuffled,
}


def _measured(query: StreamingQuery, checkpoint: Path) -> Run:
    batches = [progress for progress in query.recentProgress if progress.numInputRows]
    steady = batches[1:] or batches
    seconds = [batch.durationMs["triggerExecution"] / 1000 for batch in steady]
    operators = [operator for batch in steady for operator in batch.stateOperators]
    table = [row for row in health(query).rows if row["shard"] is None]
    last = batches[-1].stateOperators
    if table:
        held = table[0]["held_left"] + table[0]["held_right"]
        size = table[0]["bytes"]
    else:
        held = sum(operator.numRowsTotal for operator in last) if len(operators) else 0
        size = sum(operator.memoryUsedBytes for operator in last)
    made = [progress.observedMetrics.get("made") for progress in query.recentProgress]
    files = [path for path in checkpoint.rglob("*") if path.is_file()]
    return Run(
        rows_per_second=sum(batch.numInputRows for batch in steady) / sum(seconds),
        batch_seconds=statistics.median(seconds),
        commit_seconds=statistics.median([o.commitTimeMs / 1000 for o in operators] or [0.0]),
        checkpoint_bytes=sum(path.stat().st_size for path in files) / len(batches),
        held=held,
        bytes_per_row=size / max(held, 1),
        matches=sum(row["rows"] for row in made if row is not None),
    )
