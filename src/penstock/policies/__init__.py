"""Retention policies: which rows to keep when the budget is full."""

import dataclasses
import difflib

from penstock.errors import InvalidQuery
from penstock.policies.age_curve import AgeCurve
from penstock.policies.base import Held, Policy
from penstock.policies.expected_importance import ExpectedImportance
from penstock.policies.expected_importance_live import ExpectedImportanceLive
from penstock.policies.gain_and_loss import GainAndLoss
from penstock.policies.importance import Importance
from penstock.policies.match_probability import MatchProbability
from penstock.policies.random import RandomDrop
from penstock.policies.recent import Recent
from penstock.policies.remaining_matches import RemainingMatches
from penstock.policies.until_expiry import UntilExpiry
from penstock.policies.weighted import Weighted

ALL: tuple[Policy, ...] = (
    RandomDrop(),
    Recent(),
    UntilExpiry(),
    MatchProbability(),
    RemainingMatches(),
    Importance(),
    ExpectedImportance(),
    ExpectedImportanceLive(),
    GainAndLoss(),
    AgeCurve(),
    Weighted(),
)

_GOALS = {"largest": MatchProbability, "valuable": ExpectedImportanceLive}
_SAMPLES = {
    "representative",
    *("uniform-sample", "cluster-sample", "cluster-sample-weighted"),
    *("uniform", "eq-cluster", "pps-cluster"),
}

__all__ = [
    "ALL",
    "AgeCurve",
    "ExpectedImportance",
    "ExpectedImportanceLive",
    "GainAndLoss",
    "Held",
    "Importance",
    "MatchProbability",
    "Policy",
    "RandomDrop",
    "Recent",
    "RemainingMatches",
    "UntilExpiry",
    "Weighted",
    "by_name",
]


def by_name(name: str, **parameters: float | str) -> Policy:
    """Return the policy of a name, or the one that serves a goal.

    Parameters
    ----------
    name
        The policy's own name, or the one its paper gives it, or a goal (`"largest"`, `"valuable"`);
        in any case, with hyphens or underscores.
    parameters
        The policy's parameters.

    Examples
    --------
    >>> by_name("match-probability") == by_name("PROB") == by_name("largest")
    True
    >>> by_name("Gain_and_Loss", loss=0.1)
    GainAndLoss(gain=0.01, loss=0.1, step=1, how='multiply')
    """
    wanted = str(name).strip().lower().replace("_", "-")
    if wanted in _SAMPLES:
        raise InvalidQuery(
            f"keep={name!r}: policies that sample are not here yet. Until then keep='random' "
            "favours no row, but its matches are not a uniform sample of the exact join."
        )
    kinds = {policy.paper.lower(): type(policy) for policy in ALL if policy.paper}
    kinds |= {policy.name: type(policy) for policy in ALL} | _GOALS
    kind = kinds.get(wanted)
    if kind is None:
        close = difflib.get_close_matches(wanted, kinds, n=1)
        meant = f"; did you mean {close[0]!r}?" if close else "."
        known = ", ".join(sorted(policy.name for policy in ALL))
        raise InvalidQuery(f"keep={name!r}: no such policy{meant} Known: {known}.")
    takes = sorted(field.name for field in dataclasses.fields(kind))
    for parameter, value in parameters.items():
        if parameter not in takes:
            raise InvalidQuery(
                f"{parameter}={value!r}: {kind.name} has no such parameter; it takes "
                f"{', '.join(takes) or 'none'}."
            )
    return kind(**parameters)
