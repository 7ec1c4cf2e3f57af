"""Keep the newest rows."""

from dataclasses import dataclass
from typing import ClassVar

from penstock.compiled import compiled
from penstock.policies.base import Held, Policy, Settings


@compiled
def _rank(held: Held, settings: Settings) -> float:
    return float(held.time)


@dataclass(frozen=True)
class Recent(Policy):
    """Keep the rows that came last: a window as long as the budget allows.

    Right when rows find their partners soon after they come, as an order finds its
    payment.  No statistics are kept, and every row is held for about as long as any
    other.

    Fails when partners come late: where all of them come after the rows have been
    given up it finds nothing at all, however much of the window it can hold.  Use
    `AgeCurve` there, which learns at which age partners come.

    References
    ----------
    Srivastava, Widom. Memory-limited execution of windowed stream joins.
    VLDB 2004, section 6.1, where it is called RECENT.

    Examples
    --------
    >>> old = Held(time=3, age=6, life=4, importance=1.0, matches=9.0,
    ...            slope=0.0, luck=0.5, note=0.0)
    >>> new = old._replace(time=9, age=0, life=10, matches=0.0)
    >>> policy = Recent()
    >>> policy.rank(new, policy.settings) > policy.rank(old, policy.settings)
    True
    """

    name: ClassVar[str] = "recent"
    paper: ClassVar[str] = "RECENT"
    rank = staticmethod(_rank)
