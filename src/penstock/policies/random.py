"""Keep rows by lot."""

from dataclasses import dataclass
from typing import ClassVar

from penstock.compiled import compiled
from penstock.policies.base import Held, Policy, Settings


@compiled
def _rank(held: Held, settings: Settings) -> float:
    return float(held.luck)


@dataclass(frozen=True)
class RandomDrop(Policy):
    """Keep the rows that drew the highest numbers when they came.

    Right when nothing is known that tells one row from another, and as the line that
    every other policy must pass.  A number is drawn once and kept, so the rows held
    are a fair sample of those still in their window.  The matches are not a fair
    sample of the exact join: a match needs both its rows.

    Fails where keys are skewed: it gives up frequent and rare keys alike.  Use
    `MatchProbability` there.

    References
    ----------
    Das, Gehrke, Riedewald. Approximate join processing over data streams.
    SIGMOD 2003, section 5.2, where it is called RAND.

    Examples
    --------
    A row of no importance outlasts a treasure that drew a lower number.

    >>> trifle = Held(time=0, age=5, life=1, importance=1.0, matches=0.0,
    ...               slope=0.0, luck=0.9, note=0.0)
    >>> treasure = trifle._replace(importance=100.0, matches=50.0, luck=0.2)
    >>> policy = RandomDrop()
    >>> policy.rank(trifle, policy.settings) > policy.rank(treasure, policy.settings)
    True
    """

    name: ClassVar[str] = "random"
    paper: ClassVar[str] = "RAND"
    rank = staticmethod(_rank)
