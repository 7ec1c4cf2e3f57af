"""How much of the exact result was produced, judged from what was lost alone."""

import math
from typing import NamedTuple

_NORMAL_95 = 1.959964  # 97.5 % point of the normal distribution


class Share(NamedTuple):
    """A share between 0 and 1, with its 95 % interval; NaN where nothing can be said."""

    estimate: float
    low: float
    high: float


def recall_of(made: float, lost: float, variance: float, *, known: bool = True) -> Share:
    """Estimate the share made of what could have been made.

    The number lost is a sum of positive contributions, so its logarithm is closer to
    normal than the number itself: the interval is symmetric on that scale, and never
    leaves 0 to 1.

    Parameters
    ----------
    made
        Matches produced, or their value.
    lost
        Matches lost to shedding, or their value, as estimated from ghosts.
    variance
        The variance of `lost`; 0 when every ghost was remembered.
    known
        Whether losses were counted at all.

    Examples
    --------
    >>> recall_of(75, 25, 0.0)
    Share(estimate=0.75, low=0.75, high=0.75)
    >>> [round(x, 3) for x in recall_of(75, 25, 25.0)]
    [0.75, 0.671, 0.816]
    >>> recall_of(0, 0, 0.0)
    Share(estimate=1.0, low=1.0, high=1.0)
    """
    if not known:
        return Share(math.nan, math.nan, math.nan)
    if lost <= 0.0:
        return Share(1.0, 1.0, 1.0)
    share = made / (made + lost)
    if variance <= 0.0:
        return Share(share, share, share)
    # The deviation of the logarithm of a variable with this mean and variance.
    spread = math.exp(_NORMAL_95 * math.sqrt(math.log1p(variance / lost**2)))
    return Share(share, made / (made + lost * spread), made / (made + lost / spread))
