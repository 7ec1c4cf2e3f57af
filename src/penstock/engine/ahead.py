"""Asking memory for what will be needed soon, so that waiting for it overlaps with work.

A row touches a dozen places that lie scattered in memory.  Waited for one after the other they
cost more than all else once the join memory outgrows the caches.
"""

from typing import Any

from penstock.arrivals.counting import MODE, NOTHING, Counting, read_count_ahead
from penstock.compiled import inner, prefetch
from penstock.kernels.ghosts import ADMITTED, Ghosts
from penstock.kernels.ghosts import HELD as GHOSTS_HELD
from penstock.kernels.index import HASH, cell_of, home_of, likely_slot
from penstock.kernels.queue import slot_of
from penstock.kernels.store import (
    EXPIRED,
    NEWER,
    NEXT,
    OLDER,
    OLDEST,
    PREV,
    QUEUE_WORD,
    Store,
)
from penstock.kernels.terms import KEY, OF_STREAM, Batch

AHEAD = 16  # rows that are looked up ahead: enough to keep the line buffers busy
_FAR = 512  # partners of each that are looked up: 512 KB in all, half of a usual second cache
_LEAVERS = 24  # rows about to expire, of each stream, that are looked up
_LIKELY = 0.5  # a place that is less likely to be needed is not asked for
_CELLS_TO_NEXT = 7  # from any cell of a line but its first, this many further is the next line


@inner
def _read_cell(table: Any, key: int) -> None:
    """Ask memory for a key's cell and the line after it, where every third search ends."""
    cell = cell_of(table, home_of(key, 0))
    prefetch(table, cell)
    prefetch(table, min(cell + _CELLS_TO_NEXT, len(table) - 1))


@inner
def _read_cells(table: Any, batch: Batch, first: int) -> None:
    """Ask memory for the index cells of the next rows, so that waiting for them overlaps."""
    for row in range(first, min(first + AHEAD, len(batch.numbers))):
        _read_cell(table, batch.numbers[row, KEY])


@inner
def _read_newest(store: Store, batch: Batch, first: int, at: Any) -> None:
    """Ask memory for the newest slots of the next rows' keys; their cells are here by now.

    `at` is left where those of the partners lie.
    """
    rows = max(0, min(AHEAD, len(batch.numbers) - first))
    for row in range(AHEAD):
        at[row] = -1
    for row in range(rows):
        key, stream = batch.numbers[first + row, KEY], batch.flags[first + row, OF_STREAM] + 0
        prefetch(store.wide, max(likely_slot(store.table, home_of(key, stream)), 0))
        at[row] = likely_slot(store.table, home_of(key, 1 - stream))
        prefetch(store.wide, max(at[row] + 0, 0))


@inner
def _read_older(store: Store, at: Any) -> None:
    """Ask memory for the slots that come after the newest ones, which are here by now.

    A row's partners are found one by the other, so waiting for them adds up.  Here the chains
    of several rows are followed abreast, a step each, and wait together.
    """
    for _ in range(_FAR):
        ended = True
        for row in range(AHEAD):
            if at[row] >= 0:
                at[row] = store.links[at[row], PREV]
                if at[row] >= 0:
                    prefetch(store.wide, at[row])
                    ended = False
        if ended:
            return


@inner
def look_after_leavers(store: Store, seen: Any) -> None:
    """Go one row further along the oldest rows, which are about to expire, and ask for its cell.

    One is found by the other, so this goes a step with each row that is taken in: by the next
    step the slot is here.  `seen` has, for each stream, where this stands, and how many rows will
    have expired when that one does.  What it says may be out of date: nothing is lost but time.
    """
    for stream in range(store.streams.shape[1]):
        expired = store.streams[EXPIRED, stream]
        slot = seen[2 * stream] + 0
        if slot < 0 or seen[2 * stream + 1] < expired:
            slot = store.streams[OLDEST, stream] + 0
            seen[2 * stream + 1] = expired
        if slot < 0 or seen[2 * stream + 1] >= expired + _LEAVERS:
            continue
        _read_cell(store.table, store.wide[slot, HASH])
        # Of an oldest row only the next of its key is left.
        prefetch(store.wide, max(store.links[slot, NEXT] + 0, 0))
        slot = store.links[slot, NEWER] + 0
        prefetch(store.wide, max(slot, 0))
        seen[2 * stream] = slot
        seen[2 * stream + 1] += 1


@inner
def read_surroundings_ahead(store: Store, ghosts: Ghosts, counting: Counting, slot: int) -> None:
    """Ask memory for all that will be touched when a row leaves."""
    key = store.wide[slot, HASH]
    _read_cell(store.table, key)
    prefetch(store.wide, max(store.links[slot, NEWER] + 0, 0))
    prefetch(store.wide, max(store.links[slot, OLDER] + 0, 0))
    prefetch(store.wide, max(store.links[slot, NEXT] + 0, 0))
    prefetch(store.wide, max(store.links[slot, PREV] + 0, 0))
    if len(ghosts.table) > 0 and ghosts.sums[ADMITTED] > _LIKELY:
        _read_cell(ghosts.table, key)
    if counting.tally[MODE] != NOTHING:
        read_count_ahead(counting, key)


@inner
def read_rank_ahead(store: Store, counting: Counting, cell: int, end: int) -> None:
    """Ask memory for what the ranks of rows further down the queue, up to `end`, depend on."""
    if cell + 3 * AHEAD < end:
        prefetch(store.wide, slot_of(store.queue[cell + 3 * AHEAD, QUEUE_WORD]))
    if counting.tally[MODE] != NOTHING and cell + AHEAD < end:
        slot = slot_of(store.queue[cell + AHEAD, QUEUE_WORD])
        read_count_ahead(counting, store.wide[slot, HASH])


@inner
def look_ahead(
    store: Store, ghosts: Ghosts, counting: Counting, batch: Batch, row: int, at: Any
) -> None:
    """Let what the rows to come will look up travel while those before them are worked on.

    Three things are found one through the other: cells, the newest slots, older ones.  Each is
    asked for `AHEAD` rows later than the one before it, when that has come.
    """
    if row == 0:
        _read_cells(store.table, batch, row)
        _read_cells(store.table, batch, row + AHEAD)
        _read_newest(store, batch, row, at)
    _read_older(store, at)
    _read_newest(store, batch, row + AHEAD, at)
    _read_cells(store.table, batch, row + 2 * AHEAD)
    if ghosts.sums[GHOSTS_HELD] > 0:
        _read_cells(ghosts.table, batch, row + AHEAD)
    if counting.tally[MODE] != NOTHING:
        for ahead in range(row + AHEAD, min(row + 2 * AHEAD, len(batch.numbers))):
            read_count_ahead(counting, batch.numbers[ahead, KEY])
