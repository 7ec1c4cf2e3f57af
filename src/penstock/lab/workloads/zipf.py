"""Two streams of Zipf distributed keys, one row a step."""

from typing import Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.lab.workloads.base import Workload

Correlation = Literal["correlated", "uncorrelated", "inverse"]


def zipf_shares(domain: int, skew: float) -> NDArray[np.float64]:
    """Give the share of each value, the most frequent first.

    Value `v` has a share proportional to `(v + 1) ** -skew`; with `skew` 0 all are alike.

    Examples
    --------
    >>> zipf_shares(3, 1.0).round(3).tolist()
    [0.545, 0.273, 0.182]
    >>> zipf_shares(4, 0.0).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    if domain < 1:
        raise ValueError(f"domain={domain}: a key needs at least 1 value to choose from.")
    weights: NDArray[np.float64] = np.arange(1, domain + 1, dtype=np.float64) ** -skew
    weights /= weights.sum()
    return weights


def zipf_pair(
    *,
    steps: int = 5600,
    domain: int = 50,
    left_skew: float = 1.0,
    right_skew: float = 1.0,
    correlation: Correlation = "correlated",
    seed: int = 0,
) -> Workload:
    """Draw two streams of independent Zipf keys, one row per stream and step.

    Key 0 is the most frequent one on the left.  The left stream and the frequencies of the
    right one do not depend on `correlation`, so the three cases can be compared.

    Parameters
    ----------
    steps
        Rows of each stream, at times 0 to `steps - 1`; 5,600 as in the papers.
    domain
        How many keys there are, numbered from 0.
    left_skew, right_skew
        Zipf parameter of each stream; 0 makes it uniform.
    correlation
        The order of the keys by frequency on the right: the same as on the left
        ("correlated"), a random permutation ("uncorrelated"), or the opposite ("inverse").
    seed
        Decides every draw.

    References
    ----------
    Das, Gehrke, Riedewald. Approximate join processing over data streams.
    SIGMOD 2003, section 5.2.

    Srivastava, Widom. Memory-limited execution of windowed stream joins.
    VLDB 2004, section 6.2.3, where the cases are called DC, UC and IC.

    Examples
    --------
    The favourite of the left stream is the rarest key of the right one:

    >>> pair = zipf_pair(steps=1000, domain=3, left_skew=2.0, right_skew=2.0, correlation="inverse")
    >>> np.bincount(pair.left["key"]).argmax(), np.bincount(pair.right["key"]).argmin()
    (np.int64(0), np.int64(0))
    """
    if correlation not in get_args(Correlation):
        known = ", ".join(sorted(get_args(Correlation)))
        raise ValueError(f"correlation={correlation!r}: no such correlation. Known: {known}.")
    left_draws, right_draws, order_draws = np.random.default_rng(seed).spawn(3)
    left = left_draws.choice(domain, size=steps, p=zipf_shares(domain, left_skew))
    right = right_draws.choice(domain, size=steps, p=zipf_shares(domain, right_skew))
    values = {
        "correlated": np.arange(domain),
        "uncorrelated": order_draws.permutation(domain),
        "inverse": np.arange(domain)[::-1],
    }[correlation]
    return Workload(
        name="zipf",
        left=pa.table({"time": np.arange(steps), "key": left}),
        right=pa.table({"time": np.arange(steps), "key": values[right]}),
        note=(
            f"{steps} steps of one row per stream, independent Zipf keys of parameter "
            f"{left_skew:g} (left) and {right_skew:g} (right) over {domain} values, "
            f"{correlation}, seed {seed}."
        ),
    )
