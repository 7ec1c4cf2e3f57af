"""Sweeps: every attempt on every setting with every seed, here or spread over processes."""

import statistics
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from inspect import signature
from multiprocessing import get_context
from typing import Any, Literal, NamedTuple

from penstock.arrivals.expectation import (
    AgeSource,
    Expectation,
    KnownAges,
    LastWindow,
    LearnedAges,
    Retained,
)
from penstock.engine.state import State
from penstock.errors import InvalidQuery
from penstock.lab.traces import Ran, Trace
from penstock.lab.workloads import WORKLOADS
from penstock.policies.base import Policy
from penstock.quality.estimate import UNKNOWN, Share
from penstock.query import Budget, Combination, JoinQuery, Window

Frequencies = Literal["known", "window", "memory"]
Split = Literal["half", "shared"] | tuple[float, float]


@dataclass(frozen=True)
class Setting:
    """Two streams and the join asked of them: all but the policy and its budget.

    Attributes
    ----------
    workload
        Name in `WORKLOADS`; streams with a column `importance` are joined for their value.
    options
        What the workload is made with, save for its seed.
    windows
        Closed window of each side in the unit of the workload's time.
    warmup
        Matches count once so much time has passed.
    combine
        How the importance of a match follows from that of its rows.
    """

    workload: str
    options: Mapping[str, Any]
    windows: tuple[int, int]
    warmup: int = 0
    combine: Combination = "min"

    def query(self, split: Split, *, valued: bool) -> JoinQuery:
        """Return the join, its budget still open."""
        column = "importance" if valued else None
        left, right = (Window("time", length) for length in self.windows)
        return JoinQuery(
            on=(("key", "key"),),
            time=("time", "time"),
            windows=(left, right),
            split=split,
            importance=(column, column),
            combine=self.combine,
        )


@dataclass(frozen=True)
class Try:
    """One policy on one budget, and what it is told.

    Attributes
    ----------
    policy
        The policy.
    memory
        Rows that may be held.
    split
        How the two sides divide them.
    frequencies
        Where expected matches come from: the whole trace ("known"), the last window, or
        the rows held ("memory").
    ages
        Age curves: stated, or measured on the whole trace in so many buckets; None learns.
    looks
        At how many evenly spaced moments to note the share of each side.
    estimate
        Whether the join is to estimate its recall, on as many ghosts as one has by default.
    """

    policy: Policy
    memory: int
    split: Split = "half"
    frequencies: Frequencies = "known"
    ages: KnownAges | int | None = None
    looks: int = 0
    estimate: bool = False


@dataclass(frozen=True)
class Outcome:
    """What one run of one attempt made, beside the exact join of the same rows.

    `shares` holds pairs of a time and the left side's share of the rows held then.
    `seconds` compare with those of attempts of the same sweep only.  `estimates` are what the
    join said of its recall, in matches and in importance; `counted` if no ghost was missing.
    """

    matches: int
    value: float
    exact_matches: int
    exact_value: float
    exact_rows: int
    seconds: float
    shares: tuple[tuple[float, float], ...] = ()
    estimates: tuple[Share, Share] = (UNKNOWN, UNKNOWN)
    counted: bool = False

    @property
    def recall(self) -> float:
        """Matches as a share of the exact join's."""
        return self.matches / self.exact_matches if self.exact_matches else 1.0

    @property
    def value_recall(self) -> float:
        """Importance as a share of the exact join's."""
        return self.value / self.exact_value if self.exact_value else 1.0


Measure = Callable[[Outcome], float]


def recall(outcome: Outcome) -> float:
    """Return the outcome's recall."""
    return outcome.recall


def value_recall(outcome: Outcome) -> float:
    """Return the outcome's recall of importance."""
    return outcome.value_recall


class Found:
    """The outcomes of a sweep: for each setting and attempt, one a seed."""

    def __init__(self, outcomes: Mapping[tuple[Hashable, Try], tuple[Outcome, ...]]) -> None:
        self._outcomes = outcomes

    def of(self, setting: Hashable, attempt: Try) -> tuple[Outcome, ...]:
        """Return the outcomes of one attempt, in the order of the seeds."""
        return self._outcomes[setting, attempt]

    def all(self, setting: Hashable, attempt: Try, measure: Measure = recall) -> list[float]:
        """Return a measure of each of those outcomes."""
        return [measure(outcome) for outcome in self.of(setting, attempt)]

    def mean(self, setting: Hashable, attempt: Try, measure: Measure = recall) -> float:
        """Return the mean of a measure over the seeds."""
        return statistics.fmean(self.all(setting, attempt, measure))


class Task(NamedTuple):
    """What is done in one place: all attempts on one pair of streams."""

    setting: Setting
    seed: int
    attempts: tuple[Try, ...]


Outcomes = tuple[Outcome, ...]
Spread = Callable[[Callable[[Task], Outcomes], Sequence[Task]], Iterable[Outcomes]]
Progress = Callable[[int, int], None]


def in_turn(work: Callable[[Task], Outcomes], tasks: Sequence[Task]) -> Iterator[Outcomes]:
    """Do one task after the other, in this process."""
    return map(work, tasks)


@contextmanager
def spread_over(jobs: int) -> Iterator[Spread]:
    """Give a spread over so many processes; 1 stays in this one.

    A spread is a `map` that keeps the order.  Any other way to run a function on a list of
    values in many places can take its place, as a cluster does, since tasks and outcomes can
    be pickled and a task draws all its chance from its own seed.
    """
    if jobs < 1:
        raise InvalidQuery(f"jobs={jobs}: at least 1 process has to do the work.")
    if jobs == 1:
        yield in_turn
        return
    # A forked child would inherit locks of threads that it does not have.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield pool.map


def _silent(done: int, total: int) -> None:
    return None


@dataclass(frozen=True)
class Sweep:
    """How sweeps are run: with which seeds, where, and who is told how far they are."""

    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    spread: Spread = field(default=in_turn, repr=False)
    progress: Progress = field(default=_silent, repr=False)

    def __call__(self, grid: Mapping[Hashable, tuple[Setting, Sequence[Try]]]) -> Found:
        """Run each setting's attempts with every seed.

        Examples
        --------
        >>> from penstock.policies import RandomDrop
        >>> zipf = Setting("zipf", {"steps": 400}, windows=(39, 39), warmup=80)
        >>> attempts = [Try(RandomDrop(), memory) for memory in (20, 78)]
        >>> found = Sweep(seeds=(0,))({"zipf": (zipf, attempts)})
        >>> [round(found.mean("zipf", attempt), 2) for attempt in attempts]
        [0.24, 1.0]
        """
        tasks = [
            (name, Task(setting, seed, tuple(dict.fromkeys(attempts))))
            for name, (setting, attempts) in grid.items()
            for seed in self.seeds
        ]
        outcomes: dict[tuple[Hashable, Try], tuple[Outcome, ...]] = {}
        answers = self.spread(run, [task for _, task in tasks])
        for done, ((name, task), answer) in enumerate(zip(tasks, answers, strict=True), start=1):
            for attempt, outcome in zip(task.attempts, answer, strict=True):
                outcomes[name, attempt] = (*outcomes.get((name, attempt), ()), outcome)
            self.progress(done, len(tasks))
        return Found(outcomes)


def run(task: Task) -> Outcomes:
    """Make the streams of a task, join them exactly, and then under each attempt."""
    setting = task.setting
    made = WORKLOADS[setting.workload]
    drawn = {"seed": task.seed} if "seed" in signature(made).parameters else {}
    pair = made(**setting.options, **drawn)
    valued = "importance" in pair.left.column_names
    traces: dict[Split, Trace] = {
        split: Trace(pair.left, pair.right, setting.query(split, valued=valued))
        for split in dict.fromkeys(attempt.split for attempt in task.attempts)
    }
    first = next(iter(traces.values()))
    exact = first.exact(warmup=setting.warmup)
    known: dict[Any, Any] = {}
    return tuple(
        _outcome(traces[attempt.split], attempt, task, exact, known) for attempt in task.attempts
    )


def _outcome(trace: Trace, attempt: Try, task: Task, exact: Ran, known: dict[Any, Any]) -> Outcome:
    shares: list[tuple[float, float]] = []

    def look(state: State) -> None:
        health = state.health()
        if health.clock is not None and any(health.held):
            shares.append((float(health.clock), health.held[0] / sum(health.held)))

    sampled: dict[str, Any] = {}
    if attempt.looks:
        sampled = {"watch": look, "rows_at_once": max(1, trace.rows // attempt.looks)}
    ran = trace.run(
        attempt.policy,
        memory=Budget("rows", attempt.memory),
        expectation=_expectation(trace, attempt, known),
        ages=_ages(trace, attempt, known),
        warmup=task.setting.warmup,
        seed=task.seed,
        ghosts=_ghosts(attempt),
        **sampled,
    )
    return Outcome(
        matches=ran.matches,
        value=ran.health.value,
        exact_matches=exact.matches,
        exact_value=exact.health.value,
        exact_rows=exact.health.peak_rows,
        seconds=ran.seconds,
        shares=tuple(shares),
        estimates=(ran.recall, ran.value_recall),
        counted=ran.health.unseen == 0.0,
    )


def _ghosts(attempt: Try) -> float | None:
    """Return ghosts per place: the exact join is at hand, so few attempts need them."""
    if attempt.estimate:
        return None
    learning = "ages" in attempt.policy.needs and attempt.ages is None
    return 1.0 if learning else 0.0


def _expectation(trace: Trace, attempt: Try, known: dict[Any, Any]) -> Expectation:
    if attempt.frequencies == "known":
        if "frequencies" not in known:
            known["frequencies"] = trace.known_frequencies()
        return known["frequencies"]
    return Retained() if attempt.frequencies == "memory" else LastWindow()


def _ages(trace: Trace, attempt: Try, known: dict[Any, Any]) -> AgeSource:
    if isinstance(attempt.ages, int):
        if attempt.ages not in known:
            known[attempt.ages] = trace.known_ages(attempt.ages)
        return known[attempt.ages]
    return attempt.ages or LearnedAges()
