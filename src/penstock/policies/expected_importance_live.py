"""Keep the rows that promise the most importance now."""

from dataclasses import dataclass
from typing import ClassVar

from penstock.policies.expected_importance import ExpectedImportance


@dataclass(frozen=True)
class ExpectedImportanceLive(ExpectedImportance):
    """Keep the rows with the highest importance times expected matches, as of each contest.

    `ExpectedImportance` with ranks that follow the statistics.  Right when importance
    and frequency both tell rows apart, whether frequencies are stable or not: it is
    what `keep="valuable"` means.

    Fails when keys are too many to say how frequent each is: most rows then rank 0
    and importance alone decides.  Use `GainAndLoss`, which goes by the matches a row has
    made.  It is blind to age: a row about to expire keeps the rank of a fresh one
    (`Weighted(delta=1)` weighs the remaining life too).

    References
    ----------
    Ojewole, Zhu, Hou. Window join approximation over data streams with importance
    semantics. CIKM 2006, section 4.3.3, where it is called DIMPPROB.

    Examples
    --------
    The rank of a held row rises when its key comes again on the other stream.

    >>> from penstock.policies import Held
    >>> early = Held(time=0, age=0, life=9, importance=5.0, matches=0.0,
    ...              slope=0.0, luck=0.5, note=0.0)
    >>> later = early._replace(age=4, life=5, matches=3.0)
    >>> policy = ExpectedImportanceLive()
    >>> policy.rank(early, policy.settings), policy.rank(later, policy.settings)
    (0.0, 15.0)
    """

    name: ClassVar[str] = "expected-importance-live"
    paper: ClassVar[str] = "DIMPPROB"
    changes = "rising"
