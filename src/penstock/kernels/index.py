"""From a key's hash to the newest row of that key: an open table, searched linearly.

A cell holds where its key wants to lie and a slot.  The former says enough that
looking, moving and removing seldom touch the slots themselves, which lie
scattered in memory.  A key wants to lie at the same place for all streams, so that what a row
looks up of its own stream and of the other comes with one wait for memory.
"""

from typing import Any

import numpy as np

from penstock.compiled import compiled, inner

HASH, MARK = 0, 1  # columns of `wide`
EMPTY = -1
_SHIFT = np.int64(32)
_SLOT_BITS = np.int64(0xFFFFFFFF)
_PLACE_BITS = 30  # of a home, without the stream


@inner
def home_of(key: int, stream: int) -> int:
    """Return where a key of a stream wants to lie: 30 bits, spread, and one for the stream."""
    # Hashes arrive well mixed.
    return (int(((key >> 31) ^ key) & 0x3FFFFFFF) << 1) | int(stream)


@inner
def cell_of(table: Any, home: int) -> int:
    """Return the cell of a home: its share of the range, so that a table may have any size."""
    return ((home >> 1) * len(table)) >> _PLACE_BITS


@inner
def _after(table: Any, cell: int) -> int:
    return cell + 1 if cell + 1 < len(table) else 0


@inner
def find(table: Any, wide: Any, links: Any, of_stream: int, key: int, stream: int) -> int:
    """Return the cell of (key, stream), or -1; `of_stream` is the column with a slot's stream."""
    home = home_of(key, stream)
    cell = cell_of(table, home)
    while True:
        entry = table[cell]
        if entry == EMPTY:
            return -1
        if (entry >> _SHIFT) == home:
            slot = entry & _SLOT_BITS
            if wide[slot, HASH] == key and links[slot, of_stream] == stream:
                return cell
        cell = _after(table, cell)


@inner
def likely_slot(table: Any, home: int) -> int:
    """Return the slot that `find` would look at first, or -1, without looking at any slot."""
    cell = cell_of(table, home)
    while table[cell] != EMPTY and (table[cell] >> _SHIFT) != home:
        cell = _after(table, cell)
    return table[cell] & _SLOT_BITS if table[cell] != EMPTY else EMPTY


@inner
def slot_at(table: Any, cell: int) -> int:
    """Return the slot that a cell names."""
    return table[cell] & _SLOT_BITS


@inner
def point(table: Any, cell: int, slot: int) -> None:
    """Let a cell name another slot of the same key."""
    table[cell] = (table[cell] & ~_SLOT_BITS) | slot


@inner
def insert(table: Any, key: int, stream: int, slot: int) -> None:
    """Add a key that is not there yet.  The caller keeps the table from filling up."""
    home = home_of(key, stream)
    cell = cell_of(table, home)
    while table[cell] != EMPTY:
        cell = _after(table, cell)
    table[cell] = (home << _SHIFT) | slot


@inner
def _steps(table: Any, start: int, end: int) -> int:
    """Return how many cells lie between two, going up and around."""
    return end - start if end >= start else end - start + len(table)


@inner
def remove(table: Any, cell: int) -> None:
    """Empty a cell and close the gap, so that no search ends too early."""
    gap = cell
    table[gap] = EMPTY
    cell = _after(table, cell)
    while table[cell] != EMPTY:
        home = cell_of(table, table[cell] >> _SHIFT)
        # The entry may move back only if its home is not between the gap and itself.
        if _steps(table, home, cell) >= _steps(table, gap, cell):
            table[gap] = table[cell]
            table[cell] = EMPTY
            gap = cell
        cell = _after(table, cell)


@compiled
def rebuild(table: Any, wide: Any, links: Any, of_stream: int, newer: int) -> None:
    """Fill a table anew: with the newest slot of each key, found by what lies in the slots."""
    table[:] = EMPTY
    for slot in range(len(wide)):
        stream = links[slot, of_stream] + 0
        if stream >= 0 and links[slot, newer] == EMPTY:
            insert(table, wide[slot, HASH], stream, slot)


def cells_for(slots: int) -> int:
    """Return how long a table is for so many slots: three fifths full, so searches stay short."""
    return 8 + slots + slots * 2 // 3
