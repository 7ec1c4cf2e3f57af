"""A query goes on from its checkpoint, and one that is another does not."""

import random
import shutil

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException

import penstock as ps
from on_spark import adds_up, exact, finished, ids, put, streams, trace

pytestmark = pytest.mark.spark

USUAL = {"on": "k", "time": "t", "within": "5 minutes", "shards": 2}


def sides():
    dice = random.Random(3)
    return [trace(dice, 200, parts=3, late=1) for _ in range(2)]


@pytest.fixture(scope="module")
def begun(spark, tmp_path_factory):
    """Where a query stopped after two parts of its streams, and a third lies by now."""
    place = tmp_path_factory.mktemp("begun")
    frames = streams(spark, place, [side[:2] for side in sides()], delays=("1 minute",) * 2)
    finished(ps.join(*frames, **USUAL), kept=place)
    for folder, side in zip(("left", "right"), sides(), strict=True):
        put(place / folder, side[2:])
    return place


def again(spark, begun, place, *, cast="k", **changed):
    """The query in a copy of the place where it began, with a part more, perhaps changed."""
    shutil.copytree(begun / "checkpoint", place / "checkpoint")
    shutil.copytree(begun / "found", place / "found")
    frames = [
        rows.selectExpr("t", "k", f"{cast} as id")
        for rows in streams(spark, begun, [[], []], delays=("1 minute",) * 2)
    ]
    return finished(ps.join(*frames, **USUAL | changed), kept=place)


def test_it_goes_on_with_other_shuffle_partitions(spark, begun, tmp_path):
    spark.conf.set("spark.sql.shuffle.partitions", "5")
    ran = again(spark, begun, tmp_path, cast="id")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    left, right = map(pa.concat_tables, sides())
    assert ids(ran.rows, "id_left", "id_right") == exact(left, right, (5, 5))
    assert ran.health["arrived_left"] == 200
    assert adds_up(ran.health)


CHANGED = {
    "window": {"within": "6 minutes"},
    "key": {"on": ["k", "id"]},
    "schema": {"cast": "string(id)"},
    "budget": {"memory": "8MB"},
    "seed": {"seed": 1},
}


@pytest.mark.parametrize("what", CHANGED)
def test_another_query_does_not(spark, begun, tmp_path, what):
    with pytest.raises(StreamingQueryException, match="UnreadableState: plan"):
        again(spark, begun, tmp_path, **{"cast": "id"} | CHANGED[what])


@pytest.mark.parametrize("shards", [1, 3])
def test_another_number_of_shards_does_not(spark, begun, tmp_path, shards):
    with pytest.raises(StreamingQueryException, match=r"UnreadableState.*shards"):
        again(spark, begun, tmp_path, cast="id", shards=shards)
