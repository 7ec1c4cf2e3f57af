"""What a budget costs on real flights: which matches are kept, which are lost, and where.

Two flights that leave New York for the same destination within a few hours are flights a
passenger could swap.  The join of two airports is run exactly and on a budget, and the
lost matches are looked at one by one.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from penstock.errors import InvalidQuery
from penstock.lab.losses import Group, Losses, Numbered, Outcome, Pairs, grouped, worst_tenth
from penstock.lab.record import Headline, Panel, Record, Series, Table, made_with
from penstock.lab.traces import Progress, Ran, Trace, facts_of, places
from penstock.lab.workloads import destinations
from penstock.policies import by_name
from penstock.query import Budget, JoinQuery, Window

SHARES = (0.05, 0.10, 0.25, 0.50, 0.75, 1.00)
_BESIDE = "random"  # the line that every policy must pass, on the curve over memory
_LONGEST_LIST = 8
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


class _Run(NamedTuple):
    name: str
    outcome: Outcome
    losses: Losses
    destinations: tuple[Group, ...]
    hours: tuple[Group, ...]


class _Point(NamedTuple):
    """A policy on one share of the exact join's memory."""

    share: float
    rows: int
    ran: Ran


def showcase(question: Question, *, command: str, bars: Bars) -> Record:
    """Run the join exactly and on a budget, and record what was kept and what was lost.

    Parameters
    ----------
    question
        What is asked.
    command
        The command that asks it, for the record.
    bars
        Begins the display of one part's progress.
    """
    began = time.perf_counter()
    workload = destinations(question.left, question.right)
    query = JoinQuery(
        on=(("destination", "destination"),),
        time=("departure", "departure"),
        windows=(Window.of(question.within),) * 2,
    )
    budget = Budget.of(question.memory)
    assert budget is not None  # noqa: S101  # the text is not None
    trace = Trace(workload.left, workload.right, query)
    names = tuple(dict.fromkeys(by_name(name).name for name in question.keep))
    compiling = _compile(trace, (*names, _BESIDE), budget, bars("compiling"))
    numbered = Numbered(trace)
    exact = numbered.exact(progress=bars("exact join"))
    memory = places(budget, exact.ran.health.peak_rows)
    runs = [
        _looked_into(numbered, exact, name, memory, question.seed, bars(name)) for name in names
    ]
    curves = {
        name: _curve(trace, name, exact.ran, question.seed, bars(f"{name} over memory"))
        for name in dict.fromkeys((*names, _BESIDE))
    }
    record = _written(question, trace, exact, runs, curves, memory)
    facts = {**record.facts, "compile_seconds": compiling}
    return replace(
        record,
        workload=workload.note,
        command=command,
        facts=facts,
        seconds=time.perf_counter() - began,
        made_with=made_with(),
    )
