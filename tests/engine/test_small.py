"""A few small streams, with the compiler and without it: every policy does as its twin."""

import random

import pytest

import reference
from penstock.arrivals.expectation import Decayed, KnownAges, LastWindow, LearnedAges, Retained
from penstock.policies import ALL, by_name
from reference import Row
from running import query_of, run
from streams import NEED_A_WINDOW, POLICIES

pytestmark = pytest.mark.plain
CURVES = [((3.0, 0.0, 2.0), 1), ((1.0, 2.0, 1.0, 1.0), 2)]
EXPECTATIONS = [
    (LastWindow(), reference.last_window()),
    (Retained(), reference.retained()),
    (Decayed(3.0), reference.decayed(3.0)),
]


def small(seed):
    dice = random.Random(seed)
    return [
        Row(dice.randrange(8), dice.choice([1, 1, 2, None]), dice.choice([1.0, 3.0]))
        for _ in range(12)
    ]


@pytest.mark.parametrize("names", POLICIES + NEED_A_WINDOW, ids=str)
@pytest.mark.parametrize("order", ["join-first", "evict-first"])
@pytest.mark.parametrize("kind", ["time", "count"])
def test_every_policy_does_as_its_twin(names, order, kind):
    name, parameters = names
    more = {"curves": [(list(c), u) for c, u in CURVES]} if name == "age-curve" else {}
    ages = KnownAges(tuple(c for c, _ in CURVES), tuple(u for _, u in CURVES))
    for seed, (ours, theirs) in enumerate(EXPECTATIONS):
        left, right = small(seed), small(seed + 10)
        ran = run(
            left,
            right,
            query_of((4, 3), kind, 4, ["half", "shared"][seed % 2], order),
            by_name(name, **parameters),
            cuts=(5, 11),
            seed=seed,
            expectation=ours,
            ages=ages,
        )
        twin = reference.simulate(
            left,
            right,
            windows=(4, 3),
            kind=kind,
            memory=4,
            split=["half", "shared"][seed % 2],
            order=order,
            policy=reference.policy(name, **parameters, **more),
            expectation=theirs,
            seed=seed,
        )
        assert ran.pairs == sorted(twin.pairs)
        assert ran.shed == sorted(twin.shed)
        assert ran.health.lost == twin.lost


@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.name)
def test_on_bytes_with_scarce_ghosts_and_learned_ages(policy):
    left, right = small(1), small(2)
    query = query_of((4, 3), "time", "30KB")
    ran = run(left, right, query, policy, ages=LearnedAges(3), ghosts=0.1, cuts=(7,))
    assert ran.pairs == reference.exact_pairs(left, right, (4, 3))


def test_a_sketch_takes_over_where_keys_are_many():
    rows = [Row(time, time % 90) for time in range(180)]
    query = query_of((90, 90), "time", "30KB")
    ran = run(rows, rows, query, by_name("match-probability"), ghosts=0.5)
    assert ran.state.counting.sketch.shape[1] > 0
    assert ran.health.matched + sum(ran.health.shed) > 180
