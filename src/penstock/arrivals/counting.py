"""How often each key came: counters in panes, decayed, or of held rows; a sketch for many keys.

One table serves all streams, because a policy that ranks a row of one stream
asks about the same key in the other.  Each key has two counters a stream: NOW,
and BEFORE for the pane that has passed.  Between two panes counters only rise,
which is what lets the eviction order be lazy.
"""

from typing import Any, NamedTuple

import numpy as np

from penstock.compiled import by_address, compiled, inner, prefetch

NOTHING, PANES, RETAINED, DECAYED = range(4)  # what is counted
NOW, BEFORE = 0, 1
MODE, USED, LIMIT, SKETCHED, LANDMARK, MOST = range(6)  # cells of `tally`
PANE, LENGTH = 0, 1  # rows of `panes`
_FREE = -(2**63)
_AT_FIRST = 1024  # keys for which there are counters from the start
_LONG_AGO = -(2**62)  # before any event time: the first row sets the landmark and turns the pane
# The sketch takes the least of four counters.  Those of a key lie in one block, so that looking
# at them costs one wait for memory; each is one of the four that its part of the block has.
_PARTS, _CHOICES = 4, 4
_BLOCK = _PARTS * _CHOICES
_COARSE = np.int64(-(1 << 51))  # all bits of a number but those after its two highest


@by_address
class Counting(NamedTuple):
    """The counters, as flat arrays."""

    keys: Any  # int64[cell]
    counts: Any  # float64[cell, 2 * stream + NOW|BEFORE]
    sketch: Any  # float64[block * 16 + cell, 2 * stream + NOW|BEFORE]; none until it is needed
    tally: Any  # int64[6]
    panes: (
        Any  # int64[2, stream]: the newest row's pane; how long a pane is, 0 for one pane for ever
    )


def new_counting(mode: int, *, limit: int, pane_lengths: list[int]) -> Counting:
    """Return counters for up to `limit` keys, after which a sketch takes over.

    There are few at first, and more when they are needed: all of them are gone through whenever
    a pane turns, and where windows are short that is often.
    """
    streams, first = len(pane_lengths), min(limit, _AT_FIRST)
    cells = _cells_for(first) if mode != NOTHING else 0
    return Counting(
        keys=np.full(cells, _FREE, np.int64),
        counts=np.zeros((cells, 2 * streams)),
        sketch=np.zeros((0, 2 * streams)),
        tally=np.array([mode, 0, first, 0, _LONG_AGO, limit]),
        panes=np.array([[_LONG_AGO] * streams, pane_lengths]),
    )


def bytes_at_most(counting: Counting) -> int:
    """Return what the counters take when there are as many as there may be."""
    if counting.tally[MODE] == NOTHING:
        return 0
    return _cells_for(int(counting.tally[MOST])) * 8 * (1 + counting.counts.shape[1])


def _cells_for(keys: int) -> int:
    return 8 + keys + keys // 2


@inner
def counter_of(keys: Any, key: int) -> int:
    """Return where the counters of a key want to lie."""
    return (((key ^ (key >> 32)) & 0x7FFFFFFF) * len(keys)) >> 31


@inner
def _cell_of(keys: Any, key: int) -> int:
    if key == _FREE:
        key = _FREE + 1
    cell = counter_of(keys, key)
    while keys[cell] != _FREE and keys[cell] != key:
        cell = cell + 1 if cell + 1 < len(keys) else 0
    return cell


@inner
def block_of(sketch: Any, key: int) -> int:
    """Return the first cell of a key's block in the sketch."""
    return ((((key >> 32) & 0x7FFFFFFF) * (len(sketch) // _BLOCK)) >> 31) * _BLOCK


@inner
def _sketched(key: int, block: int, part: int) -> int:
    return block + part * _CHOICES + ((key >> (2 * part)) & (_CHOICES - 1))


@inner
def _least(sketch: Any, key: int, column: int) -> float:
    least, block = np.inf, block_of(sketch, key)
    for part in range(_PARTS):
        least = min(least, sketch[_sketched(key, block, part), column])
    return least


@inner
def _add_to_sketch(sketch: Any, key: int, column: int, weight: float, mode: int) -> None:
    """Raise the key's least counters only, since the others already hold others' arrivals.

    Where rows are counted down again when they leave, all of them have to move.
    """
    block, known = block_of(sketch, key), _least(sketch, key, column) + weight
    for part in range(_PARTS):
        cell = _sketched(key, block, part)
        if mode == RETAINED:
            sketch[cell, column] += weight
        else:
            sketch[cell, column] = max(sketch[cell, column], known)


@inner
def _look_up(sketch: Any, key: int, column: int) -> float:
    """Return an estimate, rounded down to 1 or 1.5 times a power of two.

    It is no better than that, and a rank that moves with every stranger's arrival would have
    to be looked at again and again.
    """
    seen = _least(sketch, key, column + NOW) + _least(sketch, key, column + BEFORE)
    if seen <= 0.0:
        return 0.0
    # The exponent, and of what comes behind the point the first bit; a logarithm takes longer
    # than all else here.
    return float(np.int64(np.float64(seen).view(np.int64) & _COARSE).view(np.float64))


@inner
def full(counting: Counting) -> bool:
    """Say whether the next new key would find no counter."""
    return (
        counting.tally[MODE] != NOTHING
        and counting.tally[SKETCHED] == 0
        and counting.tally[USED] >= counting.tally[LIMIT]
    )


@inner
def add(counting: Counting, key: int, stream: int, weight: float) -> None:
    """Count a row of `stream`; the caller has seen that the counters are not full."""
    column = 2 * stream + NOW
    if counting.tally[SKETCHED] == 1:
        _add_to_sketch(counting.sketch, key, column, weight, counting.tally[MODE])
        return
    cell = _cell_of(counting.keys, key)
    if counting.keys[cell] == _FREE:
        counting.keys[cell] = key if key != _FREE else _FREE + 1
        counting.tally[USED] += 1
    counting.counts[cell, column] += weight


@inner
def count_of(counting: Counting, key: int, stream: int) -> float:
    """Return how often the key came on `stream`, as far as we remember."""
    column = 2 * stream
    if counting.tally[SKETCHED] == 1:
        return _look_up(counting.sketch, key, column)
    cell = _cell_of(counting.keys, key)
    if counting.keys[cell] == _FREE:
        return 0.0
    return counting.counts[cell, column + NOW] + counting.counts[cell, column + BEFORE]


@inner
def read_count_ahead(counting: Counting, key: int) -> None:
    """Ask memory for the counters of a key that will be looked at soon."""
    if counting.tally[SKETCHED] == 1:
        block = block_of(counting.sketch, key)
        for part in range(_PARTS):
            prefetch(counting.sketch, _sketched(key, block, part))
    elif len(counting.keys) > 0:
        cell = counter_of(counting.keys, key)
        prefetch(counting.keys, cell)
        prefetch(counting.counts, cell)


@inner
def turn_pane(counting: Counting, stream: int, at: int) -> bool:
    """Move `stream` to the pane of `at`; say whether counts have fallen by it."""
    if counting.tally[MODE] != PANES or counting.panes[LENGTH, stream] == 0:
        return False
    pane = at // counting.panes[LENGTH, stream]
    passed = pane - counting.panes[PANE, stream]
    if passed <= 0:
        return False
    counting.panes[PANE, stream] = pane
    now, before = 2 * stream + NOW, 2 * stream + BEFORE
    for cell in range(len(counting.counts)):
        counting.counts[cell, before] = counting.counts[cell, now] if passed == 1 else 0.0
        counting.counts[cell, now] = 0.0
    for cell in range(len(counting.sketch)):
        counting.sketch[cell, before] = counting.sketch[cell, now] if passed == 1 else 0.0
        counting.sketch[cell, now] = 0.0
    return True


@inner
def fade_factor(counting: Counting, at: int, half_life: float) -> float:
    """Return what a count of now weighs at the landmark: decay as growth of the newcomers."""
    return 2.0 ** ((at - counting.tally[LANDMARK]) / half_life)


@inner
def move_landmark(counting: Counting, at: int, half_life: float) -> bool:
    """Bring the landmark up to `at` before the weights grow out of range."""
    if counting.tally[MODE] != DECAYED:
        return False
    if at - counting.tally[LANDMARK] < 64 * half_life:
        return False
    shrink = 1.0 / fade_factor(counting, at, half_life)
    for cell in range(len(counting.counts)):
        for column in range(counting.counts.shape[1]):
            counting.counts[cell, column] *= shrink
    for cell in range(len(counting.sketch)):
        for column in range(counting.sketch.shape[1]):
            counting.sketch[cell, column] *= shrink
    counting.tally[LANDMARK] = at
    return True


def forget_unseen(counting: Counting) -> None:
    """Drop the keys that no counter remembers, so that their places serve others."""
    seen = (counting.keys != _FREE) & counting.counts.any(axis=1)
    keys, counts = counting.keys[seen], counting.counts[seen]
    counting.keys[:] = _FREE
    counting.counts[:] = 0.0
    _lay_out(counting.keys, counting.counts, keys, counts)
    counting.tally[USED] = len(keys)


@compiled
def _lay_out(into: Any, counted: Any, keys: Any, counts: Any) -> None:
    for i in range(len(keys)):
        cell = _cell_of(into, keys[i])
        into[cell] = keys[i]
        for column in range(counts.shape[1]):
            counted[cell, column] = counts[i, column]


def with_more(counting: Counting) -> Counting:
    """Return the counters with places for twice as many keys, or for as many as there may be."""
    limit = min(2 * int(counting.tally[LIMIT]), int(counting.tally[MOST]))
    used = np.flatnonzero(counting.keys != _FREE)
    keys = np.full(_cells_for(limit), _FREE, np.int64)
    counts = np.zeros((len(keys), counting.counts.shape[1]))
    _lay_out(keys, counts, counting.keys[used], counting.counts[used])
    tally = counting.tally.copy()
    tally[LIMIT] = limit
    return counting._replace(keys=keys, counts=counts, tally=tally)


def to_sketch(counting: Counting) -> Counting:
    """Return the counters as a count-min sketch of the same size in bytes."""
    blocks = max(1, len(counting.keys) // _BLOCK)
    sketch = np.zeros((blocks * _BLOCK, counting.counts.shape[1]))
    used = np.flatnonzero(counting.keys != _FREE)
    with np.errstate(over="ignore"):
        _pour(sketch, counting.keys[used], counting.counts[used], int(counting.tally[MODE]))
    tally = counting.tally.copy()
    tally[SKETCHED] = 1
    return counting._replace(
        keys=counting.keys[:0].copy(), counts=counting.counts[:0].copy(), sketch=sketch, tally=tally
    )


@compiled
def _pour(sketch: Any, keys: Any, counts: Any, mode: int) -> None:
    for i in range(len(keys)):
        for column in range(counts.shape[1]):
            if counts[i, column] != 0.0:
                _add_to_sketch(sketch, keys[i], column, counts[i, column], mode)
