"""ExpectedImportance: importance times matches, as of the row's arrival."""

import pytest

from penstock.policies import by_name
from running import known_of
from timelines import line, play

SIMPPROB = by_name("expected-importance")


@pytest.mark.plain
def test_neither_importance_nor_frequency_decides_alone():
    # Right: a twice, b once, c never. a 2 x 1, b 1 x 5, c 0 x 9.
    left, right = line("abc...", "159111"), line("...aab")
    assert play(left, right, SIMPPROB, expectation=known_of(left, right)).shed.startswith("acAA")
    assert play(left, right, by_name("simp")).shed.startswith("abAAB")
    prob = play(left, right, by_name("prob"), expectation=known_of(left, right))
    assert prob.shed.startswith("bcAAB")


def test_between_equals_the_less_important_leaves_and_then_the_older():
    # Nobody has come yet, so all rank 0.
    assert play(line("abc", "323"), [], SIMPPROB).shed == "ba"


def test_a_rank_stays_what_it_was_on_arrival():
    # time   0 1 2 3      a ranks 0 when it comes and c ranks 1, though by then a would rank 2
    # left   a . . c
    # right  . A A C
    left, right = line("a..c"), line(".aac")
    assert play(left, right, SIMPPROB).shed == "AAaC"
    assert play(left, right, by_name("expected-importance-live")).shed == "AAcC"
