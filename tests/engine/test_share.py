"""A budget stated as a share of what the exact join would hold, on a stream that has no end yet."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.change import change
from penstock.engine.saved import restore, save
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.policies import by_name
from penstock.query import Budget
from reference import Row
from running import plan_of, query_of, table_of, window_of
from streams import orders, rows, splits


def instants(left, right):
    for time in sorted({row.time for row in left + right}):
        yield [table_of([row for row in side if row.time == time]) for side in (left, right)]


def after_each_instant(plan, left, right):
    state = start(plan)
    for batch in instants(left, right):
        # Under evict-first, and in count windows, only the end of the input ends an instant.
        state = step(state, batch, last=True).state
        yield state.health()


@given(
    left=rows,
    right=rows,
    windows=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    kind=st.sampled_from(["time", "count"]),
    split=splits,
    order=orders,
    percent=st.sampled_from([10, 25, 50, 80, 100]),
)
def test_the_budget_is_its_share_of_the_most_that_the_exact_join_has_held(
    left, right, windows, kind, split, order, percent
):
    # Rows that match nothing fill a count window, but take no place in it.
    left, right = ([row for row in side if row.key is not None] for side in (left, right))
    query = query_of(windows, kind, None, split, order)
    policy = by_name("random")
    exact = after_each_instant(plan_of(query, policy), left, right)
    shared = replace(query, memory=Budget.of(f"{percent}%"))
    most = 0
    parts = after_each_instant(plan_of(shared, policy), left, right)
    for whole, part in zip(exact, parts, strict=True):
        most = max(most, sum(whole.held))
        assert part.budget == max(2, (most * percent + 50) // 100)
        assert sum(part.held) <= part.budget


def long_streams(count, step_length):
    draws = np.random.default_rng(4)
    times = np.cumsum(draws.integers(0, 2 * step_length, count))
    return [
        [Row(int(t), int(k)) for t, k in zip(times, draws.integers(0, 9, count), strict=True)]
        for _ in "lr"
    ]


def test_in_a_long_window_the_share_is_near():
    left, right = long_streams(3000, 40)
    query = query_of((9000, 9000), "time", "25%", "shared")
    health = list(after_each_instant(plan_of(query, by_name("recent")), left, right))[-1]
    exact = query_of((9000, 9000))
    whole = list(after_each_instant(plan_of(exact, by_name("recent")), left, right))[-1]
    assert 0.25 * whole.peak_rows <= health.budget <= 0.25 * whole.peak_rows * 1.02
    assert health.peak_rows <= health.budget


def run_on(state, left, right):
    found = []
    for batch in instants(left, right):
        out = step(state, batch, last=True)
        state = out.state
        found += out.matches.to_pylist()
    return found, state.health()


def test_saved_and_restored_it_goes_on():
    left, right = long_streams(600, 3)
    plan = plan_of(query_of((50, 70), "time", "30%"), by_name("random"))
    _, begun = None, start(plan)
    for batch in instants(left[:300], right[:300]):
        begun = step(begun, batch, last=True).state
    again = restore(plan, save(begun).parts)
    later = [[row for row in side[300:] if row.time > left[299].time] for side in (left, right)]
    found, health = run_on(begun, *later)
    found_again, health_again = run_on(again, *later)
    assert found == found_again
    assert replace(health, bytes=0) == replace(health_again, bytes=0)


@pytest.mark.parametrize(("share", "window"), [("10%", 400), ("50%", 900), ("50%", 100)])
def test_share_and_windows_change_while_running(share, window):
    left, right = long_streams(2000, 2)
    query = query_of((400, 400), "time", "50%", "shared")
    state = start(plan_of(query, by_name("recent")))
    half = left[1000].time
    early = [[row for row in side if row.time < half] for side in (left, right)]
    for batch in instants(*early):
        state = step(state, batch, last=True).state
    peak = state.health().budget * 2
    state = change(state, memory=Budget.of(share), windows=(window_of(window, "time"),) * 2)
    health = state.health()
    assert sum(health.held) <= health.budget
    assert health.budget == pytest.approx(peak * float(share.rstrip("%")) / 100, abs=1)
    late = [[row for row in side if row.time >= half] for side in (left, right)]
    _, health = run_on(state, *late)
    if window > 400:  # more rows are in the window than ever before
        assert health.budget == pytest.approx(peak / 2 * window / 400, rel=0.06)


def test_a_share_of_nothing_is_two_rows():
    plan = plan_of(query_of((5, 5), "time", "25%"), by_name("random"))
    out = step(start(plan), [table_of([Row(0, 1)]), None], last=True)
    assert out.health.budget == 2
    assert out.health.held == (1, 0)
    assert isinstance(out.matches, pa.Table)
