"""From a key's hash to the newest row of that key: an open table, searched linearly.

A cell holds where its key wants to lie and a slot.  The former says enough that
looking, moving and removing seldom touch the slots themselves, which lie
scattered in memory.
"""

from typing import Any

import numpy as np

from penstock.compiled import compiled, inner

HASH, MARK = 0, 1  # columns of `wide`
EMPTY = -1
_SHIFT = np.int64(32)
_SLOT_BITS = np.int64(0xFFFFFFFF)


@inner
def home_of(key: int, stream: int) -> int:
    """Return where a key of a stream wants to lie: 31 bits, spread."""
    # Hashes arrive well mixed; the stream turns them so that both sides do not pile up.
    return int(((key >> 31) ^ (key + np.int64(stream) * 0x5851F42D)) & 0x7FFFFFFF)


@inner
def find(table: Any, wide: Any, links: Any, of_stream: int, key: int, stream: int) -> int:
    """Return the cell of (key, stream), or -1; `of_stream` is the column with a slot's stream."""
    mask = len(table) - 1
    home = home_of(key, stream)
    cell = home & mask
    while True:
        entry = table[cell]
        if entry == EMPTY:
            return -1
        if (entry >> _SHIFT) == home:
            slot = entry & _SLOT_BITS
            if wide[slot, HASH] == key and links[slot, of_stream] == stream:
                return cell
        cell = (cell + 1) & mask


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
    mask = len(table) - 1
    home = home_of(key, stream)
    cell = home & mask
    while table[cell] != EMPTY:
        cell = (cell + 1) & mask
    table[cell] = (home << _SHIFT) | slot


@inner
def remove(table: Any, cell: int) -> None:
    """Empty a cell and close the gap, so that no search ends too early."""
    mask = len(table) - 1
    gap = cell
    table[gap] = EMPTY
    cell = (cell + 1) & mask
    while table[cell] != EMPTY:
        home = (table[cell] >> _SHIFT) & mask
        # The entry may move back only if its home is not between the gap and itself.
        if ((cell - home) & mask) >= ((cell - gap) & mask):
            table[gap] = table[cell]
            table[cell] = EMPTY
            gap = cell
        cell = (cell + 1) & mask


@compiled
def rebuild(table: Any, old: Any) -> None:
    """Copy all entries of `old` into an empty table of another size."""
    mask = len(table) - 1
    for i in range(len(old)):
        if old[i] != EMPTY:
            cell = (old[i] >> _SHIFT) & mask
            while table[cell] != EMPTY:
                cell = (cell + 1) & mask
            table[cell] = old[i]


def empty_table(size: int) -> Any:
    """Return a table with room for at least `size` cells, a power of two."""
    cells = 8
    while cells < size:
        cells *= 2
    return np.full(cells, EMPTY, np.int64)
