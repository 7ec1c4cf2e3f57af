"""Runs of a bounded trace through the engine: the exact join, and a join on a budget."""

import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from penstock.arrivals.age_split import split_by_age
from penstock.arrivals.expectation import (
    AgeSource,
    Expectation,
    Known,
    KnownAges,
    LastWindow,
    LearnedAges,
    counts_by_hash,
)
from penstock.engine.checks import check
from penstock.engine.health import Health
from penstock.engine.keys import Keys
from penstock.engine.plan import Plan, Side
from penstock.engine.sequence import ticks
from penstock.engine.state import State, start
from penstock.engine.step import Flow
from penstock.policies.base import Policy
from penstock.policies.random import RandomDrop
from penstock.quality.estimate import Share, recall_in_matches, recall_in_value
from penstock.query import Budget, JoinQuery

_ROWS_AT_ONCE = 1 << 15
_AGE_BUCKETS = 64
Progress = Callable[[int, int], None]


def _silent(done: int, total: int) -> None:
    return None


def _drain(flow: Flow) -> None:
    for _ in flow:
        pass


@dataclass(frozen=True)
class Ran:
    """What one run of a trace produced."""

    health: Health
    seconds: float
    recall: Share  # estimated from the ledger alone
    value_recall: Share

    @property
    def matches(self) -> int:
        """Matches made from the report's start on."""
        return self.health.matched


class Trace:
    """Two bounded streams, in time order, and the join that is asked of them."""

    def __init__(self, left: pa.Table, right: pa.Table, query: JoinQuery) -> None:
        check(query, (left.schema, right.schema), RandomDrop())
        self.query = query
        given = list(zip((left, right), query.time, strict=True))
        self.tables = tuple(_in_time_order(table, name) for table, name in given)
        self._untimed = [table.filter(table[name].is_null()) for table, name in given]
        self.schemas = tuple(table.schema for table in self.tables)
        self._times = [
            ticks(table[name], name=name)
            for table, name in zip(self.tables, query.time, strict=True)
        ]

    @property
    def rows(self) -> int:
        """Rows of both streams, those without a time included."""
        return sum(table.num_rows for table in (*self.tables, *self._untimed))

    @property
    def first(self) -> int:
        """The earliest event time."""
        return min((int(times[0]) for times in self._times if len(times)), default=0)

    @property
    def last(self) -> int:
        """The latest event time."""
        return max((int(times[-1]) for times in self._times if len(times)), default=0)

    def run(
        self,
        policy: Policy,
        *,
        memory: Budget | None,
        expectation: Expectation | None = None,
        ages: AgeSource | None = None,
        warmup: int = 0,
        seed: int = 0,
        ghosts: float | None = None,
        progress: Progress = _silent,
        watch: Callable[[State], None] | None = None,
        rows_at_once: int = _ROWS_AT_ONCE,
    ) -> Ran:
        """Run the trace under a policy and a budget; matches count once `warmup` has passed.

        `watch` sees the state each time that about `rows_at_once` rows have gone through.
        """
        query = replace(self.query, memory=memory)
        side = Side(ghosts=ghosts, output="counts", report_from=self.first + warmup)
        plan = Plan(
            query, self.schemas, policy, expectation=expectation, ages=ages, seed=seed, side=side
        )
        state = start(plan)
        began = time.perf_counter()
        state = self.feed(state, progress=progress, watch=watch, rows_at_once=rows_at_once)
        return ran_of(state, time.perf_counter() - began)

    def refuse(self, policy: Policy, memory: Budget) -> None:
        """Refuse a policy or a budget that cannot be run, before anything is."""
        plan = Plan(replace(self.query, memory=memory), self.schemas, policy)
        if memory.unit != "share":
            plan.budget()

    def exact(self, *, warmup: int = 0, progress: Progress = _silent) -> Ran:
        """Run the trace without a budget."""
        return self.run(RandomDrop(), memory=None, warmup=warmup, progress=progress)

    def known_frequencies(self) -> Known:
        """Return how often each key comes on each stream in a window, over the whole trace.

        Only to the nearest power of two: a whole number times that is exact, so that ranks
        which are equal when whole occurrences are counted stay equal.
        """
        keys = Keys.of(self.query.on, *self.schemas)
        span = max(1, self.last - self.first + 1)
        reach = [w.length for w in self.query.windows if w.kind == "time"]
        scale = 2.0 ** round(math.log2(max(1, *reach) / span)) if len(reach) == 2 else 1.0
        distinct, counts = [], []
        for stream, table in enumerate(self.tables):
            columns = keys.read([table[pair[stream]] for pair in self.query.on])
            hashes, matchable = keys.hashes(columns)
            by_hash, count = counts_by_hash(hashes[matchable], scale)
            distinct.append(by_hash)
            counts.append(count)
        return Known(tuple(distinct), tuple(counts))

    def known_ages(self, buckets: int = _AGE_BUCKETS) -> KnownAges:
        """Return at which age each stream's rows find their matches, over the whole trace."""
        side = Side(output="counts", age_buckets=buckets)
        plan = Plan(replace(self.query, memory=None), self.schemas, RandomDrop(), side=side)
        state = self.feed(start(plan))
        ages = state.ages
        curves = ages.hits[:, :buckets] / np.maximum(ages.rows, 1.0)[:, None]
        return KnownAges(
            tuple(tuple(float(p) for p in curve) for curve in curves),
            tuple(int(unit) for unit in ages.facts[0]),
        )

    def feed(
        self,
        state: State,
        *,
        progress: Progress = _silent,
        watch: Callable[[State], None] | None = None,
        receive: Callable[[Flow], None] = _drain,
        rows_at_once: int = _ROWS_AT_ONCE,
    ) -> State:
        """Step through the whole trace, and return the state at its end.

        Parameters
        ----------
        state
            It is taken over.
        progress
            Told after every batch how many rows are done, and of how many.
        watch
            Shown the state after every batch.
        receive
            Handed each step; it must iterate over the step's matches.
        rows_at_once
            About how many rows a batch has.
        """
        total, done = self.rows, 0
        cuts = _cuts(self._times, rows_at_once)
        edges = [np.concatenate([[0], np.searchsorted(t, cuts), [len(t)]]) for t in self._times]
        for part in range(len(cuts) + 1):
            batch = [
                table.slice(int(edge[part]), int(edge[part + 1] - edge[part]))
                for table, edge in zip(self.tables, edges, strict=True)
            ]
            last = part == len(cuts)
            if last:
                batch = list(map(pa.concat_tables, zip(batch, self._untimed, strict=True)))
            flow = Flow(state, batch, last=last)
            receive(flow)
            state = flow.state
            done += sum(table.num_rows for table in batch)
            progress(done, total)
            if watch is not None:
                watch(state)
        return state


def ran_of(state: State, seconds: float) -> Ran:
    """Return what a run produced, from the state it ended with."""
    health = state.health()
    return Ran(health, seconds, recall_in_matches(health), recall_in_value(health))


def _in_time_order(table: pa.Table, name: str) -> pa.Table:
    timed = table.filter(table[name].is_valid()) if table[name].null_count else table
    times = ticks(timed[name], name=name)
    if bool((np.diff(times) >= 0).all()):
        return timed
    return timed.take(pa.array(np.argsort(times, kind="stable")))


def _cuts(times: list[np.ndarray], rows: int) -> np.ndarray:
    """Return event times at which to cut the trace into batches of about so many rows."""
    together = np.sort(np.concatenate(times), kind="stable")
    return np.unique(together[rows::rows])


def frequencies(
    trace: Trace, source: Literal["known", "learned"]
) -> tuple[Expectation, AgeSource | None]:
    """Return where frequencies and age curves come from, by the name the command line gives it."""
    if source == "known":
        return trace.known_frequencies(), None
    return LastWindow(), LearnedAges()


def by_age(trace: Trace, ages: KnownAges, memory: Budget) -> Trace:
    """Return the trace with its memory divided as the age curves ask, if it was to be halved.

    The rule is equation 3 of Srivastava and Widom; it speaks of places, so a budget in
    bytes stays as it was.
    """
    if trace.query.split != "half" or memory.unit != "rows":
        return trace
    span = max(1, trace.last - trace.first)
    rates = tuple(max(1, table.num_rows) / span for table in trace.tables)
    split = split_by_age(int(memory.amount), ages, (rates[0], rates[1]))
    divided = copy.copy(trace)
    divided.query = replace(trace.query, split=(float(split[0]), float(split[1])))
    return divided


def places(memory: Budget, peak: int) -> Budget:
    """Return a budget in rows where it was a share of what the exact join holds at its peak."""
    if memory.unit != "share":
        return memory
    return Budget("rows", max(2, round(memory.amount * peak)))


def facts_of(ran: Ran, exact: Ran) -> dict[str, Any]:
    """Return what a run kept of the exact join, in the fields every command prints as JSON."""

    def share(made: float, whole: float) -> float:
        return made / whole if whole else 1.0

    def number(value: float) -> float | None:
        return None if math.isnan(value) else value

    health = ran.health
    return {
        "matches": ran.matches,
        "value": health.value,
        "recall": share(ran.matches, exact.matches),
        "recall_estimate": number(ran.recall.estimate),
        "recall_low": number(ran.recall.low),
        "recall_high": number(ran.recall.high),
        "value_recall": share(health.value, exact.health.value),
        "value_recall_estimate": number(ran.value_recall.estimate),
        "value_recall_low": number(ran.value_recall.low),
        "value_recall_high": number(ran.value_recall.high),
        "lost": health.lost,
        "arrived": sum(health.arrived),
        "shed": sum(health.shed),
        "expired": sum(health.expired),
        "late": sum(health.late),
        "unmatchable": sum(health.unmatchable),
        "held": sum(health.held),
        "peak_rows": health.peak_rows,
        "bytes": health.bytes,
        "seconds": ran.seconds,
    }
