"""What every experiment has: a name, a paper, a question; lines made of a sweep's outcomes."""

import statistics
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.lab.contest import CONTESTANTS, ESTIMATORS, attempt
from penstock.lab.record import Claim, Panel, Record, Series, Table
from penstock.lab.sweep import Found, Frequencies, Measure, Setting, Sweep, Try, recall

DAS = "Das, Gehrke, Riedewald (SIGMOD 2003)"
OJEWOLE = "Ojewole, Zhu, Hou (CIKM 2006)"
SRIVASTAVA = "Srivastava, Widom (VLDB 2004)"

NO_OPTIMUM = (
    "The paper compares with OPT, the offline optimum. It is not computed here; curves are shown "
    "against EXACT, which no optimum exceeds."
)
BANDS = "Lines are means over the seeds; bands reach from the lowest to the highest seed."


@dataclass(frozen=True)
class About:
    """What can be said of an experiment before it runs.

    Attributes
    ----------
    name
        Its name in kebab case, which is that of its file.
    paper
        Paper, section and figures.
    title, question
        As in a record.
    """

    name: str
    paper: str
    title: str
    question: str

    def record(
        self,
        sweep: Sweep,
        *,
        workload: str,
        panels: Sequence[Panel] = (),
        tables: Sequence[Table] = (),
        claims: Sequence[Claim] = (),
        notes: Sequence[str] = (),
    ) -> Record:
        """Return the record of a run; how long it took is for the caller to add."""
        seeds = f" --seed {sweep.seeds[0]} --seeds {len(sweep.seeds)}"
        return Record(
            name=self.name,
            title=self.title,
            question=self.question,
            workload=workload,
            command=f"penstock lab run {self.name}{seeds}",
            seeds=sweep.seeds,
            panels=tuple(panels),
            tables=tuple(tables),
            claims=tuple(claims),
            notes=(BANDS, *notes) if panels else tuple(notes),
            paper=self.paper,
        )


@dataclass(frozen=True)
class Experiment:
    """A question, and the function that measures the answer."""

    about: About
    answer: Callable[[Sweep], Record]


def zipf(
    window: int = 400,
    *,
    skews: tuple[float, float] = (1.0, 1.0),
    correlation: str = "uncorrelated",
    domain: int = 50,
    steps: int = 5600,
) -> Setting:
    """Return the setting of Das et al. 5.2; matches count after two windows.

    The paper's window of `w` steps, `t - w < i <= t`, is a closed window of `w - 1`.
    """
    options = {
        "steps": steps,
        "domain": domain,
        "left_skew": skews[0],
        "right_skew": skews[1],
        "correlation": correlation,
    }
    return Setting("zipf", options, (window - 1, window - 1), warmup=2 * window)


def line(
    name: str, xs: Sequence[float], outcomes: Sequence[Sequence[float]], *, band: bool = True
) -> Series:
    """Return the line through the means of each point's outcomes, with their range."""
    return Series(
        name,
        x=tuple(float(x) for x in xs),
        y=tuple(statistics.fmean(point) for point in outcomes),
        low=tuple(min(point) for point in outcomes) if band else (),
        high=tuple(max(point) for point in outcomes) if band else (),
    )


Place = tuple[Hashable, Try]
Curves = Mapping[str, Mapping[Any, Place]]  # from x, a number, to what is made there


def lines(found: Found, curves: Curves, measure: Measure = recall) -> tuple[Series, ...]:
    """Return a line per name: at each x, what an attempt on a setting made."""
    return tuple(
        line(name, tuple(places), [found.all(*place, measure) for place in places.values()])
        for name, places in curves.items()
    )


def exact_line(xs: Iterable[float], height: float = 1.0) -> Series:
    """Return the line that the exact join would be."""
    points = tuple(float(x) for x in xs)
    return Series("exact", points, (height,) * len(points))


def contest_over(
    xs: Sequence[Any], place: Callable[[Any], tuple[Hashable, int]]
) -> dict[Frequencies, Curves]:
    """Return, for each way to count matches, a curve over `xs` of each contestant.

    `place` gives the setting and the memory of an x.
    """

    def tried(name: str, estimator: Frequencies, x: Any) -> Place:
        setting, memory = place(x)
        return setting, attempt(name, memory, estimator)

    return {
        estimator: {name: {x: tried(name, estimator, x) for x in xs} for name in CONTESTANTS}
        for estimator in ESTIMATORS
    }


def contest_panels(
    found: Found, curves: Mapping[Frequencies, Curves], frame: Panel, measure: Measure
) -> list[Panel]:
    """Return a chart for each way to count matches: what `frame` shows, and the contestants."""
    return [
        replace(
            frame,
            title=f"Matches counted from the {label}",
            series=(*frame.series, *lines(found, curves[estimator], measure)),
        )
        for estimator, label in ESTIMATORS.items()
    ]


def grid_of(
    settings: Mapping[Any, Setting], *curves: Curves
) -> dict[Hashable, tuple[Setting, list[Try]]]:
    """Return the grid of a sweep that makes every attempt where the curves want it."""
    grid: dict[Hashable, tuple[Setting, list[Try]]] = {
        name: (setting, []) for name, setting in settings.items()
    }
    for places in (places for group in curves for places in group.values()):
        for where, tried in places.values():
            grid[where][1].append(tried)
    return grid
