"""Keep the rows that promised the most importance when they came."""

from dataclasses import dataclass
from typing import ClassVar

from penstock.compiled import compiled
from penstock.policies.base import Held, Policy, Settings


@compiled
def _rank(held: Held, settings: Settings) -> float:
    # Below 0 the rank would fall while matches rise, and the live form promises the engine
    # ranks that only rise.  Rows below 0 all rank 0, where the second rank orders them.
    return float(max(held.importance, 0.0) * held.matches)


@dataclass(frozen=True)
class ExpectedImportance(Policy):
    """Keep the rows with the highest importance times expected matches, as of their arrival.

    A row ranks by its importance times how often its key comes on the other stream,
    and keeps that rank; between equals the less important leaves.  Right when both
    importance and frequency tell rows apart and frequencies are stable.  A contest
    costs no more than one of `Importance`.

    Fails when frequencies move within a window: a row ranks by what its key was worth
    when it came.  A key that nobody has seen yet ranks 0, however important the row,
    and stays there when its partners begin to come.  Use `ExpectedImportanceLive`.

    References
    ----------
    Ojewole, Zhu, Hou. Window join approximation over data streams with importance
    semantics. CIKM 2006, section 4.3.2, where it is called SIMPPROB.  Its third tie
    rule, the fewest matches, has nothing left to decide: equal products of equal
    importance have equal matches, save for importance 0, where matches are worth nothing.

    Examples
    --------
    >>> frequent = Held(time=0, age=0, life=9, importance=1.0, matches=9.0,
    ...                 slope=0.0, luck=0.5, note=0.0)
    >>> rare = frequent._replace(importance=5.0, matches=2.0)
    >>> policy = ExpectedImportance()
    >>> policy.rank(frequent, policy.settings), policy.rank(rare, policy.settings)
    (9.0, 10.0)
    """

    name: ClassVar[str] = "expected-importance"
    paper: ClassVar[str] = "SIMPPROB"
    rank = staticmethod(_rank)
    needs = frozenset({"importance", "matches"})
    second = "importance"
