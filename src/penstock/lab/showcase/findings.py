"""The runs behind the showcase: exact, on a budget, and on one budget after the other."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from penstock.errors import InvalidQuery
from penstock.lab.losses import Group, Losses, Numbered, Outcome, Pairs, grouped
from penstock.lab.traces import Progress, Ran, Trace, places
from penstock.lab.workloads import destinations
from penstock.policies import by_name
from penstock.query import Budget, JoinQuery, Window

_SHARES = (0.05, 0.10, 0.25, 0.50, 0.75, 1.00)
_BESIDE = "random"  # the line that every policy must pass, on the curve over memory
_FIRST_ROWS = 200  # enough to compile whatever a policy needs
_HOUR = 3_600_000_000

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
    """What one policy kept of the exact join, and where it lost."""

    policy: str
    outcome: Outcome
    losses: Losses
    destinations: tuple[Group, ...]
    hours: tuple[Group, ...]  # of the day, of the later departure


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
    exact: Outcome
    memory: Budget
    kept: tuple[Kept, ...]
    curves: dict[str, tuple[Point, ...]]
    compiling: float  # seconds


def look_into(question: Question, *, bars: Bars) -> Findings:
    """Run the join exactly and on a budget; `bars` begins the display of a part's progress."""
    workload = destinations(question.left, question.right)
    query = JoinQuery(
        on=(("destination", "destination"),),
        time=("departure", "departure"),
        windows=(Window.of(question.within),) * 2,
    )
    trace = Trace(workload.left, workload.right, query)
    budget = Budget.of(question.memory) or Budget("share", 1.0)
    policies = tuple(dict.fromkeys(by_name(name).name for name in question.keep))
    on_curve = tuple(dict.fromkeys((*policies, _BESIDE)))
    compiling = _compile(trace, on_curve, bars("compiling"))
    numbered = Numbered(trace)
    exact = numbered.exact(progress=bars("exact"))
    memory = places(budget, exact.ran.health.peak_rows)
    kept = tuple(
        _kept(numbered, exact, policy, memory, seed=question.seed, progress=bars(policy))
        for policy in policies
    )
    curves = {
        policy: _curve(trace, policy, exact.ran, question.seed, bars(f"{policy}, by memory"))
        for policy in on_curve
    }
    return Findings(question, workload.note, trace, exact, memory, kept, curves, compiling)


def _compile(trace: Trace, policies: tuple[str, ...], progress: Progress) -> float:
    """Run the first rows, so that no measurement includes compiling; return how long it took."""
    began = time.perf_counter()
    left, right = (table.slice(0, _FIRST_ROWS) for table in trace.tables)
    first = Numbered(Trace(left, right, trace.query))
    first.exact()
    for done, policy in enumerate(policies):
        progress(done, len(policies))
        first.run(by_name(policy), memory=Budget("rows", 4))
    progress(len(policies), len(policies))
    return time.perf_counter() - began


def _kept(numbered: Numbered, exact: Outcome, policy: str, memory: Budget, **how: Any) -> Kept:
    outcome = numbered.run(by_name(policy), memory=memory, **how)
    losses = numbered.losses(exact, outcome)
    whole = numbered.rows_of(exact.pairs)
    return Kept(
        policy,
        outcome,
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
