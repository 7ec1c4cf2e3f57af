"""A Spark inside this process: it works, it is quiet, and it leaves nothing behind."""

import os
import subprocess
import sys
import textwrap
import time

import pytest

from penstock.spark.session import embedded

pytestmark = pytest.mark.spark


def interpreters(batches):
    import pyarrow as pa

    for batch in batches:
        yield pa.RecordBatch.from_pydict({"python": [sys.executable] * batch.num_rows})


def test_python_functions_run_in_this_python(spark):
    ran = spark.range(4).mapInArrow(interpreters, "python string").distinct().collect()
    assert [row.python for row in ran] == [sys.executable]


def test_a_stateful_query_keeps_its_state_in_rocksdb(spark, tmp_path):
    source = tmp_path / "source"
    spark.range(10).selectExpr("id % 3 AS key").write.parquet(str(source))
    stream = spark.readStream.schema("key long").parquet(str(source))
    query = (
        stream.groupBy("key")
        .count()
        .writeStream.format("memory")
        .queryName("counted")
        .outputMode("complete")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert {tuple(row) for row in spark.table("counted").collect()} == {(0, 4), (1, 3), (2, 3)}
    (operator,) = query.lastProgress["stateOperators"]
    assert "rocksdbTotalBytesWritten" in operator["customMetrics"]
    assert list((tmp_path / "checkpoint").rglob("*.changelog"))


def test_the_running_one_is_taken_again(spark):
    assert embedded(cores=1, conf={"spark.sql.shuffle.partitions": "7"}) is spark
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"


JOB = """
import os
before = dict(os.environ)
from penstock.spark.session import embedded

spark = embedded(1, name="quiet", conf={"spark.driver.extraJavaOptions": "-Dseen=it"})
assert {name: os.environ.get(name) for name in before} == before
assert "JAVA_HOME" in before or "JAVA_HOME" not in os.environ
assert spark.sparkContext.appName == "quiet"
assert spark._jvm.System.getProperty("seen") == "it"
spark.range(3).write.saveAsTable("kept")
assert spark.table("kept").count() == 3
import penstock as ps
rates = [spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")] * 2
rows = ps.join(*rates, on="value", time="timestamp", within="1 second", shards=1)
query = rows.writeStream.format("noop").start()
query.processAllAvailable()
"""

# What a machine may have set for a Spark on a cluster.
ELSEWHERE = {
    "HADOOP_CONF_DIR": "/nowhere",
    "PYSPARK_DRIVER_PYTHON": "no-such-python",
    "PYSPARK_PYTHON": "no-such-python",
    "PYSPARK_SUBMIT_ARGS": "--master spark://nowhere:7077 pyspark-shell",
    "SPARK_HOME": "/nowhere",
    "SPARK_REMOTE": "sc://nowhere",
}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """A process that starts a Spark of its own, in an empty folder and another temporary one."""
    place = tmp_path_factory.mktemp("alone")
    for folder in ("here", "temporary"):
        (place / folder).mkdir()
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(JOB)],
        cwd=place / "here",
        env=os.environ | ELSEWHERE | {"TMPDIR": str(place / "temporary")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    return place, run


def test_it_starts_whatever_is_set_for_another_spark(alone):
    _, run = alone
    assert run.returncode == 0, run.stderr


def test_it_says_nothing(alone):
    _, run = alone
    assert (run.stdout, run.stderr) == ("", "")


def test_it_leaves_nothing_behind(alone):
    place, _ = alone
    assert list((place / "here").iterdir()) == []
    for _ in range(100):  # the JVM outlives the process by a moment
        if not list((place / "temporary").iterdir()):
            return
        time.sleep(0.1)
    assert list((place / "temporary").iterdir()) == []
