"""Where matches depend on age: how many a memory can make, and how sides divide it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from penstock.arrivals.expectation import KnownAges


def matches_per_time(
    memory: NDArray[np.float64], curve: Sequence[float], unit: float, rate: float
) -> NDArray[np.float64]:
    """Return the rate of matches that the age rule makes with so many places.

    With `C(k)` the matches of a row by age `k` and `k_opt` where `C(k) / k` is greatest:
    `memory * C(k_opt) / k_opt` while the places last for no more than `k_opt`, and
    `rate * C(memory / rate)` beyond.

    Parameters
    ----------
    memory
        Places for rows of the stream.
    curve
        Expected matches of a row while its age is in each bucket.
    unit
        How long a bucket is.
    rate
        Rows of the stream per unit of time.

    References
    ----------
    Srivastava, Widom. Memory-limited execution of windowed stream joins. VLDB 2004, equation 3.

    Examples
    --------
    Their example 3.3: one place makes 4 matches every 3 steps, three places 4 a step.

    >>> matches_per_time(np.array([1.0, 3.0, 4.0]), [1, 1, 2, 1], unit=1, rate=1).round(3).tolist()
    [1.333, 4.0, 5.0]
    """
    found = np.concatenate([[0.0], np.cumsum(curve)])
    ages = np.arange(len(found)) * unit
    if len(curve) == 0 or found[-1] <= 0.0:
        return np.zeros(len(memory))
    best = 1 + int(np.argmax(found[1:] / ages[1:]))
    kept_for = memory / rate
    early = memory * found[best] / ages[best]
    late = rate * np.interp(kept_for, ages, found)
    return np.where(kept_for <= ages[best], early, late)


def split_by_age(total: int, ages: KnownAges, rates: tuple[float, float]) -> tuple[int, int]:
    """Divide places between two streams so that the age rule makes the most matches.

    Every division is tried when there are few places, and ten thousand evenly spaced
    ones when there are many: the sum has no other structure to rely on, because both
    terms have a kink.

    Examples
    --------
    Rows of the right stream never match, so every place goes to the left:

    >>> split_by_age(10, KnownAges(((1.0, 2.0), (0.0, 0.0)), (1, 1)), (5.0, 5.0))
    (10, 0)
    """
    left = np.unique(np.linspace(0, total, min(total, 10_000) + 1).round())
    made = matches_per_time(left, ages.curves[0], ages.units[0], rates[0])
    made += matches_per_time(total - left, ages.curves[1], ages.units[1], rates[1])
    best = int(left[::-1][int(np.argmax(made[::-1].round(12)))])
    return best, total - best
