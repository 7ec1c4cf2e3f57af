"""The join memory as flat arrays: one slot per held row, whatever its stream.

The kernels see a few numbers per row and nothing of its payload, which stays
where it is; PLACE says where.  A slot is one cache line.
"""

from typing import Any, NamedTuple

import numpy as np

from penstock.compiled import by_address, compiled, inner
from penstock.kernels.index import EMPTY, cells_for, rebuild
from penstock.kernels.pages import more, move, places, whole

# A slot is 64 bytes: four columns of `wide`, then columns of `links`, a view of the same bytes.
# Besides index.HASH and index.MARK (event time, or ordinal in a count window):
PLACE, TURN = 2, 3
# Along the key (NEXT also strings the free slots together), along time, and small facts.
NEXT, PREV, NEWER, OLDER, STREAM, COST = range(8, 14)
_WIDE, _LINKS = 8, 16  # columns of both views
GAINED, TOUCHED_SLOT = 0, 1  # columns of `notes`
QUEUE_RANK, QUEUE_WORD = 0, 1  # columns of `queue`
# Columns of `fences`: where a chunk of the queue begins, and above which rank no row of it is.
BEGIN, FENCE_RANK, FENCE_SECOND, FENCE_MARK, FENCE_TURN = range(5)
DEPTH = 96  # fences: halving 4 billion rows by chance takes about 2 * 32 of them
# Rows of `streams`, a column per stream; those from USED on have a column per pool.
# CUT counts newcomers that an instant of many rows has pushed out of its count window.
# ENTERED counts the rows of all instants that have begun, ARRIVED those that were looked at.
# LOOKED_UP: whether the rows of the last chunk were asked for.
# FIRST_CELL and CELLS: a pool's part of the queue; from QUEUED on: what is in it.
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
    CUT,
    FIRST_TURN,
    USED,
    FIRST_CELL,
    CELLS,
    QUEUED,
    CHUNKS,
    BASE,
    LOOKED_UP,
) = range(21)
# Cells of `tally`.  DISORDER: some row came late, so that turns no longer follow event time.
# MOST_WANTED: the most rows that the exact join would have held, where the budget is a share.
# OPEN_COST: what the rows of the open instant take.
(
    CLOCK,
    TURNS,
    INSTANTS,
    SPARE,
    STARTED,
    TOUCHED,
    FADES,
    PEAK,
    FREE,
    DISORDER,
    MOST_WANTED,
    OPEN_COST,
) = range(12)
# STARTED: whether an instant is open, closed, or closed for the rows it has had so far.
ALL_CLOSED, OPEN_NOW, PART_CLOSED = 1, 2, 3
NOBODY = -1  # the stream of a free slot
UNPLACED = -1  # the turn of a row whose instant is still open, and of a free slot


@by_address
class Store(NamedTuple):
    """All that is kept of the held rows, except their payload."""

    wide: Any  # int64[slot, 8]
    links: Any  # int32[slot, 16], the same bytes
    worth: Any  # float64[slot, 0..4]; Terms says which column is what
    notes: Any  # int64[slot, 2], or none
    queue: Any  # int64[cell, 2]: who leaves next, a part for each pool
    fences: Any  # int64[pool, DEPTH, 5]
    table: Any  # int64[cell]: the key index
    # Per age bucket, the oldest row not older than it; then, the first of its youngest instant.
    cursors: Any  # int32[stream, 2 * bucket]
    demand: Any  # int64[stream, 3 + buckets], or no columns: rows the exact join would hold
    streams: Any  # int64[21, stream]
    tally: Any  # int64[12]


class Shape(NamedTuple):
    """How wide the arrays are: what a query needs of them."""

    worth: int
    notes: bool
    queues: int
    buckets: int


def _on_lines(raw: Any, count: int) -> Any:
    """Return so many slots in a piece of memory: from its first cache line on."""
    start = -raw.ctypes.data % 64 // 8
    return raw[start : start + count * _WIDE].reshape(-1, _WIDE)


def on_lines(wide: Any) -> Any:
    """Return slots that begin on a cache line: these, or a copy."""
    if wide.ctypes.data % 64 == 0:
        return wide
    moved = _on_lines(places(wide.size + _WIDE), len(wide))
    moved[:] = wide
    return moved


def _more_slots(wide: Any, count: int) -> Any:
    """Return the slots with room for so many, in the same memory where there is enough of it."""
    raw, needed = whole(wide), count * _WIDE + _WIDE
    if len(raw) >= needed:
        return _on_lines(raw, count)
    moved = _on_lines(places(needed), count)
    move(wide.reshape(-1), moved.reshape(-1))
    return moved


def new_store(streams: int, shape: Shape, demand: Any) -> Store:
    """Return an empty store with no room; `grow` makes room."""
    counters = np.zeros((21, streams), np.int64)
    counters[[FIRST_OPEN, OLDEST, NEWEST, LAST_LINKED, BASE]] = -1
    counters[CHUNKS] = 1
    tally = np.zeros(12, np.int64)
    tally[FREE] = -1
    wide = _on_lines(np.zeros(_WIDE, np.int64), 0)
    return Store(
        wide=wide,
        links=wide.view(np.int32),
        worth=np.zeros((0, shape.worth)),
        notes=np.zeros((0, 2), np.int64),
        queue=np.zeros((0, 2), np.int64),
        fences=np.zeros((shape.queues, DEPTH if shape.queues else 0, 5), np.int64),
        table=np.full(cells_for(0), EMPTY, np.int64),
        cursors=np.full((streams, 2 * shape.buckets), -1, np.int32),
        demand=demand,
        streams=counters,
        tally=tally,
    )


def grow(store: Store, shape: Shape, slots: int, *, keys: int) -> Store:
    """Return the store with room for `slots` rows; what is held keeps its slot.

    The table is made anew, for as many as `keys`, only when it is too short for so many rows.

    It takes the memory of `store` over, which must not be used again: old and new side by
    side would double what a large join takes.
    """
    old, free = len(store.wide), int(store.tally[SPARE])
    wide = _more_slots(store.wide, slots)
    links = wide.view(np.int32)
    links[old:, STREAM] = NOBODY
    # The lowest new slot is on top, so that rows which come together lie together.
    links[old:, NEXT] = np.arange(old + 1, slots + 1)
    links[-1, NEXT] = store.tally[FREE]
    store.tally[FREE] = old
    store.tally[SPARE] = free + slots - old
    store.worth.resize((slots, shape.worth), refcheck=False)
    if shape.notes:
        store.notes.resize((slots, 2), refcheck=False)
    table = store.table
    if len(table) < cells_for(slots):
        table = more(table[:0], cells_for(max(slots, keys)))
        rebuild(table, wide, links, STREAM, NEXT)
    return store._replace(wide=wide, links=links, table=table)


def widen_queue(store: Store, pool: int, cells: int) -> Store:
    """Return the store with room for so many cells in a pool's part of the queue.

    It takes the memory of `store` over.
    """
    first, room = store.streams[FIRST_CELL], store.streams[CELLS]
    added = cells - int(room[pool])
    old = int(room[: len(store.fences)].sum())
    queue = more(store.queue.reshape(-1), 2 * (old + added)).reshape(-1, 2)
    begin = int(first[pool] + room[pool])
    _shift(queue, begin, old, added)
    room[pool] = cells
    first[pool + 1 : len(store.fences)] += added
    return store._replace(queue=queue)


def bytes_of(arrays: tuple[Any, ...]) -> int:
    """Return what a tuple of arrays takes; a view of another is not counted again."""
    return sum(array.nbytes for array in arrays if array.base is None or array.dtype != np.int32)


@compiled
def _shift(rows: Any, begin: int, end: int, by: int) -> None:
    """Move the rows from `begin` to `end` up, within their array."""
    for at in range(end - 1, begin - 1, -1):
        for column in range(rows.shape[1]):
            rows[at + by, column] = rows[at, column]


@inner
def take_slot(store: Store) -> int:
    """Return a free slot; the caller has seen that there is one."""
    slot = store.tally[FREE]
    store.tally[SPARE] -= 1
    store.tally[FREE] = store.links[slot, NEXT]
    return slot


@inner
def give_slot(store: Store, slot: int) -> None:
    """Return a slot to the free ones."""
    store.wide[slot, TURN], store.links[slot, STREAM] = UNPLACED, NOBODY
    store.links[slot, NEXT] = store.tally[FREE]
    store.tally[FREE] = slot
    store.tally[SPARE] += 1
