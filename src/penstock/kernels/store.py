"""The join memory as flat arrays: one slot per held row, whatever its stream.

The kernels see a few numbers per row and nothing of its payload, which stays
where it is; PLACE says where.  Numbers that are read together lie together, and
columns that a query does not need are not there.
"""

from typing import Any, NamedTuple

import numpy as np

from penstock.compiled import by_address, inner
from penstock.kernels.index import empty_table, rebuild

# Columns of `wide`, besides index.HASH and index.MARK (event time, or ordinal in a count window).
PLACE, TURN = 2, 3
# Columns of `links`: along the key, along time, and small facts.
NEXT, PREV, NEWER, OLDER, STREAM, SPOT, COST = range(7)
RANK = 0  # the first column of `worth`; Terms says where the others are
GAINED, TOUCHED_SLOT = 0, 1  # columns of `notes`
SPARE_LIST, FIRST_HEAP = 0, 1  # rows of `lists`
# Rows of `streams`, a column per stream; USED and IN_HEAP have a column per pool.
# CUT counts newcomers that an instant of many rows has pushed out of its count window.
# ENTERED counts the rows of all instants that have begun, ARRIVED those that were looked at.
(
    HELD,
    ENTERED,
    OPEN,
    FIRST_OPEN,
    EXPIRED,
    SHED,
    LATE,
    UNMATCHABLE,
    ARRIVED,
    OLDEST,
    NEWEST,
    LAST_LINKED,
    USED,
    IN_HEAP,
    CUT,
    FIRST_TURN,
) = range(16)
CLOCK, TURNS, INSTANTS, SPARE, STARTED, TOUCHED, FADES, PEAK = range(8)  # cells of `tally`
UNPLACED = -1  # the turn of a row whose instant is still open


@by_address
class Store(NamedTuple):
    """All that is kept of the held rows, except their payload."""

    wide: Any  # int64[slot, 4]
    links: Any  # int32[slot, 5..7]
    worth: Any  # float64[slot, 0..5]
    notes: Any  # int64[slot, 2], or none
    lists: Any  # int32[1 + heaps, slot]: free slots, a stack; then a heap per pool
    table: Any  # int64[cell]: the key index
    cursors: Any  # int32[stream, bucket]: per age bucket, the oldest row not older than it
    streams: Any  # int64[16, stream]
    tally: Any  # int64[8]


class Shape(NamedTuple):
    """How wide the arrays are: what a query needs of them."""

    links: int
    worth: int
    notes: bool
    heaps: int
    buckets: int


def new_store(streams: int, shape: Shape) -> Store:
    """Return an empty store with no room; `grow` makes room."""
    counters = np.zeros((16, streams), np.int64)
    counters[[FIRST_OPEN, OLDEST, NEWEST, LAST_LINKED]] = -1
    return Store(
        wide=np.zeros((0, 4), np.int64),
        links=np.zeros((0, shape.links), np.int32),
        worth=np.zeros((0, shape.worth)),
        notes=np.zeros((0, 2), np.int64),
        lists=np.zeros((1 + shape.heaps, 0), np.int32),
        table=empty_table(8),
        cursors=np.full((streams, shape.buckets), -1, np.int32),
        streams=counters,
        tally=np.zeros(8, np.int64),
    )


def grow(store: Store, shape: Shape, slots: int) -> Store:
    """Return the store with room for `slots` rows; nothing held moves."""
    old, free = len(store.wide), int(store.tally[SPARE])

    def longer(array: Any) -> Any:
        after = np.zeros((slots, *array.shape[1:]), array.dtype)
        after[: len(array)] = array
        return after

    lists = np.zeros((len(store.lists), slots), np.int32)
    lists[:, :old] = store.lists
    # The lowest new slot is on top, so that rows which come together lie together.
    lists[SPARE_LIST, free : free + slots - old] = np.arange(slots - 1, old - 1, -1)
    store.tally[SPARE] = free + slots - old
    # At most three quarters full with every key different, so searches stay short.
    table = empty_table(slots + slots // 3)
    if len(table) == len(store.table):
        table = store.table
    else:
        rebuild(table, store.table)
    return store._replace(
        wide=longer(store.wide),
        links=longer(store.links),
        worth=longer(store.worth),
        notes=longer(store.notes) if shape.notes else store.notes,
        lists=lists,
        table=table,
    )


def bytes_of(arrays: tuple[Any, ...]) -> int:
    """Return what a tuple of arrays takes."""
    return sum(array.nbytes for array in arrays)


@inner
def take_slot(store: Store) -> int:
    """Return a free slot; the caller has seen that there is one."""
    store.tally[SPARE] -= 1
    return int(np.int64(store.lists[SPARE_LIST, store.tally[SPARE]]))


@inner
def give_slot(store: Store, slot: int) -> None:
    """Return a slot to the free ones."""
    store.lists[SPARE_LIST, store.tally[SPARE]] = slot
    store.tally[SPARE] += 1
