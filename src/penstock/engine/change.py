"""Another budget, or windows of another length, for a join that runs."""

from dataclasses import replace

import pyarrow as pa

from penstock.engine.plan import reach
from penstock.engine.sequence import LATEST
from penstock.engine.state import State
from penstock.engine.step import Flow
from penstock.errors import InvalidQuery
from penstock.kernels.demand import rescale
from penstock.kernels.terms import BUDGET, LEFT_PART, SHARE, WATERMARK, WINDOW
from penstock.query import Budget, Window


def change(
    state: State,
    *,
    memory: Budget | None = None,
    left: float | None = None,
    places: tuple[int, int] | None = None,
    windows: tuple[Window, Window] | None = None,
    begins: int | None = None,
) -> State:
    """Return the state under another budget or other windows of the same kind.

    What no longer fits is shed, and what has now expired leaves, at once; the rows that were
    shed are handed over by the next step.

    Parameters
    ----------
    state
        It is taken over.
    memory
        The new budget, of the kind that the join began with.
    left
        The part of it that the left side has, where memory is split; None: as it began.
    places
        Instead of both, for how many rows each pool has places, which may be none; a budget that
        counts rows only.  A shared pool is the first.
    windows
        The new windows, of the kind that the join began with.
    begins
        The event time from which on this holds: rows that are older have all had their say.
    """
    if begins is not None:
        before = Flow(state, (None, None), watermark=state.limits[WATERMARK])
        before.pass_until(begins)
        state = before.state
    limits = state.limits.copy()
    if memory is not None:
        began = state.plan.query.memory
        if began is None or memory.unit != began.unit:
            raise InvalidQuery(
                f"memory={memory.amount:g}: the join began with a budget of another kind; start it "
                "with a budget in the same unit."
            )
        replace(state.plan.query, memory=memory)  # refuses what it would have refused at the start
        left = None if state.plan.query.split == "shared" else left
        limits[BUDGET] = state.plan.budget(memory, left)
        limits[[SHARE, LEFT_PART], 0] = state.plan.share(memory, left)
    if places is not None:
        limits[BUDGET] = places
    if windows is not None:
        kinds = [window.kind for window in windows]
        if kinds != [window.kind for window in state.plan.query.windows]:
            raise InvalidQuery(
                f"within={kinds}: the join began with windows of another kind; only lengths change."
            )
        limits[WINDOW] = list(map(reach, windows))
    lengths = (state.limits[WINDOW], limits[WINDOW])
    state = state.take_over()
    state.store = state.store._replace(demand=rescale(state.store.demand, lengths))
    state.limits = limits
    disordered = bool((limits[WATERMARK] >= -LATEST).any())
    flow = Flow(state, (None, None), watermark=limits[WATERMARK] if disordered else None)
    for _ in flow:
        pass
    if state.plan.side.shed_rows:
        flow.state.leaving = tuple(pa.concat_tables(tables) for tables in flow.shed)
    return flow.state
