"""What stays of rows that were shed: key, time and the chance that they are remembered at all.

When not all ghosts fit, those with the least luck go.  What remains is a random
sample; a ghost that was kept with chance c stands for 1/c of its kind.  Nor are all taken in
that would soon have to go: from twice the last cut on, luck does not suffice.  The cut
is the luck of a ghost that left, so it depends on no ghost that stays, which is
what keeps the weights unbiased (Duffield, Lund, Thorup. Priority sampling. JACM
2007; Ting. Adaptive threshold sampling. SIGMOD 2022).
"""

from typing import Any, NamedTuple

import numpy as np

from penstock.compiled import by_address, inner
from penstock.kernels.index import (
    EMPTY,
    HASH,
    MARK,
    empty_table,
    find,
    insert,
    point,
    remove,
    slot_at,
)

NEXT, PREV, STREAM, SPARE_SLOT = range(4)  # columns of `links`
LUCK, CHANCE, PAST, SCRATCH = range(4)  # `odds`; PAST: sum of (1/chance - 1) over lost matches
IMPORTANCE, PAST_VALUE = 0, 1  # columns of `worth`
# Cells of `sums`.  ADMITTED: the luck below which a newcomer is remembered at all.
LOST, LOST_VARIANCE, VALUE, VALUE_VARIANCE, HELD, SPARE, ADMITTED = range(7)
_KEPT_EIGHTHS = 7  # a sweep frees an eighth, so that sweeps cost a constant per ghost
_SLACK = 2.0  # more luck is admitted than the last sweep let stay: fewer may come from now on

MIN, SUM, PRODUCT, MAX, MEAN = range(5)
COMBINATIONS = {"min": MIN, "sum": SUM, "product": PRODUCT, "max": MAX, "mean": MEAN}


@by_address
class Ghosts(NamedTuple):
    """The ghosts of all streams, as flat arrays."""

    wide: Any  # int64[slot, 2]: hash, mark
    links: Any  # int32[slot, 4]
    odds: Any  # float32[slot, 4]
    worth: Any  # float64[slot, 2], or no rows when nothing has an importance
    table: Any  # int64[cell]
    sums: Any  # float64[7]


def new_ghosts(places: int, *, importance: bool) -> Ghosts:
    """Return room for so many ghosts."""
    links = np.full((places, 4), -1, np.int32)
    links[:, SPARE_SLOT] = np.arange(places - 1, -1, -1)
    sums = np.zeros(7)
    sums[SPARE], sums[ADMITTED] = places, 1.0
    return Ghosts(
        wide=np.zeros((places, 2), np.int64),
        links=links,
        odds=np.zeros((places, 4), np.float32),
        worth=np.zeros((places if importance else 0, 2)),
        table=empty_table(places),
        sums=sums,
    )


@inner
def combined(how: int, a: float, b: float) -> float:
    """Return the importance of a match from the importance of its two rows."""
    if how == MIN:
        return min(a, b)
    if how == SUM:
        return a + b
    if how == PRODUCT:
        return a * b
    if how == MAX:
        return max(a, b)
    return (a + b) / 2.0


@inner
def _forget(ghosts: Ghosts, slot: int) -> None:
    links = ghosts.links
    newer, older = links[slot, NEXT], links[slot, PREV]
    if older >= 0:
        links[older, NEXT] = newer
    if newer >= 0:
        links[newer, PREV] = older
    else:
        key, stream = ghosts.wide[slot, HASH], links[slot, STREAM]
        cell = find(ghosts.table, ghosts.wide, links, STREAM, key, stream)
        if older >= 0:
            point(ghosts.table, cell, older)
        else:
            remove(ghosts.table, cell)
    links[slot, STREAM] = EMPTY
    spare = int(ghosts.sums[SPARE])
    links[spare, SPARE_SLOT] = slot
    ghosts.sums[SPARE] = spare + 1
    ghosts.sums[HELD] -= 1


@inner
def _smallest(values: Any, count: int, rank: int) -> float:
    """Return the value that `rank` others come before, by partition; `values` is reordered."""
    low, high = 0, count - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return values[rank]


@inner
def _sweep(ghosts: Ghosts, alive: Any) -> None:
    """Free places: first of ghosts whose window has passed, then of the least lucky."""
    places, links = len(ghosts.links), ghosts.links
    for slot in range(places):
        stream = links[slot, STREAM]
        if stream >= 0 and ghosts.wide[slot, MARK] < alive[stream]:
            _forget(ghosts, slot)
    keep = min(places - 1, places * _KEPT_EIGHTHS // 8)
    held = int(ghosts.sums[HELD])
    if held <= keep:
        ghosts.sums[ADMITTED] = min(1.0, _SLACK * ghosts.sums[ADMITTED])
        return
    seen = 0
    for slot in range(places):
        if links[slot, STREAM] >= 0:
            ghosts.odds[seen, SCRATCH] = ghosts.odds[slot, LUCK]
            seen += 1
    cut = _smallest(ghosts.odds[:, SCRATCH], seen, keep)
    ghosts.sums[ADMITTED] = min(1.0, _SLACK * cut)
    for slot in range(places):
        if links[slot, STREAM] >= 0:
            if ghosts.odds[slot, LUCK] >= cut:
                _forget(ghosts, slot)
            else:
                ghosts.odds[slot, CHANCE] = min(ghosts.odds[slot, CHANCE], cut)


@inner
def remember(
    ghosts: Ghosts, key: int, mark: int, stream: int, luck: float, importance: float, alive: Any
) -> None:
    """Leave a ghost of a shed row; `alive` is each stream's lowest mark that can still match."""
    if len(ghosts.links) == 0 or luck >= ghosts.sums[ADMITTED]:
        return
    if ghosts.sums[SPARE] == 0:
        _sweep(ghosts, alive)
        if luck >= ghosts.sums[ADMITTED]:
            return
    links, wide = ghosts.links, ghosts.wide
    spare = int(ghosts.sums[SPARE]) - 1
    ghosts.sums[SPARE] = spare
    ghosts.sums[HELD] += 1
    slot = int(np.int64(links[spare, SPARE_SLOT]))
    wide[slot, HASH], wide[slot, MARK] = key, mark
    links[slot, STREAM] = stream
    ghosts.odds[slot, LUCK], ghosts.odds[slot, PAST] = luck, 0.0
    ghosts.odds[slot, CHANCE] = ghosts.sums[ADMITTED]
    if len(ghosts.worth) > 0:
        ghosts.worth[slot, IMPORTANCE], ghosts.worth[slot, PAST_VALUE] = importance, 0.0
    links[slot, NEXT] = EMPTY
    cell = find(ghosts.table, wide, links, STREAM, key, stream)
    if cell < 0:
        links[slot, PREV] = EMPTY
        insert(ghosts.table, key, stream, slot)
    else:
        newest = slot_at(ghosts.table, cell)
        links[slot, PREV] = newest
        links[newest, NEXT] = slot
        point(ghosts.table, cell, slot)


@inner
def _lose(ghosts: Ghosts, slot: int, weight: float, worth: float) -> None:
    """Add one lost match, and what it adds to the variance.

    A ghost that loses several matches loses them together or not at all, so the
    variance holds their products: for chances c1 >= c2 of one ghost at two of its
    matches, the covariance is estimated by (1/c1 - 1) / c2.
    """
    sums, past = ghosts.sums, ghosts.odds[slot, PAST]
    sums[LOST] += weight
    sums[LOST_VARIANCE] += weight * (weight - 1.0 + 2.0 * past)
    ghosts.odds[slot, PAST] = past + weight - 1.0
    if len(ghosts.worth) > 0:
        once, past_value = worth * (weight - 1.0), ghosts.worth[slot, PAST_VALUE]
        sums[VALUE] += weight * worth
        sums[VALUE_VARIANCE] += weight * worth * (once + 2.0 * past_value)
        ghosts.worth[slot, PAST_VALUE] = past_value + once


@inner
def meet(
    ghosts: Ghosts,
    key: int,
    stream: int,
    low: int,
    high: int,
    value: float,
    how: int,
    reported: bool,
    hits: Any,
    unit: int,
    at: int,
) -> None:
    """Count the matches that a newcomer loses: ghosts of `stream` with a mark from low to high."""
    if ghosts.sums[HELD] == 0:
        return
    cell = find(ghosts.table, ghosts.wide, ghosts.links, STREAM, key, stream)
    if cell < 0:
        return
    slot = slot_at(ghosts.table, cell)
    while slot >= 0:
        mark = ghosts.wide[slot, MARK]
        if low <= mark <= high:
            weight = 1.0 / float(ghosts.odds[slot, CHANCE])
            if len(hits) > 0:
                hits[max(0, min((at - mark) // unit, len(hits) - 1))] += weight
            if reported:
                worth = 1.0
                if len(ghosts.worth) > 0:
                    worth = combined(how, value, ghosts.worth[slot, IMPORTANCE])
                _lose(ghosts, slot, weight, worth)
        slot = int(np.int64(ghosts.links[slot, PREV]))
