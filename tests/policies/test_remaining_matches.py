"""RemainingMatches: what is still to come, in the life that is left."""

import pytest

from penstock.policies import by_name
from reference import Row
from running import known_of
from timelines import line, play

LIFE = by_name("remaining-matches")


@pytest.mark.plain
def test_a_frequent_row_about_to_expire_gives_way_to_a_fresh_one():
    # W = 9, and at 8 a has 1 left to live and is expected twice (2), b has 9 and once (9).
    left, right = [Row(0, ord("a")), Row(8, ord("b"))], line("........aab")
    known = known_of(left, right)
    assert play(left, right, LIFE, expectation=known).shed.startswith("aA")
    assert play(left, right, by_name("prob"), expectation=known).shed.startswith("bA")


def test_between_equals_the_older_leaves():
    # At 3 a has 6 to live and is expected three times; b has 9 and twice: 18 both.
    left, right = line("a..b......"), line(".....aaabb")
    assert play(left, right, LIFE, expectation=known_of(left, right)).shed.startswith("a")


def test_each_side_lives_as_long_as_its_own_window():
    # Both are expected once. Left lives for 2 more, right for 9: left leaves. And the other way.
    left, right = line("a.b"), line("b.a")
    known = known_of(left, right)
    options = {"split": "shared", "expectation": known}
    assert play(line("a"), line("b"), LIFE, within=(2, 9), **options).shed == "a"
    assert play(line("a"), line("b"), LIFE, within=(9, 2), **options).shed == "B"


def test_under_a_count_window_life_is_counted_in_rows():
    # n = 4: when c has come, a has two rows to live before it is cut, c has four; both match once.
    left, right = line("a.cd."), line("....a")
    known = known_of([*left], [*right, *line("c")])
    played = play(left, right, LIFE, within=(4, 4), kind="count", expectation=known)
    assert played.shed.startswith("a")
