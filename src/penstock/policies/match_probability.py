"""Keep the rows whose key is frequent on the other stream."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from penstock.compiled import compiled
from penstock.errors import InvalidQuery
from penstock.policies.base import Changes, Held, Policy, Settings


@compiled
def _rank(held: Held, settings: Settings) -> float:
    return float(held.matches)


@dataclass(frozen=True)
class MatchProbability(Policy):
    """Keep the rows most likely to match the next arrival.

    A row ranks by how often its key comes on the other stream.  Right when the keys
    are skewed and their frequencies stable: the keys that came often are then the
    keys that will.

    Fails where all keys are about as frequent, and where they are new all the time,
    as order numbers are: nothing is then known of a key.  Use `AgeCurve` there, or
    `RandomDrop` if age tells no more than the key does.  It is
    blind to age: a frequent key about to expire still outranks a rarer one that has its
    whole window ahead of it, which `RemainingMatches` corrects.  It is blind to
    importance: see `ExpectedImportanceLive`.

    Parameters
    ----------
    refresh
        `"always"`: a row ranks by the frequencies as of each contest, as in Das et al.
        `"arrival"`: by those as of its arrival, which is what Ojewole et al. call PROB.
        Rows then keep a rank they may no longer deserve, and a contest costs less.

    References
    ----------
    Das, Gehrke, Riedewald. Approximate join processing over data streams.
    SIGMOD 2003, section 4.2.1, where it is called PROB.

    Examples
    --------
    The key of the older row comes nine times as often, so the newer row leaves.

    >>> old = Held(time=0, age=9, life=1, importance=1.0, matches=9.0,
    ...            slope=0.0, luck=0.5, note=0.0)
    >>> new = old._replace(time=9, age=0, life=10, matches=1.0)
    >>> policy = MatchProbability()
    >>> policy.rank(old, policy.settings) > policy.rank(new, policy.settings)
    True
    >>> policy.asked, MatchProbability(refresh="arrival").asked
    ('always', 'arrival')
    """

    name: ClassVar[str] = "match-probability"
    paper: ClassVar[str] = "PROB"
    rank = staticmethod(_rank)
    needs = frozenset({"matches"})

    refresh: Literal["always", "arrival"] = "always"

    def __post_init__(self) -> None:
        if self.refresh not in ("always", "arrival"):
            raise InvalidQuery(
                f"refresh={self.refresh!r}: say when a row is ranked: 'always' (as of each "
                "contest) or 'arrival' (once, when it comes)."
            )

    @property
    def changes(self) -> Changes:  # type: ignore[override]  # depends on a field here
        """Return how ranks move: with the statistics, unless they are fixed at arrival."""
        return "never" if self.refresh == "arrival" else "rising"
