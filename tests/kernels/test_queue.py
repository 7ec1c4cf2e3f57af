"""The queue of rows to give up: always the lowest first, whatever comes and goes between."""

import bisect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from penstock.arrivals.chance import splitmix
from penstock.engine.plan import Plan, Side
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.policies import by_name
from reference import Row
from running import SCHEMA, plan_of, query_of, run, table_of


def shed_in_order(rows, memory, policy, batch, **settings):
    """Which rows leave, in the order in which they do, when one row comes at an instant."""
    query = query_of((10**9, 10**9), "time", memory, "shared")
    plan = Plan(
        query, [SCHEMA, SCHEMA], by_name(policy, **settings), seed=5, side=Side(shed_rows=True)
    )
    state, left = start(plan), []
    for begin in range(0, len(rows), batch):
        out = step(state, [table_of(rows[begin : begin + batch]), None], last=True)
        state = out.state
        left += out.shed[0].sort_by("_shed_at")["time"].to_pylist()
    return left


@given(
    worths=st.lists(st.integers(0, 9).map(float), min_size=200, max_size=400),
    memory=st.integers(2, 150),
)
def test_rows_leave_by_importance_then_age(worths, memory):
    rows = [Row(time, time, worth) for time, worth in enumerate(worths)]
    held, expected = [], []
    for row in rows:
        held.append((row.importance, row.time))
        if len(held) > memory:
            lowest = min(held)
            held.remove(lowest)
            expected.append(lowest[1])
    assert shed_in_order(rows, memory, "importance", len(rows)) == expected


@pytest.mark.parametrize("memory", [3, 100, 1500])
@pytest.mark.parametrize("worths", ["falling", "rising", "alike", "random"])
def test_long_streams_of_every_kind_of_rank(memory, worths):
    count = 4000
    drawn = {
        "falling": np.arange(count, 0, -1),
        "rising": np.arange(count),
        "alike": np.ones(count),
        "random": np.random.default_rng(3).integers(0, 50, count),
    }[worths]
    rows = [Row(time, time, float(worth)) for time, worth in enumerate(drawn)]
    held, expected = [], []
    for row in rows:
        held.append((row.importance, row.time))
        held.sort(reverse=True)
        if len(held) > memory:
            expected.append(held.pop()[1])
    assert shed_in_order(rows, memory, "importance", 1000) == expected


@pytest.mark.parametrize(
    "policy", ["gain-and-loss", "match-probability", "random", "expected-importance"]
)
@pytest.mark.parametrize("split", ["half", "shared"])
def test_many_more_instants_than_a_queue_has_places(policy, split):
    draws = np.random.default_rng(7)
    sides = [
        [Row(t, int(k), float(w)) for t, (k, w) in enumerate(zip(keys, worths, strict=True))]
        for keys, worths in (
            (draws.zipf(1.5, 900) % 12, draws.integers(1, 4, 900)) for _ in range(2)
        )
    ]
    query = query_of((40, 25), "time", 14, split)
    ran = run(*sides, query, by_name(policy), cuts=[300, 700], seed=7)
    twin = reference.simulate(
        *sides,
        windows=(40, 25),
        memory=14,
        split=split,
        policy=reference.policy(policy),
        expectation=reference.last_window(),
        seed=7,
    )
    assert ran.pairs == sorted(twin.pairs)
    assert ran.shed == sorted(twin.shed)


def test_ranks_below_zero_are_ranks_like_others():
    plan = plan_of(query_of((50, 50), "time", 4, "shared"), by_name("importance"))
    worths = [float(splitmix(np.uint64(i)) % np.uint64(7)) for i in range(60)]
    rows = [Row(t, t, -w if t % 3 else w) for t, w in enumerate(worths)]
    out = step(start(plan), [table_of(rows), None], last=True)
    assert out.health.held == (4, 0)
    assert out.health.shed == (56, 0)


@pytest.mark.parametrize("back", [2, 700, 1200, 1600, 1900])
def test_a_first_late_row_leaves_by_its_event_time(back):
    drawn = np.random.default_rng(1).integers(0, 2, 3000)
    rows = [Row(10 * t, t, float(worth)) for t, worth in enumerate(drawn)]
    late = Row(10 * (3000 - back) + 5, 999, 1.0)
    more = [Row(10 * t, t, 1.0) for t in range(3000, 4200)]
    query = query_of((10**6, 10**6), "time", 1000, "shared")
    plan = Plan(query, [SCHEMA, SCHEMA], by_name("importance"), side=Side(shed_rows=True))
    state, left = start(plan), []
    for batch in (rows, [late], more):
        out = step(state, [table_of(batch), None], watermark=0, last=batch is more)
        state = out.state
        left += out.shed[0].sort_by("_shed_at").to_pylist()
    held, expected = [], []
    for row in [*rows, late, *more]:
        bisect.insort(held, (row.importance, row.time))
        if len(held) > 1000:
            expected.append(held.pop(0))
    assert [(row["importance"], row["time"]) for row in left] == expected
