"""The policies that Ojewole et al. compare, and how their ranking is judged."""

import itertools
from collections.abc import Hashable, Mapping
from types import MappingProxyType

from penstock.lab.claims import judged
from penstock.lab.record import Claim
from penstock.lab.sweep import Found, Frequencies, Measure, Setting, Try, value_recall
from penstock.lab.workloads import ImportanceLaw
from penstock.policies import (
    ExpectedImportance,
    ExpectedImportanceLive,
    GainAndLoss,
    Importance,
    MatchProbability,
    Policy,
    RandomDrop,
)

# PROB of the paper ranks a row once, when it comes: its cost is that of a static policy.
CONTESTANTS: Mapping[str, Policy] = MappingProxyType(
    {
        "random": RandomDrop(),
        "importance": Importance(),
        "match-probability": MatchProbability(refresh="arrival"),
        "expected-importance": ExpectedImportance(),
        "expected-importance-live": ExpectedImportanceLive(),
        "gain-and-loss": GainAndLoss(),
        "gain-and-loss, loss 0.01": GainAndLoss(loss=0.01),
    }
)
ESTIMATORS: Mapping[Frequencies, str] = MappingProxyType(
    {"window": "last window", "memory": "rows held"}
)
PRINTED = ("DGL", "DIMPPROB", "SIMPPROB", "PROB", "SIMP", "RAND")
CORRELATED = ("DIMPPROB", "SIMPPROB", "DGL", "PROB", "SIMP", "RAND")
LAW = ImportanceLaw()
LAW_NOTE = (
    f"The paper states no law of importance; rows carry about {LAW.normal:g}, and "
    f"{LAW.high_share:.0%} of them about {LAW.high:,g}. A match is worth its lesser row."
)
DGL_NOTE = (
    "The paper leaves the constants of DGL open; it is shown with the default loss of 0.05 an "
    "instant and with 0.01, and ranked by the better of the two."
)
ESTIMATOR_NOTE = (
    "Matches in the opposite window may mean arrivals of the last window or rows held: both are "
    "shown, because the ranking depends on it."
)
NOTES = (LAW_NOTE, DGL_NOTE, ESTIMATOR_NOTE)
_LEVEL = 0.005  # two means of five seeds this close are called level


def importance_setting(
    window: int = 400,
    *,
    domain: int = 100,
    skews: tuple[float, float] = (1.0, 0.0),
    steps: int = 5600,
    warmup: int | None = None,
    law: ImportanceLaw = LAW,
) -> Setting:
    """Return the setting of Ojewole et al. 5.2; `w` of the paper is a closed window of `w - 1`."""
    options = {
        "steps": steps,
        "domain": domain,
        "left_skew": skews[0],
        "right_skew": skews[1],
        "law": law,
    }
    return Setting("importance", options, (window - 1, window - 1), warmup=warmup or 2 * window)


def attempt(name: str, memory: int, estimator: Frequencies) -> Try:
    """Return the attempt of a contestant on a budget, told what the estimator counts."""
    return Try(CONTESTANTS[name], memory, frequencies=estimator)


def standings(
    found: Found,
    setting: Hashable,
    memory: int,
    estimator: Frequencies,
    measure: Measure = value_recall,
) -> dict[str, float]:
    """Return what each policy made, by the paper's names; DGL with its better constants."""
    made = {
        name: found.mean(setting, attempt(name, memory, estimator), measure) for name in CONTESTANTS
    }
    tuned = made.pop("gain-and-loss, loss 0.01")
    by_paper = {CONTESTANTS[name].paper: value for name, value in made.items()}
    return by_paper | {"DGL": max(by_paper["DGL"], tuned)}


def ranking(made: Mapping[str, float]) -> str:
    """Return policies from the best to the worst, with what they made.

    >>> ranking({"SIMP": 0.4, "PROB": 0.5})
    'PROB 0.500, SIMP 0.400'
    """
    ordered = sorted(made.items(), key=lambda each: -each[1])
    return ", ".join(f"{name} {value:.3f}" for name, value in ordered)


def in_order(made: Mapping[str, float], order: tuple[str, ...] = PRINTED) -> list[bool]:
    """Say for each neighbours of a printed ranking whether the first did not do worse.

    >>> in_order({"DGL": 0.5, "PROB": 0.3, "SIMP": 0.4}, ("DGL", "PROB", "SIMP"))
    [True, False]
    """
    return [made[one] > made[next_] - _LEVEL for one, next_ in itertools.pairwise(order)]


def ranked(
    where: str, estimator: Frequencies, made: Mapping[str, float], order: tuple[str, ...] = PRINTED
) -> Claim:
    """Judge a printed ranking of the policies by one estimator."""
    neighbours = in_order(made, order)
    return judged(
        where,
        f"The ranking is {' > '.join(order)}.",
        f"Matches counted from the {ESTIMATORS[estimator]}: {ranking(made)}; "
        f"{sum(neighbours)} of {len(neighbours)} neighbours are in order.",
        *neighbours,
    )
