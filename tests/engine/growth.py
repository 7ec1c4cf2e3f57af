"""How much a process grows while a join runs in it; `python growth.py NAME OPTIONS` measures.

A test starts it in a process of its own: what was there before would blur the figures.
"""

import gc
import json
import sys

import numpy as np
import pyarrow as pa

from penstock.engine.plan import Plan
from penstock.engine.state import start
from penstock.engine.step import Flow
from penstock.policies import by_name
from penstock.query import Budget, JoinQuery, Window

LONG = 10**9


def resident(name="VmRSS"):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def settled():
    """What the process takes now; its peak counts from here on."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    return resident()


def table(times, keys, width=0):
    columns = {"t": pa.array(times, pa.int64()), "k": pa.array(keys, pa.int64())}
    if width:
        lengths = np.random.default_rng(1).integers(0, 2 * width, len(times))
        columns["text"] = pa.array(["x" * int(length) for length in lengths])
    return pa.table(columns)


def new_state(side, memory, *, split="half", **options):
    """A state before its first row, when all that it will call has been compiled and called."""
    query = JoinQuery(
        on=(("k", "k"),),
        time=("t", "t"),
        windows=(Window("time", LONG),) * 2,
        memory=Budget.of(memory),
        split=split,
        **options,
    )
    plan = Plan(query, [side.schema] * 2, by_name("match-probability"))
    state = start(plan)
    for part in ([side.slice(0, 90)] * 2, [side.slice(90, 90)] * 2):
        state, _, _ = drained(Flow(state, part))
    drained(Flow(state, [None, None], last=True))
    return start(plan)


def drained(flow):
    rows, most = 0, 0
    for piece in flow:
        rows += piece.num_rows
        most = max(most, flow.state.nbytes)
    return flow.state, rows, max(most, flow.state.nbytes)


def hot_key(newcomers, width=0, memory="100MB", partners=400_000):
    """Rows of one key, and then newcomers that match every one of them."""
    left = table(np.arange(partners), np.zeros(partners), width)
    right = table(np.full(newcomers, partners), np.zeros(newcomers), width)
    state, most = new_state(left, memory, split=(99.0, 1.0)), 0
    before = settled()
    for begin in range(0, partners, 50_000):
        state, _, took = drained(Flow(state, [left.slice(begin, 50_000), None]))
        most = max(most, took)
    after = settled()
    state, rows, took = drained(Flow(state, [None, right]))
    return {
        "held": state.health().held[0],
        "matches": rows,
        "bytes": max(most, took),
        "grown": after - before,
        "reported": state.nbytes,
        "streaming": resident("VmHWM") - after,
    }


def burst(rows, memory="10MB", width=0, **options):
    """A steady thousand rows an instant, then twenty times as many and more at one."""
    side = table(np.full(rows, 10), np.random.default_rng(2).integers(0, LONG, rows), width)
    calm = table(np.repeat(np.arange(10), 1000), np.arange(10_000), width)
    state = new_state(calm, memory, **options)
    state, _, most = drained(Flow(state, [calm, calm]))
    before = settled()
    state, _, took = drained(Flow(state, [side, side.slice(0, rows // 10)]))
    grown = resident("VmHWM") - before
    most = max(most, took)
    for number in range(11, 14):
        calm = table(np.full(1000, number), np.arange(1000), width)
        state, _, took = drained(Flow(state, [calm, calm], last=number == 13))
        most = max(most, took)
    health = state.health()
    return {"bytes": most, "grown": grown, "batch": side.nbytes, "held": sum(health.held)}


if __name__ == "__main__":
    asked = json.loads(sys.argv[2])
    print(json.dumps({"hot_key": hot_key, "burst": burst}[sys.argv[1]](**asked)))
