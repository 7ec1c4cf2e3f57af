"""How far a join's estimate of its recall is from the truth, and how often its interval holds."""

import math
import statistics
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from penstock.lab.claims import judged
from penstock.lab.experiments import network_ages
from penstock.lab.experiments.base import About, zipf
from penstock.lab.record import Claim, Panel, Record, Series, Table
from penstock.lab.sweep import Found, Outcome, Setting, Split, Sweep, Try
from penstock.lab.workloads.ages import TICKS
from penstock.policies import (
    AgeCurve,
    ExpectedImportance,
    ExpectedImportanceLive,
    GainAndLoss,
    Importance,
    MatchProbability,
    Policy,
    RandomDrop,
    Recent,
    RemainingMatches,
    UntilExpiry,
    Weighted,
)
from penstock.query import Combination

PERCENT = (5, 10, 25, 50)
COVERED_PERCENT = (10, 25)
RUNS_PER_SEED = 80
WITHIN = 0.02  # how far off an estimate may be
DUFFIELD = "Duffield, Lund, Thorup 1.1"

ABOUT = About(
    name="recall-estimate",
    paper="Duffield, Lund, Thorup (JACM 2007), section 1.1",
    title="What a join says of itself",
    question="How far is a join's estimate of its recall, made from ghosts alone, from the truth, "
    "and how often does its 95 % interval hold the truth?",
)

_BY_KEY = (RandomDrop(), Recent(), UntilExpiry(), MatchProbability(), RemainingMatches())
_BY_AGE = (RandomDrop(), Recent(), UntilExpiry(), AgeCurve())
_FEW = (RandomDrop(), Recent(), MatchProbability())
_BY_IMPORTANCE = (
    RandomDrop(),
    Importance(),
    ExpectedImportance(),
    ExpectedImportanceLive(),
    GainAndLoss(),
    Weighted(),
)
COVERED: dict[str, tuple[Policy, ...]] = {
    "Zipf 1, uncorrelated": (RandomDrop(), MatchProbability()),
    "Zipf 1, correlated": (MatchProbability(),),
    "importance, sum": (RandomDrop(), ExpectedImportance()),
    "importance, product": (GainAndLoss(),),
}


@dataclass(frozen=True)
class Workload:
    """A join, the rows it holds at its peak, and the policies to try on it."""

    setting: Setting
    rows: int
    policies: tuple[Policy, ...]
    split: Split = "half"

    def attempts(self, percent: int) -> list[Try]:
        """Return every policy's attempt on so many percent of the rows."""
        memory = max(2, round(percent / 100 * self.rows))
        return [
            Try(policy, memory, self.split, frequencies="window", estimate=True)
            for policy in self.policies
        ]


def workloads() -> dict[str, Workload]:
    """Return what estimates are tried on, by name."""
    minutes = {"destinations, 1 h": (60, 60), "destinations, 3 h": (180, 180)}
    left_only = (1.0, 0.0)
    return {
        "Zipf 1, uncorrelated": Workload(zipf(), 800, _BY_KEY),
        "Zipf 1, correlated": Workload(zipf(correlation="correlated"), 800, _BY_KEY),
        "Zipf 2": Workload(zipf(skews=(2.0, 2.0), correlation="correlated"), 800, _BY_KEY),
        "uniform": Workload(zipf(skews=(0.0, 0.0)), 800, _BY_KEY),
        **{
            f"importance, {combine}": Workload(
                Setting("importance", {}, (399, 399), 800, combine), 800, _BY_IMPORTANCE
            )
            for combine in get_args(Combination)
        },
        **{
            f"ages, {shape}": Workload(
                Setting("ages", {"curve": shape}, (500 * TICKS, 0), 1000 * TICKS),
                500,
                _BY_AGE,
                left_only,
            )
            for shape in ("INC", "DEC", "BELL")
        },
        "network (stand-in)": Workload(
            network_ages.setting_of(network_ages.WINDOW), 6000, _BY_AGE, left_only
        ),
        "weather (stand-in)": Workload(
            Setting("weather", {"rows": 30_000}, (4999, 4999), 10_000), 10_000, _FEW
        ),
        **{
            name: Workload(Setting("destinations", {}, windows), rows, _FEW)
            for (name, windows), rows in zip(minutes.items(), (71, 170), strict=True)
        },
        "aircraft, 24 h": Workload(Setting("aircraft", {}, (1440, 0)), 1100, _FEW, left_only),
    }


def error_and_coverage(sweep: Sweep) -> Record:
    """Measure estimates against the exact join, on every workload, policy and memory.

    Ghosts are as many as a join has by default.  Where all of them had a place nothing is
    estimated, and such runs do not count when it is asked how often intervals hold.  That is
    asked of few settings and many seeds, since runs with one seed share their luck.

    References
    ----------
    Duffield, Lund, Thorup. Priority sampling for estimation of arbitrary subset sums.
    Journal of the ACM 54(6), 2007, section 1.1.
    """
    tried = workloads()
    grid: dict[Hashable, tuple[Setting, Sequence[Try]]] = {
        name: (work.setting, [attempt for p in PERCENT for attempt in work.attempts(p)])
        for name, work in tried.items()
    }
    found = sweep(grid)
    asked = {name: tried[name] for name in COVERED}
    asked = {name: replace(work, policies=COVERED[name]) for name, work in asked.items()}
    many = range(sweep.seeds[0], sweep.seeds[0] + RUNS_PER_SEED * len(sweep.seeds))
    often = _how_often(
        replace(sweep, seeds=tuple(many))(
            {
                name: (work.setting, [a for p in COVERED_PERCENT for a in work.attempts(p)])
                for name, work in asked.items()
            }
        ),
        asked,
    )
    panels = [
        _panel("matches", 0, found, tried),
        _panel("value", 1, found, {n: w for n, w in tried.items() if n.startswith("importance")}),
    ]
    return ABOUT.record(
        sweep,
        workload="the lab's workloads, generated and real",
        panels=panels,
        tables=(_by_workload(found, tried), _by_policy(found, tried), often),
        claims=_claims(found, tried, often),
        notes=(f"How often intervals hold is asked of {RUNS_PER_SEED} seeds for each one given.",),
    )


def error(outcome: Outcome, measure: int) -> float:
    """Return how far the estimate lies above the truth, in matches (0) or in value (1)."""
    truth = (outcome.recall, outcome.value_recall)[measure]
    return outcome.estimates[measure].estimate - truth


def held(outcome: Outcome, measure: int) -> bool:
    """Say whether the interval holds the truth, save for rounding."""
    truth = (outcome.recall, outcome.value_recall)[measure]
    _, low, high = outcome.estimates[measure]
    return low - 1e-9 <= truth <= high + 1e-9


def _outcomes(
    found: Found, tried: dict[str, Workload], wanted: Callable[[Try], bool] = lambda attempt: True
) -> list[Outcome]:
    return [
        outcome
        for name, work in tried.items()
        for percent in PERCENT
        for attempt in work.attempts(percent)
        if wanted(attempt)
        for outcome in found.of(name, attempt)
    ]


def _largest(outcomes: Iterable[Outcome], measure: int) -> float:
    return max(abs(error(outcome, measure)) for outcome in outcomes)


def _coverage(outcomes: Iterable[Outcome], measure: int) -> float:
    """Return the share of intervals that hold the truth; 1 where nothing was estimated."""
    asked = [held(outcome, measure) for outcome in outcomes if not outcome.counted]
    return statistics.fmean(asked) if asked else 1.0


def _panel(what: str, measure: int, found: Found, tried: dict[str, Workload]) -> Panel:
    lines = []
    for name, work in tried.items():
        worst = [
            _largest([o for attempt in work.attempts(p) for o in found.of(name, attempt)], measure)
            for p in PERCENT
        ]
        lines.append(Series(name, tuple(map(float, PERCENT)), tuple(worst)))
    return Panel(
        f"Largest error of the recall in {what}",
        "memory (% of the exact join's rows)",
        "distance from the truth",
        tuple(lines),
        x_scale="log",
    )


def _row(name: str, outcomes: Sequence[Outcome]) -> tuple[str | float, ...]:
    estimated = sum(not outcome.counted for outcome in outcomes)
    return (name, len(outcomes), estimated, *(round(_largest(outcomes, m), 4) for m in (0, 1)))


_COLUMNS = ("runs", "estimated", "largest error, matches", "largest error, value")


def _by_workload(found: Found, tried: dict[str, Workload]) -> Table:
    rows = [_row(name, _outcomes(found, {name: work})) for name, work in tried.items()]
    return Table(
        "By workload",
        ("workload", *_COLUMNS),
        tuple(rows),
        "All policies, on 5 to 50 % of the rows. In runs that are not estimated all ghosts had a "
        "place; where no importance is stated, value counts matches.",
    )


def _by_policy(found: Found, tried: dict[str, Workload]) -> Table:
    names = dict.fromkeys(policy.name for work in tried.values() for policy in work.policies)

    def kept_by(name: str) -> Callable[[Try], bool]:
        return lambda attempt: attempt.policy.name == name

    rows = [_row(name, _outcomes(found, tried, kept_by(name))) for name in names]
    return Table("By policy", ("policy", *_COLUMNS), tuple(rows), "All workloads together.")


def _how_often(found: Found, asked: dict[str, Workload]) -> Table:
    rows: list[tuple[str | float, ...]] = []
    for name, work in asked.items():
        for percent in COVERED_PERCENT:
            for attempt in work.attempts(percent):
                outcomes = found.of(name, attempt)
                estimated = sum(not outcome.counted for outcome in outcomes)
                held_in = (round(_coverage(outcomes, measure), 4) for measure in (0, 1))
                rows.append((name, f"{percent} %", attempt.policy.name, estimated, *held_in))
    return Table(
        "How often 95 % intervals hold",
        ("workload", "memory", "policy", "runs", "matches", "value"),
        tuple(rows),
        "The share of runs, each with streams and chance of its own, in which the interval held "
        "the truth. Runs in which all ghosts had a place do not count.",
    )


def _claims(found: Found, tried: dict[str, Workload], often: Table) -> list[Claim]:
    outcomes = _outcomes(found, tried)
    estimated = [outcome for outcome in outcomes if not outcome.counted]
    mean = max(abs(statistics.fmean(error(o, measure) for o in estimated)) for measure in (0, 1))
    worst = [_largest(outcomes, measure) for measure in (0, 1)]
    hold = [float(share) for row in often.rows for share in row[4:]]
    runs = min(int(row[3]) for row in often.rows)
    return [
        judged(
            DUFFIELD,
            "A priority sample gives unbiased estimates of sums over any part of the whole.",
            f"Over {len(estimated):,} runs the mean error of recall, in matches and in value, is "
            f"at most {mean:.5f} (0.001); no run is off by more than {worst[0]:.4f} in matches and "
            f"{worst[1]:.4f} in value ({WITHIN}).",
            mean <= 0.001,
            max(worst) <= WITHIN,
        ),
        judged(
            DUFFIELD,
            "The estimates of different items do not covary, so that their variances add up.",
            f"Intervals of 95 % made from that sum hold the truth in {min(hold):.1%} to "
            f"{max(hold):.1%} of at least {runs} runs, by setting, and in "
            f"{statistics.fmean(hold):.1%} over all (93 to 97 %, and by setting one standard error "
            "of so many runs beyond).",
            min(hold) >= 0.93 - math.sqrt(0.05 * 0.95 / runs),
            max(hold) <= 0.97 + math.sqrt(0.05 * 0.95 / runs),
            0.93 <= statistics.fmean(hold) <= 0.97,
        ),
    ]
