"""A budget in bytes bounds all that a join holds: rows, index, statistics, ghosts."""

import numpy as np
import pyarrow as pa
import pytest

from penstock.engine.change import change
from penstock.engine.plan import Plan, Side
from penstock.engine.state import start
from penstock.engine.step import Flow, step
from penstock.errors import InfeasibleBudget
from penstock.policies import ALL, by_name
from penstock.query import Budget, JoinQuery, Window

every_policy = pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.name)


def stream(seed, *, rows=1500, keys=200, width=0, times=400):
    dice = np.random.default_rng(seed)
    return pa.table(
        {
            "t": np.sort(dice.integers(0, times, rows)),
            "k": np.minimum(dice.zipf(1.3, rows), keys),
            "w": dice.random(rows),
            "text": ["x" * length for length in dice.integers(0, width + 1, rows)],
        }
    )


def peak_bytes(left, right, policy, memory, *, windows=(10**6, 10**6), split="half", batch=40):
    """The most a state ever takes, and the state at the end."""
    query = JoinQuery(
        on=(("k", "k"),),
        time=("t", "t"),
        windows=tuple(map(Window.of, windows)),
        memory=Budget.of(memory),
        importance=("w", "w"),
        split=split,
    )
    wanted = Side(output="counts", shed_rows=True)
    plan = Plan(query, [left.schema, right.schema], policy, side=wanted)
    state, most = start(plan), 0
    for begin in range(0, 401, batch):
        sides = [
            side.filter((np.asarray(side["t"]) >= begin) & (np.asarray(side["t"]) < begin + batch))
            for side in (left, right)
        ]
        state = step(state, sides, last=True).state
        most = max(most, state.health().bytes)
    return most, state


@every_policy
@pytest.mark.parametrize("width", [0, 1000])
@pytest.mark.parametrize("memory", ["30KB", "100KB"])
def test_no_more_is_held_than_was_allowed(policy, memory, width):
    left, right = stream(1, width=width), stream(2, width=width)
    most, state = peak_bytes(left, right, policy, memory)
    assert most <= Budget.of(memory).amount
    assert sum(state.health().shed) > 500
    if memory == "100KB":
        assert most > 0.6 * Budget.of(memory).amount  # or it could have held more


@pytest.mark.parametrize("split", ["half", "shared", (3, 1)])
@pytest.mark.parametrize(
    "shape",
    [
        {"keys": 1},  # one hot key
        {"keys": 10**9},  # hardly any key twice
        {"times": 1},  # a burst: all at once
        {"rows": 20, "width": 100_000},  # rows of which hardly one fits
    ],
    ids=str,
)
def test_whatever_the_rows_are(shape, split):
    left, right = stream(3, **shape), stream(4, **shape)
    most, _ = peak_bytes(left, right, by_name("match-probability"), "100KB", split=split)
    assert most <= 100_000


def test_when_one_stream_is_silent_for_long():
    left = stream(5, rows=4000)
    most, state = peak_bytes(left, left.slice(0, 0), by_name("recent"), "100KB")
    assert most <= 100_000
    assert state.health().held[1] == 0


def test_a_row_that_alone_exceeds_the_budget_is_shed():
    wide = pa.table({"t": [1], "k": [1], "w": [1.0], "text": ["x" * 10**6]})
    most, state = peak_bytes(wide, wide, by_name("recent"), "100KB")
    assert state.health().shed == (1, 1)
    # It is gone before the other comes, as it would be if a batch ended between them.
    assert state.health().matched == 0
    assert most <= 100_000


def test_wide_rows_take_the_room_of_many_narrow_ones():
    narrow, wide = (stream(6, width=width) for width in (0, 2000))
    held = [
        sum(peak_bytes(side, side, by_name("recent"), "100KB")[1].health().held)
        for side in (narrow, wide)
    ]
    assert held[0] > 5 * held[1] > 0


def test_a_smaller_budget_is_kept_to_at_once():
    left, right = stream(1), stream(2)
    _, state = peak_bytes(left, right, by_name("match-probability"), "200KB")
    before = sum(state.health().held)
    state = change(state, memory=Budget.of("100KB"))
    assert sum(state.health().held) < 0.6 * before


def test_the_least_that_is_asked_for_is_enough():
    left, right = stream(1), stream(2)
    for policy in ALL:
        with pytest.raises(InfeasibleBudget, match="raise the budget") as refused:
            peak_bytes(left, right, policy, "5KB")
        least = int(str(refused.value).split("need ")[1].split(" bytes")[0])
        # Statistics grow with the budget, so a little more than what was said.
        most, state = peak_bytes(left, right, policy, f"{least * 5 // 4}B")
        assert most <= least * 5 // 4
        assert sum(state.health().held) > 0


@pytest.mark.parametrize("lengths", [[100_000] * 40, [4_000_000] + [10] * 39], ids=["all", "one"])
def test_what_a_step_needs_does_not_grow_with_its_matches(lengths):
    # 1,600 pairs of rows of a hundred kilobytes: 160 MB, or all of the memory there is.
    left = pa.table({"t": [0] * 40, "k": [1] * 40, "text": ["x" * n for n in lengths]})
    right = pa.table({"t": [1] * 40, "k": [1] * 40})
    query = JoinQuery(on=(("k", "k"),), time=("t", "t"), windows=(Window.of(5), Window.of(5)))
    flow = Flow(start(Plan(query, [left.schema, right.schema], by_name("random"))), [left, right])
    rows = 0
    for matches in flow:
        assert matches.nbytes < 170_000_000
        rows += matches.num_rows
    assert rows == flow.state.matched == 1600
