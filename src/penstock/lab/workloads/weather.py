"""A stand-in for the weather reports of Das et al."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.lab.workloads.base import Workload
from penstock.lab.workloads.zipf import zipf_shares


def weather_pair(
    *,
    rows: int = 100_000,
    cells: int = 648,
    skew: float = 0.84,
    drift: float = 0.2,
    seed: int = 0,
) -> Workload:
    """Draw the land station reports of one month in two consecutive years, by grid cell.

    This is a stand-in: the paper joins the cloud reports of September 1985 with those of
    September 1986, just over a million rows each, which are not to be had from a package
    index.  What its section tells of them is kept: a row per stream and step, about 650
    cells of 10 by 10 degrees, skewed, and two streams so alike that shared memory settles
    at half and half.  The paper's window is 5,000 steps.

    Each stream starts and ends at its own perturbation of common cell shares, and moves
    from one to the other at an even pace.

    Parameters
    ----------
    rows
        Rows of each stream, at times 0 to `rows - 1`.
    cells
        Occupied cells, numbered from 0; the grid of 18 by 36 has 648.
    skew
        Zipf parameter of the common cell shares.  The 15,824 station reports in the test
        file `perf_synop.bufr` of pdbufr fit 0.84 over their cells.
    drift
        Standard deviation of the logarithm by which a cell's share is off, for each stream
        at either end.  0.2 keeps the streams within a tenth of each other in total
        variation; 0 makes both streams stationary and alike.
    seed
        Decides every draw.

    References
    ----------
    Das, Gehrke, Riedewald. Approximate join processing over data streams.
    SIGMOD 2003, section 5.2.5, figures 12 and 20.

    Examples
    --------
    >>> pair = weather_pair(rows=5000)
    >>> pair.left.num_rows, bool(np.max(pair.right["key"]) < 648)
    (5000, True)
    """
    place_draws, left_draws, right_draws = np.random.default_rng(seed).spawn(3)
    shares = place_draws.permutation(zipf_shares(cells, skew))
    return Workload(
        name="weather",
        left=_september(shares, rows, drift, left_draws),
        right=_september(shares, rows, drift, right_draws),
        note=(
            f"A generated stand-in for two Septembers of land station reports: {rows} rows per "
            f"stream over {cells} cells of Zipf {skew:g}, drifting by {drift:g}, seed {seed}."
        ),
    )


def _september(
    shares: NDArray[np.float64], rows: int, drift: float, draws: np.random.Generator
) -> pa.Table:
    """Draw one stream; the chance that a row follows the law of the end grows with time."""
    time = np.arange(rows)
    start, end = (_perturbed(shares, drift, draws) for _ in range(2))
    from_start = draws.choice(shares.size, size=rows, p=start)
    from_end = draws.choice(shares.size, size=rows, p=end)
    at_end = draws.random(rows) * rows < time
    return pa.table({"time": time, "key": np.where(at_end, from_end, from_start)})


def _perturbed(
    shares: NDArray[np.float64], drift: float, draws: np.random.Generator
) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = shares * np.exp(drift * draws.standard_normal(shares.size))
    weights /= weights.sum()
    return weights
