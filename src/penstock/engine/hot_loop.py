"""The join itself: one pass over a batch, instant by instant, on a budget.

It stops when a buffer is full or room is needed, and goes on where it stopped.
What depends on the policy comes in as a pointer, so the loop is compiled once.
"""

from typing import Any

from penstock.arrivals.ages import UNIT, Ages
from penstock.arrivals.counting import (
    DECAYED,
    MODE,
    PANES,
    RETAINED,
    Counting,
    add,
    fade_factor,
    full,
)
from penstock.compiled import compiled, inner
from penstock.engine.ahead import AHEAD, look_after_leavers, look_ahead
from penstock.engine.contest import admit, close, contest, expire
from penstock.engine.instants import (
    BEFORE,
    END,
    FALLEN,
    FENCE,
    LEAVERS,
    NUMBERED,
    PASS,
    RESUME,
    ROW,
    SAME,
    SCRATCH,
    SEEN_AHEAD,
    begin,
    is_late,
    next_instant,
    reach,
    turn_panes,
)
from penstock.engine.ranks import crowded, is_full, oldest_alive, position, rerank
from penstock.kernels.chains import link_key, link_time
from penstock.kernels.cursors import cursors_on_entry
from penstock.kernels.demand import take_share, want_place
from penstock.kernels.ghosts import Ghosts, meet
from penstock.kernels.index import HASH, MARK
from penstock.kernels.notes import NEVER
from penstock.kernels.probe import note_matches, probe
from penstock.kernels.queue import note_disorder
from penstock.kernels.store import (
    ALL_CLOSED,
    ARRIVED,
    CLOCK,
    COST,
    CUT,
    ENTERED,
    EXPIRED,
    FIRST_OPEN,
    GAINED,
    HELD,
    LATE,
    OPEN,
    OPEN_COST,
    OPEN_NOW,
    PLACE,
    SPARE,
    STARTED,
    STREAM,
    TURN,
    TURNS,
    UNMATCHABLE,
    UNPLACED,
    Store,
    take_slot,
)
from penstock.kernels.terms import (
    COMING,
    DONE,
    EXPECTED,
    IMPORTANCE,
    KEY,
    MATCHABLE,
    NEED_ROOM,
    NEED_SKETCH,
    OF_STREAM,
    PAIRS_FULL,
    POOL,
    ROW_COST,
    ROW_PLACE,
    TIME,
    WINDOW,
    Batch,
    Out,
    Terms,
)

FAR = 2**62


@inner
def _enter(
    store: Store, counting: Counting, ages: Ages, terms: Terms, batch: Batch, row: int, mark: int
) -> int:
    """Write a newcomer into a slot, where rows of its instant can already meet it."""
    slot = take_slot(store)
    wide, links, numbers = store.wide, store.links, batch.numbers
    stream = batch.flags[row, OF_STREAM] + 0
    wide[slot, HASH], wide[slot, MARK] = numbers[row, KEY], mark
    wide[slot, PLACE], wide[slot, TURN] = numbers[row, ROW_PLACE], UNPLACED
    links[slot, STREAM] = stream
    if terms.costed:
        links[slot, COST] = numbers[row, ROW_COST]
    if terms.importance >= 0:
        store.worth[slot, terms.importance] = batch.worth[row, IMPORTANCE]
    if terms.expected >= 0:
        store.worth[slot, terms.expected] = batch.worth[row, EXPECTED]
    if terms.note >= 0:
        store.notes[slot, GAINED] = NEVER
    link_key(store, slot)
    link_time(store, slot)
    if store.cursors.shape[1] > 0:
        cursors_on_entry(store, ages, stream, slot, position(store, terms, stream))
    store.streams[HELD, stream] += 1
    if counting.tally[MODE] == RETAINED:
        add(counting, numbers[row, KEY], stream, 1.0)
    return slot


@inner
def _wait_or_settle(
    store: Store,
    ghosts: Ghosts,
    counting: Counting,
    ages: Ages,
    terms: Terms,
    slot: int,
    late: bool,
    out: Out,
) -> None:
    """Let a newcomer wait for the end of its instant; a late one is an instant of its own."""
    stream = store.links[slot, STREAM]
    if not late:
        if store.streams[OPEN, stream] == 0:
            store.streams[FIRST_OPEN, stream] = slot
        store.streams[OPEN, stream] += 1
        if terms.costed:
            store.tally[OPEN_COST] += store.links[slot, COST]
            if store.tally[OPEN_COST] > terms.heaviest and not terms.whole:
                close(store, ghosts, counting, ages, terms, True, out)
        return
    note_disorder(store)
    admit(store, counting, ages, terms, slot, store.tally[TURNS])
    store.tally[TURNS] += 1
    if terms.bounded:
        contest(store, ghosts, counting, ages, terms, terms.limits[POOL, stream], out)


@inner
def _meet_all(
    store: Store,
    ghosts: Ghosts,
    ages: Ages,
    terms: Terms,
    batch: Batch,
    row: int,
    low: int,
    high: int,
) -> None:
    """After a newcomer's pairs are written: who gained by it, and what it has lost."""
    key, time, other = (
        batch.numbers[row, KEY],
        batch.numbers[row, TIME],
        1 - batch.flags[row, OF_STREAM],
    )
    hits, unit = ages.hits[other], ages.facts[UNIT, other]
    at = store.streams[ENTERED, other] if terms.counted else time
    if len(hits) > 0 or terms.note >= 0:
        note_matches(store, key, other, low, high, hits, unit, at)
    value = batch.worth[row, IMPORTANCE] if terms.importance >= 0 else 1.0
    reported = time >= terms.report_from
    alive = oldest_alive(store, terms, other)
    meet(ghosts, key, other, low, high, value, terms.combine, reported, hits, unit, at, alive)


@inner
def _count(
    store: Store, counting: Counting, ages: Ages, terms: Terms, batch: Batch, row: int, mark: int
) -> None:
    """Let the statistics see a row."""
    stream = batch.flags[row, OF_STREAM] + 0
    if terms.counted and turn_panes(counting, ages, stream, mark - 1) and not terms.fixed:
        rerank(store, counting, ages, terms)
    if ages.hits.shape[1] > 0:
        ages.rows[stream] += 1.0
    if batch.flags[row, MATCHABLE] == 0:
        return
    if counting.tally[MODE] == PANES:
        add(counting, batch.numbers[row, KEY], stream, 1.0)
    elif counting.tally[MODE] == DECAYED:
        weight = fade_factor(counting, batch.numbers[row, TIME], terms.half_life)
        add(counting, batch.numbers[row, KEY], stream, weight)


@inner
def _take_in(
    store: Store,
    ghosts: Ghosts,
    counting: Counting,
    ages: Ages,
    terms: Terms,
    batch: Batch,
    row: int,
    mark: int,
    cut: bool,
    out: Out,
    slots: Any,
) -> None:
    """Count a newcomer that has met the others, and let it ask for a place."""
    stream = batch.flags[row, OF_STREAM] + 0
    store.streams[ARRIVED, stream] += 1
    _count(store, counting, ages, terms, batch, row, mark)
    if batch.flags[row, MATCHABLE] == 0:
        store.streams[UNMATCHABLE, stream] += 1
    elif cut:
        store.streams[EXPIRED, stream] += 1
        store.streams[CUT, stream] += 1
    else:
        want_place(store, terms, stream, batch.numbers[row, TIME])
        slot = _enter(store, counting, ages, terms, batch, row, mark)
        slots[row] = slot
        late = batch.numbers[row, TIME] < store.tally[CLOCK] and not terms.whole
        _wait_or_settle(store, ghosts, counting, ages, terms, slot, late, out)


@compiled
def advance(
    store: Store,
    ghosts: Ghosts,
    counting: Counting,
    ages: Ages,
    terms: Terms,
    batch: Batch,
    out: Out,
    slots: Any,
    cursor: Any,
) -> int:
    """Take in rows from where the cursor stands; return why it stopped."""
    rows = len(batch.numbers)
    if cursor[FALLEN] != 0 and not terms.fixed:
        rerank(store, counting, ages, terms)
    cursor[FALLEN] = 0
    while True:
        if (
            terms.whole
            and cursor[ROW] == cursor[END]
            and not next_instant(store, ghosts, counting, ages, terms, batch, out, cursor)
        ):
            return DONE
        row = cursor[ROW]
        if row == rows:
            return DONE
        key, time = batch.numbers[row, KEY], batch.numbers[row, TIME]
        stream = batch.flags[row, OF_STREAM] + 0
        other = 1 - stream
        if cursor[RESUME] < 0 and cursor[PASS] != BEFORE:
            if is_late(store, terms, stream, time):
                store.streams[LATE, stream] += 1
                store.streams[ARRIVED, stream] += 1
                cursor[ROW] += 1
                continue
            if not terms.whole and (
                store.tally[STARTED] == 0
                or time > store.tally[CLOCK]
                or (time == store.tally[CLOCK] and store.tally[STARTED] == ALL_CLOSED)
                or (time == store.tally[CLOCK] and is_full(store, terms, batch, row))
            ):
                begin(store, ghosts, counting, ages, terms, time, out)
            if store.tally[SPARE] == 0 or crowded(store, terms, stream):
                return NEED_ROOM
            if full(counting):
                return NEED_SKETCH
            if row >= cursor[SEEN_AHEAD]:
                look_ahead(store, ghosts, counting, batch, row, cursor[SCRATCH:])
                cursor[SEEN_AHEAD] = row + AHEAD
            look_after_leavers(store, cursor[LEAVERS:])
        low = time - terms.limits[WINDOW, other]
        high = time + terms.limits[WINDOW, stream]
        mark = time
        cut = False
        if terms.counted:
            low, high = store.streams[ENTERED, other] - terms.limits[WINDOW, other], FAR
            mark = cursor[NUMBERED + stream] + 1
            cut = mark < store.streams[ENTERED, stream] - terms.limits[WINDOW, stream]
        if cursor[PASS] == SAME:
            low = max(low, cursor[FENCE + other])
        elif cursor[PASS] == BEFORE:
            high = cursor[FENCE + other] - 1
        if batch.flags[row, MATCHABLE] != 0 and not cut:
            cursor[RESUME] = probe(store, cursor[RESUME], key, other, row, low, high, out)
            if cursor[RESUME] >= 0:
                return PAIRS_FULL
            _meet_all(store, ghosts, ages, terms, batch, row, low, high)
        cursor[NUMBERED + stream] += 1
        cursor[ROW] += 1
        if cursor[PASS] != BEFORE:
            _take_in(store, ghosts, counting, ages, terms, batch, row, mark, cut, out, slots)


@compiled
def pass_until(
    store: Store, ghosts: Ghosts, counting: Counting, ages: Ages, terms: Terms, time: int, out: Out
) -> None:
    """End the open instant, and let the time come when the next row is no older than `time`."""
    if store.tally[STARTED] == 0 or time <= store.tally[CLOCK]:
        return
    close(store, ghosts, counting, ages, terms, False, out)
    store.tally[CLOCK] = time - 1
    reach(terms, time)
    for stream in range(store.streams.shape[1]):
        expire(store, counting, terms, stream, oldest_alive(store, terms, stream), out)


@compiled
def settle_between(
    store: Store, ghosts: Ghosts, counting: Counting, ages: Ages, terms: Terms, out: Out, last: bool
) -> None:
    """Do what watermarks, a smaller budget or a shorter window ask for between two batches."""
    passed = not terms.in_order
    reach(terms, FAR)
    for stream in range(store.streams.shape[1]):
        if terms.limits[COMING, stream] <= store.tally[CLOCK]:
            passed = False
    if last or passed:
        close(store, ghosts, counting, ages, terms, False, out)
    if store.tally[STARTED] == 0:
        return
    for stream in range(store.streams.shape[1]):
        alive = oldest_alive(store, terms, stream)
        if store.tally[STARTED] == OPEN_NOW and not terms.whole:
            alive = min(alive, store.tally[CLOCK])  # rows of the open instant have no turn yet
        expire(store, counting, terms, stream, alive, out)
    if terms.bounded:
        take_share(store, terms)
        for pool in range(terms.pools):
            contest(store, ghosts, counting, ages, terms, pool, out)
