"""Keep a row that has found a place until its window ends."""

from dataclasses import dataclass
from typing import ClassVar

from penstock.compiled import compiled
from penstock.policies.base import Held, Policy, Settings


@compiled
def _rank(held: Held, settings: Settings) -> float:
    return float(-held.time)


@dataclass(frozen=True)
class UntilExpiry(Policy):
    """Keep the oldest rows: a newcomer gets a place only if one is free.

    Right when partners come late, shortly before a row expires, as bids come shortly
    before an auction closes.

    Fails when partners come early or evenly: places are then held by rows whose
    partners have come, and the longer the window is stated the worse it gets.  Use
    `Recent` for early partners and `AgeCurve` where the age at which they come can be
    learned; `AgeCurve` does not mind a window that was stated too long.

    References
    ----------
    Srivastava, Widom. Memory-limited execution of windowed stream joins.
    VLDB 2004, section 6.1, where it is called UNTIL-EXPIRY.

    Examples
    --------
    >>> old = Held(time=3, age=6, life=4, importance=1.0, matches=0.0,
    ...            slope=0.0, luck=0.5, note=0.0)
    >>> new = old._replace(time=9, age=0, life=10, matches=9.0)
    >>> policy = UntilExpiry()
    >>> policy.rank(new, policy.settings) < policy.rank(old, policy.settings)
    True
    """

    name: ClassVar[str] = "until-expiry"
    paper: ClassVar[str] = "UNTIL-EXPIRY"
    rank = staticmethod(_rank)
