"""Every policy, row for row, against the slow twin in tests/reference.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from penstock.arrivals.expectation import Decayed, KnownAges, LastWindow, Retained
from penstock.policies import by_name
from running import known_of, query_of, run
from streams import NEED_A_WINDOW, POLICIES, budgets, cuts, lengths, orders, rows, splits

sources = st.sampled_from(["known", "last-window", "retained", "decayed"])
CURVES = [((3.0, 0.0, 2.0), 1), ((1.0, 2.0, 1.0, 1.0), 2)]

EXPECTATIONS = {
    "known": lambda left, right: (known_of(left, right), reference.known(*tables(left, right))),
    "last-window": lambda left, right: (LastWindow(), reference.last_window()),
    "retained": lambda left, right: (Retained(), reference.retained()),
    "decayed": lambda left, right: (Decayed(3.0), reference.decayed(3.0)),
}


def tables(left, right):
    counted = []
    for side in (left, right):
        table = {}
        for row in side:
            if row.key is not None:
                table[row.key] = table.get(row.key, 0) + 1
        counted.append(table)
    return counted


def both_sides(left, right, *, windows, kind, memory, split, order, names, cut, expects, ages=None):
    name, parameters = names
    ours, theirs = EXPECTATIONS[expects](left, right)
    query = query_of(windows, kind, memory, split, order)
    policy = by_name(name, **parameters)
    curves = KnownAges(tuple(c for c, _ in CURVES), tuple(u for _, u in CURVES))
    ran = run(left, right, query, policy, cuts=cut, seed=7, expectation=ours, ages=curves)
    more = {"curves": [(list(c), u) for c, u in CURVES]} if name == "age-curve" else {}
    places = split
    if isinstance(split, tuple):
        first = int(memory * split[0] / sum(split))
        places = (first, memory - first)
    twin = reference.simulate(
        left,
        right,
        windows=windows,
        kind=kind,
        memory=memory,
        split=places,
        order=order,
        policy=reference.policy(name, **parameters, **more),
        expectation=theirs,
        seed=7,
    )
    assert ran.pairs == sorted(twin.pairs)
    assert ran.shed == sorted(twin.shed)
    assert ran.health.lost == pytest.approx(twin.lost)
    assert sum(ran.health.expired) == len(twin.expired)
    assert ran.health.unmatchable == twin.unmatchable
    if twin.held:
        assert ran.health.held == twin.held[-1]
        assert ran.health.peak_rows == twin.peak


@pytest.mark.parametrize("names", POLICIES, ids=str)
@given(
    left=rows,
    right=rows,
    windows=st.tuples(lengths, lengths),
    memory=budgets,
    split=splits,
    order=orders,
    cut=cuts,
    expects=sources,
)
def test_time_windows(names, expects, left, right, windows, memory, split, order, cut):
    both_sides(
        left,
        right,
        windows=windows,
        kind="time",
        memory=memory,
        split=split,
        order=order,
        names=names,
        cut=cut,
        expects=expects,
    )


@pytest.mark.parametrize("names", NEED_A_WINDOW, ids=str)
@given(
    left=rows,
    right=rows,
    windows=st.tuples(st.integers(0, 6), st.integers(0, 6)),
    memory=budgets,
    split=splits,
    order=orders,
    cut=cuts,
    expects=sources,
)
def test_time_windows_of_policies_that_watch_the_clock(
    names, expects, left, right, windows, memory, split, order, cut
):
    both_sides(
        left,
        right,
        windows=windows,
        kind="time",
        memory=memory,
        split=split,
        order=order,
        names=names,
        cut=cut,
        expects=expects,
    )


@pytest.mark.parametrize("names", POLICIES + NEED_A_WINDOW, ids=str)
@given(
    left=rows,
    right=rows,
    windows=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    memory=budgets,
    split=splits,
    order=orders,
    cut=cuts,
    expects=sources,
)
def test_count_windows(names, expects, left, right, windows, memory, split, order, cut):
    both_sides(
        left,
        right,
        windows=windows,
        kind="count",
        memory=memory,
        split=split,
        order=order,
        names=names,
        cut=cut,
        expects=expects,
    )


@given(left=rows, right=rows, windows=st.tuples(lengths, lengths), order=orders, cut=cuts)
def test_without_a_budget_time_windows_are_exact(left, right, windows, order, cut):
    query = query_of(windows, "time", None, "half", order)
    ran = run(left, right, query, by_name("random"), cuts=cut)
    assert ran.pairs == reference.exact_pairs(left, right, windows, "time")


@given(left=rows, right=rows, windows=st.tuples(st.integers(1, 6), st.integers(1, 6)), cut=cuts)
def test_without_a_budget_count_windows_are_exact(left, right, windows, cut):
    ran = run(left, right, query_of(windows, "count"), by_name("random"), cuts=cut)
    assert ran.pairs == reference.exact_pairs(left, right, windows, "count")
