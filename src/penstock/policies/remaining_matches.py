"""Keep the rows that can still expect the most matches before they expire."""

from dataclasses import dataclass
from typing import ClassVar

from penstock.compiled import compiled
from penstock.policies.base import Held, Policy, Settings


@compiled
def _rank(held: Held, settings: Settings) -> float:
    return float(held.life * held.matches)


@dataclass(frozen=True)
class RemainingMatches(Policy):
    """Keep the rows with the most matches ahead of them.

    A row ranks by its remaining life times how often its key comes on the other
    stream.  Right when rows that win a place keep it: where nearly the whole window
    fits, or where few keys find any partner, so that a row about to expire is worth
    less than a fresh one.

    Fails when places are few: it counts on a whole life for rows that will soon be
    given up, so a newcomer with a rare key drives out an older row with a frequent
    one.  Use `MatchProbability` there.  It also costs more: a rank falls as time
    passes, so every held row is asked at each contest.

    References
    ----------
    Das, Gehrke, Riedewald. Approximate join processing over data streams.
    SIGMOD 2003, section 4.2.2, where it is called LIFE.

    Examples
    --------
    Nine times as frequent, but with a tenth of the life ahead: the older row leaves.

    >>> old = Held(time=0, age=9, life=1, importance=1.0, matches=9.0,
    ...            slope=0.0, luck=0.5, note=0.0)
    >>> new = old._replace(time=9, age=0, life=10, matches=1.0)
    >>> policy = RemainingMatches()
    >>> policy.rank(old, policy.settings), policy.rank(new, policy.settings)
    (9.0, 10.0)
    """

    name: ClassVar[str] = "remaining-matches"
    paper: ClassVar[str] = "LIFE"
    rank = staticmethod(_rank)
    needs = frozenset({"matches", "window"})
    changes = "always"
