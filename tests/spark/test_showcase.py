"""The showcase: what it says about real flights on Spark, held against DuckDB and the engine."""

import duckdb
import pytest

from penstock.errors import InvalidQuery
from penstock.lab.record import Record
from penstock.lab.showcase import Question, showcase, telling
from penstock.lab.showcase.findings import look_into
from penstock.lab.workloads.flights import departures

pytestmark = pytest.mark.spark

EXACT = 279_800  # departures of EWR and JFK to one destination within three hours


def silent(name):
    return lambda *_: None


@pytest.fixture(scope="module")
def record(spark):
    return showcase(Question(), command="penstock demo", bars=silent)


@pytest.fixture(scope="module")
def small(spark):
    """A policy named twice, and memory enough for everything."""
    asked = Question(left="LGA", within="20 min", memory="1MB", keep=("PROB", "match-probability"))
    return look_into(asked, bars=silent)


@pytest.fixture(scope="module")
def judged():
    """The exact join counted by a column, by an engine that knows nothing of ours."""
    with duckdb.connect() as judge:
        judge.register("ewr", departures("EWR"))
        judge.register("jfk", departures("JFK"))
        judge.execute(
            "create table pair as select ewr.destination as destination, "
            "hour(greatest(ewr.departure, jfk.departure)) as hour "
            "from ewr join jfk using (destination) where abs(ewr.time - jfk.time) <= 180"
        )
        return {
            by: dict(judge.execute(f"select {by}, count(*) from pair group by {by}").fetchall())
            for by in ("destination", "hour")
        }


def test_the_exact_join_is_the_one_duckdb_finds(record, judged):
    assert record.facts["exact"]["matches"] == EXACT == sum(judged["hour"].values())


def test_spark_and_the_engine_alone_make_the_same_matches_row_for_row(record):
    assert record.facts["exact"]["confirmed"]
    assert all(facts["replayed"] for facts in record.facts["policies"].values())


@pytest.mark.parametrize("policy", ["recent", "match-probability"])
def test_kept_and_lost_are_together_the_exact_join(record, judged, policy):
    facts = record.facts["policies"][policy]
    assert facts["matches"] + facts["lost_exactly"] == EXACT
    assert facts["lost_by_shedding"] + facts["lost_by_lateness"] == facts["lost_exactly"]
    assert sum(facts["lost_by_destination"].values()) == facts["lost_exactly"]
    assert sum(facts["lost_by_hour"].values()) == facts["lost_exactly"]
    assert all(
        lost <= judged["destination"][place] for place, lost in facts["lost_by_destination"].items()
    )


def test_places_and_hours_have_as_many_matches_as_duckdb_counts(record, judged):
    by_place, by_hour = (table for table in record.tables if "lost most" in table.title)
    assert by_place.rows
    assert by_hour.rows
    assert all(row[1] == judged["destination"][row[0]] for row in by_place.rows)
    assert all(row[1] == judged["hour"][int(row[0][:2])] for row in by_hour.rows)


@pytest.mark.parametrize("policy", ["recent", "match-probability"])
def test_every_row_that_arrived_has_a_fate(record, policy):
    facts = record.facts["policies"][policy]
    fates = ("held", "shed", "expired", "late", "unmatchable")
    assert facts["arrived"] == 117_596 + 109_416 == sum(facts[fate] for fate in fates)


def test_knowing_frequencies_pays_on_real_flights(record):
    policies = record.facts["policies"]
    assert policies["match-probability"]["recall"] > 1.5 * policies["recent"]["recall"]


def test_what_the_join_says_of_itself_is_near_the_truth(record):
    points = [point for curve in record.facts["by_memory"].values() for point in curve]
    assert all(abs(point["recall_estimate"] - point["recall"]) < 0.01 for point in points)
    inside = [p["recall_low"] <= p["recall"] <= p["recall_high"] for p in points]
    assert sum(inside) >= 0.75 * len(inside)


def test_more_memory_keeps_more_and_all_of_it_nearly_everything(record):
    for curve in record.facts["by_memory"].values():
        recalls = [point["recall"] for point in curve]
        assert recalls == sorted(recalls)
        assert recalls[-1] > 0.999


def test_the_run_with_rows_and_the_run_that_counts_agree(record):
    for policy, facts in record.facts["policies"].items():
        (same,) = (p for p in record.facts["by_memory"][policy] if p["share"] == 0.25)
        assert same["matches"] == facts["matches"]


def test_no_table_is_longer_than_a_person_reads(record):
    assert [table.title for table in record.tables if len(table.rows) > 8] == []


def test_the_record_survives_being_written_down(record):
    assert Record.from_json(record.to_json()) == record


def test_where_nothing_is_lost_no_place_is_listed_as_losing(small):
    (kept,) = small.kept
    assert small.streams.confirmed
    assert kept.replayed
    assert len(kept.losses.pairs.left) == 0
    assert [table.title for table in telling.tables(small) if "lost most" in table.title] == []


def test_a_policy_named_twice_runs_once(small):
    assert list(small.curves) == ["match-probability", "random"]
    assert [kept.policy for kept in small.kept] == ["match-probability"]


def test_what_does_not_agree_is_not_said_to_agree(small):
    (kept,) = small.kept
    other = kept.replay._replace(pairs=kept.replay.pairs[1:])
    apart = small._replace(
        streams=small.streams._replace(confirmed=False, kept=(kept._replace(replay=other),))
    )
    assert any("not those of the exact join" in note for note in telling.notes(apart))
    assert any("not under match-probability" in note for note in telling.notes(apart))
    assert not telling.facts(apart)["policies"]["match-probability"]["replayed"]


def test_an_airport_is_not_joined_with_itself():
    with pytest.raises(InvalidQuery, match="both are JFK"):
        Question(left="JFK")
