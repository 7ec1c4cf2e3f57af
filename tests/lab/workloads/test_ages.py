"""aged_pair: unique rows, found again at ages that follow the curve."""

import numpy as np
import pytest

from penstock.lab.workloads import age_curve, aged_pair
from penstock.lab.workloads.ages import TICKS

CURVES = ["INC", "DEC", "BELL", [0.0] * 5 + [3.0] + [1.0] * 14]


def columns(pair):
    return [side[name].to_numpy() for side in (pair.left, pair.right) for name in ("time", "key")]


def ages(pair):
    made, _, found, key = columns(pair)
    return (found - made[key])[key >= 0]


@pytest.mark.parametrize("curve", CURVES, ids=str)
@pytest.mark.parametrize("partners", [1.0, 5.0])
def test_a_curve_sums_to_the_partners(curve, partners):
    assert age_curve(curve, 20, partners).sum() == pytest.approx(partners)


def test_the_bell_of_the_paper_is_squares_up_and_squares_down():
    curve = age_curve("BELL", 20, 1.0)
    np.testing.assert_allclose(curve[:10] / curve[0], np.arange(1, 11) ** 2)
    np.testing.assert_allclose(curve[10:] / curve[0], np.arange(9, -1, -1) ** 2)


def test_another_exponent_bends_the_curve():
    np.testing.assert_allclose(age_curve("INC", 3, 6, exponent=1.0), [1, 2, 3])
    np.testing.assert_allclose(age_curve("DEC", 3, 3, exponent=1.0), [2, 1, 0])


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_matches_come_at_the_ages_of_the_curve(curve):
    bucket = ages(aged_pair(curve=curve)) // (25 * TICKS)
    counted = np.bincount(bucket, minlength=20)
    expected = counted.sum() * age_curve(curve, 20, 1.0)
    assert counted.size == 20
    assert (np.abs(counted - expected) <= 5 * np.sqrt(expected + 1)).all()


def test_every_right_row_finds_one_unique_left_row_within_the_window():
    made, ids, found, key = columns(aged_pair())
    assert ids.tolist() == list(range(10_000))
    assert key.min() >= 0
    age = found - made[key]
    assert age.min() >= 0
    assert age.max() < 500 * TICKS
    assert found.min() >= 500 * TICKS
    assert found.max() <= made.max()


def test_a_row_that_has_its_whole_window_finds_five_partners_on_average():
    made, _, found, key = columns(aged_pair())
    whole = (made >= 500 * TICKS) & (made + 500 * TICKS <= found.max())
    assert np.bincount(key, minlength=made.size)[whole].mean() == pytest.approx(5.0, rel=0.02)


def test_rows_that_nobody_needs_match_nothing():
    made, _, found, key = columns(aged_pair(partners=2.0))
    assert (key >= 0).mean() == pytest.approx(0.4, abs=0.01)
    unneeded = key[key < 0]
    assert np.unique(unneeded).size == unneeded.size
    whole = (made >= 500 * TICKS) & (made + 500 * TICKS <= found.max())
    assert np.bincount(key[key >= 0], minlength=made.size)[whole].mean() == pytest.approx(
        2, rel=0.03
    )


@pytest.mark.parametrize(("printed_gaps", "factor"), [(False, 1.0), (True, 1.25)])
def test_gaps_have_the_stated_mean_or_the_printed_one(printed_gaps, factor):
    made, _, found, _ = columns(aged_pair(printed_gaps=printed_gaps))
    for times, rate in ((made, 1.0), (found, 5.0)):
        gaps = np.diff(times) / TICKS
        assert gaps.mean() == pytest.approx(factor / rate, rel=0.02)
        assert gaps.min() >= 0.4 * factor / rate - 1e-6
        assert gaps.max() <= 1.6 * factor / rate + 1e-6


def test_an_empty_bucket_is_drawn_again():
    #  one left row every 4 time units or so, and buckets of 1: most are empty
    pair = aged_pair(curve="INC", window=20, left_rate=0.25, right_rate=1.25, rows=500)
    made, _, found, key = columns(pair)
    assert key.min() >= 0
    assert (found - made[key]).max() < 20 * TICKS


def test_where_no_bucket_of_the_curve_has_a_row_there_is_no_match():
    pair = aged_pair(curve=[1, 0], buckets=2, window=2, left_rate=0.25, right_rate=1.25, rows=500)
    made, _, found, key = columns(pair)
    before = np.searchsorted(made, found, side="right")
    since = found - np.append(-TICKS, made)[before]
    assert ((key < 0) == (since >= TICKS)).all()


def test_a_trace_shorter_than_the_window_has_no_right_row():
    assert aged_pair(rows=10).right.num_rows == 0
    assert aged_pair(rows=0).right.num_rows == 0


@pytest.mark.parametrize(
    ("asked", "help_"),
    [
        ({"curve": "FLAT"}, "Known: BELL, DEC, INC"),
        ({"curve": [1, 2]}, "give one a bucket"),
        ({"curve": [1, -1], "buckets": 2}, "not negative"),
        ({"curve": [0, 0], "buckets": 2}, "not all 0"),
        ({"partners": 6}, "room for 5 a row"),
        ({"left_rate": 0.0}, "must be above 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(asked, help_):
    with pytest.raises(ValueError, match=help_):
        aged_pair(**asked)
