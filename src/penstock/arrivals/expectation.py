"""Where the number of partners to expect comes from: stated, or learned while running."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidQuery


@dataclass(frozen=True)
class LastWindow:
    """Count the arrivals of the current and the previous pane; a pane is a window long.

    So between one and two windows are remembered.  Counts within a pane only rise,
    which keeps eviction cheap; twice as much history also estimates better than
    exactly one window where frequencies are stable.
    """


@dataclass(frozen=True)
class Retained:
    """Count the rows of the other stream that are held at this moment (Ojewole et al., 4.3)."""


@dataclass(frozen=True)
class Decayed:
    """Count every arrival, the older the less: by half in each `half_life`.

    Parameters
    ----------
    half_life
        In the query's time units.
    """

    half_life: float

    def __post_init__(self) -> None:
        if not self.half_life > 0:
            raise InvalidQuery(f"half_life={self.half_life!r}: give a time above 0.")


@dataclass(frozen=True, eq=False)
class Known:
    """Frequencies that are known before the first row: per stream, sorted hashes and counts.

    Parameters
    ----------
    hashes
        For each stream, the sorted hashes of the keys that occur in it.
    counts
        How often each of them comes: in the unit in which `matches` is wanted.
    """

    hashes: tuple[NDArray[np.int64], ...]
    counts: tuple[NDArray[np.float64], ...]

    def of(self, stream: int, hashes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how often each key comes on a stream; 0 for those that never do."""
        if len(self.hashes[stream]) == 0:
            return np.zeros(len(hashes))
        at = np.searchsorted(self.hashes[stream], hashes)
        at[at == len(self.hashes[stream])] = 0
        found = self.hashes[stream][at] == hashes
        return np.where(found, self.counts[stream][at], 0.0)


Expectation = LastWindow | Retained | Decayed | Known


@dataclass(frozen=True)
class KnownAges:
    """Age curves that are known: per stream, the matches of a row in each age bucket.

    Parameters
    ----------
    curves
        Per stream, expected matches while the age is in each bucket.
    units
        Per stream, how long a bucket is, in the query's time units.
    """

    curves: tuple[tuple[float, ...], ...]
    units: tuple[int, ...]


@dataclass(frozen=True)
class LearnedAges:
    """Age curves learned while running, from matches made and matches lost.

    Parameters
    ----------
    buckets
        Into how many age buckets a window is cut.
    """

    buckets: int = 64


AgeSource = KnownAges | LearnedAges


def counts_by_hash(hashes: NDArray[np.int64], scale: float = 1.0) -> tuple[Any, Any]:
    """Return the distinct hashes, sorted, and how often each occurs, times `scale`."""
    distinct, counts = np.unique(hashes, return_counts=True)
    return distinct, counts * scale
