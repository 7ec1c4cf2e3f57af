"""Asking memory for what will be needed soon, so that waiting for it overlaps with work.

A row touches a dozen places that lie scattered in memory.  Waited for one after the other they
cost more than all else once the join memory outgrows the caches.
"""

from typing import Any

from penstock.arrivals.counting import MODE, NOTHING, Counting, read_count_ahead
from penstock.compiled import inner, prefetch
from penstock.kernels.ghosts import ADMITTED, Ghosts
from penstock.kernels.ghosts import HELD as GHOSTS_HELD
from penstock.kernels.index import EMPTY, HASH, cell_of, home_of
from penstock.kernels.store import NEWER, NEXT, OLDER, OLDEST, PREV, STREAM, Store
from penstock.kernels.terms import KEY, OF_STREAM, Batch

AHEAD = 16  # rows that are looked up ahead: enough to keep the line buffers busy
_FAR = 512  # partners of each that are looked up: 512 KB in all, half of a usual second cache
_LIKELY = 0.5  # a place that is less likely to be needed is not asked for
_SLOT_BITS = 0xFFFFFFFF
_CELLS_TO_NEXT = 7  # from any cell of a line but its first, this many further is the next line


@inner
def _read_cell(table: Any, home: int) -> None:
    """Ask memory for a key's cell and the line after it, where every third search ends."""
    cell = cell_of(table, home)
    prefetch(table, cell)
    prefetch(table, min(cell + _CELLS_TO_NEXT, len(table) - 1))


@inner
def _read_cells(table: Any, batch: Batch, first: int, streams: int) -> None:
    """Ask memory for the index cells of the next rows, so that waiting for them overlaps."""
    for row in range(first, min(first + AHEAD, len(batch.numbers))):
        for stream in range(streams):
            _read_cell(table, home_of(batch.numbers[row, KEY], stream))


@inner
def _read_partners(store: Store, batch: Batch, first: int, at: Any) -> None:
    """Ask memory for the slots that the next rows will look at; their cells are here by now.

    A row's partners are found one by the other, so waiting for them adds up.  Here the chains
    of several rows are followed abreast, a step each, and wait together.  `at` is scratch.
    """
    rows = max(0, min(AHEAD, len(batch.numbers) - first))
    for row in range(rows):
        key, stream = batch.numbers[first + row, KEY], batch.flags[first + row, OF_STREAM] + 0
        own = store.table[cell_of(store.table, home_of(key, stream))]
        if own != EMPTY:
            prefetch(store.wide, own & _SLOT_BITS)
        entry = store.table[cell_of(store.table, home_of(key, 1 - stream))]
        at[row] = -1
        if entry != EMPTY:
            at[row] = entry & _SLOT_BITS
            prefetch(store.wide, at[row])
    for _ in range(_FAR):
        ended = True
        for row in range(rows):
            if at[row] >= 0:
                at[row] = store.links[at[row], PREV]
                if at[row] >= 0:
                    prefetch(store.wide, at[row])
                    ended = False
        if ended:
            return


@inner
def _read_leavers(store: Store, rows: int) -> None:
    """Ask memory for the index cells of the oldest rows, which are about to expire."""
    for stream in range(store.streams.shape[1]):
        slot = store.streams[OLDEST, stream] + 0
        for _ in range(rows):
            if slot < 0:
                break
            _read_cell(store.table, home_of(store.wide[slot, HASH], stream))
            # Of an oldest row only the next of its key is left.
            prefetch(store.wide, max(store.links[slot, NEXT] + 0, 0))
            slot = store.links[slot, NEWER] + 0


@inner
def read_surroundings_ahead(store: Store, ghosts: Ghosts, counting: Counting, slot: int) -> None:
    """Ask memory for all that will be touched when a row leaves."""
    key, stream = store.wide[slot, HASH], store.links[slot, STREAM] + 0
    _read_cell(store.table, home_of(key, stream))
    prefetch(store.wide, max(store.links[slot, NEWER] + 0, 0))
    prefetch(store.wide, max(store.links[slot, OLDER] + 0, 0))
    prefetch(store.wide, max(store.links[slot, NEXT] + 0, 0))
    prefetch(store.wide, max(store.links[slot, PREV] + 0, 0))
    if len(ghosts.table) > 0 and ghosts.sums[ADMITTED] > _LIKELY:
        _read_cell(ghosts.table, home_of(key, stream))
    if counting.tally[MODE] != NOTHING:
        read_count_ahead(counting, key)


@inner
def look_ahead(
    store: Store, ghosts: Ghosts, counting: Counting, batch: Batch, row: int, scratch: Any
) -> None:
    """Let what the rows to come will look up travel while those before them are worked on."""
    streams = store.streams.shape[1]
    if row == 0:
        _read_cells(store.table, batch, row, streams)
    _read_partners(store, batch, row, scratch)
    _read_leavers(store, AHEAD)
    _read_cells(store.table, batch, row + AHEAD, streams)
    if ghosts.sums[GHOSTS_HELD] > 0:
        _read_cells(ghosts.table, batch, row + AHEAD, streams)
    if counting.tally[MODE] != NOTHING:
        for ahead in range(row + AHEAD, min(row + 2 * AHEAD, len(batch.numbers))):
            read_count_ahead(counting, batch.numbers[ahead, KEY])
