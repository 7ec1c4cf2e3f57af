"""The contract every retention policy keeps.

A policy answers one question: what is a held row worth?  It answers with a number,
so the engine can compare any two rows and give up the lowest.  The policy never
touches the store, never counts the budget and never drops anything itself; those
are the engine's duties, and the engine does them whatever the policy says.

Where one number is not enough the policy says so in a field, and the engine does
the rest: `second` breaks ties before age does; `asked="arrival"` fixes the rank
when the row comes; `reward` and `fading` describe a rank that adds up (it is kept
with the row, as its `note`); in one pool for all streams ranks are compared
across streams, so a rank must mean the same on each.

`changes` tells the engine how the rank of a held row moves, and so how cheaply the
lowest can be found.  It is a promise: `never`; `rising` (only ever up while the
statistics do); `age` (the slope of the row's age and nothing else); `always` (in any
way: the engine then asks for every held row at each contest).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from penstock.compiled import compiled


class Held(NamedTuple):
    """One row, as a policy may see it."""

    time: int  # event time; under a count window its turn in the sequence
    age: int  # in the query's time units; under a count window in rows of its stream
    life: int  # for how long it can still find partners, in the same unit
    importance: float
    matches: float  # partners to expect: its key among the other stream's arrivals
    slope: float  # of the age curve at its age
    luck: float  # drawn when it came, in [0, 1)
    note: float  # what `reward` and `fading` have made of it


Settings = tuple[float, ...]
Rank = Callable[[Held, Settings], float]
Need = Literal["importance", "matches", "ages", "window"]
Changes = Literal["never", "rising", "age", "always"]


@compiled
def no_reward(held: Held, settings: Settings) -> float:
    """Add nothing to the note of a row that has made a match."""
    return 0.0


@dataclass(frozen=True)
class Policy:
    """A way to decide which rows to keep.

    A policy of your own is a compiled function and a frozen dataclass with these
    class fields; its parameters are dataclass fields, which `settings` hands to the
    function as numbers.
    """

    name: ClassVar[str]
    paper: ClassVar[str] = ""  # the name the paper gives it
    rank: ClassVar[Any]  # (held, settings) -> float, under @compiled
    needs: ClassVar[frozenset[Need]] = frozenset()
    changes: ClassVar[Changes] = "never"
    second: ClassVar[Literal["", "importance"]] = ""
    reward: ClassVar[Any] = staticmethod(no_reward)

    @property
    def asked(self) -> Literal["arrival", "always"]:
        """When the rank is computed: once, or as of each contest."""
        return "arrival" if self.changes == "never" else "always"

    @property
    def settings(self) -> Settings:
        """Return the numbers that `rank` and `reward` read while running."""
        return (0.0,)

    @property
    def fading(self) -> tuple[float, float] | None:
        """Return (factor, step) by which a note fades in an instant without a match, or None."""
        return None
