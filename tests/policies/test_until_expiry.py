"""UntilExpiry: who has found a place keeps it."""

import pytest

from penstock.policies import by_name
from timelines import at_once, line, play

UNTIL_EXPIRY = by_name("until-expiry")


@pytest.mark.plain
def test_a_newcomer_finds_a_place_only_when_one_is_free():
    # time   0 1 2 3 4    one place, W = 2: a can join nobody after 2 and leaves then, so that c
    # left   a b c d .    finds its place free
    played = play(line("abcd."), line("....c"), UNTIL_EXPIRY, within=(2, 2))
    assert played.shed == "bdC"
    assert played.made == "c"


def test_of_rows_that_come_at_once_the_first_leaves():
    assert play(at_once("abc"), [], UNTIL_EXPIRY).shed == "ab"


def test_under_a_count_window_the_last_to_come_leaves_even_so():
    assert play(at_once("abc"), [], UNTIL_EXPIRY, kind="count").shed == "cb"
