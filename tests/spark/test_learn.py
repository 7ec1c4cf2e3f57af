"""What is learned from history on Spark is what the lab takes from the whole trace."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import penstock as ps
from penstock.errors import InvalidData, InvalidQuery
from penstock.lab.streamed import Streamed
from penstock.lab.traces import Trace
from penstock.lab.workloads.flights import departures
from penstock.policies import by_name
from penstock.query import Budget, JoinQuery, Window

pytestmark = pytest.mark.spark

ASKED = {"on": "destination", "time": "departure", "within": "3 hours"}
QUERY = JoinQuery(
    on=(("destination", "destination"),),
    time=("departure", "departure"),
    windows=(Window.of("3 hours"),) * 2,
)


@pytest.fixture(scope="module")
def trace():
    sides = (departures(airport).select(["destination", "departure"]) for airport in ("EWR", "JFK"))
    return Trace(*sides, QUERY)


@pytest.fixture(scope="module")
def streamed(trace, spark, tmp_path_factory):
    return Streamed(trace, tmp_path_factory.mktemp("flights"), spark)


@pytest.fixture(scope="module")
def history(streamed):
    return streamed.tables()


@pytest.fixture(scope="module")
def learned(history):
    return ps.learn(*history, **ASKED)


def test_the_frequencies_are_those_of_the_whole_trace(trace, learned):
    known = trace.known_frequencies()
    for stream in range(2):
        assert np.array_equal(learned.frequencies.hashes[stream], known.hashes[stream])
        assert np.array_equal(learned.frequencies.counts[stream], known.counts[stream])
    assert learned.ages is None


def test_a_streaming_join_keeps_what_the_engine_keeps_with_known_frequencies(
    trace, streamed, learned
):
    memory = Budget("rows", 42)
    known = trace.run(
        by_name("largest"), memory=memory, expectation=trace.known_frequencies()
    ).health
    made = streamed.run(learned, memory=memory, seed=0, progress=lambda *_: None).ran.health
    assert made.matched == known.matched > 0.69 * 279_800
    assert made.lost == known.lost


def test_a_batch_join_takes_it_too(trace, history, learned):
    rows = ps.join(*history, **ASKED, memory=42, keep=learned, shards=1)
    known = trace.run(
        by_name("largest"), memory=Budget("rows", 42), expectation=trace.known_frequencies()
    )
    assert rows.count() == known.matches


def test_the_age_curves_are_those_of_the_whole_trace(trace, history):
    learned = ps.learn(*history, **ASKED, keep="age-curve")
    known = trace.known_ages()
    assert learned.ages.units == known.units
    assert np.allclose(learned.ages.curves, known.curves, rtol=1e-12, atol=0)
    assert learned.frequencies is None
    assert "later matches" in str(learned)


def frame(spark, rows, schema="k string, t timestamp"):
    return spark.createDataFrame(rows, schema)


def at(second):
    return datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(seconds=second)


def test_only_the_most_frequent_keys_are_kept(spark):
    rows = frame(spark, [(key, at(n)) for n, key in enumerate("aaabbc")])
    learned = ps.learn(rows, rows, on="k", time="t", within="1 second", most=2)
    assert [len(hashes) for hashes in learned.frequencies.hashes] == [2, 2]
    # five seconds hold four windows, to the nearest power of two: counts are quarters
    assert sorted(learned.frequencies.counts[0].tolist()) == [2 / 4, 3 / 4]


def test_rows_without_key_or_time_are_no_news(spark):
    rows = frame(spark, [("a", at(0)), (None, at(1)), ("b", None)])
    learned = ps.learn(rows, rows, on="k", time="t")
    assert [counts.tolist() for counts in learned.frequencies.counts] == [[1.0], [1.0]]


def test_ages_are_counted_in_the_unit_of_the_time_column(spark):
    # a left row of time 0 meets right rows of 0 and 3; a right row of 0 meets a left row of 2
    left = frame(spark, [(1, 0), (1, 2)], "k int, t long")
    right = frame(spark, [(1, 0), (1, 3)], "k int, t long")
    learned = ps.learn(left, right, on="k", time="t", within=4, keep="age-curve")
    assert learned.ages.units == (1, 1)
    assert learned.ages.curves[0][:4] == (0.5, 0.5, 0.0, 0.5)
    assert learned.ages.curves[1][:4] == (0.0, 0.0, 0.5, 0.0)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"keep": "recent"}, "nothing to learn for it"),
        ({"keep": "age-curve", "within": None}, "a window is unbounded"),
        ({"keep": "no-such"}, "no such policy"),
        ({"most": 0}, "most=0"),
        ({"on": "x"}, "no such column"),
        ({"within": 3}, "give the window in words"),
    ],
)
def test_what_cannot_be_learned_is_said_in_a_sentence(spark, change, told):
    rows = frame(spark, [("a", at(0))])
    with pytest.raises(InvalidQuery, match=told):
        ps.learn(rows, rows, **{"on": "k", "time": "t", "within": "1 hour", **change})


def test_a_stream_is_no_history(spark, tmp_path):
    pq.write_table(pa.table({"k": ["a"], "t": [1]}), tmp_path / "a.parquet")
    stream = spark.readStream.schema("k string, t long").parquet(str(tmp_path))
    with pytest.raises(InvalidQuery, match=r"left: it is a stream.*spark\.read"):
        ps.learn(stream, stream, on="k", time="t", within=3)
    with pytest.raises(InvalidQuery, match="right: give a DataFrame"):
        ps.learn(spark.range(1), "rows", on="id", time="id", within=3)


def test_a_history_without_rows_teaches_nothing(spark):
    rows = frame(spark, [])
    with pytest.raises(InvalidData, match="nothing can be learned"):
        ps.learn(rows, rows, on="k", time="t", within="1 hour")
