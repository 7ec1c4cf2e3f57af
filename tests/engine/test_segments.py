"""Segments: where the payload of held rows lies, however long the join runs."""

import pytest

from penstock.engine.saved import restore, save
from penstock.engine.segments import LAST
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.policies import by_name
from reference import Row
from running import plan_of, query_of, table_of


@pytest.mark.parametrize("interrupted", [False, True])
def test_numbers_of_segments_begin_anew_when_none_is_left(interrupted):
    plan = plan_of(query_of((50, 50), memory=20), by_name("random"))
    found = []
    for first in (1, LAST - 30):
        state, pairs = start(plan), []
        state.segments._next = first
        for t in range(60):
            if interrupted:
                state = restore(plan, save(state).parts)
            out = step(state, [table_of([Row(t, t % 3)]), table_of([Row(t, t % 3)])])
            state = out.state
            pairs += out.matches.to_pylist()
        found.append(pairs)
        assert max(state.segments.by_number) < 1000
    assert found[0] == found[1]
