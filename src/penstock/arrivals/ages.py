"""At which age rows find their partners, and how fast a row of each age can still find more."""

from typing import Any, NamedTuple

import numpy as np

from penstock.compiled import by_address, compiled, inner

UNIT, PANE, LENGTH = range(3)  # rows of `facts`
# Of the slope that a bucket begins with: matches on the way, buckets on the way, and how many of
# those matches come in the bucket itself.
RISE, REACH, OWN = range(3)
FOR_EVER = 2**62  # the length of a pane that never ends


@by_address
class Ages(NamedTuple):
    """Age curves of all streams, and what is learned of them while running."""

    slopes: Any  # float64[stream, bucket]: the best rate that a row entering it can still reach
    tangents: Any  # float64[stream, bucket, 3]: RISE, REACH, OWN
    order: Any  # int64[stream, bucket]: buckets by slope, lowest first; between equals the older
    hits: (
        Any  # float64[stream, bucket]: matches seen at that age; no buckets when nothing is learned
    )
    rows: Any  # float64[stream]: rows seen
    facts: Any  # int64[3, stream]: how long a bucket is; the newest row's pane; how long a pane is


def slopes_of(matches: Any) -> Any:
    """Return per age bucket the fastest rate at which a row of that age can still find matches.

    With `C(k)` the matches found by age `k`, that is `max over j > i of (C(j) - C(i)) / (j - i)`.

    Parameters
    ----------
    matches
        Expected matches while the age is in each bucket.

    References
    ----------
    Srivastava, Widom. Memory-limited execution of windowed stream joins. VLDB 2004, section 3.2.1.

    Examples
    --------
    Their example 3.3: a row of age 0 is best kept for three steps, `C(3) / 3 = 4 / 3`.

    >>> [round(float(slope), 3) for slope in slopes_of(np.array([1.0, 1.0, 2.0, 1.0]))]
    [1.333, 1.5, 2.0, 1.0]
    """
    slopes, tangents = np.zeros(len(matches)), np.zeros((len(matches), 3))
    _write_slopes(np.asarray(matches, np.float64), slopes, tangents)
    return slopes


@compiled
def _write_slopes(matches: Any, slopes: Any, tangents: Any) -> None:
    for i in range(len(matches)):
        best, total = -np.inf, 0.0
        for j in range(i, len(matches)):
            total += matches[j]
            if total / (j - i + 1) > best:
                best = total / (j - i + 1)
                tangents[i, RISE], tangents[i, REACH] = total, j - i + 1
        slopes[i], tangents[i, OWN] = best, matches[i]


@compiled
def _write_order(slopes: Any, order: Any) -> None:
    # By insertion from the oldest bucket on: the older of two equal ones stays first.
    for done in range(len(order)):
        bucket = len(order) - 1 - done
        at = done
        while at > 0 and slopes[order[at - 1]] > slopes[bucket]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = bucket


@inner
def bucket_of(ages: Ages, stream: int, age: int) -> int:
    """Return the age bucket; the last one is for rows older than the curve."""
    return max(0, min(age // ages.facts[UNIT, stream], ages.slopes.shape[1] - 1))


@inner
def rises_within(ages: Ages, stream: int, bucket: int) -> bool:
    """Say whether a row of the bucket gains by growing older: its best partners lie beyond."""
    return ages.tangents[stream, bucket, REACH] > 1.0


@inner
def slope_at(ages: Ages, stream: int, age: int) -> float:
    """Return the best rate that a row of this age can still reach.

    Within a bucket matches come evenly, so a row that has part of a bucket behind it has the
    matches of that part behind it too.
    """
    bucket = bucket_of(ages, stream, age)
    if not rises_within(ages, stream, bucket):
        return ages.slopes[stream, bucket]
    unit, tangent = ages.facts[UNIT, stream], ages.tangents[stream, bucket]
    passed = age / unit - bucket
    return (tangent[RISE] - tangent[OWN] * passed) / (tangent[REACH] - passed) / unit


@inner
def relearn(ages: Ages, stream: int) -> None:
    """Make the slopes of what has been seen, and let what was seen before count half."""
    buckets = ages.hits.shape[1] - 1
    if ages.rows[stream] > 0:
        slopes, tangents = ages.slopes[stream], ages.tangents[stream]
        _write_slopes(ages.hits[stream, :buckets], slopes[:buckets], tangents[:buckets])
        for bucket in range(buckets):
            slopes[bucket] /= ages.rows[stream] * ages.facts[UNIT, stream]
            tangents[bucket, RISE] /= ages.rows[stream]
            tangents[bucket, OWN] /= ages.rows[stream]
        slopes[buckets] = 0.0
        _write_order(slopes, ages.order[stream])
    ages.rows[stream] *= 0.5
    for bucket in range(buckets):
        ages.hits[stream, bucket] *= 0.5


@inner
def turn_age_pane(ages: Ages, stream: int, at: int) -> None:
    """Learn the stream's curve anew once a window has passed."""
    if ages.hits.shape[1] == 0 or ages.facts[LENGTH, stream] == FOR_EVER:
        return
    pane = at // ages.facts[LENGTH, stream]
    if pane > ages.facts[PANE, stream]:
        ages.facts[PANE, stream] = pane
        relearn(ages, stream)


def _ages(slopes: Any, tangents: Any, order: Any, units: Any, hits: Any, lengths: Any) -> Ages:
    panes = np.full(len(units), -(2**62))
    return Ages(
        slopes, tangents, order, hits, np.zeros(len(units)), np.array([units, panes, lengths])
    )


def _tangents(slopes: Any) -> Any:
    return np.zeros((*slopes.shape, 3))


def no_ages(streams: int) -> Ages:
    """Return curves for a policy that asks for none."""
    nothing = np.zeros((streams, 0))
    ones = np.ones(streams, np.int64)
    return _ages(nothing, _tangents(nothing), nothing.astype(np.int64), ones, nothing, ones)


def known_ages(curves: list[Any], units: list[int]) -> Ages:
    """Return curves that are known: per stream, matches by age bucket and the bucket's length."""
    streams, buckets = len(curves), max(len(curve) for curve in curves) + 1
    slopes = np.zeros((streams, buckets))
    tangents = _tangents(slopes)
    order = np.zeros((streams, buckets), np.int64)
    for stream, (curve, unit) in enumerate(zip(curves, units, strict=True)):
        whole = slice(0, len(curve))
        matches = np.asarray(curve, np.float64)
        _write_slopes(matches, slopes[stream, whole], tangents[stream, whole])
        slopes[stream, whole] /= unit
        _write_order(slopes[stream], order[stream])
    return _ages(
        slopes, tangents, order, np.array(units), np.zeros((streams, 0)), np.ones(streams, np.int64)
    )


def learned_ages(windows: list[int], buckets: int, *, forget: bool = True) -> Ages:
    """Return curves to be learned, of so many buckets over each window.

    With `forget`, what was seen before counts half after each window; without, all
    counts for ever and the slopes stay as they are.
    """
    streams = len(windows)
    units = np.array([max(1, -(-window // buckets)) for window in windows], np.int64)
    slopes = np.zeros((streams, buckets + 1))
    order = np.zeros((streams, buckets + 1), np.int64)
    for stream in range(streams):
        _write_order(slopes[stream], order[stream])
    lengths = np.maximum(1, np.array(windows)) if forget else np.full(streams, FOR_EVER)
    return _ages(slopes, _tangents(slopes), order, units, np.zeros((streams, buckets + 1)), lengths)
