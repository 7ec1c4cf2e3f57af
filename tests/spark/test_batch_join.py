"""The join of two tables: DuckDB's without a budget, and the streams' with one."""

import random

import pyarrow as pa
import pytest

import penstock as ps
from on_spark import MINUTE, exact, finished, ids, stream, trace

pytestmark = pytest.mark.spark

SKEWED = [0.0] * 6 + [1.0, 1.0, 2.0, 3.0, 4.0, 5.0, None]


@pytest.fixture(scope="module")
def sides():
    dice = random.Random(11)
    return [pa.concat_tables(trace(dice, 400, parts=2, late=MINUTE)) for _ in range(2)]


def shuffled(spark, table, partitions):
    """A table whose rows lie in no order over partitions."""
    return spark.createDataFrame(table).repartition(partitions, "id")


@pytest.mark.parametrize("within", [(2, 1), (0, 0), (None, 3), (None, None)], ids=str)
def test_exact(spark, sides, within):
    frames = [shuffled(spark, side, n) for side, n in zip(sides, (3, 2), strict=True)]
    lengths = tuple(None if m is None else f"{m} minutes" for m in within)
    found = ps.join(*frames, on="k", time="t", within=lengths, shards=5)
    rows = found.toArrow()
    assert ids(rows, "id_left", "id_right") == exact(*sides, within)
    assert rows["t_right"].to_pylist() == sides[1]["t"].take(rows["id_right"]).to_pylist()


@pytest.mark.parametrize("partitions", ["1", "7"])
def test_shards_are_joined_alike_over_any_number_of_partitions(spark, sides, partitions):
    spark.conf.set("spark.sql.shuffle.partitions", partitions)
    frames = [shuffled(spark, side, 2) for side in sides]
    rows = ps.join(*frames, on="k", time="t", within="1 minute", shards=3).toArrow()
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    assert ids(rows, "id_left", "id_right") == exact(*sides, (1, 1))


def test_names_conditions_and_empty_sides(spark, sides):
    left, right = (spark.createDataFrame(side) for side in sides)
    right = right.selectExpr(
        "cast(t as date) as day", "t as T", "try_cast(k as int) as key", "id as number"
    )
    usual = {"on": [("K", "key")], "time": "t", "within": "2 minutes"}
    found = ps.join(left, right, **usual, where="left.id < right.number and right.t > left.T")
    expected = exact(
        *sides,
        (2, 2),
        on="l.k = case when isnan(r.k) then null else trunc(r.k) end",
        where="l.id < r.id and r.t > l.t",
    )
    assert ids(found.toArrow(), "id", "number") == expected
    for one, other in ((left.limit(0), right), (left, right.limit(0))):
        nothing = ps.join(one, other, **usual)
        assert nothing.collect() == []
        assert nothing.columns == found.columns


def in_order(spark, place, *, memory, shards, policy, within="2 minutes", rows=None):
    """The matches of the same rows, in the order of time, as streams and as tables."""
    dice = random.Random(12)
    sides = [trace(dice, 300, parts=2, late=1, keys=SKEWED) for _ in range(2)]
    tables = [pa.concat_tables(side) for side in sides]
    place.mkdir(exist_ok=True)
    live = [
        stream(spark, place / name, side, delay="0 seconds")
        for name, side in zip(("left", "right"), sides, strict=True)
    ]
    settings = {"memory": memory, "shards": shards, "keep": policy, "within": within, "rows": rows}
    ran = finished(ps.join(*live, on="k", time="t", **settings))
    still = [spark.createDataFrame(table) for table in tables]
    found = ps.join(*still, on="k", time="t", **settings).toArrow()
    return ids(ran.rows, "id_left", "id_right"), ids(found, "id_left", "id_right"), ran.health


@pytest.mark.parametrize(("memory", "shards"), [(30, 1), ("10%", 3)])
@pytest.mark.parametrize("policy", ["random", "largest"])
def test_on_a_budget_tables_give_what_streams_give(spark, tmp_path, policy, memory, shards):
    streamed, tabled, health = in_order(
        spark, tmp_path, memory=memory, shards=shards, policy=policy
    )
    assert health["shed_left"] + health["shed_right"] > 100
    assert tabled == streamed


def test_among_the_last_rows_tables_give_what_streams_give(spark, tmp_path):
    streamed, tabled, _ = in_order(
        spark, tmp_path, memory=None, shards=1, policy="random", within=None, rows=(4, 9)
    )
    # A stream's last instant may go on; a table's may not.
    assert set(streamed) <= set(tabled)
    assert len(tabled) - len(streamed) <= 13
