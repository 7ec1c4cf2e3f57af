"""Weighted: importance, matches and recency put together in the paper's three ways."""

import pytest

from penstock.errors import InvalidQuery
from penstock.policies import Weighted, by_name
from running import known_of
from timelines import line, play

LEFT, RIGHT = line("abc....", "1591111"), line("...aabc")
KNOWN = known_of(LEFT, RIGHT)


def leaves(policy, **more):
    return play(LEFT, RIGHT, policy, expectation=KNOWN, **more).shed[:2]


@pytest.mark.plain
def test_added_up():
    # a: 2 matches, importance 1, time 0. b: 1, 5, 1. c: 1, 9, 2.
    assert leaves(Weighted(how="add", alpha=1, beta=1)) == "ab"  # 3, 6, 10
    assert leaves(Weighted(how="add", alpha=1, beta=9))[0] == "b"  # 19 and 14
    assert leaves(Weighted(how="add", alpha=0, beta=1, delta=0.5)) == "ba"  # 2, 1.5; 2 and 2
    assert leaves(Weighted(how="add", alpha=0, beta=1, delta=3)) == "ab"  # 2, 4, 7


def test_multiplied():
    assert leaves(Weighted(alpha=1, beta=1)) == leaves(by_name("dimpprob")) == "ab"
    assert leaves(Weighted(alpha=0, beta=1)) == leaves(by_name("prob")) == "bc"
    # At 1: a 1 x 2^3, b 5; at 2: a 8, c 9.
    assert leaves(Weighted(alpha=1, beta=3)) == "ba"
    # The life that is left, W = 2: at 1 a has 1 and b 2; at 2 a has expired.
    assert leaves(Weighted(alpha=0, beta=1, delta=1), within=(2, 2)) == "a" + "b"
    assert leaves(by_name("life"), within=(2, 2)) == "ab"


def test_accumulated():
    # time   0 1 2      a meets A at 1 and gains 1 x 1 match x 8 to live; b brings 2
    # left   a . b
    policy = Weighted(how="accumulate", alpha=1, beta=1, delta=1, gain=1, loss=0.5)
    twin = by_name("gain-and-loss", gain=1, loss=0.5)
    for right, shed in [(".a.", "Ab"), (".c.", "Ca")]:
        for each in (policy, twin):
            assert play(line("a.b", "112"), line(right), each).shed == shed


@pytest.mark.parametrize("how", ["add", "multiply", "accumulate"])
def test_between_equals_the_older_leaves(how):
    assert play(line("abc", "222"), [], Weighted(how=how)).shed == "ab"


def test_at_arrival_a_rank_stays_what_it_was():
    # time   0 1 2 3      a ranks 0 when it comes and 2 by the time of b, which ranks 0
    # left   a . . b
    # right  . A A .
    left, right = line("a..b"), line(".aa.")
    assert play(left, right, Weighted()).shed == "AAb"
    assert play(left, right, Weighted(refresh="arrival")).shed == "AAa"


def test_importance_below_nought_counts_as_none():
    assert Weighted().needs == {"importance", "matches"}
    assert Weighted(alpha=0, delta=1).needs == {"matches", "window"}


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"how": "divide"}, "'accumulate', 'add' or 'multiply'"),
        ({"refresh": "never"}, "'always' .* or 'arrival'"),
        ({"how": "accumulate", "refresh": "arrival"}, "leave refresh out"),
        ({"alpha": -1}, "give a number of 0 or more"),
        ({"beta": float("inf")}, "give a number of 0 or more"),
        ({"delta": "1"}, "give a number of 0 or more"),
        ({"alpha": 9}, "an exponent may be 8 at most"),
        ({"alpha": 0, "beta": 0}, "give at least one of them above 0"),
        ({"loss": 1}, "give less than 1"),
    ],
    ids=str,
)
def test_parameters_are_checked(parameters, says):
    with pytest.raises(InvalidQuery, match=says):
        Weighted(**parameters)
