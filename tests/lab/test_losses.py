"""Losses: which matches a join on a budget lost, and why."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.lab.losses import Group, Numbered, Outcome, grouped, worst_tenth
from penstock.lab.traces import Trace
from penstock.policies import by_name
from penstock.query import Budget, JoinQuery, Window

QUERY = JoinQuery(on=(("key", "key"),), time=("time", "time"), windows=(Window("time", 4),) * 2)
streams = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=1, max_size=14)
policies = st.sampled_from(["recent", "random", "match-probability", "until-expiry"])


def numbered(left, right, query=QUERY):
    tables = [
        pa.table({"time": [t for t, _ in rows], "key": [k for _, k in rows]})
        for rows in (sorted(left), sorted(right))
    ]
    return Numbered(Trace(*tables, query))


def by_hand(left, right, window=4):
    width = len(right)
    return [
        i * width + j
        for i, (t, k) in enumerate(sorted(left))
        for j, (u, other) in enumerate(sorted(right))
        if k == other and abs(t - u) <= window
    ]


@given(left=streams, right=streams)
def test_the_exact_outcome_holds_every_pair_by_its_rows(left, right):
    assert numbered(left, right).exact().pairs.tolist() == by_hand(left, right)


@given(left=streams, right=streams, budget=st.integers(2, 5), policy=policies)
def test_what_was_made_and_what_was_lost_are_together_the_exact_join(left, right, budget, policy):
    rows = numbered(left, right)
    exact = rows.exact()
    outcome = rows.run(by_name(policy), memory=Budget("rows", budget))
    losses = rows.losses(exact, outcome)
    lost = losses.pairs.left * len(right) + losses.pairs.right
    assert sorted([*outcome.pairs.tolist(), *lost.tolist()]) == exact.pairs.tolist()
    assert losses.by_shedding == len(lost)
    assert losses.by_lateness == 0


def test_a_match_is_lost_to_shedding_when_its_earlier_row_had_gone():
    #        one place a side: the 1 of time 1 takes the place of the 0 of time 0
    rows = numbered(left=[(0, 0), (1, 1)], right=[(2, 0), (3, 1)])
    exact = rows.exact()
    outcome = rows.run(by_name("recent"), memory=Budget("rows", 2))
    assert rows.rows_of(outcome.pairs).left.tolist() == [1]
    assert outcome.shed_at[0].tolist()[0] == 1
    assert rows.losses(exact, outcome).by_shedding == 1


def test_a_match_whose_rows_were_never_given_up_was_lost_to_lateness():
    rows = numbered(left=[(0, 0)], right=[(2, 0)])
    exact = rows.exact()
    never_taken_in = Outcome(exact.ran, exact.pairs[:0], exact.shed_at)
    losses = rows.losses(exact, never_taken_in)
    assert (losses.by_shedding, losses.by_lateness) == (0, 1)


def test_groups_that_lost_most_come_first_and_between_equals_the_smaller():
    exact = pa.array(["a"] * 5 + ["b"] * 3 + ["c"] * 4 + ["d"])
    lost = pa.array(["a", "b", "c", "c"])
    assert grouped(exact, lost) == (
        Group("c", 4, 2),
        Group("b", 3, 1),
        Group("a", 5, 1),
        Group("d", 1, 0),
    )


@pytest.mark.parametrize(("groups", "count"), [(1, 1), (14, 1), (23, 2), (57, 6)])
def test_a_tenth_of_the_groups_is_one_at_least(groups, count):
    assert worst_tenth(tuple(Group(at, 2, 1) for at in range(groups))) == (count, count / groups)


def test_where_nothing_is_lost_the_worst_bear_nothing():
    assert worst_tenth((Group("a", 2, 0),)) == (1, 0.0)
