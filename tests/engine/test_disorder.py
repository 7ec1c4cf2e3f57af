"""Rows in any order within the watermark are joined exactly; rows behind it are late."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.errors import InvalidQuery
from penstock.kernels.terms import WATERMARK
from penstock.policies import ALL, by_name
from reference import Row
from running import plan_of, query_of, table_of

some_rows = st.lists(
    st.builds(Row, st.integers(-8, 12), st.integers(0, 2), st.sampled_from([1.0, 2.0])), max_size=6
)
batches = st.lists(
    st.tuples(some_rows, some_rows, st.tuples(st.integers(0, 6), st.integers(0, 6))), max_size=5
)
lengths = st.tuples(*[st.one_of(st.none(), st.integers(0, 6))] * 2)


def flow(plan, arrivals):
    """Feed batches, each under the watermark that the ones before it have left behind."""
    state, marks, late, pairs = start(plan), [-20, -20], [0, 0], []
    kept, seen = ([], []), [0, 0]
    for left, right, ahead in arrivals:
        tables = []
        for stream, rows in enumerate((left, right)):
            table = table_of(rows)
            ids = pa.array(range(seen[stream], seen[stream] + len(rows)), pa.int64())
            tables.append(table.set_column(3, "id", ids))
            seen[stream] += len(rows)
            for row in rows:
                on_time = row.time >= marks[stream]
                late[stream] += not on_time
                # A late row keeps its place in the list, where nothing can match it.
                kept[stream].append(row if on_time else row._replace(key=None))
        out = step(state, tables, watermark=marks)
        state = out.state
        found = out.matches
        pairs += zip(found["id_left"].to_pylist(), found["id_right"].to_pylist(), strict=True)
        marks = [mark + more for mark, more in zip(marks, ahead, strict=True)]
    return sorted(pairs), kept, tuple(late), step(state, [None, None], last=True).health


@given(windows=lengths, arrivals=batches)
def test_without_a_budget_only_late_rows_are_missing(windows, arrivals):
    pairs, kept, late, health = flow(plan_of(query_of(windows), by_name("random")), arrivals)
    assert pairs == reference.exact_pairs(*kept, windows)
    assert health.late == late
    assert sum(health.shed) == 0


@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.name)
@given(
    windows=st.tuples(st.integers(0, 6), st.integers(0, 6)),
    arrivals=batches,
    memory=st.integers(2, 5),
    split=st.sampled_from(["half", "shared"]),
)
def test_on_a_budget_made_and_lost_add_up_to_the_exact_join(
    policy, windows, arrivals, memory, split
):
    plan = plan_of(query_of(windows, "time", memory, split), policy, ghosts=100.0)
    pairs, kept, late, health = flow(plan, arrivals)
    exact = reference.exact_pairs(*kept, windows)
    assert set(pairs) <= set(exact)
    assert len(set(pairs)) == len(pairs) == health.matched
    assert health.matched + health.lost == pytest.approx(len(exact))
    assert health.late == late
    assert health.peak_rows <= memory


def test_a_silent_stream_keeps_the_rows_that_wait_for_it():
    plan = plan_of(query_of((5, 5)), by_name("random"))
    left = table_of([Row(t, 1) for t in range(100)])
    out = step(start(plan), [left, None], watermark=[0, -10])
    assert out.health.held == (100, 0)
    out = step(out.state, [None, table_of([Row(3, 1)])], watermark=[100, 3])
    assert out.matches.num_rows == 9  # with those of 0 to 8
    out = step(out.state, [None, None], watermark=[100, 50])
    assert out.health.held == (100 - 45, 0)


def test_evict_first_takes_rows_in_order_only():
    plan = plan_of(query_of((5, 5), memory=4, order="evict-first"), by_name("random"))
    with pytest.raises(InvalidQuery, match="join-first"):
        step(start(plan), [None, None], watermark=3)


def test_late_rows_make_no_instant_and_no_row_is_late_that_came_in_time():
    # At 20 a, of 8, has lost half of it and outranks b, of 3; in three more instants it would not.
    # a waits for the end of its instant while the watermark goes by.
    plan = plan_of(query_of((9, 9), "count", memory=2), by_name("gain-and-loss", loss=0.5))
    state = step(start(plan), [table_of([Row(0, 1, 8.0)]), None], watermark=0).state
    late = table_of([Row(1, 9), Row(2, 9), Row(3, 9)])
    b = table_of([Row(20, 2, 3.0)])
    out = step(state, [pa.concat_tables([late, b]), None], watermark=5)
    out = step(out.state, [None, table_of([Row(30, 1)])], watermark=25, last=True)
    assert out.health.late == (3, 0)
    assert out.matches.num_rows == 1
    assert out.state.limits[WATERMARK].tolist() == [25, 25]
