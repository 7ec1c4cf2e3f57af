"""Recent: keeps what came last."""

import pytest

from penstock.policies import by_name
from timelines import at_once, line, play

RECENT = by_name("recent")


@pytest.mark.plain
def test_the_oldest_leaves():
    # time   0 1 2 3      two places
    # left   a b c d      b c are held when B comes, c d when A does
    # right      B A
    played = play(line("abcd"), line("..ba"), RECENT, memory=2)
    assert played.shed == "aBbA"
    assert played.made == "b"
    assert played.health.lost == 1


def test_of_rows_that_come_at_once_the_first_leaves():
    assert play(at_once("abc"), [], RECENT).shed == "ab"
    assert play(at_once("abc"), [], RECENT, kind="count").shed == "ab"


def test_left_counts_as_older_than_right_where_both_share():
    played = play(line("a"), line("b"), RECENT, split="shared")
    assert played.shed == "a"
