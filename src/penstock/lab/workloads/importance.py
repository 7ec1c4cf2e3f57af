"""Zipf streams in which few rows matter a lot."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.lab.workloads.base import Workload
from penstock.lab.workloads.zipf import Correlation, zipf_pair


@dataclass(frozen=True)
class ImportanceLaw:
    """Many rows of normal importance and few of high importance.

    Ojewole et al. say only that "normal importance tuples dominate the input streams,
    while tuples with high importance, which correspond to aberrant or special values,
    occur infrequently".  The constants are ours.

    Attributes
    ----------
    normal, high
        Median importance of a normal and of a special row.  10 and 1,000: the special
        stand out whatever the scatter within their class, yet are no trump.  Where a match
        is worth its lesser row, special matches hold a fifth of all value, so a policy can
        afford to ignore neither class.
    high_share
        Share of special rows.  5 %: infrequent, but some twenty in a window of 400.
    scatter
        Standard deviation of the logarithm within a class.  0.25: the middle two thirds of
        a class lie within a quarter of its median, and hardly any two rows tie.

    Examples
    --------
    >>> law = ImportanceLaw(high_share=0.5, scatter=0.0)
    >>> law.draw(6, np.random.default_rng(1)).round(6).tolist()
    [10.0, 10.0, 1000.0, 10.0, 1000.0, 1000.0]
    """

    normal: float = 10.0
    high: float = 1000.0
    high_share: float = 0.05
    scatter: float = 0.25

    def __post_init__(self) -> None:
        if not (self.normal > 0 and self.high > 0):
            raise ValueError(
                f"normal={self.normal:g}, high={self.high:g}: importance must be above 0."
            )
        if not 0 <= self.high_share <= 1:
            raise ValueError(f"high_share={self.high_share:g}: a share lies between 0 and 1.")

    def draw(self, rows: int, draws: np.random.Generator) -> NDArray[np.float64]:
        """Draw the importance of `rows` independent rows, each above 0."""
        median = np.where(draws.random(rows) < self.high_share, self.high, self.normal)
        return median * np.exp(self.scatter * draws.standard_normal(rows))


def importance_pair(
    *,
    steps: int = 5600,
    domain: int = 100,
    left_skew: float = 1.0,
    right_skew: float = 0.0,
    correlation: Correlation = "correlated",
    law: ImportanceLaw = ImportanceLaw(),
    seed: int = 0,
) -> Workload:
    """Draw a Zipf pair whose rows carry an importance, independent of their key.

    Parameters
    ----------
    steps, domain, left_skew, right_skew, correlation
        As for `zipf_pair`; the defaults are those of the paper's online experiments.
    law
        How importance is distributed, on both streams.
    seed
        Decides every draw.  The keys are those of `zipf_pair` with the same seed.

    References
    ----------
    Ojewole, Zhu, Hou. Window join approximation over data streams with importance
    semantics. CIKM 2006, sections 5 and 5.2.

    Examples
    --------
    >>> pair = importance_pair(steps=1000)
    >>> special = np.asarray(pair.left["importance"]) > 100
    >>> bool(0.03 < special.mean() < 0.07)
    True
    """
    keys = zipf_pair(
        steps=steps,
        domain=domain,
        left_skew=left_skew,
        right_skew=right_skew,
        correlation=correlation,
        seed=seed,
    )
    # Of the children of one seed, zipf_pair takes the first three.
    *_, left_draws, right_draws = np.random.default_rng(seed).spawn(5)
    return Workload(
        name="importance",
        left=keys.left.append_column("importance", pa.array(law.draw(steps, left_draws))),
        right=keys.right.append_column("importance", pa.array(law.draw(steps, right_draws))),
        note=(
            f"{keys.note.removesuffix('.')}; importance around {law.normal:g}, and around "
            f"{law.high:g} in {law.high_share:.0%} of the rows."
        ),
    )
