"""Who stays: newcomers ask for a place, and the rows that are worth least give theirs up."""

from typing import Any

import numpy as np

from penstock.arrivals.ages import Ages, bucket_of
from penstock.arrivals.chance import luck
from penstock.arrivals.counting import MODE, RETAINED, Counting, add, count_of, fade_factor
from penstock.compiled import inner
from penstock.kernels.chains import unlink_key, unlink_time
from penstock.kernels.cursors import cursors_on_leave, least_by_age
from penstock.kernels.ghosts import Ghosts, remember
from penstock.kernels.heap import heapify, leaves_before, pull, push, settle, sink
from penstock.kernels.index import HASH, MARK
from penstock.kernels.notes import NEVER, as_stored, note_value, refit
from penstock.kernels.store import (
    CLOCK,
    COST,
    CUT,
    ENTERED,
    EXPIRED,
    FADES,
    FIRST_HEAP,
    FIRST_OPEN,
    FIRST_TURN,
    GAINED,
    HELD,
    IN_HEAP,
    NEWER,
    NEWEST,
    OLDER,
    OLDEST,
    OPEN,
    PEAK,
    PLACE,
    RANK,
    SHED,
    STARTED,
    STREAM,
    TOUCHED,
    TOUCHED_SLOT,
    TURN,
    TURNS,
    UNPLACED,
    USED,
    Store,
    give_slot,
)
from penstock.kernels.terms import (
    BUDGET,
    BY_AGE,
    BY_HEAP,
    GONE,
    GONE_EXPIRED,
    GONE_FATE,
    GONE_PLACE,
    GONE_SHED,
    GONE_WHEN,
    POOL,
    WATERMARK,
    WINDOW,
    Out,
    Terms,
)


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
    return terms.limits[WATERMARK, 1 - stream] - terms.limits[WINDOW, stream]


@inner
def _importance(store: Store, terms: Terms, slot: int) -> float:
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
def _ask(
    store: Store, counting: Counting, ages: Ages, terms: Terms, slot: int, question: Any
) -> float:
    """Ask the policy, by the pointer of one of its questions, about a held row."""
    stream = store.links[slot, STREAM]
    mark = store.wide[slot, MARK]
    age = position(store, terms, stream) - mark
    slope = 0.0
    if ages.slopes.shape[1] > 0:
        slope = ages.slopes[stream, bucket_of(ages, stream, age)]
    return question(
        store.wide[slot, TURN] if terms.counted else mark,
        age,
        terms.limits[WINDOW, stream] - age,
        _importance(store, terms, slot),
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
def _write_rank(store: Store, counting: Counting, ages: Ages, terms: Terms, slot: int) -> None:
    store.worth[slot, RANK] = _ask(store, counting, ages, terms, slot, terms.rank)


@inner
def rerank(store: Store, counting: Counting, ages: Ages, terms: Terms) -> None:
    """Ask for every rank again and bring the heaps into order: once a pane, not once a row."""
    if not terms.bounded or terms.how != BY_HEAP or terms.fixed:
        return
    for pool in range(len(store.lists) - FIRST_HEAP):
        for spot in range(store.streams[IN_HEAP, pool]):
            slot = store.lists[FIRST_HEAP + pool, spot]
            _write_rank(store, counting, ages, terms, slot)
        heapify(store, terms, pool)


@inner
def leave(store: Store, counting: Counting, terms: Terms, slot: int, fate: int, out: Out) -> None:
    """Take a row out of the join memory, whatever the reason."""
    stream = store.links[slot, STREAM]
    if counting.tally[MODE] == RETAINED:
        add(counting, store.wide[slot, HASH], stream, -1.0)
    if store.cursors.shape[1] > 0:
        cursors_on_leave(store, stream, slot)
    unlink_key(store, slot)
    unlink_time(store, slot)
    if terms.bounded and store.wide[slot, TURN] != UNPLACED:
        pool = terms.limits[POOL, stream]
        store.streams[USED, pool] -= store.links[slot, COST] if terms.costed else 1
        if terms.how == BY_HEAP:
            pull(store, terms, pool, slot)
    store.streams[HELD, stream] -= 1
    store.streams[EXPIRED if fate == GONE_EXPIRED else SHED, stream] += 1
    gone = out.count[GONE]
    out.gone[gone, GONE_PLACE] = store.wide[slot, PLACE]
    out.gone[gone, GONE_FATE] = fate
    out.gone[gone, GONE_WHEN] = store.tally[CLOCK]
    out.count[GONE] = gone + 1
    give_slot(store, slot)


@inner
def expire(
    store: Store, counting: Counting, terms: Terms, stream: int, alive: int, out: Out
) -> None:
    """Let the rows of a stream go whose mark is below `alive`."""
    slot = store.streams[OLDEST, stream]
    while slot >= 0 and store.wide[slot, MARK] < alive:
        newer = store.links[slot, NEWER] + 0
        if store.wide[slot, TURN] == UNPLACED:
            store.streams[OPEN, stream] -= 1
            store.streams[FIRST_OPEN, stream] = newer
        leave(store, counting, terms, slot, GONE_EXPIRED, out)
        slot = newer


@inner
def _spent(store: Store, terms: Terms, pool: int) -> int:
    """Return the oldest row of the pool that only a disordered row could still meet, or -1."""
    found = -1
    for stream in range(store.streams.shape[1]):
        slot = store.streams[OLDEST, stream]
        if (
            terms.limits[POOL, stream] == pool
            and slot >= 0
            and store.wide[slot, TURN] != UNPLACED
            and store.wide[slot, MARK] + terms.limits[WINDOW, stream] <= store.tally[CLOCK]
            and (found < 0 or store.wide[slot, MARK] < store.wide[found, MARK])
        ):
            found = slot
    return found


@inner
def _least_of_heap(store: Store, counting: Counting, ages: Ages, terms: Terms, pool: int) -> int:
    """Return the top of the heap once its rank is up to date.

    What the heap knows of a rank is never too high, because statistics only rise
    between two panes; so a top that is up to date is the lowest.
    """
    while True:
        top = store.lists[FIRST_HEAP + pool, 0] + 0
        if terms.fixed:
            return top
        known = store.worth[top, RANK]
        _write_rank(store, counting, ages, terms, top)
        if store.worth[top, RANK] <= known:
            return top
        sink(store, terms, pool, 0)


@inner
def _least_of_all(store: Store, counting: Counting, ages: Ages, terms: Terms, pool: int) -> int:
    """Return the lowest row by asking for every stream's lowest age bucket, or for every row."""
    found = -1
    for stream in range(store.streams.shape[1]):
        if terms.limits[POOL, stream] != pool:
            continue
        if terms.how == BY_AGE:
            slot = least_by_age(store, ages, stream, position(store, terms, stream)) + 0
            if slot >= 0:
                _write_rank(store, counting, ages, terms, slot)
                if found < 0 or leaves_before(store, terms, slot, found):
                    found = slot
            continue
        slot = store.streams[OLDEST, stream]
        while slot >= 0:
            if store.wide[slot, TURN] != UNPLACED:
                _write_rank(store, counting, ages, terms, slot)
                if found < 0 or leaves_before(store, terms, slot, found):
                    found = slot
            slot = store.links[slot, NEWER] + 0
    return found


@inner
def contest(
    store: Store, ghosts: Ghosts, counting: Counting, ages: Ages, terms: Terms, pool: int, out: Out
) -> None:
    """Give up the rows that are worth least until the pool keeps to its budget."""
    while store.streams[USED, pool] > terms.limits[BUDGET, pool]:
        slot = -1
        if not terms.in_order and not terms.counted:
            slot = _spent(store, terms, pool)
        if slot < 0 and terms.how == BY_HEAP:
            slot = _least_of_heap(store, counting, ages, terms, pool)
        elif slot < 0:
            slot = _least_of_all(store, counting, ages, terms, pool)
        remember(
            ghosts,
            store.wide[slot, HASH],
            store.wide[slot, MARK],
            store.links[slot, STREAM] + 0,
            luck(terms.ghost_luck, store.wide[slot, TURN]),
            _importance(store, terms, slot),
            (oldest_alive(store, terms, 0), oldest_alive(store, terms, 1)),
        )
        leave(store, counting, terms, slot, GONE_SHED, out)


@inner
def admit(store: Store, counting: Counting, ages: Ages, terms: Terms, slot: int, turn: int) -> None:
    """Give a newcomer its turn, its rank and its part of the budget."""
    store.wide[slot, TURN] = turn
    if not terms.bounded:
        return
    pool = terms.limits[POOL, store.links[slot, STREAM]]
    store.streams[USED, pool] += store.links[slot, COST] if terms.costed else 1
    if terms.note >= 0:
        importance = _importance(store, terms, slot)
        store.worth[slot, terms.note] = as_stored(importance, store.tally[FADES], terms)
    if terms.second >= 0:
        store.worth[slot, terms.second] = _importance(store, terms, slot)
    _write_rank(store, counting, ages, terms, slot)
    if terms.how == BY_HEAP:
        push(store, terms, pool, slot)


@inner
def _set_note(
    store: Store, counting: Counting, ages: Ages, terms: Terms, slot: int, added: float
) -> None:
    """Write what a note is worth after this instant, and move the row to its new rank."""
    fades = store.tally[FADES]
    value = note_value(store.worth[slot, terms.note], fades, terms) + added
    store.worth[slot, terms.note] = as_stored(value, fades + 1, terms)
    _write_rank(store, counting, ages, terms, slot)
    if terms.how == BY_HEAP:
        settle(store, terms, terms.limits[POOL, store.links[slot, STREAM]], slot)


@inner
def write_notes(store: Store, counting: Counting, ages: Ages, terms: Terms) -> None:
    """Let rows that matched in this instant gain, and all others fade."""
    if terms.note < 0:
        return
    for i in range(store.tally[TOUCHED]):
        slot = store.notes[i, TOUCHED_SLOT] + 0
        if store.notes[slot, GAINED] == NEVER:  # the slot has another row by now
            continue
        store.notes[slot, GAINED] = NEVER
        _set_note(
            store,
            counting,
            ages,
            terms,
            slot,
            _ask(store, counting, ages, terms, slot, terms.reward),
        )
    store.tally[TOUCHED] = 0
    if terms.evict_first:  # the newcomers have a note by now, which does not fade yet
        for stream in range(store.streams.shape[1]):
            slot = store.streams[NEWEST, stream] + 0
            while slot >= 0 and store.wide[slot, TURN] >= store.streams[FIRST_TURN, stream]:
                _set_note(store, counting, ages, terms, slot, 0.0)
                slot = store.links[slot, OLDER] + 0
    store.tally[FADES] += 1
    if refit(store, terms):
        rerank(store, counting, ages, terms)


@inner
def _give_turns(store: Store) -> None:
    """Number the rows of the open instant, left before right, those already cut included."""
    turn = store.tally[TURNS]
    streams = store.streams
    for stream in range(streams.shape[1]):
        streams[FIRST_TURN, stream] = turn + streams[CUT, stream]
        turn += streams[CUT, stream] + streams[OPEN, stream]
        streams[CUT, stream] = 0
    store.tally[TURNS] = turn


@inner
def close(
    store: Store, ghosts: Ghosts, counting: Counting, ages: Ages, terms: Terms, out: Out
) -> None:
    """End the open instant: notes, rows that can join no more, places for the newcomers."""
    if store.tally[STARTED] != 2:
        return
    store.tally[STARTED] = 1
    streams = store.streams.shape[1]
    if not terms.evict_first:
        write_notes(store, counting, ages, terms)
    _give_turns(store)
    if terms.in_order and not terms.counted and not terms.evict_first:
        for stream in range(streams):
            alive = store.tally[CLOCK] - terms.limits[WINDOW, stream] + 1
            expire(store, counting, terms, stream, alive, out)
    for stream in range(streams):
        slot, turn = store.streams[FIRST_OPEN, stream], store.streams[FIRST_TURN, stream]
        for i in range(store.streams[OPEN, stream]):
            newer = store.links[slot, NEWER] + 0
            admit(store, counting, ages, terms, slot, turn + i)
            slot = newer
        store.streams[OPEN, stream] = 0
        store.streams[FIRST_OPEN, stream] = -1
    if terms.bounded:
        for pool in range(terms.pools):
            contest(store, ghosts, counting, ages, terms, pool, out)
    store.tally[PEAK] = max(store.tally[PEAK], total(store, HELD))
