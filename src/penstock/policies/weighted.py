"""Keep rows by importance, expected matches and recency, weighed as the user states."""

import math
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Literal

from penstock.compiled import compiled
from penstock.errors import InvalidQuery
from penstock.policies.base import Changes, Held, Need, Policy, Rank, Settings

# A week in microseconds is 6e11; three such factors, each to the 8th, still make a finite number.
_LARGEST_POWER = 8


@compiled
def _sum(held: Held, settings: Settings) -> float:
    return float(
        settings[0] * held.importance + settings[1] * held.matches + settings[2] * held.time
    )


@compiled
def _product(held: Held, settings: Settings) -> float:
    # A power needs a base of 0 or more.  Importance below 0 counts as 0, which also keeps the
    # promise that ranks only rise with matches.  The paper's time-stamp would rank rows by
    # where time was set to 0; counted from the start of the row's window it is the life left.
    return float(
        max(float(held.importance), 0.0) ** settings[0]
        * float(held.matches) ** settings[1]
        * max(float(held.life), 0.0) ** settings[2]
    )


@compiled
def _note(held: Held, settings: Settings) -> float:
    return float(held.note)


@compiled
def _reward(held: Held, settings: Settings) -> float:
    return settings[3] * _product(held, settings)


@dataclass(frozen=True)
class Weighted(Policy):
    """Keep the rows whose importance, expected matches and recency weigh most together.

    The general form behind the other policies of Ojewole et al.  Right when you know how much
    each of the three counts in your data, and for trying what lies between two policies:

    - `how="add"`: alpha x importance + beta x matches + delta x time.  The units
      are yours to balance: delta is per time unit.
    - `how="multiply"`: importance^alpha x matches^beta x life^delta, where life is the
      time-stamp counted from the start of the row's window, 0 or more.  Units do not matter.
    - `how="accumulate"`: a note that starts as the importance.  In an instant with a match
      it gains `gain` times the product above; in any other it loses the share `loss`.

    Fails when the weights are guessed: an exponent too large makes one of the three decide
    alone.  Start from a named policy, which is a special case: `Importance` (beta=0),
    `ExpectedImportanceLive` (the defaults), `RemainingMatches` (alpha=0, delta=1), `Recent`
    (how="add", alpha=0, beta=0, delta=1), `GainAndLoss` (how="accumulate", delta=1).

    Parameters
    ----------
    how
        How the three are put together.
    alpha, beta, delta
        The weight, or exponent, of importance, expected matches and recency: 0 or more.
        An exponent may be 8 at most.
    refresh
        `"always"`: a row ranks as of each contest.  `"arrival"`: as of its arrival, when
        life is the whole window, so delta tells no two rows in a product apart.
    gain, loss
        Of `how="accumulate"`; as in `GainAndLoss`, where the step is one time unit.

    References
    ----------
    Ojewole, Zhu, Hou. Window join approximation over data streams with importance
    semantics. CIKM 2006, section 3.2.  Its cumulative form leaves open how the previous
    priority counts; ours is that of section 4.3.4, so only matches made bring a gain.

    Examples
    --------
    >>> row = Held(time=7, age=1, life=4, importance=3.0, matches=5.0,
    ...            slope=0.0, luck=0.5, note=3.0)
    >>> for how in ("add", "multiply"):
    ...     policy = Weighted(how=how, alpha=2, beta=1, delta=0.5)
    ...     print(how, policy.rank(row, policy.settings))
    add 14.5
    multiply 90.0
    >>> policy = Weighted(how="accumulate", alpha=2, beta=1, delta=0.5, gain=0.1)
    >>> policy.rank(row, policy.settings), policy.reward(row, policy.settings)
    (3.0, 9.0)
    """

    name: ClassVar[str] = "weighted"
    reward = staticmethod(_reward)

    how: Literal["add", "multiply", "accumulate"] = "multiply"
    alpha: float = 1
    beta: float = 1
    delta: float = 0
    refresh: Literal["always", "arrival"] = "always"
    gain: float = 0.01
    loss: float = 0.05

    def __post_init__(self) -> None:
        if self.how not in ("add", "multiply", "accumulate"):
            raise InvalidQuery(
                f"how={self.how!r}: say how the three are put together: 'accumulate', 'add' or "
                "'multiply'."
            )
        if self.refresh not in ("always", "arrival"):
            raise InvalidQuery(
                f"refresh={self.refresh!r}: say when a row is ranked: 'always' (as of each "
                "contest) or 'arrival' (once, when it comes)."
            )
        if self.how == "accumulate" and self.refresh == "arrival":
            raise InvalidQuery(
                "refresh='arrival': a rank that accumulates cannot be fixed at arrival; leave "
                "refresh out, or choose how='add' or how='multiply'."
            )
        for name in ("alpha", "beta", "delta", "gain", "loss"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0 <= float(value) < math.inf:
                raise InvalidQuery(f"{name}={value!r}: give a number of 0 or more.")
        if self.how != "add":
            for name in ("alpha", "beta", "delta"):
                if getattr(self, name) > _LARGEST_POWER:
                    raise InvalidQuery(
                        f"{name}={getattr(self, name)!r}: an exponent may be {_LARGEST_POWER} at "
                        "most; in a product only the proportions count, so divide all three by "
                        "the same number."
                    )
        if self.alpha == self.beta == self.delta == 0:
            raise InvalidQuery(
                "alpha=0, beta=0, delta=0: nothing is weighed; give at least one of them above 0."
            )
        if self.loss >= 1:
            raise InvalidQuery(
                f"loss={self.loss!r}: a rank cannot lose all of itself in every instant; give less "
                "than 1."
            )

    # Class fields in `Policy`, and properties here because they depend on the parameters.

    @property
    def rank(self) -> Rank:
        """Return the formula."""
        return {"add": _sum, "multiply": _product, "accumulate": _note}[self.how]

    @property
    def needs(self) -> frozenset[Need]:  # type: ignore[override]
        """Return what the weights above 0 are the weights of."""
        weights: dict[Need, float] = {"importance": self.alpha, "matches": self.beta}
        if self.how != "add":
            weights["window"] = self.delta
        return frozenset(need for need, weight in weights.items() if weight > 0)

    @property
    def changes(self) -> Changes:  # type: ignore[override]
        """Return how ranks move: a product falls with the life left, a sum only rises."""
        if self.refresh == "arrival":
            return "never"
        falls = self.how == "accumulate" or (self.how == "multiply" and self.delta > 0)
        return "always" if falls else "rising"

    @property
    def settings(self) -> Settings:
        """Return the weights and the gain."""
        return (float(self.alpha), float(self.beta), float(self.delta), float(self.gain))

    @property
    def fading(self) -> tuple[float, float] | None:
        """Return (factor, step) by which a rank that accumulates falls without a match."""
        return (1.0 - self.loss, 0.0) if self.how == "accumulate" else None
