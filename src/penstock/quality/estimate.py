"""How much of the exact result was produced, judged from what was lost alone."""

import math
from typing import NamedTuple

from penstock.engine.health import Health

_NORMAL_95 = 1.959964  # 97.5 % point of the normal distribution


class Share(NamedTuple):
    """A share between 0 and 1, with its 95 % interval; NaN where nothing can be said."""

    estimate: float
    low: float
    high: float


UNKNOWN = Share(math.nan, math.nan, math.nan)


def recall_in_matches(health: Health) -> Share:
    """Estimate the share made of the matches that a join without a budget would have made.

    What a join loses otherwise is no part of it: rows that come late or without a key, and what
    the last rows would yet have met.
    """
    return recall_of(
        health.matched,
        health.lost,
        health.lost_variance,
        unseen=health.unseen,
        known=health.estimated,
    )


def recall_in_value(health: Health) -> Share:
    """Estimate the same share of the sum of importance."""
    value, matches = health.lost_value, health.lost
    if matches <= 0.0:
        value, matches = health.value, float(health.matched)
    return recall_of(
        health.value,
        health.lost_value,
        health.lost_value_variance,
        unseen=health.unseen * abs(value) / max(1.0, matches),
        known=health.estimated,
    )


def recall_of(
    made: float, lost: float, variance: float, *, unseen: float = 0.0, known: bool = True
) -> Share:
    """Estimate the share made of what could have been made.

    The number lost is a sum of positive contributions, so its logarithm is closer to
    normal than the number itself: the interval is symmetric on that scale, and never
    leaves 0 to 1.

    A sample that missed what was heavy shows too little, and too little scatter besides.  So
    the upper end of what was lost is that of a sample with one contribution more, as in Fay
    and Feuer's limits for a weighted sum of Poisson counts.  They add one of the greatest
    weight; of that, twice `variance / lost` stands in here, which is the mean contribution
    weighed by size, twice since contributions scatter.

    Parameters
    ----------
    made
        Matches produced, or their value.
    lost
        Matches lost to shedding, or their value, as estimated from ghosts.
    variance
        The variance of `lost`, as estimated; 0 when every ghost was remembered.
    unseen
        What one lost match may add to `lost` at most; 0 when every ghost was remembered.
    known
        Whether losses were counted at all.

    References
    ----------
    Fay, Feuer. Confidence intervals for directly standardized rates: a method based on the
    gamma distribution. Statistics in Medicine 16, 1997.

    Examples
    --------
    >>> recall_of(75, 25, 0.0)
    Share(estimate=0.75, low=0.75, high=0.75)
    >>> [round(x, 3) for x in recall_of(75, 25, 25.0)]
    [0.75, 0.654, 0.816]
    >>> recall_of(0, 0, 0.0)
    Share(estimate=1.0, low=1.0, high=1.0)

    Nothing lost was seen by ghosts kept with a chance of a half:

    >>> [round(x, 3) for x in recall_of(95, 0, 0.0, unseen=1.44)]
    [1.0, 0.947, 1.0]
    """
    if not known:
        return UNKNOWN
    share = _share(made, lost)
    if unseen <= 0.0 and variance <= 0.0:
        return Share(share, share, share)
    if lost <= 0.0:
        return Share(share, _share(made, unseen * -math.log(0.025)), share)
    more = max(unseen, 2.0 * variance / lost)
    most = (lost + more) * _spread(lost + more, variance + more**2)
    return Share(share, _share(made, most), _share(made, lost / _spread(lost, variance)))


def _share(made: float, lost: float) -> float:
    return made / (made + lost) if lost > 0.0 else 1.0


def _spread(mean: float, variance: float) -> float:
    """Return by which factor the 97.5 % point of a log-normal variable exceeds its middle."""
    return math.exp(_NORMAL_95 * math.sqrt(math.log1p(variance / mean**2)))
