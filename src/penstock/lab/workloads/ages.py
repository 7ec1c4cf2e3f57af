"""Streams whose matches depend on the age of a row, not on its key."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.lab.workloads.base import Workload

TICKS = 1_000_000  # of the time column, per time unit of the paper: microunits


def age_curve(
    curve: str | Sequence[float] | NDArray[np.float64],
    buckets: int = 20,
    partners: float = 5.0,
    *,
    exponent: float = 2.0,
) -> NDArray[np.float64]:
    """Give the matches that a row makes in each bucket of its age.

    Parameters
    ----------
    curve
        "INC" grows with age `k` as `k ** exponent`; "DEC" falls as `(buckets - k) **
        exponent`; "BELL" does the one up to the middle and then the other.  A sequence
        states the shape itself, one number a bucket.
    buckets
        Equal parts of the window, the youngest rows first.
    partners
        The sum of the curve: the matches of a row over its whole life.
    exponent
        2 in section 6.2.2; the allocation experiment of section 6.2.5 varies it.

    References
    ----------
    Srivastava, Widom. Memory-limited execution of windowed stream joins.
    VLDB 2004, sections 6.2.2 and 6.2.5.

    Examples
    --------
    >>> age_curve("INC", 4, 30).tolist()
    [1.0, 4.0, 9.0, 16.0]
    >>> age_curve("BELL", 4, 6).tolist()
    [1.0, 4.0, 1.0, 0.0]
    >>> age_curve([1, 1, 2], 3, 5).tolist()
    [1.25, 1.25, 2.5]
    """
    shape = _shape(curve, buckets, exponent)
    if shape.size != buckets:
        raise ValueError(f"curve: {shape.size} numbers for buckets={buckets}; give one a bucket.")
    if not (np.isfinite(shape).all() and (shape >= 0).all() and shape.sum() > 0):
        raise ValueError("curve: its numbers must be finite, not negative, and not all 0.")
    matches: NDArray[np.float64] = partners * shape / shape.sum()
    return matches


def _shape(
    curve: str | Sequence[float] | NDArray[np.float64], buckets: int, exponent: float
) -> NDArray[np.float64]:
    if not isinstance(curve, str):
        return np.asarray(curve, dtype=np.float64)
    k = np.arange(1, buckets + 1, dtype=np.float64)
    rising, falling = k**exponent, (buckets - k) ** exponent
    shapes = {"INC": rising, "DEC": falling, "BELL": np.where(2 * k <= buckets, rising, falling)}
    if curve not in shapes:
        known = ", ".join(sorted(shapes))
        raise ValueError(f"curve={curve!r}: no such age curve. Known: {known}.")
    return shapes[curve]


def aged_pair(
    *,
    curve: str | Sequence[float] | NDArray[np.float64] = "INC",
    window: int = 500,
    buckets: int = 20,
    partners: float = 5.0,
    left_rate: float = 1.0,
    right_rate: float = 5.0,
    rows: int = 10_000,
    seed: int = 0,
    printed_gaps: bool = False,
) -> Workload:
    """Draw unique rows on the left, and on the right rows that refer to one of them by age.

    A right row picks a bucket of age with the probability that `age_curve` gives it, then a
    left row of that age at random, and takes its key.  A bucket without a row is drawn
    again; here at once, among the buckets that have one.  The right stream starts when the
    first window of the left one is full, so that each of its rows sees the whole curve.

    On average `partners` right rows refer to a left one.  The rates leave room for
    `right_rate / left_rate` of them; right rows that are not needed carry a negative key
    that occurs nowhere else.

    Parameters
    ----------
    curve, buckets, partners
        As for `age_curve`, which `curve` may also be the result of.
    window
        Window of the left stream, in time units; a right row never meets an older row.
    left_rate, right_rate
        Rows per time unit.
    rows
        Rows of the left stream.  The right one ends with it.
    seed
        Decides every draw.
    printed_gaps
        Gaps as printed, uniform between 1/2r and 2/r.  Their mean is 1.25/r, so a stream
        runs at 0.8 of its rate.  By default they are shortened to have the mean 1/r.

    References
    ----------
    Srivastava, Widom. Memory-limited execution of windowed stream joins.
    VLDB 2004, sections 6.2, 6.2.1 and 6.2.2.

    Examples
    --------
    With a curve that is all in the last bucket, matches are about to expire:

    >>> pair = aged_pair(curve=[0, 0, 0, 1], buckets=4, window=100, rows=1000)
    >>> made = np.asarray(pair.left["time"])[np.asarray(pair.right["key"])]
    >>> ages = (np.asarray(pair.right["time"]) - made) / TICKS
    >>> bool(ages.min() >= 75), bool(ages.max() < 100)
    (True, True)
    """
    if not (left_rate > 0 and right_rate > 0):
        raise ValueError(
            f"left_rate={left_rate:g}, right_rate={right_rate:g}: a rate must be above 0."
        )
    needed = partners * left_rate / right_rate
    if needed > 1 + 1e-9:
        raise ValueError(
            f"partners={partners:g}: right_rate={right_rate:g} and left_rate={left_rate:g} leave "
            f"room for {right_rate / left_rate:g} a row; raise right_rate or ask for fewer."
        )
    left_draws, right_draws, key_draws = np.random.default_rng(seed).spawn(3)
    left = np.cumsum(_gaps(left_rate, rows, printed_gaps, left_draws))
    span = int(left[-1]) - window * TICKS if rows else 0
    # The shortest gap bounds how many right rows can fit.
    most = max(0, int(span / TICKS * 2.5 * right_rate) + 1)
    right = window * TICKS + np.cumsum(_gaps(right_rate, most, printed_gaps, right_draws))
    right = right[right <= window * TICKS + span]
    edges = window * TICKS * np.arange(buckets + 1) // buckets
    found = _partner(left, right, edges, age_curve(curve, buckets, partners), key_draws)
    unneeded = (key_draws.random(right.size) >= needed) | (found < 0)
    key = np.where(unneeded, -1 - np.arange(right.size), found)
    return Workload(
        name="ages",
        left=pa.table({"time": left, "key": np.arange(rows)}),
        right=pa.table({"time": right, "key": key}),
        note=(
            f"{rows} unique rows at rate {left_rate:g} and references to them at rate "
            f"{right_rate:g} by the age curve {curve if isinstance(curve, str) else 'given'} over "
            f"{window} time units of {TICKS:,} ticks, "
            f"{'gaps as printed' if printed_gaps else 'gaps of mean 1/rate'}, seed {seed}."
        ),
    )


def _gaps(rate: float, rows: int, printed: bool, draws: np.random.Generator) -> NDArray[np.int64]:
    """Draw the ticks between rows."""
    gaps = draws.uniform(0.5 / rate, 2.0 / rate, rows)
    return np.rint((gaps if printed else gaps / 1.25) * TICKS).astype(np.int64)


def _partner(
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    edges: NDArray[np.int64],
    weights: NDArray[np.float64],
    draws: np.random.Generator,
) -> NDArray[np.int64]:
    """For each right row, draw the index of the left row it refers to; -1 where there is none.

    Bucket `b` holds the ages from `edges[b]` up to, not including, `edges[b + 1]`.  To draw
    again until a bucket has a row is to draw once among those that have one.
    """
    ends = np.searchsorted(left, right[:, None] - edges, side="right")
    held = ends[:, :-1] - ends[:, 1:]
    share = np.cumsum(np.where(held > 0, weights, 0.0), axis=1)
    bucket = (share <= draws.random((right.size, 1)) * share[:, -1:]).sum(axis=1)
    somewhere = bucket < weights.size
    row, bucket = np.arange(right.size), np.where(somewhere, bucket, 0)
    offset = np.floor(draws.random(right.size) * held[row, bucket]).astype(np.int64)
    return np.where(somewhere, ends[row, bucket + 1] + offset, -1)
