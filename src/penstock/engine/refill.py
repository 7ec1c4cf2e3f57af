"""Putting saved rows back into an empty store: indexes and orders are made anew, not saved.

Rows go in by age, so each of them is linked at the new end of its key and of its stream, as
it was when it first came.
"""

from typing import Any

from penstock.arrivals.ages import Ages
from penstock.arrivals.counting import Counting
from penstock.compiled import compiled
from penstock.engine.ranks import position, rerank
from penstock.kernels.chains import link_key, link_time
from penstock.kernels.cursors import cursors_on_entry
from penstock.kernels.index import HASH, MARK
from penstock.kernels.queue import as_rank_key, push
from penstock.kernels.store import (
    COST,
    FIRST_OPEN,
    GAINED,
    INSTANTS,
    NEWER,
    OLDEST,
    PLACE,
    STREAM,
    TOUCHED,
    TOUCHED_SLOT,
    TURN,
    UNPLACED,
    Store,
    take_slot,
)
from penstock.kernels.terms import BY_QUEUE, POOL, Terms

# Columns of `facts`; FACT_RANK is a key of the queue, where ranks never change.
(
    FACT_TURN,
    FACT_MARK,
    FACT_HASH,
    FACT_PLACE,
    FACT_STREAM,
    FACT_COST,
    FACT_RANK,
    FACT_TOUCHED,
) = range(8)
FACTS = 8


@compiled
def list_held(store: Store, slots: Any) -> None:
    """Write the slots of all held rows, each stream's in the order of time."""
    listed = 0
    for stream in range(store.streams.shape[1]):
        slot = store.streams[OLDEST, stream] + 0
        while slot >= 0:
            slots[listed] = slot
            listed += 1
            slot = store.links[slot, NEWER] + 0


@compiled
def refill(
    store: Store, counting: Counting, ages: Ages, terms: Terms, facts: Any, worth: Any, slots: Any
) -> None:
    """Put rows, which come by (mark, turn) and the unplaced last, back into the store."""
    for row in range(len(facts)):
        slot = take_slot(store)
        slots[row] = slot
        stream = facts[row, FACT_STREAM]
        store.wide[slot, HASH], store.wide[slot, MARK] = (
            facts[row, FACT_HASH],
            facts[row, FACT_MARK],
        )
        store.wide[slot, PLACE] = facts[row, FACT_PLACE]
        store.wide[slot, TURN] = facts[row, FACT_TURN]
        store.links[slot, STREAM] = stream
        if terms.costed:
            store.links[slot, COST] = facts[row, FACT_COST]
        for column in range(store.worth.shape[1]):
            store.worth[slot, column] = worth[row, column]
        if len(store.notes) > 0:
            store.notes[slot, GAINED] = -1
            if facts[row, FACT_TOUCHED] != 0:
                store.notes[slot, GAINED] = store.tally[INSTANTS]
                store.notes[store.tally[TOUCHED], TOUCHED_SLOT] = slot
                store.tally[TOUCHED] += 1
        link_key(store, slot)
        link_time(store, slot)
        if store.cursors.shape[1] > 0:
            cursors_on_entry(store, ages, stream, slot, position(store, terms, stream))
        if facts[row, FACT_TURN] == UNPLACED:
            if store.streams[FIRST_OPEN, stream] < 0:
                store.streams[FIRST_OPEN, stream] = slot
        elif terms.how == BY_QUEUE:
            key = facts[row, FACT_RANK]
            if terms.kept_rank >= 0:
                key = as_rank_key(worth[row, terms.kept_rank])
            push(store, terms, terms.limits[POOL, stream], slot, key)
    # What the queue knew of ranks that follow the statistics was as old as the row.
    if not terms.fixed:
        rerank(store, counting, ages, terms)
