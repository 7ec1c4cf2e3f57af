"""Keep the most important rows."""

from dataclasses import dataclass
from typing import ClassVar

from penstock.compiled import compiled
from penstock.policies.base import Held, Policy, Settings


@compiled
def _rank(held: Held, settings: Settings) -> float:
    return float(held.importance)


@dataclass(frozen=True)
class Importance(Policy):
    """Keep the rows of the highest importance, whether they match or not.

    Right when every row is about as likely to match, or when one match of an important
    row is worth any number of others: the needle in the haystack is never given up
    for hay.

    Fails when important rows find no partners: they fill the memory until they expire,
    and nothing comes of them.  Use `ExpectedImportanceLive`, which weighs how often a
    key comes on the other stream.

    References
    ----------
    Ojewole, Zhu, Hou. Window join approximation over data streams with importance
    semantics. CIKM 2006, section 4.3.1, where it is called SIMP.

    Examples
    --------
    >>> needle = Held(time=0, age=9, life=1, importance=20.0, matches=0.0,
    ...               slope=0.0, luck=0.5, note=0.0)
    >>> hay = needle._replace(time=9, age=0, life=10, importance=1.0, matches=9.0)
    >>> policy = Importance()
    >>> policy.rank(needle, policy.settings) > policy.rank(hay, policy.settings)
    True
    """

    name: ClassVar[str] = "importance"
    paper: ClassVar[str] = "SIMP"
    rank = staticmethod(_rank)
    needs = frozenset({"importance"})
