"""Keep the rows that are at the age at which partners come."""

from dataclasses import dataclass
from typing import ClassVar

from penstock.compiled import compiled
from penstock.policies.base import Held, Policy, Settings


@compiled
def _rank(held: Held, settings: Settings) -> float:
    return float(held.slope)


@dataclass(frozen=True)
class AgeCurve(Policy):
    """Keep the rows that can find matches fastest, going by their age.

    The age curve of a stream says how many partners a row finds by each age.  A row
    ranks by the steepest slope from its age on: the best rate of matches that
    holding it until some later age can bring.  Right when keys are new all the time, so
    that their frequency says nothing, and partners keep to an age: bids come before an
    auction closes, packets after a delay.  The paper shows
    it to be the best there is where the curve has no dip and rows come steadily.

    Fails when which key a row has matters more than its age: use `MatchProbability`.
    Between rows of one age the older leaves, whatever their keys.  While a curve is being
    learned all slopes are 0 and it is `Recent`; where partners come later than such
    rows are held, state the curve.

    References
    ----------
    Srivastava, Widom. Memory-limited execution of windowed stream joins.
    VLDB 2004, section 3.2.1, where it is called AGE; measured in section 6.1.

    Examples
    --------
    The paper's example 3.4: a row finds three partners in its first step, none in its second
    and two in its third.  After the first it is worth least, then it recovers.

    >>> from penstock.arrivals.ages import slopes_of
    >>> rows = [Held(time=0, age=age, life=3 - age, importance=1.0, matches=0.0,
    ...              slope=float(slope), luck=0.5, note=0.0)
    ...         for age, slope in enumerate(slopes_of([3.0, 0.0, 2.0]))]
    >>> policy = AgeCurve()
    >>> [policy.rank(row, policy.settings) for row in rows]
    [3.0, 1.0, 2.0]
    """

    name: ClassVar[str] = "age-curve"
    paper: ClassVar[str] = "AGE"
    rank = staticmethod(_rank)
    needs = frozenset({"ages", "window"})
    changes = "age"
