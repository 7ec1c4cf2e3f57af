"""The exact join by DuckDB, against pairs counted by hand; the runs on Spark are in tests/spark."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.lab.losses import ROW, Numbered
from penstock.lab.streamed import exact_pairs
from penstock.lab.traces import Trace
from penstock.query import JoinQuery, Window

rows = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=1, max_size=12)


def table(side):
    return pa.table(
        {
            "time": pa.array([t * 1_000_000 for t, _ in side], pa.timestamp("us")),
            "key": [k for _, k in side],
        }
    )


@given(left=rows, right=rows, before=st.integers(0, 5), after=st.integers(0, 5))
def test_duckdb_finds_the_pairs_that_lie_within_the_windows(left, right, before, after):
    left, right = sorted(left), sorted(right)
    windows = (Window.of(f"{before} seconds"), Window.of(f"{after} seconds"))
    query = JoinQuery(on=(("key", "key"),), time=("time", "time"), windows=windows)
    by_hand = [
        i * len(right) + j
        for i, (t, k) in enumerate(left)
        for j, (u, other) in enumerate(right)
        if k == other and -after <= u - t <= before
    ]
    numbered = Numbered(Trace(table(left), table(right), query))
    assert exact_pairs(numbered.trace, ROW).tolist() == by_hand
