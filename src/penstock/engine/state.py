"""The state of a join between two steps, and how it is opened for the next one."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.arrivals.ages import Ages
from penstock.arrivals.counting import Counting
from penstock.engine.health import Health
from penstock.engine.plan import Plan
from penstock.engine.segments import Segments
from penstock.errors import StateMoved
from penstock.kernels.demand import new_demand
from penstock.kernels.ghosts import HELD as GHOSTS_HELD
from penstock.kernels.ghosts import (
    LOST,
    LOST_VARIANCE,
    VALUE,
    VALUE_VARIANCE,
    Ghosts,
    unseen,
)
from penstock.kernels.store import (
    ARRIVED,
    CLOCK,
    EXPIRED,
    HELD,
    LATE,
    PEAK,
    SHED,
    STARTED,
    UNMATCHABLE,
    Store,
    bytes_of,
    new_store,
)
from penstock.kernels.terms import (
    BUDGET,
    COMING,
    LEFT_PART,
    LIMITS,
    POOL,
    REACHED,
    SHARE,
    WATERMARK,
    WINDOW,
)

NO_WATERMARK = -(2**62)  # before any event time


@dataclass
class State:
    """Everything a join remembers.  A step takes it over; `save` it first if you need it again."""

    plan: Plan
    store: Store
    ghosts: Ghosts
    counting: Counting
    ages: Ages
    limits: NDArray[np.int64]  # windows, budgets, pools, watermarks
    segments: Segments = field(default_factory=Segments)
    waiting: tuple[pa.Table | None, ...] = (None, None)
    leaving: tuple[pa.Table | None, ...] = (None, None)  # shed by a change; for the next step
    matched: int = 0
    value: float = 0.0
    moved: bool = False

    @property
    def nbytes(self) -> int:
        """What the state takes, all included."""
        arrays: tuple[Any, ...] = (*self.store, *self.ghosts, *self.counting, *self.ages)
        tables = sum(t.nbytes for t in (*self.waiting, *self.leaving) if t is not None)
        return bytes_of(arrays) + self.segments.nbytes + tables

    def take_over(self) -> "State":
        """Return this state for a step to change, and bar this handle from further use."""
        if self.moved:
            raise StateMoved(
                "this state was taken over by an earlier step; go on with the state that step "
                "returned, or restore a saved one."
            )
        self.moved = True
        return State(**{**self.__dict__, "moved": False})

    def health(self) -> Health:
        """Return the join's record of itself."""
        streams, sums = self.store.streams, self.ghosts.sums

        def of(row: int) -> tuple[int, ...]:
            return tuple(int(count) for count in streams[row])

        waiting = tuple(0 if table is None else table.num_rows for table in self.waiting)
        bounded, valued = self.plan.bounded, self.plan.query.valued
        return Health(
            arrived=tuple(a + w for a, w in zip(of(ARRIVED), waiting, strict=True)),
            held=of(HELD),
            shed=of(SHED),
            expired=of(EXPIRED),
            late=of(LATE),
            unmatchable=of(UNMATCHABLE),
            waiting=waiting,
            matched=self.matched,
            value=self.value if valued else float(self.matched),
            lost=float(sums[LOST]),
            lost_variance=max(0.0, float(sums[LOST_VARIANCE])),
            lost_value=float(sums[VALUE if valued else LOST]),
            lost_value_variance=max(0.0, float(sums[VALUE_VARIANCE if valued else LOST_VARIANCE])),
            unseen=unseen(self.ghosts),
            ghosts=int(sums[GHOSTS_HELD]),
            estimated=not bounded or len(self.ghosts.links) > 0,
            peak_rows=int(self.store.tally[PEAK]),
            budget=int(self.limits[BUDGET].sum()) if bounded else None,
            bytes=self.nbytes,
            clock=int(self.store.tally[CLOCK]) if self.store.tally[STARTED] else None,
        )


def start(plan: Plan) -> State:
    """Return the state of a join before its first row."""
    limits = np.zeros((LIMITS, 2), np.int64)
    limits[WINDOW] = plan.windows
    limits[BUDGET] = plan.budget()
    limits[POOL] = plan.pools
    limits[[WATERMARK, COMING, REACHED]] = NO_WATERMARK
    limits[[SHARE, LEFT_PART], 0] = plan.share()
    return State(
        plan=plan,
        store=new_store(2, plan.shape, new_demand(2, wanted=plan.shared_out)),
        ghosts=plan.new_ghosts(),
        counting=plan.new_counting(),
        ages=plan.new_ages(),
        limits=limits,
    )
