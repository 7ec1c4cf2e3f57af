"""A join saved and restored at any point goes on as if nothing had happened."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import running
from penstock.arrivals.expectation import Decayed, LastWindow, Retained
from penstock.engine.change import change
from penstock.engine.saved import CHANGING, restore, save
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.errors import UnreadableState
from penstock.policies import by_name
from penstock.query import Budget
from reference import Row
from running import plan_of, query_of, table_of
from streams import NEED_A_WINDOW, POLICIES, orders, rows, splits


def batches_of(left, right, size):
    """The sequence in batches of so many rows, which may cut an instant."""
    tables = [table_of(left), table_of(right)]
    sequence = sorted(
        (row.time, stream, index)
        for stream, side in enumerate((left, right))
        for index, row in enumerate(side)
    )
    for begin in range(0, len(sequence), size):
        part = sequence[begin : begin + size]
        yield [
            tables[s].take(pa.array([i for _, t, i in part if t == s], pa.int64())) for s in (0, 1)
        ]


def outcome(plan, batches, *, interrupted):
    """Run the batches; when interrupted, keep only what a writer of new parts has on its shelf."""
    state, found, shelf = start(plan), [], {}
    for batch in batches:
        if interrupted:
            saved = save(state, written=set(shelf))
            shelf = {n: b for n, b in {**shelf, **saved.parts}.items() if n in saved.names}
            state = restore(plan, shelf)
        out = step(state, batch)
        state = out.state
        found.append(None if out.matches is None else out.matches.to_pylist())
    health = step(state, [None, None], last=True).health
    return found, health


def same(one, other):
    found, health = one
    again, health_again = other
    assert again == found
    assert {**vars(health_again), "bytes": 0} == {**vars(health), "bytes": 0}


@pytest.mark.parametrize("names", POLICIES + NEED_A_WINDOW, ids=str)
@given(
    left=rows,
    right=rows,
    windows=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    kind=st.sampled_from(["time", "count"]),
    memory=st.sampled_from([2, 3, 5, None]),
    split=splits,
    order=orders,
    expects=st.sampled_from([LastWindow(), Retained(), Decayed(3.0)]),
    output=st.sampled_from(["matches", "counts"]),
    ghosts=st.sampled_from([0.0, 1.0, 5.0]),
    size=st.integers(1, 9),
)
def test_interrupting_changes_nothing(
    names, left, right, windows, kind, memory, split, order, expects, output, ghosts, size
):
    name, parameters = names
    plan = plan_of(
        query_of(windows, kind, memory, split, order),
        by_name(name, **parameters),
        expectation=expects,
        output=output,
        ghosts=ghosts,
    )
    batches = list(batches_of(left, right, size))
    same(
        outcome(plan, batches, interrupted=False),
        outcome(plan, batches, interrupted=True),
    )


@given(
    left=rows,
    right=rows,
    windows=st.tuples(st.integers(0, 6), st.integers(0, 6)),
    size=st.integers(1, 9),
    policy=st.sampled_from(["random", "gain-and-loss", "match-probability"]),
)
@example(
    left=[],
    right=[Row(2, None), Row(0, 0), Row(1, 0), Row(6, None), Row(1, 0)],
    windows=(6, 5),
    size=1,
    policy="random",
)
@example(
    left=[Row(2, None), Row(1, 0)],
    right=[Row(0, 0)],
    windows=(0, 2),
    size=1,
    policy="gain-and-loss",
)
def test_bytes_under_one_name_never_change(left, right, windows, size, policy):
    plan = plan_of(query_of(windows, "time", 5, "half"), by_name(policy))
    state, seen = start(plan), {}
    for batch in batches_of(left, right, size):
        state = step(state, batch).state
        for name, blob in save(state).parts.items():
            if name != CHANGING:
                assert seen.setdefault(name, blob) == blob


def a_state(**settings):
    left = some_rows(0, 20)
    plan = plan_of(query_of((5, 5), "time", 6), by_name("random"), **settings)
    return plan, step(start(plan), [left, left]).state


def some_rows(begin, end):
    return table_of([Row(time, time % 3, 1.0 + time % 2) for time in range(begin, end)])


def test_another_process_goes_on(tmp_path):
    _, state = a_state()
    for name, blob in save(state).parts.items():
        (tmp_path / name).write_bytes(blob)
    later = some_rows(20, 40)
    here = step(state, [later, later], last=True)
    script = f"""
import sys, pathlib
sys.path.insert(0, {str(Path(running.__file__).parent)!r})
from penstock.engine.saved import restore
from penstock.engine.change import change
from penstock.engine.step import step
from penstock.policies import by_name
from penstock.query import Budget
from reference import Row
from running import plan_of, query_of, table_of
parts = {{p.name: p.read_bytes() for p in pathlib.Path({str(tmp_path)!r}).iterdir()}}
plan = plan_of(query_of((5, 5), "time", 6), by_name("random"))
later = table_of([Row(time, time % 3, 1.0 + time % 2) for time in range(20, 40)])
out = step(restore(plan, parts), [later, later], last=True)
print(out.matches.to_pylist())
"""
    there = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert there.stdout.strip() == str(here.matches.to_pylist()), there.stderr


def test_another_query_is_refused():
    _, state = a_state()
    other = plan_of(query_of((5, 6), "time", 6), by_name("random"))
    with pytest.raises(UnreadableState, match="restore it with the one it was saved with"):
        restore(other, save(state).parts)


def test_another_seed_is_refused():
    plan, state = a_state()
    other = plan_of(plan.query, plan.policy, seed=4)
    with pytest.raises(UnreadableState, match="seed"):
        restore(other, save(state).parts)


@pytest.mark.parametrize(
    "harm", [lambda b: b[:-1], lambda b: b[:40] + b"?" + b[41:], lambda b: b""]
)
def test_a_damaged_part_is_noticed(harm):
    plan, state = a_state()
    parts = save(state).parts
    for name in parts:
        with pytest.raises(UnreadableState, match="damaged"):
            restore(plan, {**parts, name: harm(parts[name])})


def test_a_missing_part_is_named():
    plan, state = a_state()
    parts = save(state).parts
    gone = next(name for name in parts if name != CHANGING)
    with pytest.raises(UnreadableState, match=gone):
        restore(plan, {name: blob for name, blob in parts.items() if name != gone})


def test_a_saved_state_stays_usable():
    _, state = a_state()
    before = state.health().held
    save(state)
    assert step(state, [None, None]).health.held == before


def test_a_changed_budget_and_the_watermark_are_kept():
    plan = plan_of(query_of((50, 50), "time", 8), by_name("recent"))
    state = step(start(plan), [some_rows(0, 4), None], watermark=0).state
    state = step(state, [None, None], watermark=9).state
    state = restore(plan, save(change(state, memory=Budget.of(2))).parts)
    assert state.health().budget == 2
    out = step(state, [some_rows(8, 10), None], watermark=-5)
    assert out.health.late == (1, 0)


def test_a_gain_in_an_instant_that_is_still_open_is_kept():
    # time   0 1 2 3      a meets A at 1 and gains, so that at 2 it outranks b, of 2; saved at 1
    # left   a . b .
    # right  . A . A
    dgl = by_name("gain-and-loss", gain=1, loss=0.5)
    plan = plan_of(query_of((9, 9), "time", 2), dgl)
    state = step(start(plan), [table_of([Row(0, 1)]), None]).state
    state = step(state, [None, table_of([Row(1, 1)])]).state
    state = restore(plan, save(state).parts)
    state = step(state, [table_of([Row(2, 2, 2.0)]), None]).state
    assert step(state, [None, table_of([Row(3, 1)])]).matches.num_rows == 1


def test_a_sketch_that_takes_over_ranks_all_rows_anew():
    # A restored state asks for every rank; one that runs on must know the same of each.
    draws = np.random.default_rng(1)
    left, right = (
        [Row(t, int(key)) for t, key in enumerate(draws.zipf(1.2, 8000) % 5000)] for _ in range(2)
    )
    query = query_of((10**6, 10**6), "time", 2000, "shared")
    plan = plan_of(query, by_name("match-probability"), output="counts")
    batches = list(batches_of(left, right, 1000))
    run_on = outcome(plan, batches, interrupted=False)
    same(run_on, outcome(plan, batches, interrupted=True))
    state = start(plan)
    for batch in batches:
        state = step(state, batch).state
    assert len(state.counting.sketch) > 0
