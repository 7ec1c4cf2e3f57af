"""wan_pair: the age curve of the captured trace, in the figures the paper prints."""

import duckdb
import numpy as np
import pytest

from penstock.lab.workloads import wan_pair
from penstock.lab.workloads.wan import SECOND, Link

TENTHS = 1200  # of a second in the window of two minutes, the paper's granularity


@pytest.fixture(scope="module")
def pair():
    return wan_pair()


def age_curve(pair, *, on="l.key = r.key"):
    """Count the matches at each age, in tenths of a second."""
    with duckdb.connect() as db:
        db.register("near", pair.left)
        db.register("far", pair.right)
        found = db.sql(
            f"""select (r.time - l.time) // {SECOND // 10} as age, count(*) as matches
            from near l join far r on {on}
            where r.time - l.time < {TENTHS * SECOND // 10} group by age order by age"""
        ).fetchall()
    ages, matches = np.array(found).T
    assert ages.min() >= 0
    return np.bincount(ages, weights=matches, minlength=TENTHS)


def best_age(curve):
    """Give the age, in seconds, at which C(k) / k peaks."""
    return (np.argmax(curve.cumsum() / np.arange(1, TENTHS + 1)) + 1) / 10


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_matches_per_time_held_peak_where_the_paper_says(seed):
    assert best_age(age_curve(wan_pair(seed=seed))) == pytest.approx(68.8, abs=1.5)


def test_most_matches_come_at_the_age_of_63_seconds(pair):
    assert np.argmax(age_curve(pair)) / 10 == pytest.approx(63.0, abs=0.5)


def test_the_most_recent_rows_of_two_fifths_of_the_window_make_no_match(pair):
    assert age_curve(pair)[: TENTHS * 2 // 5].sum() == 0


def test_a_row_finds_about_ten_partners(pair):
    assert age_curve(pair).sum() / pair.right.num_rows == pytest.approx(10, rel=0.03)


def test_the_cells_make_the_age_curve_of_the_band():
    pair = wan_pair(minutes=5)
    band = age_curve(pair, on="r.source - l.source between 59900000 and 60100000")
    cells = age_curve(pair)
    assert cells.sum() == pytest.approx(band.sum(), rel=0.03)
    assert np.abs(cells - band).sum() / band.sum() < 0.05
    assert best_age(cells) == pytest.approx(best_age(band), abs=0.5)


def test_partners_were_stamped_a_minute_apart_to_within_a_cell():
    pair = wan_pair(minutes=3)
    with duckdb.connect() as db:
        db.register("near", pair.left)
        db.register("far", pair.right)
        apart = db.sql(
            "select min(r.source - l.source), max(r.source - l.source) from near l join far r "
            "on l.key = r.key"
        ).fetchall()
    assert apart[0][0] > 59.8 * SECOND
    assert apart[0][1] < 60.2 * SECOND


def test_each_source_stamps_a_row_every_twenty_milliseconds(pair):
    for side in (pair.left, pair.right):
        assert (np.diff(np.sort(side["source"].to_numpy())) == SECOND // 50).all()
        assert side.num_rows == 40 * 60 * 50


def test_distant_rows_overtake_each_other(pair):
    assert (np.diff(pair.right["source"].to_numpy()) < 0).any()


def test_a_perfect_link_leaves_only_the_cell():
    link = Link(clock_skew=0.0, propagation=0.0, queueing=1e-6)
    curve = age_curve(wan_pair(minutes=3, link=link))
    assert curve[:597].sum() == curve[603:].sum() == 0
