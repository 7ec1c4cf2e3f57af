"""A trace runs as the engine does, with frequencies and age curves taken from the whole of it."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from penstock.arrivals.expectation import KnownAges
from penstock.errors import InvalidQuery
from penstock.lab.traces import Trace, by_age, frequencies, places
from penstock.policies import by_name
from penstock.query import Budget
from running import query_of, table_of
from streams import rows


def counts(side):
    table = {}
    for row in side:
        if row.key is not None:
            table[row.key] = table.get(row.key, 0) + 1
    return table


@pytest.mark.parametrize("name", ["match-probability", "remaining-matches", "expected-importance"])
@given(left=rows, right=rows, window=st.integers(0, 6), memory=st.integers(2, 6))
def test_known_frequencies_are_those_of_the_whole_trace(name, left, right, window, memory):
    # However long the window is in proportion to the trace: what is equal must stay equal.
    trace = Trace(table_of(left), table_of(right), query_of((window, window)))
    known, _ = frequencies(trace, "known")
    ran = trace.run(by_name(name), memory=Budget.of(memory), expectation=known, ghosts=100)
    twin = reference.simulate(
        left,
        right,
        windows=(window, window),
        memory=memory,
        policy=reference.policy(name),
        expectation=reference.known(counts(left), counts(right)),
    )
    assert ran.matches == len(twin.pairs)
    assert ran.health.lost == twin.lost
    assert ran.health.peak_rows == twin.peak


def trace_of(left, right, window, kind="time"):
    return Trace(
        table_of([reference.Row(t, k) for t, k in left]),
        table_of([reference.Row(t, k) for t, k in right]),
        query_of((window, window), kind),
    )


def test_known_ages_say_when_matches_come():
    # time   0 1 2 3 4 5      each left row finds its partner two steps later;
    # left   1 2 3 4          the right rows are never the older ones
    # right      1 2 3 4
    left = [(time, time) for time in range(4)]
    right = [(time + 2, time) for time in range(4)]
    ages = trace_of(left, right, 3).known_ages(buckets=4)
    assert ages.units == (1, 1)
    assert ages.curves == ((0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 0.0))


def test_memory_is_divided_as_the_ages_ask():
    left = [(time, time) for time in range(20)]
    right = [(time + 2, time) for time in range(20)]
    trace = trace_of(left, right, 3)
    ages = trace.known_ages()
    assert by_age(trace, ages, Budget.of(4)).query.split == (4.0, 0.0)
    assert by_age(trace, ages, Budget.of("1MB")).query.split == "half"
    shared = Trace(*trace.tables, query_of((3, 3), split="shared"))
    assert by_age(shared, ages, Budget.of(4)).query.split == "shared"


def test_a_stream_that_is_slow_is_not_taken_for_one_that_ages_slowly():
    # Under count windows a row's age is counted in rows, so that clocks do not matter.
    left, right = [(t, t % 2) for t in range(40)], [(t, t % 2) for t in range(40)]
    ages = KnownAges(((1.0, 1.0, 1.0), (1.0, 1.0, 1.0)), (1, 1))
    fast = by_age(trace_of(left, right, 3, "count"), ages, Budget.of(4)).query.split
    slow_left, slow_right = ([(1000 * t, k) for t, k in side] for side in (left, right))
    slow = by_age(trace_of(slow_left, slow_right, 3, "count"), ages, Budget.of(4)).query.split
    assert fast == slow


def test_a_share_is_that_of_the_peak():
    assert places(Budget.of("25%"), 80) == Budget("rows", 20)
    assert places(Budget.of("1%"), 80) == Budget("rows", 2)  # a place for each side
    assert places(Budget.of("50%"), 0) == Budget("rows", 2)
    assert places(Budget.of(7), 80) == Budget("rows", 7)
    assert places(Budget.of("1MB"), 80) == Budget("bytes", 1_000_000)


@pytest.mark.parametrize("rows_", [0, 1, 100_000])
def test_how_a_trace_is_cut_does_not_matter_to_what_is_watched(rows_):
    times = np.arange(rows_) // 3
    side = pa.table({"time": times, "key": times % 7, "importance": times * 1.0, "id": times})
    trace, seen = Trace(side, side, query_of((5, 5))), []
    ran = trace.run(
        by_name("random"),
        memory=Budget.of(20),
        watch=lambda state: seen.append(state.health()),
        progress=lambda done, total: seen.append(done / max(1, total)),
    )
    assert sum(ran.health.arrived) == trace.rows == 2 * rows_
    assert all(sum(health.held) <= 20 + 6 for health in seen[1::2])
    assert seen[-2] == (rows_ > 0)


def test_what_cannot_be_run_is_refused_before_anything_is():
    trace = trace_of([(0, 1)], [(0, 1)], 3)
    trace.refuse(by_name("importance"), Budget.of("10%"))
    with pytest.raises(InvalidQuery, match="no such column"):
        Trace(trace.tables[0].drop(["time"]), trace.tables[1], trace.query)
    unbounded = trace_of([(0, 1)], [(0, 1)], None)
    with pytest.raises(InvalidQuery, match="give both sides a window"):
        unbounded.refuse(by_name("remaining-matches"), Budget.of(4))
