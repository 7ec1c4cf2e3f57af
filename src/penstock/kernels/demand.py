"""How many rows the exact join would hold: what a budget stated as a share is a share of.

Arrivals are counted in buckets of time, which leave when no row to come can meet any row of
theirs.  In windows of up to 255 time units that is exact; in longer ones the oldest bucket,
a 256th of the window, counts in full until it leaves.
"""

from typing import Any

import numpy as np

from penstock.compiled import inner
from penstock.kernels.store import CLOCK, MOST_WANTED, Store
from penstock.kernels.terms import BUDGET, LEFT_PART, SHARE, WINDOW, Terms

_BUCKETS = 256
OLDEST_BUCKET, NEWEST_BUCKET, WANTED, RING = range(4)  # columns of `demand`
WHOLE = 1_000_000_000  # shares are whole numbers of this, so that every machine rounds alike
LEAST = 2  # rows: one for each side


def new_demand(streams: int, *, wanted: bool) -> Any:
    """Return the counters; none where no budget is a share."""
    return np.zeros((streams, RING + _BUCKETS + 4 if wanted else 0), np.int64)


@inner
def _unit(window: int) -> int:
    return window // _BUCKETS + 1


def rescale(demand: Any, windows: tuple[Any, Any]) -> Any:
    """Return the counters for windows of another length: (before, after) for each stream."""
    if demand.shape[1] == 0:
        return demand
    after = np.zeros_like(demand)
    places = demand.shape[1] - RING
    for old, new, before, now in zip(demand, after, *windows, strict=True):
        new[WANTED] = old[WANTED]
        if old[WANTED] == 0:
            continue
        buckets = np.arange(old[OLDEST_BUCKET], old[NEWEST_BUCKET] + 1)
        moved = buckets * (int(before) // _BUCKETS + 1) // (int(now) // _BUCKETS + 1)
        # What a longer ago bucket held than the ring reaches is taken to be as old as it reaches.
        moved = np.maximum(moved, moved[-1] - places + 1)
        np.add.at(new, RING + moved % places, old[RING + buckets % places])
        new[OLDEST_BUCKET], new[NEWEST_BUCKET] = moved[0], moved[-1]
    return after


@inner
def _let_leave(ring: Any, window: int, alive: int) -> None:
    """Take out the buckets that have only rows with a last partner before `alive`."""
    unit, places = _unit(window), len(ring) - RING
    while ring[WANTED] > 0 and (ring[OLDEST_BUCKET] + 1) * unit - 1 + window < alive:
        place = RING + ring[OLDEST_BUCKET] % places
        ring[WANTED] -= ring[place]
        ring[place] = 0
        ring[OLDEST_BUCKET] += 1


@inner
def want_place(store: Store, terms: Terms, stream: int, time: int) -> None:
    """Count a row that the exact join would hold."""
    if store.demand.shape[1] == 0:
        return
    ring, window = store.demand[stream], terms.limits[WINDOW, stream]
    if terms.counted or window > terms.longest:
        ring[WANTED] += 1
        return
    _let_leave(ring, window, store.tally[CLOCK])
    bucket = time // _unit(window)
    if ring[WANTED] == 0:
        ring[OLDEST_BUCKET] = ring[NEWEST_BUCKET] = bucket
    if bucket < ring[OLDEST_BUCKET]:
        return  # it came so late that its bucket has left
    ring[NEWEST_BUCKET] = max(bucket, ring[NEWEST_BUCKET])
    ring[RING + bucket % (len(ring) - RING)] += 1
    ring[WANTED] += 1


@inner
def take_share(store: Store, terms: Terms) -> None:
    """Set the budget to its share of the most rows that the exact join has held so far."""
    if store.demand.shape[1] == 0:
        return
    wanted = 0
    for stream in range(len(store.demand)):
        ring, window = store.demand[stream], terms.limits[WINDOW, stream]
        if terms.counted:
            wanted += min(ring[WANTED], window + 1)
            continue
        if window <= terms.longest:
            _let_leave(ring, window, store.tally[CLOCK] + (0 if terms.evict_first else 1))
        wanted += ring[WANTED]
    store.tally[MOST_WANTED] = max(store.tally[MOST_WANTED], wanted)
    limits = terms.limits
    rows = max(LEAST, (store.tally[MOST_WANTED] * limits[SHARE, 0] + WHOLE // 2) // WHOLE)
    limits[BUDGET, 0] = rows * limits[LEFT_PART, 0] // WHOLE
    limits[BUDGET, 1] = rows - limits[BUDGET, 0]
