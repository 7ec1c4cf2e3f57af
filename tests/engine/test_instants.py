"""Instants of very many rows: each of their rows meets every other, whole or in parts."""

import numpy as np
import pyarrow as pa
import pytest

from penstock.engine.plan import Plan
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.policies import by_name
from running import SCHEMA, plan_of, query_of

MANY = 70_000  # more newcomers than wait for a place at once


def rows_at(times):
    columns = [times, np.arange(MANY), np.ones(MANY), np.arange(MANY)]
    return pa.table([pa.array(column) for column in columns], schema=SCHEMA)


@pytest.mark.parametrize("memory", [None, 4 * MANY])
@pytest.mark.parametrize("policy", ["random", "gain-and-loss"])
@pytest.mark.parametrize(("window", "apart"), [(0, 0), (3, 0), (3, 3)])
def test_an_instant_taken_in_parts_loses_no_match(memory, policy, window, apart):
    plan = plan_of(query_of((window, window), memory=memory), by_name(policy), output="counts")
    early, now = np.zeros(MANY, int), np.full(MANY, apart)
    out = step(start(plan), [rows_at(early), rows_at(now)], last=True)
    assert out.health.matched == MANY
    out = step(out.state, [rows_at(early + apart + window + 1), None], last=True)
    assert out.health.matched == MANY
    assert out.health.expired[1] == MANY


def test_rows_that_wait_for_their_instant_lie_together():
    plan = plan_of(query_of((9, 9), "count", 4), by_name("random"), output="counts")
    state = start(plan)
    for _ in range(30):
        state = step(state, [rows_at(np.zeros(MANY, int)).slice(0, 3), None]).state
    assert state.health().waiting == (90, 0)
    assert state.waiting[0]["key"].num_chunks == 1


@pytest.mark.parametrize("policy", ["random", "gain-and-loss"])
def test_an_instant_whose_last_row_fills_it_is_ended_all_the_same(policy):
    # One row takes more than the eighth of the budget that an open instant may, so it asks for a
    # place at once.  With a window of 0 it may stay no longer than the instant.
    schema = SCHEMA.append(pa.field("note", pa.string()))
    plan = Plan(query_of((0, 0), memory="200KB"), [schema, schema], by_name(policy))
    row = rows_at(np.zeros(MANY, int)).slice(0, 1)
    wide = row.append_column("note", pa.array(["x" * 25_000]))
    out = step(start(plan), [wide, None], last=True)
    assert out.health.held == (0, 0)
    assert out.health.expired == (1, 0)
