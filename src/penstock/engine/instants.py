"""From one instant to the next: when one begins, how far it reaches, what it does first."""

from typing import Any

from penstock.arrivals.ages import Ages, turn_age_pane
from penstock.arrivals.counting import Counting, move_landmark, turn_pane
from penstock.compiled import inner
from penstock.engine.ahead import AHEAD
from penstock.engine.contest import close, expire, write_notes
from penstock.engine.ranks import oldest_alive, rerank
from penstock.kernels.ghosts import Ghosts
from penstock.kernels.store import CLOCK, ENTERED, INSTANTS, OPEN_NOW, STARTED, Store
from penstock.kernels.terms import (
    COMING,
    OF_STREAM,
    REACHED,
    ROW_COST,
    TIME,
    WATERMARK,
    Batch,
    Out,
    Terms,
)

# Cells of `cursor`.  NUMBERED and FENCE are the first of one per stream, LEAVERS of two.  FALLEN:
# counts have fallen since the loop stopped, so ranks have to be asked for anew.
ROW, PASS, RESUME, START, END, SEEN_AHEAD, NUMBERED, FENCE, FALLEN = 0, 1, 2, 3, 4, 5, 6, 8, 10
LEAVERS, SCRATCH = 11, 15
CURSOR_CELLS = SCRATCH + AHEAD
ALL, SAME, BEFORE = range(3)  # PASS: whom a newcomer meets; under evict-first in two passes


@inner
def turn_panes(counting: Counting, ages: Ages, stream: int, at: int) -> bool:
    """Let statistics turn over where a window has passed; say whether counts have fallen by it."""
    turn_age_pane(ages, stream, at)
    return turn_pane(counting, stream, at)


@inner
def begin(
    store: Store, ghosts: Ghosts, counting: Counting, ages: Ages, terms: Terms, time: int, out: Out
) -> None:
    """Close the open instant and begin the one of `time`: the clock, panes, expired rows.

    An instant that is taken in parts goes on.
    """
    tally = store.tally
    goes_on = not terms.whole and tally[STARTED] >= OPEN_NOW and time <= tally[CLOCK]
    close(store, ghosts, counting, ages, terms, goes_on, out)
    tally[CLOCK] = max(time, tally[CLOCK]) if tally[STARTED] else time
    tally[STARTED] = OPEN_NOW
    if not goes_on:
        tally[INSTANTS] += 1
    fallen = move_landmark(counting, tally[CLOCK], terms.half_life)
    reach(terms, tally[CLOCK])
    for stream in range(store.streams.shape[1]):
        if not terms.counted and turn_panes(counting, ages, stream, tally[CLOCK]):
            fallen = True
        expire(store, counting, terms, stream, oldest_alive(store, terms, stream), out)
    if fallen and not terms.fixed:
        rerank(store, counting, ages, terms)


@inner
def reach(terms: Terms, time: int) -> None:
    """Note that what is left of the batch is no older than `time`."""
    limits = terms.limits
    for stream in range(limits.shape[1]):
        no_older = min(time, limits[COMING, stream])
        limits[REACHED, stream] = max(limits[REACHED, stream], no_older)


@inner
def is_late(store: Store, terms: Terms, stream: int, time: int) -> bool:
    """Say whether a row comes behind its watermark: its own stream's, or everyone's clock."""
    if terms.in_order:
        return store.tally[STARTED] > 0 and time < store.tally[CLOCK]
    return time < terms.limits[WATERMARK, stream]


@inner
def _enter_whole(store: Store, terms: Terms, batch: Batch, cursor: Any) -> None:
    """Find where the instant, or what fits of it, ends; let its rows enter their windows."""
    first, rows = cursor[ROW], len(batch.numbers)
    time = batch.numbers[first, TIME]
    for stream in range(store.streams.shape[1]):
        entered = store.streams[ENTERED, stream]
        cursor[NUMBERED + stream] = entered
        cursor[FENCE + stream] = entered + 1 if terms.counted else time
    end, cost = first, 0
    last = min(rows, first + terms.largest)
    while end < last and batch.numbers[end, TIME] == time:
        if terms.costed:
            cost += batch.numbers[end, ROW_COST]
            if cost > terms.heaviest and end > first:
                break
        stream = batch.flags[end, OF_STREAM]
        if not is_late(store, terms, stream, time):
            store.streams[ENTERED, stream] += 1
        end += 1
    cursor[START], cursor[END] = first, end


@inner
def next_instant(
    store: Store,
    ghosts: Ghosts,
    counting: Counting,
    ages: Ages,
    terms: Terms,
    batch: Batch,
    out: Out,
    cursor: Any,
) -> bool:
    """Where instants come whole: end this one, or begin its second pass; say if rows are left."""
    row = cursor[ROW]
    if cursor[PASS] == BEFORE:
        write_notes(store, counting, ages, terms)
    second_pass = terms.evict_first and cursor[PASS] == SAME and store.tally[STARTED] == OPEN_NOW
    close(store, ghosts, counting, ages, terms, False, out)
    if second_pass:
        cursor[PASS], cursor[ROW] = BEFORE, cursor[START]
        for stream in range(store.streams.shape[1]):
            cursor[NUMBERED + stream] = cursor[FENCE + stream] - 1
        return True
    cursor[PASS] = ALL
    if row == len(batch.numbers):
        return False
    cursor[PASS] = SAME if terms.evict_first else ALL
    _enter_whole(store, terms, batch, cursor)
    time = batch.numbers[row, TIME]
    if not (terms.in_order and is_late(store, terms, 0, time)):
        begin(store, ghosts, counting, ages, terms, time, out)
    return True
