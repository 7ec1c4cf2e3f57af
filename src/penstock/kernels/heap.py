"""Which held row leaves next: a heap of slots, the lowest rank on top.

Between equal ranks the lower second rank leaves, then the older row.  Every slot
knows its spot in the heap, so that a row which leaves for another reason can be
taken out of the middle.
"""

from typing import Any

from penstock.compiled import inner
from penstock.kernels.index import MARK
from penstock.kernels.store import FIRST_HEAP, IN_HEAP, RANK, SPOT, TURN, Store
from penstock.kernels.terms import Terms

_WAY = 4  # children per node: half the levels of a binary heap, and siblings share a cache line


@inner
def leaves_before(store: Store, terms: Terms, a: int, b: int) -> bool:
    """Say whether row `a` is given up before row `b`."""
    worth, wide = store.worth, store.wide
    if worth[a, RANK] != worth[b, RANK]:
        return worth[a, RANK] < worth[b, RANK]
    if terms.second >= 0 and worth[a, terms.second] != worth[b, terms.second]:
        return worth[a, terms.second] < worth[b, terms.second]
    # Ordinals of two streams' count windows do not compare; their turns do.
    if not terms.counted and wide[a, MARK] != wide[b, MARK]:
        return wide[a, MARK] < wide[b, MARK]
    return wide[a, TURN] < wide[b, TURN]


@inner
def _place(store: Store, heap: Any, spot: int, slot: int) -> None:
    heap[spot] = slot
    store.links[slot, SPOT] = spot


@inner
def rise(store: Store, terms: Terms, pool: int, spot: int) -> None:
    """Move the slot at `spot` up to where it belongs."""
    heap = store.lists[FIRST_HEAP + pool]
    slot = heap[spot]
    while spot > 0:
        parent = (spot - 1) // _WAY
        if not leaves_before(store, terms, slot, heap[parent]):
            break
        _place(store, heap, spot, heap[parent])
        spot = parent
    _place(store, heap, spot, slot)


@inner
def sink(store: Store, terms: Terms, pool: int, spot: int) -> None:
    """Move the slot at `spot` down to where it belongs."""
    heap, size = store.lists[FIRST_HEAP + pool], store.streams[IN_HEAP, pool]
    slot = heap[spot]
    while True:
        first = spot * _WAY + 1
        if first >= size:
            break
        lowest = first
        for child in range(first + 1, min(first + _WAY, size)):
            if leaves_before(store, terms, heap[child], heap[lowest]):
                lowest = child
        if not leaves_before(store, terms, heap[lowest], slot):
            break
        _place(store, heap, spot, heap[lowest])
        spot = lowest
    _place(store, heap, spot, slot)


@inner
def push(store: Store, terms: Terms, pool: int, slot: int) -> None:
    """Add a slot whose rank is written."""
    spot = store.streams[IN_HEAP, pool]
    store.streams[IN_HEAP, pool] += 1
    _place(store, store.lists[FIRST_HEAP + pool], spot, slot)
    rise(store, terms, pool, spot)


@inner
def pull(store: Store, terms: Terms, pool: int, slot: int) -> None:
    """Take a slot out, wherever it stands."""
    spot = store.links[slot, SPOT]
    last = store.streams[IN_HEAP, pool] - 1
    store.streams[IN_HEAP, pool] = last
    if spot == last:
        return
    moved = store.lists[FIRST_HEAP + pool, last]
    _place(store, store.lists[FIRST_HEAP + pool], spot, moved)
    settle(store, terms, pool, moved)


@inner
def settle(store: Store, terms: Terms, pool: int, slot: int) -> None:
    """Move a slot, whose rank has changed, up or down."""
    rise(store, terms, pool, store.links[slot, SPOT])
    sink(store, terms, pool, store.links[slot, SPOT])


@inner
def heapify(store: Store, terms: Terms, pool: int) -> None:
    """Bring a heap whose ranks have all changed back into order."""
    for spot in range((store.streams[IN_HEAP, pool] - 2) // _WAY, -1, -1):
        sink(store, terms, pool, spot)
