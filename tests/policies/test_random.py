"""RandomDrop: keeps those who drew the highest numbers, whatever they are."""

import pytest

from penstock.policies import by_name
from reference import luck
from timelines import at_once, line, play

RANDOM = by_name("random")


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(5))
def test_the_lowest_numbers_leave(seed):
    # The turn of a row is its place in the sequence, so a is 0, b is 1, ...
    by_luck = sorted("abcd", key=lambda letter: luck(seed, "abcd".index(letter)))
    assert play(at_once("abcd"), [], RANDOM, seed=seed).shed == "".join(by_luck[:3])


def test_a_number_is_drawn_once_and_kept():
    # time   0 1 2 3      at each time the lower of two numbers leaves: the highest of all is
    # left   a b c d      there at the end
    drawn = {letter: luck(7, turn) for turn, letter in enumerate("abcd")}
    holds, leaves = "a", ""
    for letter in "bcd":
        holds, out = (letter, holds) if drawn[letter] > drawn[holds] else (holds, letter)
        leaves += out
    assert play(line("abcd"), [], RANDOM, seed=7).shed == leaves


def test_every_row_has_the_same_chance():
    times_left = dict.fromkeys("abcd", 0)
    for seed in range(400):
        for letter in play(at_once("abcd"), [], RANDOM, seed=seed).shed:
            times_left[letter] += 1
    assert all(260 < times < 340 for times in times_left.values())  # 300, deviation 9
