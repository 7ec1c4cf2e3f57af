"""MatchProbability: keeps what is frequent on the other side, whatever its age."""

import pytest

from penstock.arrivals.expectation import Decayed, Retained
from penstock.policies import by_name
from reference import Row
from running import known_of
from timelines import at_once, line, play

PROB = by_name("match-probability")


@pytest.mark.plain
def test_a_rare_newcomer_does_not_drive_out_a_frequent_row():
    # time   0 1 2 3 4      a comes twice on the right, b once, c never
    # left   a b c . .
    # right  A . B . A
    left, right = line("abc.."), line("a.b.a")
    known = known_of(left, right)
    assert play(left, right, PROB, expectation=known).made == "aa"
    assert play(left, right, PROB, expectation=known).shed == "AbcBA"


def test_it_counts_the_other_side_and_not_its_own():
    # All left rows are b but one; only a comes on the right.
    left, right = line("abbb."), line("....a")
    assert play(left, right, PROB, expectation=known_of(left, right)).made == "a"


def test_between_equals_the_older_leaves():
    assert play(line("abc"), [], PROB).shed == "ab"
    assert play(at_once("abc"), [], PROB).shed == "ab"


def test_it_is_blind_to_age():
    # a has one instant left to live, and is expected twice; b has all of it, and once.
    left = [Row(0, ord("a")), Row(8, ord("b"))]
    right = line("........aab")
    assert play(left, right, PROB, expectation=known_of(left, right)).shed.startswith("bA")


def test_a_held_row_is_ranked_anew_by_what_has_come_since():
    # time   0 1 2 3      one place; a is held for want of others; at 2 it is the newer b that
    # left   a . . b      has come on the right
    # right  . B B .
    left, right = line("a..b"), line(".bb.")
    assert play(left, right, PROB).shed == "BBa"
    # a: 0 when it came, 1 at 3. At arrival a has 0 and b 0, so the older leaves.
    left, right = line("a..b"), line(".a..")
    assert play(left, right, PROB).shed == "Ab"
    assert play(left, right, by_name("prob", refresh="arrival")).shed == "Aa"


def test_it_may_count_what_is_held():
    # time   0 1 2      a place a side: B drives out A, between equals the older
    # left   . . ba     both have come once, so of b a the older leaves; but only B is held
    # right  A B .
    left, right = [Row(2, ord("b")), Row(2, ord("a"))], line("ab")
    options = {"memory": 2, "split": (1, 1)}
    assert play(left, right, PROB, **options).shed == "Ab"
    assert play(left, right, PROB, expectation=Retained(), **options).shed == "Aa"


def test_it_may_let_the_past_fade():
    # time   0 1 2 3 4 5 6 7      a has come twice and b once, but b lately
    # left   . . . . . . . ab
    # right  A A . . . . B .
    left, right = [Row(7, ord("a")), Row(7, ord("b"))], line("aa....b")
    assert play(left, right, PROB).shed == "AABb"
    assert play(left, right, PROB, expectation=Decayed(1.0)).shed == "AABa"
    assert play(left, right, PROB, expectation=Decayed(100.0)).shed == "AABb"


@pytest.mark.parametrize(("twice", "once", "older"), [(2, 5, "ba"), (5, 8, "ab")])
def test_sums_that_differ_by_rounding_alone_are_equal(twice, once, older):
    # With a half life of 3, two arrivals are worth one that comes 3 later.  In double precision
    # the one is a hair more in the first case, and a hair less in the second.
    right = [Row(0, 0), *[Row(twice, ord("a"))] * 2, Row(once, ord("b"))]
    left = [Row(9, ord(older[0])), Row(10, ord(older[1]))]
    played = play(left, right, PROB, within=(20, 20), expectation=Decayed(3.0))
    assert played.shed[-1] == older[0]
