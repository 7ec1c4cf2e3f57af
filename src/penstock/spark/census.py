"""What is known of the rows of one stream in all shards: how many came, and a sample of them.

Sums and samples of parts make those of the whole: a row is in the sample of its slice of event
time if its lot is among the lowest, and its lot follows from the row alone.  So it does not
matter where the rows were counted, nor how batches were cut.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.arrivals.chance import splitmix
from penstock.compiled import compiled

_SAMPLE = 128  # rows of a slice
_WORD = float(2**64)


class Census(NamedTuple):
    """What is known of one stream: slices, rows by slice and shard, and sampled rows."""

    slices: NDArray[np.int64]
    counts: NDArray[np.int64]  # [slice, shard]
    sampled_slice: NDArray[np.int64]
    lots: NDArray[np.uint64]  # a row is in the sample if its lot is among the lowest
    hashes: NDArray[np.int64]

    def to_bytes(self) -> bytes:
        """Return it as bytes."""
        sizes = np.array([len(self.slices), self.counts.shape[1], len(self.lots)], np.int64)
        return b"".join(np.ascontiguousarray(part).tobytes() for part in (sizes, *self))

    @classmethod
    def of_bytes(cls, body: bytes) -> "Census":
        """Return what `to_bytes` wrote."""
        words = np.frombuffer(body, np.int64)
        slices, shards, rows = (int(size) for size in words[:3])
        ends = np.cumsum([3, slices, slices * shards, rows, rows, rows])
        parts = [words[first:end] for first, end in pairwise(ends)]
        counts = parts[1].reshape(slices, shards)
        return cls(parts[0], counts, parts[2], parts[3].view(np.uint64), parts[4])


def empty(shards: int) -> Census:
    """Return the census of no rows."""
    none = np.zeros(0, np.int64)
    return Census(none, np.zeros((0, shards), np.int64), none, none.view(np.uint64), none)


@compiled
def _draw(hashes: Any, times: Any, into: Any) -> None:
    for i in range(len(hashes)):
        into[i] = splitmix(np.uint64(hashes[i]) ^ splitmix(np.uint64(times[i])))


def census_of(
    times: NDArray[np.int64],
    hashes: NDArray[np.int64],
    shards: NDArray[np.int32],
    *,
    length: int,
    count: int,
) -> Census:
    """Take the census of some rows, whose slices are `length` ticks long, over `count` shards."""
    if len(times) == 0:
        return empty(count)
    slices, at = np.unique(times // length, return_inverse=True)
    counts = np.bincount(at * count + shards, minlength=len(slices) * count)
    lots = np.empty(len(times), np.uint64)
    with np.errstate(over="ignore"):
        _draw(hashes, times, lots)
    rows = np.bincount(at)
    # Twice as many as are wanted pass this bar; it spares sorting the others.
    bar = np.where(rows <= 4 * _SAMPLE, _WORD, _WORD * 2 * _SAMPLE / rows)
    low = np.flatnonzero(lots.astype(np.float64) < bar[at])
    found = Census(
        slices, counts.reshape(-1, count), slices[at[low]], lots[low], hashes[low].astype(np.int64)
    )
    return _thinned(found)


def together(parts: Sequence[Census]) -> Census:
    """Return the census of all the rows that several speak of."""
    slices, at = np.unique(np.concatenate([part.slices for part in parts]), return_inverse=True)
    counts = np.zeros((len(slices), parts[0].counts.shape[1]), np.int64)
    np.add.at(counts, at, np.concatenate([part.counts for part in parts]))
    columns = [np.concatenate(column) for column in zip(*(part[2:] for part in parts), strict=True)]
    return _thinned(Census(slices, counts, *columns))


def between(census: Census, first: int, end: int) -> Census:
    """Return what a census says of the slices from `first` on and before `end`."""
    kept = (census.slices >= first) & (census.slices < end)
    rows = (census.sampled_slice >= first) & (census.sampled_slice < end)
    return Census(
        census.slices[kept],
        census.counts[kept],
        census.sampled_slice[rows],
        census.lots[rows],
        census.hashes[rows],
    )


def rows_between(
    census: Census, first: NDArray[np.int64], end: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many rows came in the slices from each `first` on and before each `end`."""
    until = np.concatenate([[0], np.cumsum(census.counts.sum(axis=1))])
    low, high = (np.searchsorted(census.slices, edge) for edge in (first, end))
    return np.asarray(until[high] - until[low], np.int64)


def _thinned(census: Census) -> Census:
    """Keep the rows with the lowest lots of each slice."""
    order = np.lexsort((census.hashes, census.lots, census.sampled_slice))
    slices = census.sampled_slice[order]
    first = np.searchsorted(slices, slices, side="left")
    order = order[np.arange(len(order)) - first < _SAMPLE]
    return census._replace(
        sampled_slice=census.sampled_slice[order],
        lots=census.lots[order],
        hashes=census.hashes[order],
    )
