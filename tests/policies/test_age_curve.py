"""AgeCurve: the examples of the paper, row by row."""

import pytest

from penstock.arrivals.expectation import KnownAges, LearnedAges
from penstock.policies import by_name
from reference import Row
from timelines import line, play

AGE = by_name("age-curve")


def tuples(curve, memory, steps):
    """A left row a step; right rows by which it makes its matches between two steps."""
    left = [Row(2 * step, ord("a") + step) for step in range(steps)]
    right = [
        Row(2 * (step + age) + 1, ord("a") + step)
        for step in range(steps)
        for age, matches in enumerate(curve)
        for _ in range(matches)
        if step + age < steps
    ]
    ages = KnownAges((tuple(map(float, curve)), (0.0,)), (2, 2))
    within = (2 * len(curve), 2 * len(curve))
    return play(left, right, AGE, within=within, memory=memory, ages=ages)


def lower(text):
    return "".join(letter for letter in text if letter.islower())


@pytest.mark.plain
def test_one_place_as_in_example_3_3():
    # time      1   2   3   4   5   6   7
    # cell 1    s1  s1  s1  s4  s4  s4  s7       s1 is a, s2 is b, ...
    # discard       s2  s3  s1  s5  s6  s4
    # results   1   1   2   1   1   2   1
    played = tuples((1, 1, 2, 1), memory=1, steps=7)
    assert lower(played.shed) == "bcaefd"
    assert played.made == "aaaa" + "dddd" + "g"


def test_two_places_staggered_as_in_example_3_3():
    # time      1   2   3   4   5   6   7
    # cell 1    s1  s1  s1  s4  s4  s4  s7
    # cell 2        s2  s2  s2  s5  s5  s5
    # discard           s3  s1  s2  s6  s4
    assert lower(tuples((1, 1, 2, 1), memory=2, steps=7).shed) == "cabfd"


def test_two_places_under_a_curve_with_a_dip_as_in_example_3_4():
    # time      1   2   3   4   5   6   7
    # cell 1    s1  s1  s1  s4  s5  s5  s5
    # cell 2        s2  s3  s3  s3  s6  s7       s1, s3 and s5 leave at the end of their window
    # discard           s2  s1  s4  s3  s6
    # results   3   3   5   3   5   3   5
    played = tuples((3, 0, 2), memory=2, steps=7)
    assert lower(played.shed) == "bdf"
    assert played.health.matched == 3 + 3 + 5 + 3 + 5 + 3 + 5


def test_between_rows_of_one_slope_the_older_leaves():
    ages = KnownAges(((1.0, 1.0, 1.0), (1.0,)), (1, 1))
    assert play(line("abc"), [], AGE, ages=ages).shed == "ab"


def test_a_row_beyond_the_curve_is_worth_nothing():
    # The curve ends at age 2. At 3 a is worth 0, though its window has not passed.
    ages = KnownAges(((0.1, 5.0), (1.0,)), (1, 1))
    assert play(line("ab"), [], AGE, ages=ages).shed == "b"
    assert play(line("a..b"), [], AGE, ages=ages).shed == "a"


def test_streams_in_one_memory_compare_by_matches_per_time():
    # Left finds 3 in 2 units of time (1.5), right 2 in 1: left leaves.
    ages = KnownAges(((3.0,), (2.0,)), (2, 1))
    assert play(line("a"), line("b"), AGE, split="shared", ages=ages).shed == "a"
    ages = KnownAges(((3.0,), (2.0,)), (1, 2))
    assert play(line("a"), line("b"), AGE, split="shared", ages=ages).shed == "B"


def test_while_nothing_is_learned_it_is_recent():
    assert play(line("abcd"), [], AGE, ages=LearnedAges()).shed == "abc"


def test_it_learns_from_matches_made_and_lost():
    # Partners come three steps later and never sooner; the window is 4. With two places a row
    # kept for its whole life finds its partner, and one held for two steps never does.
    left = [Row(time, time % 50) for time in range(200)]
    right = [Row(time + 3, time % 50) for time in range(200)]
    learned = play(left, right, AGE, within=(4, 4), memory=2, ages=LearnedAges(4))
    recent = play(left, right, by_name("recent"), within=(4, 4), memory=2)
    assert recent.health.matched <= 2  # the last ones, which nobody follows
    assert learned.health.matched > 80  # of the 200, two places for three steps make 2 in 3
    assert learned.health.matched + learned.health.lost == 200
