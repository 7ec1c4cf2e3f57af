"""What the rows are worth: the policy is asked, row by row, with what is known of each."""

from typing import Any

import numpy as np

from penstock.arrivals.ages import Ages, slope_at
from penstock.arrivals.chance import luck
from penstock.arrivals.counting import Counting, count_of, fade_factor
from penstock.compiled import inner
from penstock.engine.ahead import read_rank_ahead
from penstock.kernels.index import HASH, MARK
from penstock.kernels.queue import as_rank_key, forget_order, push, slot_of, throw_out_dead
from penstock.kernels.store import (
    CELLS,
    CLOCK,
    ENTERED,
    FIRST_CELL,
    HELD,
    OPEN,
    OPEN_COST,
    OPEN_NOW,
    QUEUE_RANK,
    QUEUE_WORD,
    QUEUED,
    STARTED,
    STREAM,
    TURN,
    Store,
)
from penstock.kernels.terms import BY_QUEUE, POOL, REACHED, ROW_COST, WINDOW, Batch, Terms


@inner
def position(store: Store, terms: Terms, stream: int) -> int:
    """Return where a stream's window ends now: the clock, or its newest ordinal."""
    if terms.counted:
        return store.streams[ENTERED, stream]
    return store.tally[CLOCK]


@inner
def total(store: Store, counter: int) -> int:
    """Return a counter summed over all streams."""
    count = 0
    for stream in range(store.streams.shape[1]):
        count += store.streams[counter, stream]
    return count


@inner
def oldest_alive(store: Store, terms: Terms, stream: int) -> int:
    """Return the lowest mark of a stream that a row to come can still match."""
    if terms.counted or terms.in_order:
        return position(store, terms, stream) - terms.limits[WINDOW, stream]
    return terms.limits[REACHED, 1 - stream] - terms.limits[WINDOW, stream]


@inner
def importance_of(store: Store, terms: Terms, slot: int) -> float:
    """Return a row's importance; 1 where the query names none."""
    return store.worth[slot, terms.importance] if terms.importance >= 0 else 1.0


@inner
def _matches(store: Store, counting: Counting, terms: Terms, slot: int) -> float:
    if not terms.matches:
        return 0.0
    if terms.expected >= 0:
        return store.worth[slot, terms.expected]
    count = count_of(counting, store.wide[slot, HASH], 1 - store.links[slot, STREAM])
    if terms.weighs_age:
        count /= fade_factor(counting, store.tally[CLOCK], terms.half_life)
    return count


@inner
def _rounded(number: float) -> float:
    """Return a number in single precision: sums that differ by rounding alone are then equal."""
    return float(np.float32(number))


@inner
def ask(
    store: Store, counting: Counting, ages: Ages, terms: Terms, slot: int, question: Any
) -> float:
    """Ask the policy, by the pointer of one of its questions, about a held row."""
    stream = store.links[slot, STREAM]
    mark = store.wide[slot, MARK]
    age = position(store, terms, stream) - mark
    slope = 0.0
    if ages.slopes.shape[1] > 0:
        slope = slope_at(ages, stream, age)
    return question(
        store.wide[slot, TURN] if terms.counted else mark,
        age,
        terms.limits[WINDOW, stream] - age,
        importance_of(store, terms, slot),
        _rounded(_matches(store, counting, terms, slot)),
        slope,
        luck(terms.policy_luck, store.wide[slot, TURN]),
        _rounded(store.worth[slot, terms.note]) if terms.note >= 0 else 0.0,
        terms.settings[0],
        terms.settings[1],
        terms.settings[2],
        terms.settings[3],
    )


@inner
def rank_of(store: Store, counting: Counting, ages: Ages, terms: Terms, slot: int) -> float:
    """Return what the policy says a held row is worth now."""
    return ask(store, counting, ages, terms, slot, terms.rank)


@inner
def enqueue(store: Store, counting: Counting, ages: Ages, terms: Terms, slot: int) -> None:
    """Rank a row as of now, and put it where it belongs among those that may have to leave."""
    if terms.how != BY_QUEUE:
        return
    rank = rank_of(store, counting, ages, terms, slot)
    if terms.kept_rank >= 0:
        store.worth[slot, terms.kept_rank] = rank
    push(store, terms, terms.limits[POOL, store.links[slot, STREAM]], slot, as_rank_key(rank))


@inner
def rerank(store: Store, counting: Counting, ages: Ages, terms: Terms) -> None:
    """Ask for every rank again: once a pane, not once a row."""
    if terms.how != BY_QUEUE:
        return
    for pool in range(terms.pools):
        throw_out_dead(store, terms, pool)
        first = store.streams[FIRST_CELL, pool]
        end = first + store.streams[QUEUED, pool]
        for cell in range(first, end):
            read_rank_ahead(store, counting, cell, end)
            slot = slot_of(store.queue[cell, QUEUE_WORD])
            rank = rank_of(store, counting, ages, terms, slot)
            if terms.kept_rank >= 0:
                store.worth[slot, terms.kept_rank] = rank
            store.queue[cell, QUEUE_RANK] = as_rank_key(rank)
        forget_order(store, pool)


@inner
def crowded(store: Store, terms: Terms, stream: int) -> bool:
    """Say whether the queue of a stream's pool is too short, less an eighth for dead cells."""
    if terms.how != BY_QUEUE:
        return False
    pool, held = terms.limits[POOL, stream], 0
    for other in range(store.streams.shape[1]):
        if terms.limits[POOL, other] == pool:
            held += store.streams[HELD, other]
    return held + held // 8 >= store.streams[CELLS, pool]


@inner
def is_full(store: Store, terms: Terms, batch: Batch, row: int) -> bool:
    """Say whether the open instant has no room for one row more, or is none any longer."""
    if store.tally[STARTED] != OPEN_NOW or total(store, OPEN) >= terms.largest:
        return True
    after = store.tally[OPEN_COST] + batch.numbers[row, ROW_COST] if terms.costed else 0
    return after > terms.heaviest and store.tally[OPEN_COST] > 0
