"""How a newcomer finds the rows it matches: the rows of its key, newest first."""

from typing import Any

import numpy as np

from penstock.compiled import inner
from penstock.kernels.index import MARK, find, slot_at
from penstock.kernels.store import (
    GAINED,
    INSTANTS,
    PLACE,
    PREV,
    STREAM,
    TOUCHED,
    TOUCHED_SLOT,
    TURN,
    UNPLACED,
    Store,
)
from penstock.kernels.terms import HELD_PLACE, KEY, NEW_ROW, PAIRS, Batch, Out

_AHEAD = 32  # rows whose index cells are read ahead: enough to keep all the line buffers busy


@inner
def probe(
    store: Store, resume: int, key: int, other: int, row: int, low: int, high: int, out: Out
) -> int:
    """Write the pairs of a newcomer with the other stream's rows whose mark is in [low, high].

    Returns -1 when all are written, or the slot to resume from when the buffer is full.
    """
    slot = resume
    if slot < 0:
        cell = find(store.table, store.wide, store.links, STREAM, key, other)
        if cell < 0:
            return -1
        slot = slot_at(store.table, cell)
    pairs, room = out.count[PAIRS], len(out.pairs)
    while slot >= 0:
        mark = store.wide[slot, MARK]
        if mark < low:
            break
        if mark <= high:
            if pairs == room:
                out.count[PAIRS] = pairs
                return slot
            out.pairs[pairs, HELD_PLACE] = store.wide[slot, PLACE]
            out.pairs[pairs, NEW_ROW] = row
            pairs += 1
        slot = store.links[slot, PREV] + 0  # as wide as what it replaces
    out.count[PAIRS] = pairs
    return -1


@inner
def note_matches(
    store: Store, key: int, other: int, low: int, high: int, hits: Any, unit: int, at: int
) -> None:
    """Remember, of the rows a newcomer matches, that they matched and at which age."""
    cell = find(store.table, store.wide, store.links, STREAM, key, other)
    if cell < 0:
        return
    slot = slot_at(store.table, cell)
    while slot >= 0:
        mark = store.wide[slot, MARK]
        if mark < low:
            break
        if mark <= high:
            if len(hits) > 0:
                hits[max(0, min((at - mark) // unit, len(hits) - 1))] += 1.0
            listed = store.tally[TOUCHED]
            if (
                listed < len(store.notes)
                and store.wide[slot, TURN] != UNPLACED
                and store.notes[slot, GAINED] != store.tally[INSTANTS]
            ):
                store.notes[slot, GAINED] = store.tally[INSTANTS]
                store.notes[listed, TOUCHED_SLOT] = slot
                store.tally[TOUCHED] = listed + 1
        slot = store.links[slot, PREV] + 0


@inner
def warm(store: Store, batch: Batch, first: int) -> int:
    """Read the index cells of the next rows, so that their cache misses overlap."""
    mask = len(store.table) - 1
    seen = 0
    for row in range(first, min(first + _AHEAD, len(batch.numbers))):
        key = batch.numbers[row, KEY]
        for stream in range(store.streams.shape[1]):
            home = ((key >> 31) ^ (key + np.int64(stream) * 0x5851F42D)) & 0x7FFFFFFF
            seen += store.table[home & mask] & 1
    return seen
