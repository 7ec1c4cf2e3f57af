"""ExpectedImportanceLive: importance times matches, as of each contest."""

import pytest

from penstock.policies import by_name
from reference import Row
from timelines import line, play

DIMPPROB = by_name("expected-importance-live")


@pytest.mark.plain
def test_a_rank_follows_what_comes():
    # time   0 1 2 3 4 5      two places: a and b, both 0, until b comes on the right; c, of 9,
    # left   a b . c . d      has none there; d is b's equal in matches, and less important
    # right  . . B . D .
    left, right = line("ab.c.d", "121911"), line("..b.d.")
    assert play(left, right, DIMPPROB, memory=2).shed == "BaDc"


def test_between_equals_the_less_important_leaves_and_then_the_older():
    assert play(line("abc", "323"), [], DIMPPROB).shed == "ba"


@pytest.mark.parametrize(("time", "leaves"), [(5, "b"), (6, "a")])
def test_what_came_before_the_last_pane_is_forgotten(time, leaves):
    # Panes are as long as the longer window, 3: the A of time 0 counts up to time 5.
    left = [Row(time, ord("a"), 1.0), Row(time, ord("b"), 2.0)]
    assert play(left, line("a"), DIMPPROB, within=(3, 2)).shed == "A" + leaves
