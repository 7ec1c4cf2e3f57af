"""GainAndLoss: who matches gains, and who does not loses."""

import random

import pytest

import reference
from penstock.errors import InvalidQuery
from penstock.policies import by_name
from reference import Row
from running import query_of, run
from timelines import line, play


@pytest.mark.plain
def test_a_row_that_has_matched_outranks_a_fresh_one_of_more_importance():
    # time   0 1 2      a meets A at 1 and gains 1 x 1 match x 8 to live; b brings 2
    # left   a . b      without the match it is a that leaves
    dgl = by_name("gain-and-loss", gain=1, loss=0.5)
    assert play(line("a.b", "112"), line(".a."), dgl).shed == "Ab"
    assert play(line("a.b", "112"), line(".c."), dgl).shed == "Ca"


def test_a_row_loses_in_every_instant_without_a_match():
    # time   0 1 2 3      a begins with 8 and loses half at 1, 2 and 3: it has 1 left when b comes
    # left   a . . b      with 2; instants that hold no row of the join do not count
    half = by_name("gain-and-loss", loss=0.5)
    assert play(line("a..b", "8112"), line(".xx."), half).shed == "XXa"
    assert play(line("a..b", "8112"), [], half).shed == "b"
    # By 2 each time: 8 - 6 = 2, and between equals the older leaves.
    by_two = by_name("gain-and-loss", loss=2, how="subtract")
    assert play(line("a..b", "8112"), line(".xx."), by_two).shed == "XXa"
    assert play(line("a..b", "9112"), line(".xx."), by_two).shed == "XXb"


def test_several_matches_in_an_instant_are_one_gain():
    # time   0 1      W = 2: at 1 a meets two A, is expected twice and has 1 to live, which makes
    # left   a b      2 + 2 x 2 x 1 = 6; counted per match it would be 10
    # right  . AA
    dgl = by_name("gain-and-loss", gain=1, loss=0)
    right = [*line(".a"), *line(".a")]
    assert play(line("ab", "27"), right, dgl, within=(2, 2)).shed == "aAA"
    assert play(line("ab", "25"), right, dgl, within=(2, 2)).shed == "bAA"


def test_what_a_newcomer_meets_on_arrival_is_no_gain():
    # time   0 1 2      b meets A at 1, as a newcomer: it stays at 1, and c, of 1 too, is newer
    # left   . a c
    # right  A . .
    dgl = by_name("gain-and-loss", gain=9, loss=0)
    played = play(line(".ac"), line("a.."), dgl, memory=2, split=(1, 1))
    assert (played.made, played.shed) == ("a", "a")


def test_a_step_is_the_unit_of_the_life_that_is_left():
    # As the first test, with a tenth of the gain: 1 x 0.5 + 8 / 10 is less than 2.
    dgl = by_name("gain-and-loss", gain=1, loss=0.5, step=10)
    assert play(line("a.b", "112"), line(".a."), dgl).shed == "Aa"


def test_long_runs_do_not_lose_their_order():
    # Stored notes grow without bound, so the count of instants begins anew now and then.
    # a and b keep their proportion for 300 instants, and then c, of 1, outranks them both.
    dgl = by_name("gain-and-loss", loss=0.05)
    options = {"within": (900, 900), "memory": 2}
    pause, right = "." * 298, line("x" * 300)
    for worth, leaves in [("2", "b"), ("1", "a")]:
        left = line("ab" + pause + "c", worth + "1" * 300)
        assert play(left, right, dgl, split=(2, 0), **options).shed[-1] == leaves


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"how": "divide"}, "'multiply' .* or 'subtract'"),
        ({"gain": -1}, "give a number of 0 or more"),
        ({"gain": "much"}, "give a number of 0 or more"),
        ({"loss": float("nan")}, "give a number of 0 or more"),
        ({"loss": 1}, "give less than 1, or how='subtract'"),
        ({"step": 0}, "give the length of a step in time units, above 0"),
        ({"speed": 1}, "it takes gain, how, loss, step"),
    ],
    ids=str,
)
def test_parameters_are_checked(parameters, says):
    with pytest.raises(InvalidQuery, match=says):
        by_name("gain-and-loss", **parameters)


@pytest.mark.parametrize("loss", [0.01, 0.3, 0.5, 0.9])
def test_however_fast_ranks_fall_they_stay_numbers(loss):
    dice = random.Random(1)
    sides = [
        [Row(t, dice.randrange(12), float(dice.randrange(1, 9))) for t in range(600)]
        for _ in range(2)
    ]
    ran = run(*sides, query_of((15, 25), memory=14), by_name("gain-and-loss", loss=loss))
    twin = reference.simulate(
        *sides,
        windows=(15, 25),
        memory=14,
        policy=reference.policy("gain-and-loss", loss=loss),
    )
    assert ran.shed == sorted(twin.shed)
