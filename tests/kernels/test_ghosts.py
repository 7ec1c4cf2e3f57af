"""Ghosts: counted while they could match, gone when they no longer can."""

import pytest

from penstock.engine.state import start
from penstock.engine.step import step
from penstock.policies import by_name
from reference import Row
from running import plan_of, query_of, table_of


@pytest.mark.parametrize("marks", [None, [0, 0]], ids=["in order", "by watermark"])
def test_ghosts_that_can_match_no_more_go_when_their_key_comes(marks):
    plan = plan_of(query_of((10, 10), memory=2), by_name("recent"), ghosts=100.0)
    left = [Row(t, key) for t in range(10) for key in (1, 2)]
    state = step(start(plan), [table_of(left), None], watermark=marks).state
    assert state.health().ghosts == 17  # the last instant is still open
    state = step(state, [None, table_of([Row(15, 1)])], watermark=marks).state
    seen = state.health()
    assert seen.lost + seen.matched == 5
    # Of key 1 those of 0 to 4 are gone, unless a row to come may still be as old as they are.
    assert seen.ghosts == (14 if marks is None else 19)
    later = None if marks is None else [30, 30]
    state = step(state, [None, table_of([Row(40, 1), Row(40, 2)])], watermark=later).state
    assert state.health().ghosts == 0
    assert state.health().lost == seen.lost
