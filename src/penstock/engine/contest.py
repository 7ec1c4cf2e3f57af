"""Who stays: newcomers ask for a place, and the rows that are worth least give theirs up."""

from penstock.arrivals.ages import Ages
from penstock.arrivals.chance import luck
from penstock.arrivals.counting import (
    MODE,
    RETAINED,
    Counting,
    add,
)
from penstock.compiled import inner
from penstock.engine.least import least_of_all, least_of_queue
from penstock.engine.ranks import ask, enqueue, importance_of, oldest_alive, rank_of, rerank, total
from penstock.kernels.chains import unlink_key, unlink_time
from penstock.kernels.cursors import cursors_on_leave
from penstock.kernels.demand import take_share
from penstock.kernels.ghosts import Ghosts, remember
from penstock.kernels.index import HASH, MARK
from penstock.kernels.notes import NEVER, as_stored, note_value, refit
from penstock.kernels.store import (
    ALL_CLOSED,
    CLOCK,
    COST,
    CUT,
    EXPIRED,
    FADES,
    FIRST_OPEN,
    FIRST_TURN,
    GAINED,
    HELD,
    NEWER,
    NEWEST,
    OLDER,
    OLDEST,
    OPEN,
    OPEN_COST,
    OPEN_NOW,
    PART_CLOSED,
    PEAK,
    PLACE,
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
    BY_QUEUE,
    COMING,
    GONE,
    GONE_EXPIRED,
    GONE_FATE,
    GONE_PLACE,
    GONE_SHED,
    GONE_STREAM,
    GONE_WHEN,
    POOL,
    WINDOW,
    Out,
    Terms,
)


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
    store.streams[HELD, stream] -= 1
    store.streams[EXPIRED if fate == GONE_EXPIRED else SHED, stream] += 1
    gone = out.count[GONE]
    out.gone[gone, GONE_PLACE] = store.wide[slot, PLACE]
    out.gone[gone, GONE_FATE] = fate
    out.gone[gone, GONE_WHEN] = store.tally[CLOCK]
    out.gone[gone, GONE_STREAM] = stream
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
def contest(
    store: Store, ghosts: Ghosts, counting: Counting, ages: Ages, terms: Terms, pool: int, out: Out
) -> None:
    """Give up the rows that are worth least until the pool keeps to its budget."""
    while store.streams[USED, pool] > terms.limits[BUDGET, pool]:
        slot = -1
        if not terms.in_order and not terms.counted:
            slot = _spent(store, terms, pool)
        if slot < 0 and terms.how == BY_QUEUE:
            slot = least_of_queue(store, ghosts, counting, ages, terms, pool)
        elif slot < 0:
            slot = least_of_all(store, counting, ages, terms, pool)
        remember(
            ghosts,
            store.wide[slot, HASH],
            store.wide[slot, MARK],
            store.links[slot, STREAM] + 0,
            luck(terms.ghost_luck, store.wide[slot, TURN]),
            importance_of(store, terms, slot),
            terms.combine,
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
        importance = importance_of(store, terms, slot)
        store.worth[slot, terms.note] = as_stored(importance, store.tally[FADES], terms)
    enqueue(store, counting, ages, terms, slot)


@inner
def _set_note(
    store: Store, counting: Counting, ages: Ages, terms: Terms, slot: int, added: float
) -> None:
    """Write what a note is worth after this instant, and move the row to its new rank."""
    fades = store.tally[FADES]
    value = note_value(store.worth[slot, terms.note], fades, terms) + added
    store.worth[slot, terms.note] = as_stored(value, fades + 1, terms)
    if terms.how != BY_QUEUE:
        return
    known = store.worth[slot, terms.kept_rank]
    if known != rank_of(store, counting, ages, terms, slot):
        enqueue(store, counting, ages, terms, slot)


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
            ask(store, counting, ages, terms, slot, terms.reward),
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
    store: Store,
    ghosts: Ghosts,
    counting: Counting,
    ages: Ages,
    terms: Terms,
    goes_on: bool,
    out: Out,
) -> None:
    """End the open instant: notes, rows that can join no more, places for the newcomers.

    If it `goes_on`, only the newcomers so far get places: all rows held may still meet others.
    """
    if store.tally[STARTED] < OPEN_NOW:
        return
    store.tally[STARTED] = PART_CLOSED if goes_on else ALL_CLOSED
    store.tally[OPEN_COST] = 0
    streams = store.streams.shape[1]
    if not terms.evict_first and not goes_on:
        write_notes(store, counting, ages, terms)
    _give_turns(store)
    if not terms.counted and not terms.evict_first and not goes_on:
        for stream in range(streams):
            reached = store.tally[CLOCK] + 1
            if not terms.in_order:
                reached = min(reached, terms.limits[COMING, 1 - stream])
            expire(store, counting, terms, stream, reached - terms.limits[WINDOW, stream], out)
    for stream in range(streams):
        slot, turn = store.streams[FIRST_OPEN, stream], store.streams[FIRST_TURN, stream]
        for i in range(store.streams[OPEN, stream]):
            newer = store.links[slot, NEWER] + 0
            admit(store, counting, ages, terms, slot, turn + i)
            slot = newer
        store.streams[OPEN, stream] = 0
        store.streams[FIRST_OPEN, stream] = -1
    if terms.bounded:
        take_share(store, terms)
        for pool in range(terms.pools):
            contest(store, ghosts, counting, ages, terms, pool, out)
    store.tally[PEAK] = max(store.tally[PEAK], total(store, HELD))
