"""The counters of a join: few at first, more as keys come, and never more than their share."""

import pytest

from penstock.arrivals.counting import SKETCHED, USED, bytes_at_most
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.kernels.store import bytes_of
from penstock.policies import by_name
from reference import Row
from running import plan_of, query_of, table_of


@pytest.mark.parametrize("keys", [900, 3000, 6000])
def test_counters_grow_with_the_keys_and_lose_none(keys):
    # 4,096 places: half of the last run's keys outgrow them, and a sketch takes over.
    query = query_of((10**6, 10**6), "time", 4096)
    plan = plan_of(query, by_name("match-probability"))
    state, begun = start(plan), start(plan).counting
    rows = [Row(time, time % keys) for time in range(2 * keys)]
    for begin in range(0, len(rows), 1000):
        state = step(state, [table_of(rows[begin : begin + 1000]), None]).state
    counting = state.counting
    assert len(begun.keys) <= 1544
    assert bytes_of(counting) <= bytes_at_most(begun) + 200
    assert (counting.tally[SKETCHED] == 1) == (keys > 4096)
    if keys <= 4096:
        assert counting.tally[USED] == keys
        assert counting.counts[:, 0].sum() == 2 * keys
        assert set(counting.counts[:, 0]) == {0.0, 2.0}
