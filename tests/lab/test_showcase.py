"""The showcase: what it says about real flights, held against DuckDB."""

import duckdb
import pytest

from penstock.errors import InvalidQuery
from penstock.lab.record import Record
from penstock.lab.showcase import Question, showcase
from penstock.lab.workloads.flights import departures

EXACT = 279_800  # departures of EWR and JFK to one destination within three hours


@pytest.fixture(scope="module")
def record():
    return showcase(Question(), command="penstock demo", bars=lambda name: lambda *_: None)


@pytest.fixture(scope="module")
def judged():
    """The exact join per destination, by an engine that knows nothing of ours."""
    rows = {"ewr": departures("EWR"), "jfk": departures("JFK")}
    with duckdb.connect() as judge:
        for name, table in rows.items():
            judge.register(name, table)
        found = judge.execute(
            "select destination, count(*) from ewr join jfk using (destination) "
            "where abs(ewr.time - jfk.time) <= 180 group by destination"
        )
        return dict(found.fetchall())


def test_the_exact_join_is_the_one_duckdb_finds(record, judged):
    assert record.facts["exact"]["matches"] == EXACT == sum(judged.values())


@pytest.mark.parametrize("policy", ["recent", "match-probability"])
def test_kept_and_lost_are_together_the_exact_join(record, judged, policy):
    facts = record.facts["policies"][policy]
    assert facts["matches"] + facts["lost_exactly"] == EXACT
    assert facts["lost_by_shedding"] + facts["lost_by_lateness"] == facts["lost_exactly"]
    assert sum(facts["lost_by_destination"].values()) == facts["lost_exactly"]
    assert sum(facts["lost_by_hour"].values()) == facts["lost_exactly"]
    assert all(lost <= judged[place] for place, lost in facts["lost_by_destination"].items())


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


def test_where_nothing_is_lost_no_place_is_listed_as_losing():
    asked = Question(left="LGA", within="20 min", memory="1MB", keep=("recent",))
    record = showcase(asked, command="", bars=lambda name: lambda *_: None)
    assert record.facts["policies"]["recent"]["lost_exactly"] == 0
    assert [table.title for table in record.tables if "lost most" in table.title] == []


def test_a_policy_named_twice_runs_once():
    asked = Question(left="LGA", within="20 min", keep=("PROB", "match-probability"))
    record = showcase(asked, command="", bars=lambda name: lambda *_: None)
    assert list(record.facts["policies"]) == ["match-probability"]


def test_an_airport_is_not_joined_with_itself():
    with pytest.raises(InvalidQuery, match="both are JFK"):
        Question(left="JFK")
