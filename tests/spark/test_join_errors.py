"""What cannot be joined gets one clear error before anything starts."""

import datetime as dt

import pytest

import penstock as ps
from penstock.errors import InfeasibleBudget, InvalidQuery

pytestmark = pytest.mark.spark

ROWS = "id as t_number, timestamp_micros(id) as t, id as k, id as id, double(id) as worth"


@pytest.fixture(scope="module")
def table(spark):
    return spark.range(3).selectExpr(*ROWS.split(", "))


@pytest.fixture(scope="module")
def live(spark):
    rows = spark.readStream.format("rate").load()
    return rows.selectExpr("timestamp as t", "value as k", "value as id", "value as worth")


USUAL = {"on": "k", "time": "t", "within": "1 minute"}
REFUSED = {
    "an unknown key": ({"on": "item"}, r"column 'item'.*left"),
    "an unknown key on the right": ({"on": [("k", "item")]}, r"column 'item'.*right"),
    "no key": ({"on": []}, r"on=\[\]"),
    "a key that is no name": ({"on": 3}, r"on=3"),
    "a pair of three": ({"on": [("k", "k", "k")]}, r"on=\[\('k', 'k', 'k'\)\]"),
    "keys that cannot be equal": ({"on": [("k", "t")]}, r"on=|key"),
    "an unknown time": ({"time": "when"}, r"column 'when'.*left"),
    "an unknown time on the right": ({"time": ("t", "when")}, r"column 'when'.*right"),
    "a time that is none": ({"time": "worth"}, r"time='worth'.*double"),
    "times that do not compare": ({"time": ("t", "k"), "within": None}, r"time=\('t', 'k'\)"),
    "a left join": ({"how": "left"}, r"how='left'"),
    "a negative window": ({"within": dt.timedelta(seconds=-1)}, r"within=-1000000"),
    "a window without a unit": ({"within": "10"}, r"within='10'"),
    "a number for a moment": ({"within": 10}, r"within=10.*in words"),
    "words for a number": ({"time": "k"}, r"within=60 seconds.*whole number"),
    "three windows": ({"within": ("1 s", "1 s", "1 s")}, r"within=.*pair"),
    "a window of no rows": ({"within": None, "rows": 0}, r"rows=0"),
    "half a row": ({"within": None, "rows": 2.5}, r"rows=2.5"),
    "rows and a time": ({"rows": 5}, r"within='1 minute' and rows=5"),
    "no memory": ({"memory": 0}, r"memory=0"),
    "memory in hours": ({"memory": "3 hours"}, r"memory='3 hours'"),
    "memory of one row for two sides": ({"memory": 1, "shards": 1}, r"memory=1"),
    "memory for no statistics": ({"memory": "9KB"}, r"memory=9000B: statistics"),
    "memory for no statistics in each shard": (
        {"memory": "90KB", "shards": 8},
        r"shards=8.*statistics",
    ),
    "an odd split": ({"memory": 9, "split": "thirds"}, r"split='thirds'"),
    "an unknown policy": ({"memory": 99, "keep": "match-probabillity"}, r"match-probability"),
    "a policy that samples": ({"memory": 99, "keep": "representative"}, r"sample"),
    "a policy by a number": ({"memory": 99, "keep": 3}, r"keep=3|keep='3'"),
    "a policy without its importance": ({"memory": 99, "keep": "valuable"}, r"importance="),
    "a policy without its window": (
        {"memory": 99, "keep": "remaining-matches", "within": None},
        r"remaining-matches.*window",
    ),
    "an unknown importance": ({"importance": "price"}, r"column 'price'"),
    "an importance that is no number": ({"importance": "t"}, r"importance='t'"),
    "an unknown combination": ({"combine": "median"}, r"combine='median'"),
    "suffixes that clash": ({"suffixes": ("", "")}, r"suffixes=\('', ''\)"),
    "one suffix": ({"suffixes": ("_l",)}, r"suffixes="),
    "a condition over nothing": ({"where": "price > 3"}, r"where='price > 3'"),
    "a condition that is no sentence": ({"where": "id_left >"}, r"where='id_left >'"),
    "a condition that is a number": ({"where": "id_left + 1"}, r"where='id_left \+ 1'"),
    "a condition that is no text": ({"where": 3}, r"where=3"),
    "no shards": ({"shards": 0}, r"shards=0"),
    "a count window over shards": ({"within": None, "rows": 5, "shards": 2}, r"shards=2.*rows="),
    "shards in words": ({"shards": "8"}, r"shards='8'"),
    "too many shards": ({"shards": 5000}, r"shards=5000"),
    "a seed in words": ({"memory": 99, "seed": "luck"}, r"seed='luck'"),
}


@pytest.mark.parametrize("change", REFUSED)
def test_refused(table, change):
    options, text = REFUSED[change]
    with pytest.raises((InvalidQuery, InfeasibleBudget), match=text) as error:
        ps.join(table, table, **USUAL | options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("what", [None, 3, "orders", [1]], ids=repr)
def test_what_is_no_dataframe_is_refused(table, what):
    with pytest.raises(InvalidQuery, match="right: give a DataFrame"):
        ps.join(table, what, **USUAL)
    with pytest.raises(InvalidQuery, match="left: give a DataFrame"):
        ps.join(what, table, **USUAL)


def test_a_stream_and_a_table_are_refused(table, live):
    with pytest.raises(InvalidQuery, match="left side is a stream and the right side is a table"):
        ps.join(live, table, **USUAL)
    with pytest.raises(InvalidQuery, match="right side is a stream and the left side is a table"):
        ps.join(table, live, **USUAL)


def test_an_exact_join_of_streams_needs_both_watermarks(live):
    marked = live.withWatermark("t", "1 minute")
    with pytest.raises(InvalidQuery, match="left side has no watermark"):
        ps.join(live, marked, **USUAL)
    with pytest.raises(InvalidQuery, match="right side has no watermark"):
        ps.join(marked, live, **USUAL)
    assert ps.join(marked, marked, **USUAL).isStreaming
    assert ps.join(live, live, **USUAL, memory=99).isStreaming


@pytest.mark.parametrize(
    ("value", "kind"),
    [("make_interval(1)", "interval"), ("make_ym_interval(1)", "interval year to month")],
)
def test_a_type_that_spark_cannot_hand_to_python_is_refused(table, value, kind):
    odd = table.selectExpr("*", f"{value} as odd")
    with pytest.raises(InvalidQuery, match=f"column 'odd'.*{kind}"):
        ps.join(odd, table, **USUAL)
    with pytest.raises(InvalidQuery, match=f"column 'odd'.*{kind}"):
        ps.join(table, odd, **USUAL)


def test_two_columns_of_one_name_are_refused(table):
    twice = table.selectExpr("*", "id as id")
    with pytest.raises(InvalidQuery, match="2 columns of this name"):
        ps.join(twice, table, **USUAL)


def test_names_that_differ_in_case_only_clash_as_they_do_in_spark(table):
    other = table.selectExpr("t as T", "k as K", "id as Id", "worth as worths")
    found = ps.join(table, other, **USUAL)
    assert found.columns == [
        *("t_number", "t_left", "k", "id_left", "worth"),
        *("t_right", "id_right", "worths"),
    ]
    assert ps.join(other, table, **USUAL).columns[:3] == ["T_left", "K", "Id_left"]


def test_a_key_under_a_collation_is_refused(table):
    lower = table.selectExpr("t", "string(k) collate UTF8_LCASE as k")
    with pytest.raises(InvalidQuery, match=r"on='k'.*UTF8_LCASE"):
        ps.join(lower, lower, **USUAL)
