"""How much room the store is given: little more than is held, no more than the budget asks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.engine.plan import Plan
from penstock.kernels.store import CELLS, HELD, SPARE, Store, grow, widen_queue
from penstock.kernels.terms import BUDGET, BY_QUEUE, POOL

_LEAST = 64  # rows for which room is made at once
_MANY = 1 << 16  # slots that lie where there is room for more: these are added as they are needed


def with_room(
    store: Store, plan: Plan, limits: NDArray[np.int64], *, rows: int | None = None
) -> Store:
    """Return the store with room for at least one more row of each stream, or for `rows` rows."""
    if rows is not None or store.tally[SPARE] == 0:
        slots = len(store.wide)
        places, held = _places(plan, limits), rows or slots
        wanted = max(slots + max(_LEAST, slots // (4 if slots < _MANY else 16)), held)
        keys = _enough(max(slots + slots // 4, held), held, places)
        store = grow(store, plan.shape, _enough(wanted, held, places), keys=keys)
    if plan.how == BY_QUEUE:
        for pool in range(plan.shape.queues):
            held = int(store.streams[HELD][limits[POOL] == pool].sum()) if rows is None else rows
            cells = int(store.streams[CELLS, pool])
            # Dead cells are thrown out when all are taken: an eighth of them keeps that rare.
            if held + held // 8 >= cells:
                most = _places(plan, limits, pool)
                wanted = held + max(_LEAST, held // 4)
                room = _enough(wanted, held, most and most + most // 8)
                store = widen_queue(store, pool, max(room, cells + _LEAST))
    return store


def _places(plan: Plan, limits: NDArray[np.int64], pool: int | None = None) -> int:
    """Return for how many rows the budget, or a pool's part of it, has places; 0: not known."""
    if not plan.bounded or plan.costed or plan.shared_out:
        return 0
    budget: Any = limits[BUDGET, : plan.pools[1] + 1]
    return int(budget.sum() if pool is None else budget[pool])


def _enough(wanted: int, held: int, places: int) -> int:
    """Return what is wanted, or only a little beside the places where that is all it takes."""
    most = places + _LEAST
    return min(wanted, most) if places and held < most else wanted
