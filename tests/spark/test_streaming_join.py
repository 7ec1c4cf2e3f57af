"""The join of two streams without a budget is the one DuckDB makes; every row has one fate."""

import random

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import penstock as ps
import reference
from on_spark import (
    MINUTE,
    UTC,
    adds_up,
    counts,
    exact,
    finished,
    ids,
    on_time,
    stream,
    streams,
    times,
    trace,
)
from reference import Row

pytestmark = pytest.mark.spark

DELAYS = ("1 minute", "3 minutes")


@pytest.mark.parametrize(
    ("shards", "parts", "late", "silent_until"),
    [(1, 1, 1, 0), (8, 3, 1, 2), (3, 4, 1, 0), (2, 5, 4 * MINUTE, 0)],
    ids=["one file", "a silent stream", "many cuts", "rows behind the watermark"],
)
def test_exact_but_for_late_rows(spark, tmp_path, shards, parts, late, silent_until):
    dice = random.Random(7)
    left = trace(dice, 300, parts=parts, late=late)
    right = trace(dice, 300, parts=parts, late=late, silent_until=silent_until)
    frames = streams(spark, tmp_path, (left, right), delays=DELAYS)
    ran = finished(
        ps.join(*frames, on="k", time="t", within=("2 minutes", "1 minute"), shards=shards)
    )
    kept = [on_time(side, m * MINUTE) for side, m in ((left, 1), (right, 3))]
    assert ids(ran.rows, "id_left", "id_right") == exact(kept[0][0], kept[1][0], (2, 1))
    assert counts(ran.health, "late") == tuple(late for _, late in kept)
    assert counts(ran.health, "arrived") == (300, 300)
    assert adds_up(ran.health)
    assert all(map(adds_up, ran.shards))
    assert len(ran.shards) == shards


def test_keys_of_several_columns_other_names_and_types_and_a_condition_over_both_sides(
    spark, tmp_path
):
    dice = random.Random(8)

    def side(first, names, kind):
        count = 200
        columns = [
            pa.array([first + dice.randrange(20 * MINUTE) for _ in range(count)], UTC),
            pa.array([dice.choice([1, 2, None]) for _ in range(count)], kind),
            pa.array([dice.choice(["a", "b"]) for _ in range(count)]),
            pa.array([dice.randrange(9) for _ in range(count)]),
            pa.array(range(count)),
        ]
        return pa.table(columns, names=names)

    left = side(0, ["Sold", "item", "shop", "price", "id"], pa.int16())
    right = side(0, ["sent", "article", "shop", "price", "number"], pa.float64())
    frames = [
        stream(
            spark, tmp_path / name, [table.slice(0, 120), table.slice(120)], delay="1 hour", time=t
        )
        for name, table, t in (("left", left, "Sold"), ("right", right, "sent"))
    ]
    found = ps.join(
        *frames,
        on=["SHOP", ("Item", "article")],
        time=("sold", "SENT"),
        within="2 minutes",
        where="left.price < right.PRICE and price_theirs - price_ours < 5 and left.shop = shop",
        suffixes=("_ours", "_theirs"),
    )
    assert found.columns == [
        *("Sold", "item", "shop", "price_ours", "id"),
        *("sent", "article", "price_theirs", "number"),
    ]
    expected = exact(
        left.rename_columns(["t", "k", "shop", "price", "id"]),
        right.rename_columns(["t", "k", "shop", "price", "id"]),
        (2, 2),
        on="l.k = r.k and l.shop = r.shop",
        where="l.price < r.price and abs(l.price - r.price) < 5",
    )
    assert expected
    rows = finished(found).rows
    assert ids(rows, "id", "number") == expected
    assert rows["shop"].to_pylist() == left["shop"].take(rows["id"]).to_pylist()
    assert rows["price_theirs"].to_pylist() == right["price"].take(rows["number"]).to_pylist()


def test_two_joins_in_one_query_without_a_window_and_among_the_last_rows(spark, tmp_path):
    dice = random.Random(9)
    parts = [trace(dice, 60, parts=2, late=1, keys=[1.0, 2.0, None]) for _ in range(2)]
    frames = streams(spark, tmp_path, parts)
    endless = ps.join(*frames, on="k", time="t", shards=2)
    counted = ps.join(*frames, on="k", time="t", rows=(3, 5))
    ran = finished(endless.selectExpr("*", "false as few").union(counted.selectExpr("*", "true")))
    few, all_of_them = (ran.rows.filter(pick) for pick in (pc.field("few"), ~pc.field("few")))
    left, right = map(pa.concat_tables, parts)
    assert ids(all_of_them, "id_left", "id_right") == exact(left, right, (None, None))
    timed = [side.filter(pc.field("t").is_valid()) for side in (left, right)]
    rows = [list(map(Row, times(side), side["k"].to_pylist())) for side in timed]
    newest = max(row.time for side in rows for row in side)
    numbers = [side["id"].to_pylist() for side in timed]
    assert ids(few, "id_left", "id_right") == sorted(
        (numbers[0][one], numbers[1][other])
        for one, other in reference.exact_pairs(*rows, (3, 5), "count")
        if max(rows[0][one].time, rows[1][other].time) < newest  # its instant may go on
    )
    assert len({health["join"] for health in ran.shards}) == 2
    assert all(map(adds_up, ran.shards))
