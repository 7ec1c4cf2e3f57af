"""A budget in bytes holds at every moment: after each step, and at every piece of its matches."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from penstock.arrivals.expectation import Decayed, LastWindow, Retained
from penstock.engine.plan import Plan, Side
from penstock.engine.state import start
from penstock.engine.step import Flow
from penstock.policies import ALL, by_name
from penstock.query import Budget, JoinQuery, Window

LONG = 10**9


def text(dice, rows, longest):
    return ["x" * int(n) for n in dice.integers(0, longest + 1, rows)]


def shared_dictionary(dice, rows):
    """Few long values, of which a batch uses some."""
    values = pa.array([letter * 9000 for letter in "abcdefgh"])
    return pa.DictionaryArray.from_arrays(pa.array(dice.integers(0, 8, rows), pa.int8()), values)


def numbers(dice, rows):
    return [dice.integers(0, 9, dice.integers(0, 40)).tolist() for _ in range(rows)]


PAYLOADS = {
    "nothing": lambda dice, rows: {},
    "text": lambda dice, rows: {"x": text(dice, rows, 300), "y": text(dice, rows, 10)},
    "wide text": lambda dice, rows: {"x": text(dice, rows, 10_000)},
    "few wide": lambda dice, rows: {"x": ["x" * 9000 * int(d < 0.02) for d in dice.random(rows)]},
    "large text": lambda dice, rows: {"x": pa.array(text(dice, rows, 500), pa.large_string())},
    "bytes": lambda dice, rows: {"x": pa.array([b"12345678"] * rows, pa.binary(8))},
    "numbers": lambda dice, rows: {name: dice.random(rows) for name in "abcdefghijklmnop"},
    "flags and nulls": lambda dice, rows: {
        "x": dice.random(rows) < 0.5,
        "y": pa.nulls(rows),
        "z": [None if d < 0.5 else "z" * 90 for d in dice.random(rows)],
    },
    "lists": lambda dice, rows: {"x": numbers(dice, rows)},
    "list views": lambda dice, rows: {
        "x": pa.array(numbers(dice, rows), pa.list_view(pa.int64())),
    },
    "nested": lambda dice, rows: {
        "x": [{"a": text(dice, 3, 50), "b": {"c": [t]}} for t in text(dice, rows, 90)],
    },
    "a map": lambda dice, rows: {
        "x": pa.array([[("k", t)] for t in text(dice, rows, 90)], pa.map_(pa.string(), pa.string()))
    },
    "a dictionary": lambda dice, rows: {"x": shared_dictionary(dice, rows)},
    "words": lambda dice, rows: {"x": pa.array(text(dice, rows, 20)).dictionary_encode()},
}


def stream(dice, payload, rows, *, instants, keys):
    columns = {
        "t": np.sort(dice.integers(0, instants, rows)),
        "k": np.minimum(dice.zipf(1.3, rows), keys),
        "w": dice.random(rows),
    }
    return pa.table({**columns, **PAYLOADS[payload](dice, rows)})


def batches(dice, left, right, size):
    """About so many rows at a time, in the order of time, which may cut an instant."""
    times = np.concatenate([left["t"], right["t"]])
    order = np.argsort(times, kind="stable")
    for begin in range(0, len(order), size):
        mine = order[begin : begin + size]
        rows = left.num_rows
        yield [
            left.take(pa.array(np.sort(mine[mine < rows]))),
            right.take(pa.array(np.sort(mine[mine >= rows] - rows))),
        ]


def plan_of(schemas, memory, policy, *, kind="time", length=LONG, output="counts", **more):
    given = {"windows": (Window(kind, length),) * 2, "importance": ("w", "w"), **more}
    expectation = given.pop("expectation", None)
    query = JoinQuery(on=(("k", "k"),), time=("t", "t"), memory=Budget.of(memory), **given)
    side = Side(output=output)
    return Plan(query, schemas, policy, expectation=expectation, side=side)


def most_of(plan, parts, *, watermark=None):
    """The most that the state takes, and the state at the end."""
    state, most = start(plan), 0
    for part in [*parts, [None, None]]:
        flow = Flow(state, part, watermark=watermark, last=part[0] is None)
        for _ in flow:
            most = max(most, flow.state.nbytes)
        state = flow.state
        most = max(most, state.nbytes)
    return most, state


@pytest.mark.parametrize("memory", ["150KB", "500KB"])
@pytest.mark.parametrize("instants", [3, 300])
@pytest.mark.parametrize("payload", PAYLOADS)
def test_whatever_the_rows_carry(payload, instants, memory):
    dice = np.random.default_rng(1)
    left, right = (stream(dice, payload, 3000, instants=instants, keys=10**6) for _ in range(2))
    for policy, split in (("match-probability", "half"), ("random", "shared")):
        plan = plan_of(
            [left.schema, right.schema], memory, by_name(policy), split=split, output="matches"
        )
        most, state = most_of(plan, batches(dice, left, right, 700))
        assert most <= Budget.of(memory).amount
        assert sum(state.health().held) > 0


@pytest.mark.parametrize("expectation", [LastWindow(), Retained(), Decayed(50.0)], ids=str)
@pytest.mark.parametrize("split", ["half", "shared"])
@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.name)
def test_whoever_stays_and_however_many_keys_there_are(policy, split, expectation):
    # 200 KB have counters for 200 keys: the sketch takes over.
    dice = np.random.default_rng(2)
    sides = [stream(dice, "text", 3000, instants=400, keys=10**9) for _ in range(2)]
    schemas = [side.schema for side in sides]
    plan = plan_of(schemas, "200KB", policy, split=split, expectation=expectation, length=150)
    most, state = most_of(plan, batches(dice, *sides, 450))
    assert most <= 200_000
    assert sum(state.health().shed) > 1000


@pytest.mark.parametrize("payload", ["text", "wide text"])
@pytest.mark.parametrize("instants", [1, 4, 300])
@pytest.mark.parametrize(
    "options",
    [
        {"order": "evict-first"},
        {"kind": "rows", "length": 100_000},
        {"kind": "rows", "length": 50},
    ],
    ids=str,
)
def test_where_instants_are_taken_whole(options, instants, payload):
    dice = np.random.default_rng(3)
    left, right = (stream(dice, payload, 3000, instants=instants, keys=50) for _ in range(2))
    plan = plan_of([left.schema, right.schema], "150KB", by_name("match-probability"), **options)
    most, state = most_of(plan, batches(dice, left, right, 400))
    assert most <= 150_000
    assert sum(state.health().arrived) == 6000


@pytest.mark.parametrize("silent", [0, 1])
def test_while_one_stream_is_silent_and_its_watermark_stands_still(silent):
    dice = np.random.default_rng(4)
    side = stream(dice, "text", 6000, instants=500, keys=50)
    parts = [[None, None] for _ in range(10)]
    for number, part in enumerate(parts):
        part[1 - silent] = side.slice(600 * number, 600)
        part[silent] = side.slice(0, 0)
    plan = plan_of([side.schema] * 2, "150KB", by_name("recent"), length=20)
    most, state = most_of(plan, parts, watermark=[-(2**40)] * 2)
    assert most <= 150_000
    assert state.health().late == (0, 0)


def measured(name, *, pool="mimalloc", **asked):
    """What a process of its own reports of a join that runs in it."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("growth.py")), name, json.dumps(asked)],
        capture_output=True,
        text=True,
        env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": pool},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


resident_is_known = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="asks the kernel of Linux"
)


@resident_is_known
def test_a_hot_key_with_400_000_partners_streams_out_in_little_memory():
    found = measured("hot_key", newcomers=10)
    assert found["held"] == 400_000
    assert found["matches"] == 4_000_000
    assert found["bytes"] <= 100e6
    assert found["streaming"] <= 70e6


@resident_is_known
def test_a_state_takes_what_it_says():
    found = measured("hot_key", newcomers=1, pool="system")
    # Room made ahead is counted, though nothing has touched it yet.
    assert 0.75 * found["reported"] <= found["grown"] <= 1.05 * found["reported"]


@resident_is_known
@pytest.mark.slow
@pytest.mark.parametrize("newcomers", [20, 200])
def test_however_many_matches_there_are(newcomers):
    found = measured("hot_key", newcomers=newcomers, width=150, memory="200MB")
    assert found["matches"] == newcomers * found["held"] > 5_000_000
    assert found["bytes"] <= 200e6
    assert found["streaming"] <= 250e6


@resident_is_known
@pytest.mark.parametrize("options", [{}, {"order": "evict-first"}], ids=str)
def test_a_burst_at_one_instant_takes_room_by_its_batch_alone(options):
    found = measured("burst", rows=200_000, **options)
    assert found["bytes"] <= 10e6
    assert found["held"] > 20_000
    assert found["grown"] <= 10e6 + 300 * 220_000 + found["batch"]


@resident_is_known
@pytest.mark.slow
def test_a_burst_of_wide_rows_takes_room_by_its_batch_alone():
    found = measured("burst", rows=40_000, width=5000)
    assert found["bytes"] <= 10e6
    assert found["grown"] <= 10e6 + 300 * 44_000 + 2.2 * found["batch"]
