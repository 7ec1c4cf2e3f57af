"""Rows of a key and of a stream in the order of time, however late they come."""

import time

import numpy as np
import pyarrow as pa
import pytest

import reference
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.policies import by_name
from reference import Row
from running import SCHEMA, plan_of, query_of, table_of


@pytest.mark.parametrize("keys", [1, 3, 40])
def test_very_late_rows_find_their_places(keys):
    draws = np.random.default_rng(keys)
    left = [Row(int(t), int(draws.integers(keys))) for t in draws.integers(0, 300, 600)]
    right = [Row(int(t), int(draws.integers(keys))) for t in draws.integers(0, 300, 120)]
    plan = plan_of(query_of((9, 4)), by_name("random"))
    state, pairs = start(plan), []
    for begin in range(0, 600, 200):
        ids = pa.array(range(begin, begin + 200), pa.int64())
        batch = table_of(left[begin : begin + 200]).set_column(3, "id", ids)
        state = step(state, [batch, None], watermark=-400).state
    out = step(state, [None, table_of(right)], watermark=-400)
    found = out.matches
    pairs = zip(found["id_left"].to_pylist(), found["id_right"].to_pylist(), strict=True)
    assert sorted(pairs) == reference.exact_pairs(left, right, (9, 4))


@pytest.mark.parametrize("keys", [1, 4])
def test_late_rows_of_a_hot_key_cost_no_more_each_when_there_are_more(keys):
    plan = plan_of(query_of((10**9, 10**9)), by_name("random"), output="counts")

    def seconds(count):
        hot = np.arange(count) % keys
        early, late = (
            pa.table([2 * np.arange(count) + odd, hot, np.ones(count), hot], schema=SCHEMA)
            for odd in (0, 1)
        )
        state = step(start(plan), [early, None], watermark=-1).state
        began = time.process_time()
        step(state, [late, None], watermark=-1)
        return time.process_time() - began

    seconds(1000)
    few, many = (min(seconds(count) for _ in range(3)) for count in (5_000, 40_000))
    assert many < 30 * few  # eight times as many; by walking it took more than sixty times
