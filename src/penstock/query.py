"""What the user states: the join, its windows, its budget.  Immutable, and checked at once."""

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal, TypeVar

from penstock.errors import InfeasibleBudget, InvalidQuery

Duration = str | int | datetime.timedelta

_UNITS = {
    "us": 1,
    "microsecond": 1,
    "ms": 1_000,
    "millisecond": 1_000,
    "s": 1_000_000,
    "sec": 1_000_000,
    "second": 1_000_000,
    "m": 60_000_000,
    "min": 60_000_000,
    "minute": 60_000_000,
    "h": 3_600_000_000,
    "hour": 3_600_000_000,
    "d": 86_400_000_000,
    "day": 86_400_000_000,
    "w": 604_800_000_000,
    "week": 604_800_000_000,
}
_SIZES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_NUMBER = r"(\d+(?:\.\d+)?)"
_LONGEST = 2**61  # event times lie no further from 0, so a longer window is none

T = TypeVar("T")


def microseconds(text: str, *, name: str = "within") -> int:
    """Return the length of a duration in words.

    >>> microseconds("1 hour"), microseconds("90s"), microseconds("1 day 12 hours") // 3_600_000_000
    (3600000000, 90000000, 36)
    """
    parts = re.findall(_NUMBER + r"\s*([a-zA-Z]+)", text)
    rest = re.sub(_NUMBER + r"\s*[a-zA-Z]+", "", text).strip(" ,")
    total = 0
    for number, unit in parts:
        known = unit.lower()
        length = _UNITS.get(known) or _UNITS.get(known.removesuffix("s"))
        if length is None:
            rest = unit
            break
        total += round(float(number) * length)
    if rest or not parts:
        raise InvalidQuery(
            f"{name}={text!r}: not a duration; write a number and a unit, as in '10 minutes', "
            "'36 hours' or '250 ms'."
        )
    return total


@dataclass(frozen=True, slots=True)
class Window:
    """For how long, or for how many rows of its stream, a row can still find partners.

    A time window is closed: a partner may come exactly `length` later.  A length given in
    words is in microseconds; one given as a number is in the unit of the time column.
    """

    kind: Literal["time", "rows", "unbounded"]
    length: int = 0
    in_words: bool = False

    def __post_init__(self) -> None:
        if self.kind == "time" and self.length < 0:
            raise InvalidQuery(
                f"within={self.length!r}: a time window must last 0 or longer; to look the other "
                "way, swap the two lengths."
            )
        if self.kind == "rows" and self.length < 1:
            raise InvalidQuery(f"rows={self.length!r}: a count window must hold at least 1 row.")
        if self.length > _LONGEST:
            name = "rows" if self.kind == "rows" else "within"
            raise InvalidQuery(
                f"{name}={self.length!r}: longer than event times can lie apart; for no window at "
                "all give None."
            )

    @classmethod
    def of(cls, length: Duration | None) -> "Window":
        """Return the time window of a length: words, a timedelta, or units of an integer time."""
        if length is None:
            return cls("unbounded")
        if isinstance(length, bool) or not isinstance(length, Integral | str | datetime.timedelta):
            raise InvalidQuery(
                f"within={length!r}: give a duration such as '1 hour', a timedelta, or a whole "
                "number in the unit of an integer time column."
            )
        if isinstance(length, Integral):
            return cls("time", int(length))
        if isinstance(length, datetime.timedelta):
            return cls("time", length // datetime.timedelta(microseconds=1), in_words=True)
        return cls("time", microseconds(length), in_words=True)


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a join may hold: rows, bytes, or a share of what the exact join would hold."""

    unit: Literal["rows", "bytes", "share"]
    amount: float

    def __post_init__(self) -> None:
        if self.unit == "share" and not self.amount > 0:
            raise InfeasibleBudget(
                f"memory={self.amount:.0%}: give a percentage above 0, such as '25%'."
            )
        if self.unit != "share" and self.amount >= _LONGEST:
            raise InvalidQuery(
                f"memory={self.amount:g}: more than any machine has; leave memory out for an exact "
                "join."
            )
        if self.unit != "share" and self.amount < 1:
            raise InfeasibleBudget(
                f"memory={self.amount:g}: a join needs room for at least one row; leave memory out "
                "for an exact join."
            )

    @classmethod
    def of(cls, memory: int | str | None) -> "Budget | None":
        """Read a budget: rows as a number, '64MB' as bytes, '25%' as a share; None is no bound.

        >>> Budget.of(400), Budget.of("64MB"), Budget.of("25%")  # doctest: +NORMALIZE_WHITESPACE
        (Budget(unit='rows', amount=400), Budget(unit='bytes', amount=64000000.0),
         Budget(unit='share', amount=0.25))
        """
        if memory is None:
            return None
        if isinstance(memory, int) and not isinstance(memory, bool):
            return cls("rows", memory)
        found = re.fullmatch(_NUMBER + r"\s*([a-zA-Z]+|%)?", str(memory).strip())
        if found is None or isinstance(memory, bool):
            raise InvalidQuery(
                f"memory={memory!r}: give rows as a number, bytes as '64MB', or a share of the "
                "exact join's rows as '25%'."
            )
        number, unit = float(found[1]), found[2]
        if unit is None:
            return cls("rows", int(number))
        if unit == "%":
            return cls("share", number / 100)
        if unit.upper() not in _SIZES:
            raise InvalidQuery(
                f"memory={memory!r}: unknown unit {unit!r}; use B, KB, MB, GB, KiB, MiB or GiB."
            )
        return cls("bytes", number * _SIZES[unit.upper()])


Combination = Literal["min", "sum", "product", "max", "mean"]
_COMBINATIONS = ("max", "mean", "min", "product", "sum")


@dataclass(frozen=True)
class JoinQuery:
    """An equality join of two streams over sliding windows.

    Parameters
    ----------
    on
        Pairs of key columns, left and right.
    time
        The event-time column of each side.
    windows
        Each side's window: how long its rows can still find partners.
    memory
        The budget, or None for the exact join.
    split
        `"half"`, two weights, or `"shared"`: whether each side has its own part of the budget.
    importance
        The importance column of each side; a side without one counts 1.
    combine
        How the importance of a match follows from that of its rows.
    order
        `"join-first"` (Das et al.), or `"evict-first"` (Ojewole et al., figure 1).
    suffixes
        What is added to column names that both sides have.
    """

    on: tuple[tuple[str, str], ...]
    time: tuple[str, str]
    windows: tuple[Window, Window]
    memory: Budget | None = None
    split: Literal["half", "shared"] | tuple[float, float] = "half"
    importance: tuple[str | None, str | None] = (None, None)
    combine: Combination = "min"
    order: Literal["join-first", "evict-first"] = "join-first"
    suffixes: tuple[str, str] = ("_left", "_right")

    def __post_init__(self) -> None:
        if not self.on:
            raise InvalidQuery("on=[]: name at least one key column.")
        kinds = {window.kind for window in self.windows} - {"unbounded"}
        if len(kinds) > 1:
            raise InvalidQuery(
                "windows: one side has a time window and the other a count window; use one kind."
            )
        if self.combine not in _COMBINATIONS:
            raise InvalidQuery(
                f"combine={self.combine!r}: no such combination; use one of "
                f"{', '.join(_COMBINATIONS)}."
            )
        if self.order not in ("join-first", "evict-first"):
            raise InvalidQuery(
                f"order={self.order!r}: use 'join-first' (a row meets the memory, then competes) "
                "or 'evict-first' (it competes, then meets what is left)."
            )
        if isinstance(self.split, tuple):
            if not _are_weights(self.split):
                raise InvalidQuery(
                    f"split={self.split!r}: give two weights of 0 or more, such as (3, 1)."
                )
        elif self.split not in ("half", "shared"):
            raise InvalidQuery(
                f"split={self.split!r}: use 'half', 'shared', or two weights such as (3, 1)."
            )
        if (
            self.memory is not None
            and self.memory.unit == "rows"
            and self.split == "half"
            and self.memory.amount < 2
        ):
            raise InfeasibleBudget(
                "memory=1: each side needs room for at least one row; give memory=2 or more, or "
                "split='shared'."
            )

    @property
    def counted(self) -> bool:
        """Whether windows count rows."""
        return any(window.kind == "rows" for window in self.windows)

    @property
    def bounded_windows(self) -> bool:
        """Whether every row expires some day."""
        return all(window.kind != "unbounded" for window in self.windows)

    @property
    def valued(self) -> bool:
        """Whether any side names an importance column."""
        return any(column is not None for column in self.importance)


def _are_weights(split: tuple[float, ...]) -> bool:
    numbers = all(isinstance(part, Real) and 0 <= float(part) < math.inf for part in split)
    return numbers and len(split) == 2 and sum(split) > 0


def pairs_of(on: str | Sequence[str | tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Read key columns: a name, names, or pairs of names.

    >>> pairs_of("item"), pairs_of(["shop", ("item", "article")])
    ((('item', 'item'),), (('shop', 'shop'), ('item', 'article')))
    """
    names = [on] if isinstance(on, str) else on
    if not isinstance(names, Sequence) or not all(_is_pair(name) for name in names):
        raise InvalidQuery(
            f"on={on!r}: give a column, a list of columns, or a list of (left, right) pairs."
        )
    return tuple((name, name) if isinstance(name, str) else (name[0], name[1]) for name in names)


def _is_pair(name: object) -> bool:
    if isinstance(name, tuple | list):
        return len(name) == 2 and all(isinstance(part, str) for part in name)
    return isinstance(name, str)


def both(value: T | tuple[T, T], *, name: str = "time") -> tuple[T, T]:
    """Return a setting for each side.

    >>> both("ts"), both(("sold", "shipped"))
    (('ts', 'ts'), ('sold', 'shipped'))
    """
    if not isinstance(value, tuple | list):
        return value, value
    if len(value) != 2:
        raise InvalidQuery(f"{name}={value!r}: give one for both sides, or a pair (left, right).")
    return value[0], value[1]
