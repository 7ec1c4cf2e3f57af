"""Keep the rows that have made matches, and let the others fade."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Literal

from penstock.compiled import compiled
from penstock.errors import InvalidQuery
from penstock.policies.base import Held, Policy, Settings


@compiled
def _rank(held: Held, settings: Settings) -> float:
    return float(held.note)


@compiled
def _reward(held: Held, settings: Settings) -> float:
    return float(settings[0] * held.importance * held.matches * held.life / settings[1])


@dataclass(frozen=True)
class GainAndLoss(Policy):
    """Keep the rows that have proved their worth by matching.

    A row's rank starts as its importance.  In an instant in which it makes a match it
    gains `gain` x importance x expected matches x remaining life, in steps; in an instant
    in which it makes none it loses.  What a newcomer matches on arrival is no gain.  Right
    when keys are too many, or held too briefly, for their frequencies to be known: a row
    that has just matched is the best evidence there is.

    Fails when frequencies are known or well learned: it then waits for matches that
    `ExpectedImportanceLive` foresees.  It holds on to rows that have gained much, so
    where matches are plentiful newcomers find no place.

    Parameters
    ----------
    gain
        What one instant with a match is worth.  The paper gives no value; 0.01, with a loss
        of 0.05, was among the best of the pairs tried on streams like the paper's.
    loss
        What an instant without a match costs: this share of the rank, or with
        `how="subtract"` this much.  The paper gives no value either.
    step
        How many time units make one of the steps in which the remaining life is counted;
        the usual time between two instants.  At the default of 1 time units are steps, as
        in the paper; with times in microseconds one match would outweigh everything.
    how
        `"multiply"` or `"subtract"`: how a rank falls.  The paper's "decreased by a
        constant factor" can be read either way.

    References
    ----------
    Ojewole, Zhu, Hou. Window join approximation over data streams with importance
    semantics. CIKM 2006, section 4.3.4, where it is called DGL.

    Examples
    --------
    A row of importance 2 that matches while its key is expected 5 times and 10 steps of its
    life are left gains one; without a match it would have kept 95 of 100 parts.

    >>> row = Held(time=0, age=4, life=10, importance=2.0, matches=5.0,
    ...            slope=0.0, luck=0.5, note=2.0)
    >>> policy = GainAndLoss()
    >>> policy.rank(row, policy.settings), policy.reward(row, policy.settings)
    (2.0, 1.0)
    >>> policy.fading, GainAndLoss(how="subtract").fading
    ((0.95, 0.0), (1.0, 0.05))
    """

    name: ClassVar[str] = "gain-and-loss"
    paper: ClassVar[str] = "DGL"
    rank = staticmethod(_rank)
    reward = staticmethod(_reward)
    # Not importance: where no row has any all have 1, and matches alone make the ranks.
    needs = frozenset({"matches", "window"})
    changes = "always"

    gain: float = 0.01
    loss: float = 0.05
    step: float = 1
    how: Literal["multiply", "subtract"] = "multiply"

    def __post_init__(self) -> None:
        if self.how not in ("multiply", "subtract"):
            raise InvalidQuery(
                f"how={self.how!r}: say how a rank falls without a match: 'multiply' (by 1 - loss) "
                "or 'subtract' (loss)."
            )
        for name in ("gain", "loss", "step"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 <= float(value) < math.inf:
                raise InvalidQuery(f"{name}={value!r}: give a number of 0 or more.")
        if self.step == 0:
            raise InvalidQuery("step=0: give the length of a step in time units, above 0.")
        if self.how == "multiply" and self.loss >= 1:
            raise InvalidQuery(
                f"loss={self.loss!r}: a rank cannot lose all of itself in every instant; give less "
                "than 1, or how='subtract'."
            )

    @property
    def settings(self) -> Settings:
        """Return the gain and the length of a step."""
        return (float(self.gain), float(self.step))

    @property
    def fading(self) -> tuple[float, float]:
        """Return (factor, step) by which a rank falls in an instant without a match."""
        return (1.0 - self.loss, 0.0) if self.how == "multiply" else (1.0, float(self.loss))
