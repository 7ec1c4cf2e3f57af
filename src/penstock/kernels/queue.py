"""Which held row leaves next: a queue that is sorted no further than it is asked.

    cells    | 9 7 8 9 | 5 6 5 | 3 4 | 1 2 |   the row to leave next is in the last chunk
    fences             6       4     2         no row right of a fence ranks above it

The last chunk is cut in two by a row of its own until it is small, as quicksort would do
on the way to the lowest row, and what was learned on the way stays.  A newcomer goes into
the chunk it belongs to; every chunk right of it moves by one, which costs one move each.
All of this runs over memory in order, so that a queue of millions costs little more per row
than one of thousands; a heap waits for memory at every level.

Rows that leave for another reason, or whose rank has changed, stay in the queue as dead
cells: a cell is alive if its row still has the turn the cell knows.  Dead ones are thrown
out when the queue is full.  A cell holds a rank, as an integer of the same order, and a
word of turn and slot; the turn is counted from a base, to fit.

References
----------
Navarro, Paredes. On sorting, heaps, and minimum spanning trees. Algorithmica 2010, where the
structure is called quickheap.
"""

from typing import Any

import numpy as np

from penstock.compiled import compiled, inner, prefetch
from penstock.kernels.index import MARK
from penstock.kernels.store import (
    BASE,
    BEGIN,
    CELLS,
    CHUNKS,
    DEPTH,
    DISORDER,
    FENCE_MARK,
    FENCE_RANK,
    FENCE_SECOND,
    FENCE_TURN,
    FIRST_CELL,
    LOOKED_UP,
    QUEUE_RANK,
    QUEUE_WORD,
    QUEUED,
    TURN,
    TURNS,
    Store,
)
from penstock.kernels.terms import Terms

_SMALL = 16  # a chunk that is searched from end to end: four cache lines
_SHIFT = np.int64(32)
_SLOT_BITS = np.int64(0xFFFFFFFF)
_CELLS_OF_A_LINE = 4
_SOON = 48  # cells whose rows are looked up ahead: as many as memory can be asked for at a time
_TURNS_APART = 2**30  # rows whose turns lie further apart are told apart by the slots' own


@inner
def as_rank_key(rank: float) -> int:
    """Return an integer that compares with others as the ranks do; 0.0 and -0.0 are equal."""
    bits = np.float64(rank + 0.0).view(np.int64)
    return int(bits ^ ((bits >> np.int64(63)) & np.int64(0x7FFFFFFFFFFFFFFF)))


@inner
def slot_of(word: int) -> int:
    """Return the slot a cell speaks of."""
    return int(word & _SLOT_BITS)


@inner
def _word(store: Store, pool: int, slot: int) -> int:
    since = max(store.wide[slot, TURN] - store.streams[BASE, pool], 0)
    return (since << _SHIFT) | slot


@inner
def _turn(store: Store, pool: int, word: int) -> int:
    since = word >> _SHIFT
    return store.streams[BASE, pool] + since if since > 0 else store.wide[word & _SLOT_BITS, TURN]


@inner
def alive(store: Store, terms: Terms, pool: int, key: int, word: int) -> bool:
    """Say whether a cell's row is still held, with the rank the cell knows."""
    slot = slot_of(word)
    if _word(store, pool, slot) != word or store.wide[slot, TURN] < 0:
        return False
    return terms.kept_rank < 0 or as_rank_key(store.worth[slot, terms.kept_rank]) == key


@inner
def _second(store: Store, terms: Terms, word: int) -> int:
    return as_rank_key(store.worth[word & _SLOT_BITS, terms.second]) if terms.second >= 0 else 0


@inner
def _mark(store: Store, word: int) -> int:
    return store.wide[word & _SLOT_BITS, MARK] if store.tally[DISORDER] != 0 else 0


@inner
def _leaves_before(
    store: Store, terms: Terms, pool: int, a_key: int, a_word: int, b_key: int, b_word: int
) -> bool:
    """Say whether the row of one cell is given up before that of another."""
    if a_key != b_key:
        return a_key < b_key
    a_fact, b_fact = _second(store, terms, a_word), _second(store, terms, b_word)
    if a_fact != b_fact:
        return a_fact < b_fact
    a_fact, b_fact = _mark(store, a_word), _mark(store, b_word)
    if a_fact != b_fact:
        return a_fact < b_fact
    return _turn(store, pool, a_word) < _turn(store, pool, b_word)


@inner
def _above(store: Store, terms: Terms, pool: int, key: int, word: int, fence: Any) -> bool:
    """Say whether the row of a cell is given up after all rows behind a fence."""
    if key != fence[FENCE_RANK]:
        return key > fence[FENCE_RANK]
    fact = _second(store, terms, word)
    if fact != fence[FENCE_SECOND]:
        return fact > fence[FENCE_SECOND]
    fact = _mark(store, word)
    if fact != fence[FENCE_MARK]:
        return fact > fence[FENCE_MARK]
    return _turn(store, pool, word) > fence[FENCE_TURN]


@inner
def push(store: Store, terms: Terms, pool: int, slot: int, key: int) -> None:
    """Add a row by the key of its rank; the caller has seen that there is a cell for it."""
    streams = store.streams
    if (
        streams[QUEUED, pool] == streams[CELLS, pool]
        or store.wide[slot, TURN] - streams[BASE, pool] >= 2 * _TURNS_APART - 1
    ):
        throw_out_dead(store, terms, pool)
    first = streams[FIRST_CELL, pool]
    queue, fences = store.queue, store.fences[pool]
    word = _word(store, pool, slot)
    hole = first + streams[QUEUED, pool]
    chunk = streams[CHUNKS, pool] - 1
    while chunk > 0 and _above(store, terms, pool, key, word, fences[chunk]):
        begin = first + fences[chunk, BEGIN]
        queue[hole, QUEUE_RANK] = queue[begin, QUEUE_RANK]
        queue[hole, QUEUE_WORD] = queue[begin, QUEUE_WORD]
        prefetch(queue, min(begin + _CELLS_OF_A_LINE, len(queue) - 1))  # soon it begins there
        fences[chunk, BEGIN] += 1
        hole = begin
        chunk -= 1
    queue[hole, QUEUE_RANK] = key
    queue[hole, QUEUE_WORD] = word
    streams[QUEUED, pool] += 1


@inner
def _middle(store: Store, terms: Terms, pool: int, a: int, b: int, c: int) -> int:
    """Return which of three cells is neither the first nor the last to leave."""
    queue = store.queue
    ak, aw = queue[a, QUEUE_RANK], queue[a, QUEUE_WORD]
    bk, bw = queue[b, QUEUE_RANK], queue[b, QUEUE_WORD]
    ck, cw = queue[c, QUEUE_RANK], queue[c, QUEUE_WORD]
    if _leaves_before(store, terms, pool, ak, aw, bk, bw):
        if _leaves_before(store, terms, pool, bk, bw, ck, cw):
            return b
        return c if _leaves_before(store, terms, pool, ak, aw, ck, cw) else a
    if _leaves_before(store, terms, pool, ak, aw, ck, cw):
        return a
    return c if _leaves_before(store, terms, pool, bk, bw, ck, cw) else b


@inner
def _cut_last(store: Store, terms: Terms, pool: int) -> bool:
    """Cut the last chunk in two; say whether that could be done."""
    streams, queue = store.streams, store.queue
    if streams[CHUNKS, pool] == DEPTH:
        _forget_half(store, pool)
    chunk, first = streams[CHUNKS, pool], streams[FIRST_CELL, pool]
    low = first + (store.fences[pool, chunk - 1, BEGIN] if chunk > 1 else 0)
    high = first + streams[QUEUED, pool] - 1
    quarter = (high - low) // 4
    at = _middle(store, terms, pool, low + quarter, low + 2 * quarter, high - quarter)
    fence = store.fences[pool, chunk]
    word = queue[at, QUEUE_WORD]
    fence[FENCE_RANK] = queue[at, QUEUE_RANK]
    fence[FENCE_SECOND], fence[FENCE_MARK] = _second(store, terms, word), _mark(store, word)
    fence[FENCE_TURN] = _turn(store, pool, word)
    i, j = low, high
    while True:
        while i <= j and _above(
            store, terms, pool, queue[i, QUEUE_RANK], queue[i, QUEUE_WORD], fence
        ):
            i += 1
        while i <= j and not _above(
            store, terms, pool, queue[j, QUEUE_RANK], queue[j, QUEUE_WORD], fence
        ):
            j -= 1
        if i >= j:
            break
        _swap(queue, i, j)
    if i == low or i > high:
        return False
    fence[BEGIN] = i - first
    streams[CHUNKS, pool] = chunk + 1
    return True


@inner
def _forget_half(store: Store, pool: int) -> None:
    """Join every chunk with the next: where the lowest keep coming, chunks would pile up."""
    fences, kept = store.fences[pool], 1
    for chunk in range(2, store.streams[CHUNKS, pool], 2):
        for fact in range(fences.shape[1]):
            fences[kept, fact] = fences[chunk, fact]
        kept += 1
    store.streams[CHUNKS, pool] = kept


@inner
def _swap(queue: Any, i: int, j: int) -> None:
    key, word = queue[i, QUEUE_RANK], queue[i, QUEUE_WORD]
    queue[i, QUEUE_RANK], queue[i, QUEUE_WORD] = queue[j, QUEUE_RANK], queue[j, QUEUE_WORD]
    queue[j, QUEUE_RANK], queue[j, QUEUE_WORD] = key, word


@inner
def last_few(store: Store, terms: Terms, pool: int) -> int:
    """See to it that the last chunk is small and has rows; return how many, or 0 if asked before.

    All of them leave soon, and those left of them next.
    """
    streams, queue = store.streams, store.queue
    first = streams[FIRST_CELL, pool]
    while True:
        chunk = streams[CHUNKS, pool] - 1
        low = first + (store.fences[pool, chunk, BEGIN] if chunk > 0 else 0)
        end = first + streams[QUEUED, pool]
        if low == end:
            streams[CHUNKS, pool] = chunk
            streams[LOOKED_UP, pool] = 0
        elif end - low > _SMALL and _cut_last(store, terms, pool):
            streams[LOOKED_UP, pool] = 0
        else:
            break
    if streams[LOOKED_UP, pool] != 0:
        return 0
    streams[LOOKED_UP, pool] = 1
    for at in range(max(first, low - _SMALL), end):
        prefetch(store.wide, queue[at, QUEUE_WORD] & _SLOT_BITS)
    return min(end - low, _SMALL)


@inner
def first_to_leave(store: Store, terms: Terms, pool: int) -> int:
    """Return the cell of the last chunk's row to leave first, at the very end now; -1 if dead."""
    streams, queue = store.streams, store.queue
    first, chunk = streams[FIRST_CELL, pool], streams[CHUNKS, pool] - 1
    low = first + (store.fences[pool, chunk, BEGIN] if chunk > 0 else 0)
    end = first + streams[QUEUED, pool]
    best = low
    for at in range(low + 1, end):
        if _leaves_before(
            store,
            terms,
            pool,
            queue[at, QUEUE_RANK],
            queue[at, QUEUE_WORD],
            queue[best, QUEUE_RANK],
            queue[best, QUEUE_WORD],
        ):
            best = at
    _swap(queue, best, end - 1)
    if alive(store, terms, pool, queue[end - 1, QUEUE_RANK], queue[end - 1, QUEUE_WORD]):
        return end - 1
    streams[QUEUED, pool] -= 1
    return -1


@inner
def drop_last(store: Store, pool: int) -> None:
    """Take the cell at the very end out."""
    store.streams[QUEUED, pool] -= 1


@inner
def throw_out_dead(store: Store, terms: Terms, pool: int) -> None:
    """Keep only cells of rows that are held, and count turns from a new base."""
    streams, queue, fences = store.streams, store.queue, store.fences[pool]
    first, end = streams[FIRST_CELL, pool], streams[FIRST_CELL, pool] + streams[QUEUED, pool]
    oldest = store.tally[TURNS]
    chunks, chunk, to = streams[CHUNKS, pool], 1, first
    for at in range(first, end):
        while chunk < chunks and first + fences[chunk, BEGIN] == at:
            fences[chunk, BEGIN] = to - first
            chunk += 1
        if at + _SOON < end:
            prefetch(store.wide, queue[at + _SOON, QUEUE_WORD] & _SLOT_BITS)
        key, word = queue[at, QUEUE_RANK], queue[at, QUEUE_WORD]
        if alive(store, terms, pool, key, word):
            oldest = min(oldest, _turn(store, pool, word))
            queue[to, QUEUE_RANK], queue[to, QUEUE_WORD] = key, word
            to += 1
    while chunk < chunks:
        fences[chunk, BEGIN] = to - first
        chunk += 1
    streams[QUEUED, pool] = to - first
    base = max(oldest, store.tally[TURNS] - _TURNS_APART) - 1
    for at in range(first, to):
        word = queue[at, QUEUE_WORD] + 0
        since = max(_turn(store, pool, word) - base, 0)
        queue[at, QUEUE_WORD] = (since << _SHIFT) | (word & _SLOT_BITS)
    streams[BASE, pool] = base


@compiled
def list_ranks(store: Store, terms: Terms, keys: Any) -> None:
    """Write the key of every queued row's rank, by slot."""
    for pool in range(len(store.fences)):
        first = store.streams[FIRST_CELL, pool]
        for at in range(first, first + store.streams[QUEUED, pool]):
            key, word = store.queue[at, QUEUE_RANK], store.queue[at, QUEUE_WORD]
            if alive(store, terms, pool, key, word):
                keys[word & _SLOT_BITS] = key


@inner
def forget_order(store: Store, pool: int) -> None:
    """Begin again with one chunk: ranks have changed all over."""
    store.streams[CHUNKS, pool] = 1


@inner
def note_disorder(store: Store) -> None:
    """Compare by event time before turn from now on; fences made until now know only turns."""
    if store.tally[DISORDER] == 0:
        store.tally[DISORDER] = 1
        for pool in range(len(store.fences)):
            forget_order(store, pool)
