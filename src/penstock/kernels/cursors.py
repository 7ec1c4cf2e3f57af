"""Eviction by age alone: rows of a stream that are equally old are worth the same.

A cursor per age bucket points to the oldest row that is not older than the
bucket.  A bucket holds a row exactly when its cursor's row is that old, so the
row to give up is found by going through the buckets from the least worth.
"""

from penstock.arrivals.ages import Ages, bucket_of
from penstock.compiled import inner
from penstock.kernels.index import MARK
from penstock.kernels.store import NEWER, TURN, UNPLACED, Store


@inner
def cursors_on_entry(store: Store, ages: Ages, stream: int, slot: int, now: int) -> None:
    """Let the cursors see a row that was just linked in time."""
    cursors = store.cursors[stream]
    mark = store.wide[slot, MARK]
    for bucket in range(bucket_of(ages, stream, now - mark), len(cursors)):
        at = cursors[bucket]
        # An older cursor row stays; between equals the one linked first is older.
        if at < 0 or store.wide[at, MARK] > mark:
            cursors[bucket] = slot


@inner
def cursors_on_leave(store: Store, stream: int, slot: int) -> None:
    """Move the cursors off a row before it is unlinked."""
    cursors = store.cursors[stream]
    for bucket in range(len(cursors)):
        if cursors[bucket] == slot:
            cursors[bucket] = store.links[slot, NEWER]


@inner
def least_by_age(store: Store, ages: Ages, stream: int, now: int) -> int:
    """Return the row of the stream whose age has the lowest slope, or -1."""
    cursors = store.cursors[stream]
    for bucket in ages.order[stream]:
        at = cursors[bucket]
        while at >= 0 and bucket_of(ages, stream, now - store.wide[at, MARK]) > bucket:
            at = store.links[at, NEWER]
        cursors[bucket] = at
        if (
            at >= 0
            and bucket_of(ages, stream, now - store.wide[at, MARK]) == bucket
            and store.wide[at, TURN] != UNPLACED
        ):
            return at
    return -1
