"""Runs of the engine in the terms of the twin: lists of rows in, pairs of indexes out."""

import itertools
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from penstock.arrivals.expectation import Known, KnownAges
from penstock.engine.keys import Keys
from penstock.engine.plan import Plan, Side
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.query import Budget, JoinQuery, Window

SCHEMA = pa.schema(
    [("time", pa.int64()), ("key", pa.int64()), ("importance", pa.float64()), ("id", pa.int64())]
)
AGES = KnownAges(((3.0, 0.0, 2.0), (1.0, 2.0, 1.0)), (1, 2))


class Ran(NamedTuple):
    pairs: list
    shed: list
    health: object
    state: object
    peaks: list


def table_of(rows):
    columns = [[r.time for r in rows], [r.key for r in rows], [r.importance for r in rows]]
    return pa.table([*columns, list(range(len(rows)))], schema=SCHEMA)


def window_of(length, kind):
    if length is None:
        return Window("unbounded")
    return Window("rows" if kind == "count" else "time", length)


def query_of(windows, kind="time", memory=None, split="half", order="join-first", combine="min"):
    return JoinQuery(
        on=(("key", "key"),),
        time=("time", "time"),
        windows=tuple(window_of(length, kind) for length in windows),
        memory=Budget.of(memory),
        split=split,
        importance=("importance", "importance"),
        combine=combine,
        order=order,
    )


def plan_of(query, policy, *, expectation=None, output="matches", ghosts=1.0, seed=3):
    side = Side(ghosts=ghosts, output=output)
    return Plan(
        query,
        [SCHEMA, SCHEMA],
        policy,
        expectation=expectation,
        ages=AGES,
        seed=seed,
        side=side,
    )


def known_of(left, right):
    keys = Keys.of([("key", "key")], SCHEMA, SCHEMA)
    hashes, counts = [], []
    for rows in (left, right):
        column = keys.read([table_of(rows)["key"]])
        hashed, valid = keys.hashes(column)
        distinct, count = np.unique(hashed[valid], return_counts=True)
        hashes.append(distinct)
        counts.append(count.astype(float))
    return Known(tuple(hashes), tuple(counts))


def run(left, right, query, policy, *, cuts=(), seed=0, expectation=None, ages=None, ghosts=100.0):
    """Feed the sequence cut after so many rows; `cuts` may fall anywhere, inside instants too."""
    tables = [table_of(left), table_of(right)]
    sequence = sorted(
        (
            (row.time, stream, index)
            for stream, rows in enumerate((left, right))
            for index, row in enumerate(rows)
        )
    )
    side = Side(ghosts=ghosts, shed_rows=True)
    plan = Plan(
        query, [SCHEMA, SCHEMA], policy, expectation=expectation, ages=ages, seed=seed, side=side
    )
    state = start(plan)
    edges = sorted({0, len(sequence), *(cut % (len(sequence) + 1) for cut in cuts)})
    pairs, shed, peaks = [], [], []
    parts = list(itertools.pairwise(edges)) or [(0, 0)]
    for number, (begin, end) in enumerate(parts):
        batch = [
            tables[s].take(pa.array([i for _, t, i in sequence[begin:end] if t == s], pa.int64()))
            for s in (0, 1)
        ]
        out = step(state, batch, last=number == len(parts) - 1)
        state = out.state
        matches = out.matches
        pairs += zip(matches["id_left"].to_pylist(), matches["id_right"].to_pylist(), strict=True)
        shed += [(s, i) for s in (0, 1) for i in out.shed[s]["id"].to_pylist()]
        peaks.append(out.health.held)
    return Ran(sorted(pairs), sorted(shed), out.health, state, peaks)
