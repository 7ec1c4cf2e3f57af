"""How often each key came: counters in panes, decayed, or of held rows; a sketch for many keys.

One table serves all streams, because a policy that ranks a row of one stream
asks about the same key in the other.  Each key has two counters a stream: NOW,
and BEFORE for the pane that has passed.  Between two panes counters only rise,
which is what lets the eviction order be lazy.
"""

from typing import Any, NamedTuple

import numpy as np

from penstock.arrivals.chance import splitmix
from penstock.compiled import by_address, compiled, inner

NOTHING, PANES, RETAINED, DECAYED = range(4)  # what is counted
NOW, BEFORE = 0, 1
MODE, USED, LIMIT, SKETCHED, LANDMARK = range(5)  # cells of `tally`
PANE, LENGTH = 0, 1  # rows of `panes`
_FREE = -(2**63)
_LONG_AGO = -(2**62)  # before any event time: the first row sets the landmark and turns the pane
_DEPTH = 4  # rows of the sketch: it errs by more than e/width with chance e**-4, under 2 %


@by_address
class Counting(NamedTuple):
    """The counters, as flat arrays."""

    keys: Any  # int64[cell]
    counts: Any  # float64[cell, 2 * stream + NOW|BEFORE]
    sketch: Any  # float64[depth, cell, 2 * stream + NOW|BEFORE]; no cells until it is needed
    tally: Any  # int64[5]
    panes: (
        Any  # int64[2, stream]: the newest row's pane; how long a pane is, 0 for one pane for ever
    )


def new_counting(mode: int, *, limit: int, pane_lengths: list[int]) -> Counting:
    """Return counters for up to `limit` keys, after which a sketch takes over."""
    streams = len(pane_lengths)
    cells = 8
    while mode != NOTHING and cells < limit + limit // 2:
        cells *= 2
    return Counting(
        keys=np.full(cells if mode != NOTHING else 0, _FREE, np.int64),
        counts=np.zeros((cells if mode != NOTHING else 0, 2 * streams)),
        sketch=np.zeros((_DEPTH, 0, 2 * streams)),
        tally=np.array([mode, 0, limit, 0, _LONG_AGO]),
        panes=np.array([[_LONG_AGO] * streams, pane_lengths]),
    )


@inner
def _cell_of(keys: Any, key: int) -> int:
    mask = len(keys) - 1
    if key == _FREE:
        key = _FREE + 1
    cell = (key ^ (key >> 32)) & mask
    while keys[cell] != _FREE and keys[cell] != key:
        cell = (cell + 1) & mask
    return cell


@inner
def _sketch_cell(key: int, row: int, mask: int) -> int:
    spread = splitmix(np.uint64(key) ^ (np.uint64(row + 1) << np.uint64(56)))
    return int(np.int64(spread) & mask)


@inner
def _add_to_sketch(sketch: Any, key: int, column: int, weight: float) -> None:
    mask = sketch.shape[1] - 1
    for row in range(sketch.shape[0]):
        sketch[row, _sketch_cell(key, row, mask), column] += weight


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
        _add_to_sketch(counting.sketch, key, column, weight)
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
        least = np.inf
        mask = counting.sketch.shape[1] - 1
        for row in range(counting.sketch.shape[0]):
            cell = _sketch_cell(key, row, mask)
            here = (
                counting.sketch[row, cell, column + NOW]
                + counting.sketch[row, cell, column + BEFORE]
            )
            least = min(least, here)
        return least
    cell = _cell_of(counting.keys, key)
    if counting.keys[cell] == _FREE:
        return 0.0
    return counting.counts[cell, column + NOW] + counting.counts[cell, column + BEFORE]


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
    for row in range(counting.sketch.shape[0]):
        for cell in range(counting.sketch.shape[1]):
            counting.sketch[row, cell, before] = (
                counting.sketch[row, cell, now] if passed == 1 else 0.0
            )
            counting.sketch[row, cell, now] = 0.0
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
    for row in range(counting.sketch.shape[0]):
        for cell in range(counting.sketch.shape[1]):
            for column in range(counting.sketch.shape[2]):
                counting.sketch[row, cell, column] *= shrink
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


def to_sketch(counting: Counting) -> Counting:
    """Return the counters as a count-min sketch of the same size in bytes."""
    width = 8
    while width * 2 * _DEPTH <= len(counting.keys):
        width *= 2
    sketch = np.zeros((_DEPTH, width, counting.counts.shape[1]))
    used = np.flatnonzero(counting.keys != _FREE)
    with np.errstate(over="ignore"):
        _pour(sketch, counting.keys[used], counting.counts[used])
    tally = counting.tally.copy()
    tally[SKETCHED] = 1
    return counting._replace(
        keys=counting.keys[:0].copy(), counts=counting.counts[:0].copy(), sketch=sketch, tally=tally
    )


@compiled
def _pour(sketch: Any, keys: Any, counts: Any) -> None:
    for i in range(len(keys)):
        for column in range(counts.shape[1]):
            if counts[i, column] != 0.0:
                _add_to_sketch(sketch, keys[i], column, counts[i, column])
