"""What an experiment leaves behind: numbers, claims and how they came about; no pictures.

A record says everything that a figure or a page needs, so reports are drawn from records
alone, now or years later.
"""

import json
import math
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

_VERSIONS = ("numba", "numpy", "penstock", "pyarrow")


@dataclass(frozen=True)
class Series:
    """One line of a chart; `low` and `high` bound each point where there is an interval."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True)
class Panel:
    """One chart: lines over a common x."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    y_from_zero: bool = True
    x_scale: Literal["linear", "log"] = "linear"
    y_to: float | None = None  # where the y axis ends; None lets the lines decide


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers under a heading; `note` says in a sentence what they show."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Headline:
    """One number that a reader should take away, as it is to be read, and what it counts."""

    number: str
    meaning: str


@dataclass(frozen=True)
class Claim:
    """What a paper says beside what we measured.

    Attributes
    ----------
    where
        Paper and section, as in `"Das et al. 5.2.1, figure 7"`.
    says
        The claim, in our words.
    ours
        What we measured, with its numbers.
    verdict
        Whether the measurement bears the claim out.
    """

    where: str
    says: str
    ours: str
    verdict: Literal["reproduced", "partly", "refuted", "not comparable"]


@dataclass(frozen=True)
class Record:
    """One run of one experiment.

    Attributes
    ----------
    name
        Of the experiment, in kebab case.
    title, question
        What a person reads above the charts.
    workload
        How the rows came about; says "stand-in" where they replace data not to be had.
    command
        What prints this record again.
    seeds
        Every seed that was used.
    headlines
        The few numbers that answer the question.
    facts
        The same answers for machines: names to numbers, to be printed as JSON.
    paper
        The paper, section and figures that ask the question; empty where none does.
    """

    name: str
    title: str
    question: str
    workload: str
    command: str
    seeds: tuple[int, ...]
    panels: tuple[Panel, ...] = ()
    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    made_with: dict[str, str] = field(default_factory=dict)
    headlines: tuple[Headline, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    paper: str = ""

    def to_json(self) -> str:
        """Return the record as text; a number that is not finite becomes null."""
        return json.dumps(_finite(asdict(self)), indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Record":
        """Read back what `to_json` wrote.

        >>> line = Series("exact", x=(1.0, 2.0), y=(3.0, 4.0))
        >>> panel = Panel("Matches", "memory", "matches", (line,))
        >>> record = Record("one", "One", "How many?", "by hand", "none", (0,), panels=(panel,))
        >>> Record.from_json(record.to_json()) == record
        True
        """
        facts = json.loads(text)
        panels = tuple(
            Panel(**{**panel, "series": tuple(_series(line) for line in panel["series"])})
            for panel in facts["panels"]
        )
        tables = tuple(
            Table(
                table["title"],
                tuple(table["columns"]),
                tuple(tuple(row) for row in table["rows"]),
                table.get("note", ""),
            )
            for table in facts["tables"]
        )
        claims = tuple(Claim(**claim) for claim in facts["claims"])
        plain: dict[str, Any] = {"seeds": tuple(facts["seeds"]), "notes": tuple(facts["notes"])}
        plain["headlines"] = tuple(Headline(**line) for line in facts.get("headlines", ()))
        return cls(**{**facts, **plain, "panels": panels, "tables": tables, "claims": claims})


def made_with() -> dict[str, str]:
    """Return the versions behind a record, and the commit where the source is a checkout."""
    facts = {name: version(name) for name in _VERSIONS}
    facts["python"] = platform.python_version()
    commit = _commit(Path(__file__))
    return {**facts, "commit": commit} if commit else facts


def _commit(file: Path) -> str:
    """Return the commit that a file of a checkout is at, or nothing where git does not know it."""
    git = ("git", "-C", str(file.parent))
    asked = (("ls-files", "--error-unmatch", file.name), ("describe", "--always", "--dirty"))
    told = ""
    for question in asked:
        try:
            found = subprocess.run(
                (*git, *question), capture_output=True, text=True, check=True, timeout=10
            )
        except (OSError, subprocess.SubprocessError):
            return ""
        told = found.stdout.strip()
    return told


def _series(facts: dict[str, Any]) -> Series:
    lines = {name: _numbers(facts[name]) for name in ("x", "y", "low", "high")}
    return Series(facts["name"], **lines)


def _numbers(values: Sequence[float | None]) -> tuple[float, ...]:
    return tuple(math.nan if value is None else value for value in values)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
