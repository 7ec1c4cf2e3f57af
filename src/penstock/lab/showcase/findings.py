"""The runs behind the showcase: on Spark, exactly and on a budget; in the engine, over budgets."""

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from penstock.errors import InvalidQuery
from penstock.lab.losses import ROW, Group, Losses, Numbered, Outcome, Pairs, grouped
from penstock.lab.streamed import OnSpark, Streamed, exact_pairs
from penstock.lab.traces import Progress, Ran, Trace, places
from penstock.lab.workloads import destinations
from penstock.policies import by_name
from penstock.query import Budget, JoinQuery, Window

_SHARES = (0.05, 0.10, 0.25, 0.50, 0.75, 1.00)
_BESIDE = "random"  # the line that every policy must pass, on the curve over memory
_FIRST_ROWS = 200  # enough to compile whatever a policy needs
_HOUR = 3_600_000_000
_COLUMNS = ("destination", "departure", "carrier", "flight", "tailnum")
_CORES = 2
# What runs in one shard is done by one task; another would only start a Python of its own.
_SETTINGS = {"spark.sql.shuffle.partitions": "1"}

Bars = Callable[[str], Progress]


@dataclass(frozen=True)
class Question:
    """Which flights, how far apart, and what the join may hold.

    Parameters
    ----------
    left, right
        The two airports.
    within
        How far apart two departures may lie, in words.
    memory
        The budget, as `penstock replay --memory` takes it.
    keep
        Names of policies, the one in question last.
    seed
        The seed of all chance.
    """

    left: str = "EWR"
    right: str = "JFK"
    within: str = "3 hours"
    memory: str = "25%"
    keep: tuple[str, ...] = ("recent", "match-probability")
    seed: int = 0

    def __post_init__(self) -> None:
        if self.left == self.right:
            raise InvalidQuery(
                f"left, right: both are {self.left}, and every flight would meet itself; name two "
                "airports."
            )
        if not self.keep:
            raise InvalidQuery("keep='': name at least one policy.")


class Kept(NamedTuple):
    """What one policy kept of the exact join on Spark, and where it lost.

    Attributes
    ----------
    outcome
        What Spark made; only when each row was shed is told by the replay.
    replay
        The same rows through the engine without Spark.
    """

    policy: str
    outcome: Outcome
    replay: Outcome
    losses: Losses
    destinations: tuple[Group, ...]
    hours: tuple[Group, ...]  # of the day, of the later departure

    @property
    def replayed(self) -> bool:
        """Whether Spark and the engine alone made the same matches, one by one."""
        return np.array_equal(self.outcome.pairs, self.replay.pairs)


class Streams(NamedTuple):
    """What the streaming queries made.

    Attributes
    ----------
    exact
        The run without a budget; its pairs are those that DuckDB finds.
    confirmed
        Whether Spark made just those pairs.
    spark
        Which Spark it was, and on which Java.
    batches
        Of each query.
    """

    exact: Outcome
    confirmed: bool
    memory: Budget
    kept: tuple[Kept, ...]
    spark: str
    batches: int


class Point(NamedTuple):
    """A run on a share of what the exact join holds."""

    share: float
    rows: int
    ran: Ran


class Findings(NamedTuple):
    """Everything that was found, before it is put in words."""

    question: Question
    workload: str  # how the rows came about
    trace: Trace
    streams: Streams
    curves: dict[str, tuple[Point, ...]]  # of the engine alone
    compiling: float  # seconds

    @property
    def exact(self) -> Outcome:
        """The run without a budget."""
        return self.streams.exact

    @property
    def kept(self) -> tuple[Kept, ...]:
        """The run of each policy."""
        return self.streams.kept

    @property
    def memory(self) -> Budget:
        """What each policy might hold."""
        return self.streams.memory


def look_into(question: Question, *, bars: Bars) -> Findings:
    """Run the join exactly and on a budget; `bars` begins the display of a part's progress."""
    workload = destinations(question.left, question.right)
    query = JoinQuery(
        on=(("destination", "destination"),),
        time=("departure", "departure"),
        windows=(Window.of(question.within),) * 2,
    )
    left, right = (table.select(_COLUMNS) for table in (workload.left, workload.right))
    trace = Trace(left, right, query)
    budget = Budget.of(question.memory) or Budget("share", 1.0)
    policies = tuple(dict.fromkeys(by_name(name).name for name in question.keep))
    for policy in policies:
        trace.refuse(by_name(policy), budget)
    on_curve = tuple(dict.fromkeys((*policies, _BESIDE)))
    compiling = _compile(trace, on_curve, bars("compiling"))
    numbered = Numbered(trace)
    streams = _on_spark(question, numbered, policies, budget, bars)
    curves = {
        policy: _curve(
            trace, policy, streams.exact.ran, question.seed, bars(f"{policy}, by memory")
        )
        for policy in on_curve
    }
    return Findings(question, workload.note, trace, streams, curves, compiling)


def _on_spark(
    question: Question, numbered: Numbered, policies: tuple[str, ...], budget: Budget, bars: Bars
) -> Streams:
    """Run one streaming query after the other, and lay each beside the exact join."""
    from penstock.spark.session import described, embedded  # loads Spark, which takes a while

    starting = bars("starting Spark")
    session = embedded(_CORES, conf=_SETTINGS)
    starting(1, 1)
    with tempfile.TemporaryDirectory(prefix="penstock-demo-") as folder:
        streamed = Streamed(numbered.trace, Path(folder), session)
        seed = question.seed
        whole = streamed.run("recent", memory=None, seed=seed, progress=bars("exact, on Spark"))
        exact = Outcome(whole.ran, exact_pairs(numbered.trace, ROW), numbered.nothing_shed)
        confirmed = np.array_equal(exact.pairs, numbered.codes_of(whole.rows))
        memory = places(budget, whole.ran.health.peak_rows)
        kept = []
        for policy in policies:
            progress = bars(f"{policy}, on Spark")
            made = streamed.run(policy, memory=memory, seed=seed, progress=progress)
            replay = numbered.run(by_name(policy), memory=memory, seed=seed)
            kept.append(_kept(numbered, exact, policy, made, replay))
    return Streams(exact, confirmed, memory, tuple(kept), described(session), whole.batches)


def _compile(trace: Trace, policies: tuple[str, ...], progress: Progress) -> float:
    """Run the first rows, so that no measurement includes compiling; return how long it took.

    Spark's workers then find the machine code on disk.
    """
    began = time.perf_counter()
    left, right = (table.slice(0, _FIRST_ROWS) for table in trace.tables)
    first = Numbered(Trace(left, right, trace.query))
    first.exact()
    for done, policy in enumerate(policies):
        progress(done, len(policies))
        first.run(by_name(policy), memory=Budget("rows", 4))
    progress(len(policies), len(policies))
    return time.perf_counter() - began


def _kept(numbered: Numbered, exact: Outcome, policy: str, made: OnSpark, replay: Outcome) -> Kept:
    outcome = Outcome(made.ran, numbered.codes_of(made.rows), replay.shed_at)
    losses = numbered.losses(exact, outcome)
    whole = numbered.rows_of(exact.pairs)
    return Kept(
        policy,
        outcome,
        replay,
        losses,
        grouped(_destination(numbered, whole), _destination(numbered, losses.pairs)),
        grouped(_hour(numbered, whole), _hour(numbered, losses.pairs)),
    )


def _destination(numbered: Numbered, pairs: Pairs) -> pa.Array:
    return numbered.trace.tables[0]["destination"].combine_chunks().take(pa.array(pairs.left))


def _hour(numbered: Numbered, pairs: Pairs) -> pa.Array:
    later = np.maximum(numbered.times[0][pairs.left], numbered.times[1][pairs.right])
    return pa.array(later // _HOUR % 24)


def _curve(
    trace: Trace, policy: str, exact: Ran, seed: int, progress: Progress
) -> tuple[Point, ...]:
    points = []
    for done, share in enumerate(_SHARES):
        progress(done, len(_SHARES))
        memory = places(Budget("share", share), exact.health.peak_rows)
        points.append(
            Point(share, int(memory.amount), trace.run(by_name(policy), memory=memory, seed=seed))
        )
    progress(len(_SHARES), len(_SHARES))
    return tuple(points)
