"""One step of a join: rows in, matches out, and the state for the next step."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.arrivals.counting import (
    LIMIT,
    MOST,
    SKETCHED,
    USED,
    forget_unseen,
    to_sketch,
    with_more,
)
from penstock.engine.compact import compacted
from penstock.engine.health import Health
from penstock.engine.hot_loop import advance, pass_until, settle_between
from penstock.engine.instants import CURSOR_CELLS, FALLEN, LEAVERS, RESUME, SCRATCH
from penstock.engine.joined import matches_of, output_schema, shed_rows, staying_rows
from penstock.engine.plan import ROWS_OF_AN_INSTANT, Plan
from penstock.engine.room import with_room
from penstock.engine.scratch import borrow, borrow_vast, hand_back, hand_back_vast
from penstock.engine.segments import row_of, segment_of
from penstock.engine.sequence import (
    CURRENT,
    LATEST,
    Sequenced,
    refuse_times,
    row_bytes,
    sequence,
    ticks,
)
from penstock.engine.state import NO_WATERMARK, State
from penstock.errors import InvalidQuery
from penstock.kernels.store import ARRIVED, LATE, SPARE, UNMATCHABLE
from penstock.kernels.terms import (
    COMING,
    DONE,
    GONE,
    GONE_FATE,
    GONE_PLACE,
    GONE_SHED,
    GONE_STREAM,
    GONE_WHEN,
    NEED_ROOM,
    NEED_SKETCH,
    OF_STREAM,
    PAIRS,
    REACHED,
    WATERMARK,
    Out,
)

_SLICE = 1 << 16  # rows taken in at once: what a step needs beside the state stays small
_PAIRS = 1 << 16  # pairs written before they are turned into rows

Tables = Sequence[pa.Table | None]  # one per stream; None brings nothing
Accepted = Sequence[pa.Table]


class Step(NamedTuple):
    """What a step produced."""

    matches: pa.Table | None
    shed: list[pa.Table] | None
    health: Health
    state: State


class Flow:
    """One step, bit by bit: iterate over its matches, then take `shed` and `state`.

    The memory it needs beside the state does not depend on how many matches there are.
    """

    def __init__(
        self,
        state: State,
        tables: Tables,
        *,
        watermark: Sequence[int] | int | None = None,
        next_watermark: Sequence[int] | int | None = None,
        last: bool = False,
    ) -> None:
        given = state.plan.accept_all(tables)
        refuse_times(state.plan, given)
        marks = None if watermark is None else _marks(state.plan, watermark)
        coming = marks if next_watermark is None else _marks(state.plan, next_watermark)
        self.state = state.take_over()
        self.shed = [[] if table is None else [table] for table in self.state.leaving]
        self.state.leaving = (None, None)
        self._tables: Accepted = given
        self._last = last
        self._in_order = marks is None
        if marks is not None:
            limits = self.state.limits.copy()
            limits[WATERMARK] = np.maximum(limits[WATERMARK], marks)
            limits[COMING] = np.maximum.reduce([limits[COMING], limits[WATERMARK], coming])
            limits[REACHED] = np.maximum(limits[REACHED], limits[WATERMARK])
            self.state.limits = limits

    def __iter__(self) -> Iterator[pa.Table]:
        state, plan = self.state, self.state.plan
        marks = state.limits[WATERMARK].copy()
        whole = plan.terms(state.limits, in_order=True).whole
        if whole and not self._in_order:
            # A row is late when it comes, not when its instant is whole.
            self._tables = _without_late(state, self._tables)
            state.limits[WATERMARK] = NO_WATERMARK
        tables = _with_waiting(state, self._tables)
        if whole and not self._last:
            tables, state.waiting = _hold_back(state, tables)
        else:
            state.waiting = (None, None)
        for part in _slices(plan, tables):
            yield from self._take_in(part)
        state.limits[WATERMARK] = marks
        self._settle()

    def pass_until(self, time: int) -> None:
        """Let the time come when the next row is no older than `time`."""
        state = self.state
        terms = state.plan.terms(state.limits, in_order=self._in_order)
        out, empty = _new_out(state, 0, pairs=0), sequence(state.plan, (None, None))
        with np.errstate(over="ignore"):
            pass_until(state.store, state.ghosts, state.counting, state.ages, terms, time, out)
        self._clean_up(out, empty)

    def _settle(self) -> None:
        state = self.state
        terms = state.plan.terms(state.limits, in_order=self._in_order)
        out = _new_out(state, 0, pairs=0)
        empty = sequence(state.plan, (None, None))
        with np.errstate(over="ignore"):
            settle_between(
                state.store, state.ghosts, state.counting, state.ages, terms, out, self._last
            )
        self._clean_up(out, empty)

    def _take_in(self, tables: Accepted) -> Iterator[pa.Table]:
        state, plan = self.state, self.state.plan
        sequenced = sequence(plan, tables)
        for stream, untimed in enumerate(sequenced.untimed):
            state.store.streams[[ARRIVED, UNMATCHABLE], stream] += untimed
        terms = plan.terms(state.limits, in_order=self._in_order)
        out = _new_out(state, len(sequenced.row), pairs=_PAIRS)
        cursor = np.zeros(CURSOR_CELLS, np.int64)
        cursor[RESUME] = -1
        cursor[LEAVERS:SCRATCH] = -1
        status = NEED_ROOM if state.store.tally[SPARE] == 0 else -1
        while status != DONE:
            if status == NEED_ROOM:
                state.store = with_room(state.store, plan, state.limits)
            elif status == NEED_SKETCH:
                state.counting = _with_counters(state)
                cursor[FALLEN] = state.counting.tally[SKETCHED]
            with np.errstate(over="ignore"):
                status = advance(
                    state.store,
                    state.ghosts,
                    state.counting,
                    state.ages,
                    terms,
                    sequenced.batch,
                    out,
                    sequenced.slots,
                    cursor,
                )
            if out.count[PAIRS]:
                pairs = out.pairs[: out.count[PAIRS]]
                for found in matches_of(plan, state.segments, sequenced, pairs):
                    state.matched += found.matched
                    state.value += found.value
                    if found.rows is not None and found.rows.num_rows:
                        yield found.rows
                out.count[PAIRS] = 0
        self._clean_up(out, sequenced)

    def _clean_up(self, out: Out, sequenced: Sequenced) -> None:
        """Let go of the payload of rows that left, and lay down that of rows that stay."""
        state, plan = self.state, self.state.plan
        gone = out.gone[: out.count[GONE]]
        places = gone[:, GONE_PLACE]
        old = segment_of(places) != CURRENT
        flags = sequenced.batch.flags
        if plan.side.shed_rows:
            is_shed = gone[:, GONE_FATE] == GONE_SHED
            streams, when = gone[is_shed, GONE_STREAM], gone[is_shed, GONE_WHEN]
            rows = shed_rows(plan, state.segments, sequenced, places[is_shed], when, streams)
            for kept, table in zip(self.shed, rows, strict=True):
                kept.append(table)
        state.segments.bury(places[old])
        sequenced.slots[row_of(places[~old])] = -1
        for stream in (0, 1):
            staying = np.flatnonzero((sequenced.slots >= 0) & (flags[:, OF_STREAM] == stream))
            if len(staying):
                kept_rows = staying_rows(sequenced, stream, staying)
                slots = sequenced.slots[staying]
                state.segments.lay_down(state.store.wide, stream, kept_rows, slots)
        state.segments.tidy(state.store.wide)
        sequenced.forget()
        hand_back(out.pairs)
        hand_back_vast(out.gone, int(out.count[GONE]))


def step(
    state: State,
    tables: Tables,
    *,
    watermark: Sequence[int] | int | None = None,
    next_watermark: Sequence[int] | int | None = None,
    last: bool = False,
) -> Step:
    """Take in a batch: one table per stream, or None where a stream brings nothing.

    Parameters
    ----------
    state
        What the last step returned, or `start(plan)`.  It is taken over.
    tables
        Rows in any order; they are taken in the order (time, stream, arrival).
    watermark
        Event time up to which each stream is complete.  None: rows come in time order, and
        one that is older than the newest instant is late.
    next_watermark
        The watermark of the next batch, where it is known already: rows that no later row
        can meet then leave in this step.
    last
        No rows will follow: end the open instant.
    """
    marks = {"watermark": watermark, "next_watermark": next_watermark}
    flow = Flow(state, tables, **marks, last=last)
    found = list(flow)
    plan = flow.state.plan
    matches = None
    if plan.side.output == "matches":
        matches = pa.concat_tables([output_schema(plan).empty_table(), *found])
    shed = [pa.concat_tables(parts) for parts in flow.shed] if plan.side.shed_rows else None
    return Step(matches, shed, flow.state.health(), flow.state)


def _marks(plan: Plan, watermark: Sequence[int] | int) -> list[int]:
    if plan.query.order == "evict-first":
        raise InvalidQuery(
            "order='evict-first': it takes rows in time order only; leave the watermark out, or "
            "use order='join-first'."
        )
    marks = watermark if isinstance(watermark, Sequence | np.ndarray) else (watermark, watermark)
    if len(marks) != 2 or not all(isinstance(mark, Integral) for mark in marks):
        raise InvalidQuery(
            f"watermark={watermark!r}: give one whole number for both streams, or one for each."
        )
    return [max(-LATEST, min(int(mark), LATEST)) for mark in marks]


def _with_waiting(state: State, tables: Accepted) -> Accepted:
    return [
        table if waiting is None else pa.concat_tables([waiting, table])
        for waiting, table in zip(state.waiting, tables, strict=True)
    ]


def _times(plan: Plan, stream: int, table: pa.Table) -> NDArray[np.int64]:
    column = table[plan.query.time[stream]]
    return ticks(pc.fill_null(column, pc.min(column)), name=plan.query.time[stream])


def _without_late(state: State, tables: Accepted) -> list[pa.Table]:
    """Return the rows that are not behind their watermark, and count the others."""
    kept = []
    for stream, table in enumerate(tables):
        timed = table[state.plan.query.time[stream]].is_valid().to_numpy()
        mark = state.limits[WATERMARK, stream]
        late = timed & (_times(state.plan, stream, table) < mark)
        state.store.streams[[ARRIVED, LATE], stream] += int(late.sum())
        kept.append(table.filter(pa.array(~late)))
    return kept


def _hold_back(state: State, tables: Accepted) -> tuple[Accepted, Any]:
    """Keep the newest instant for the next step, where instants must come whole.

    One that has no room in what the budget leaves for it is not waited for.
    """
    plan = state.plan
    times = [_times(plan, stream, table) for stream, table in enumerate(tables)]
    newest = max((int(t.max()) for t in times if len(t)), default=None)
    now, later = [], []
    for table, time in zip(tables, times, strict=True):
        waits = pa.array(time == newest)
        now.append(table.filter(pc.invert(waits)))
        held = table.filter(waits).combine_chunks()  # or there would be one for each step it waits
        later.append(compacted(held) if held.num_rows else None)
    waiting = [table for table in later if table is not None]
    takes = sum(int(plan.cost_of(row_bytes(t)).sum()) for t in waiting) if plan.costed else 0
    rows = sum(table.num_rows for table in waiting)
    if rows > ROWS_OF_AN_INSTANT or takes > plan.open_bytes(state.limits):
        return tables, (None, None)
    return now, tuple(later)


def _slices(plan: Plan, tables: Accepted) -> Iterator[Accepted]:
    """Cut a large batch at event times, so that what a step needs beside the state stays small."""
    if sum(table.num_rows for table in tables) <= _SLICE:
        yield tables
        return
    times = [_times(plan, stream, table) for stream, table in enumerate(tables)]
    order = np.sort(np.concatenate(times))
    cuts = np.unique(order[_SLICE::_SLICE])
    which = [np.searchsorted(cuts, time, side="right") for time in times]
    in_place = [len(w) == 0 or bool((np.diff(w) >= 0).all()) for w in which]
    for number in range(len(cuts) + 1):
        part = []
        for table, mine, sorted_already in zip(tables, which, in_place, strict=True):
            if sorted_already:
                first, end = np.searchsorted(mine, [number, number + 1])
                part.append(table.slice(first, end - first))
            else:
                part.append(table.filter(pa.array(mine == number)))
        yield part


def _new_out(state: State, rows: int, *, pairs: int) -> Out:
    held = int(state.store.streams[0].sum())
    return Out(borrow((pairs, 2), np.int64), borrow_vast(held + rows, 4), np.zeros(2, np.int64))


def _with_counters(state: State) -> Any:
    forget_unseen(state.counting)
    if state.counting.tally[USED] < state.counting.tally[LIMIT] * 3 // 4:
        return state.counting
    if state.counting.tally[LIMIT] < state.counting.tally[MOST]:
        return with_more(state.counting)
    return to_sketch(state.counting)
