"""Eviction by age alone: rows of a stream that are equally old are worth the same.

A cursor per age bucket points to the oldest row that is not older than the
bucket.  Of a bucket's rows only one can be the least: the oldest where all are worth the same,
the youngest where a row gains by growing older.

    buckets     3     |     2     |     1     |     0     |      time runs right
    rows        a   b |   c       |           |  d  e   f |
    cursors     3: a     2: c        1: d        0: d
"""

from typing import Any

from penstock.arrivals.ages import Ages, bucket_of, rises_within, slope_at
from penstock.compiled import inner
from penstock.kernels.index import MARK
from penstock.kernels.store import NEWER, NEWEST, OLDER, TURN, UNPLACED, Store


@inner
def cursors_on_entry(store: Store, ages: Ages, stream: int, slot: int, now: int) -> None:
    """Let the cursors see a row that was just linked in time."""
    cursors = store.cursors[stream]
    mark = store.wide[slot, MARK]
    for bucket in range(bucket_of(ages, stream, now - mark), ages.slopes.shape[1]):
        at = cursors[bucket]
        # An older cursor row stays; between equals the one linked first is older.
        if at < 0 or store.wide[at, MARK] > mark:
            cursors[bucket] = slot


@inner
def cursors_on_leave(store: Store, stream: int, slot: int) -> None:
    """Move the cursors off a row before it is unlinked."""
    cursors = store.cursors[stream]
    for column in range(len(cursors)):
        if cursors[column] == slot:
            cursors[column] = store.links[slot, NEWER]


@inner
def _oldest_in(store: Store, ages: Ages, stream: int, bucket: int, now: int) -> int:
    """Bring a bucket's cursor up to date, and return its oldest row or -1."""
    cursors = store.cursors[stream]
    at = cursors[bucket] + 0
    while at >= 0 and bucket_of(ages, stream, now - store.wide[at, MARK]) > bucket:
        at = store.links[at, NEWER] + 0
    cursors[bucket] = at
    if at >= 0 and bucket_of(ages, stream, now - store.wide[at, MARK]) == bucket:
        return at
    return -1


@inner
def _first_alike(store: Store, cursors: Any, column: int, slot: int) -> int:
    """Return the first linked of the rows that have the event time of a row.

    Found once and then remembered: an instant may have very many rows.
    """
    mark, known = store.wide[slot, MARK], cursors[column] + 0
    if known >= 0 and store.wide[known, MARK] == mark:
        return known
    while True:
        older = store.links[slot, OLDER] + 0
        if older < 0 or store.wide[older, MARK] != mark:
            cursors[column] = slot
            return slot
        slot = older


@inner
def _youngest_in(store: Store, ages: Ages, stream: int, bucket: int, now: int) -> int:
    """Return the row that has grown least old in a bucket and has a place, or -1."""
    cursors, buckets = store.cursors[stream], ages.slopes.shape[1]
    slot = store.streams[NEWEST, stream] + 0
    if bucket > 0:
        _oldest_in(store, ages, stream, bucket - 1, now)
        younger = cursors[bucket - 1] + 0
        if younger >= 0:
            slot = store.links[younger, OLDER] + 0
    while slot >= 0 and bucket_of(ages, stream, now - store.wide[slot, MARK]) == bucket:
        slot = _first_alike(store, cursors, buckets + bucket, slot)
        if store.wide[slot, TURN] != UNPLACED:
            return slot
        slot = store.links[slot, OLDER] + 0  # past the instant that is still open
    return -1


@inner
def least_by_age(store: Store, ages: Ages, stream: int, now: int) -> int:
    """Return the row of the stream whose age has the lowest slope, or -1."""
    found, least = -1, 0.0
    for bucket in ages.order[stream]:
        # A slope within a bucket is never below the one it begins with.
        if found >= 0 and ages.slopes[stream, bucket] > least:
            break
        if rises_within(ages, stream, bucket):
            slot = _youngest_in(store, ages, stream, bucket, now)
        else:
            slot = _oldest_in(store, ages, stream, bucket, now)
        if slot < 0 or store.wide[slot, TURN] == UNPLACED:
            continue
        slope, mark = slope_at(ages, stream, now - store.wide[slot, MARK]), store.wide[slot, MARK]
        if found < 0 or slope < least or (slope == least and mark < store.wide[found, MARK]):
            found, least = slot, slope
    return found
