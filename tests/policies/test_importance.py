"""Importance: keeps the most important rows, and says what a match is worth."""

import pytest

from penstock.policies import by_name
from reference import Row
from timelines import at_once, line, play

SIMP = by_name("importance")


@pytest.mark.plain
def test_the_least_important_leaves():
    assert play(line("abcd", "2143"), [], SIMP).shed == "bad"


def test_between_equals_the_older_leaves():
    assert play(line("abc", "555"), [], SIMP).shed == "ab"
    assert play(at_once("abc", "555"), [], SIMP).shed == "ab"


def test_below_nought_is_less_than_none():
    left = [Row(0, 1, -3.0), Row(1, 2, 0.0), Row(2, 3, -1.0)]
    played = play(left, [Row(3, 2)], SIMP)
    assert played.health.matched == 1
    assert played.health.held == (1, 0)


@pytest.mark.parametrize(
    ("combine", "made", "lost"),
    [("min", 2, 1), ("sum", 7, 4), ("product", 10, 3), ("max", 5, 3), ("mean", 3.5, 2)],
)
def test_what_a_match_is_worth(combine, made, lost):
    # time   0 1 2 3      b, of importance 2, drives out a, of 1; then come B, of 5, and A, of 3
    # left   a b . .
    # right  . . B A
    left, right = line("ab", "12"), line("..ba", "1153")
    played = play(left, right, SIMP, combine=combine)
    assert (played.made, played.health.value, played.health.lost_value) == ("b", made, lost)
    exact = play(left, right, SIMP, combine=combine, memory=20, split="half")
    assert exact.health.value == made + lost


def test_the_example_of_the_paper_that_brought_importance():
    # Ojewole, Zhu, Hou, figure 1: w = 4, so W = 3; exactly 9 results, worth 32.
    # time      0  1  2  3  4  5
    # left      a  b  a  c  d  e      importance 1 20 1 5 5 1
    # right     c  a  a  a  b  a      importance 5 1 1 1 20 1
    left = [
        Row(t, ord(k), w)
        for t, (k, w) in enumerate(zip("abacde", (1, 20, 1, 5, 5, 1), strict=True))
    ]
    right = [
        Row(t, ord(k), w)
        for t, (k, w) in enumerate(zip("caaaba", (5, 1, 1, 1, 20, 1), strict=True))
    ]
    exact = play(left, right, SIMP, within=(3, 3), memory=20, split="half")
    assert (exact.health.matched, exact.health.value) == (9, 32.0)
    # Two places a side are enough for the important pairs, b b and c c.
    kept = play(left, right, SIMP, within=(3, 3), memory=4, split="half")
    assert {"b", "c"} <= set(kept.made)
    assert kept.health.value + kept.health.lost_value == 32.0
