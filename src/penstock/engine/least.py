"""Which row of a pool is worth least: from the queue, from the age cursors, or by asking all."""

from penstock.arrivals.ages import Ages
from penstock.arrivals.counting import Counting
from penstock.compiled import inner
from penstock.engine.ahead import read_surroundings_ahead
from penstock.engine.ranks import position, rank_of
from penstock.kernels.cursors import least_by_age
from penstock.kernels.ghosts import Ghosts
from penstock.kernels.index import MARK
from penstock.kernels.queue import (
    alive,
    as_rank_key,
    drop_last,
    first_to_leave,
    last_few,
    push,
    slot_of,
)
from penstock.kernels.store import (
    FIRST_CELL,
    NEWER,
    OLDEST,
    QUEUE_RANK,
    QUEUE_WORD,
    QUEUED,
    TURN,
    UNPLACED,
    Store,
)
from penstock.kernels.terms import BY_AGE, POOL, Terms


@inner
def least_of_queue(
    store: Store, ghosts: Ghosts, counting: Counting, ages: Ages, terms: Terms, pool: int
) -> int:
    """Take the first of the queue whose rank is up to date.

    What the queue knows of a rank is never too high, because statistics only rise
    between two panes; so a first one that is up to date is the lowest.
    """
    while True:
        end = store.streams[FIRST_CELL, pool] + store.streams[QUEUED, pool]
        for at in range(end - last_few(store, terms, pool), end):
            rank, word = store.queue[at, QUEUE_RANK], store.queue[at, QUEUE_WORD]
            if alive(store, terms, pool, rank, word):
                read_surroundings_ahead(store, ghosts, counting, slot_of(word))
        cell = first_to_leave(store, terms, pool)
        if cell < 0:
            continue
        known, slot = store.queue[cell, QUEUE_RANK], slot_of(store.queue[cell, QUEUE_WORD])
        drop_last(store, pool)
        if terms.fixed:
            return slot
        now = as_rank_key(rank_of(store, counting, ages, terms, slot))
        if now <= known:
            return slot
        push(store, terms, pool, slot, now)


@inner
def _leaves_before(
    store: Store, terms: Terms, a: int, a_rank: float, b: int, b_rank: float
) -> bool:
    """Say whether row `a` is given up before row `b`: by rank, second rank, age."""
    if a_rank != b_rank:
        return a_rank < b_rank
    worth, wide = store.worth, store.wide
    if terms.second >= 0 and worth[a, terms.second] != worth[b, terms.second]:
        return worth[a, terms.second] < worth[b, terms.second]
    # Ordinals of two streams' count windows do not compare; their turns do.
    if not terms.counted and wide[a, MARK] != wide[b, MARK]:
        return wide[a, MARK] < wide[b, MARK]
    return wide[a, TURN] < wide[b, TURN]


@inner
def least_of_all(store: Store, counting: Counting, ages: Ages, terms: Terms, pool: int) -> int:
    """Return the lowest row by asking for every stream's lowest age bucket, or for every row."""
    found, least = -1, 0.0
    for stream in range(store.streams.shape[1]):
        if terms.limits[POOL, stream] != pool:
            continue
        by_age = terms.how == BY_AGE
        slot = store.streams[OLDEST, stream] + 0
        if by_age:
            slot = least_by_age(store, ages, stream, position(store, terms, stream)) + 0
        while slot >= 0:
            if store.wide[slot, TURN] != UNPLACED:
                rank = rank_of(store, counting, ages, terms, slot)
                if found < 0 or _leaves_before(store, terms, slot, rank, found, least):
                    found, least = slot, rank
            slot = -1 if by_age else store.links[slot, NEWER] + 0
    return found
