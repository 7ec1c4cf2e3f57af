"""What stays of rows that were shed: key, time and the chance that they are remembered at all.

When not all ghosts fit, those go whose luck is worst for their weight.  What remains is
a random sample; a ghost that was kept with chance c stands for 1/c of its kind.  The cut
is that of a ghost that left, so it depends on no ghost that stays, which is what keeps
the estimate and that of its variance unbiased, whatever the weights (Duffield, Lund,
Thorup. Priority sampling for estimation of arbitrary subset sums. JACM 2007; Ting.
Adaptive threshold sampling. SIGMOD 2022).  The weights make the variance small: half is
the same for all, for the number of matches lost, and half goes by what a match of the row
is worth, for their value.  So no chance is less than half of what it would be for either
alone.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from penstock.compiled import by_address, inner
from penstock.kernels.index import (
    EMPTY,
    HASH,
    MARK,
    cells_for,
    find,
    insert,
    point,
    remove,
    slot_at,
)

NEXT, PREV, STREAM, SPARE_SLOT = range(4)  # columns of `links`
# Columns of `odds`; LUCK is per weight, PAST the sum of (1/chance - 1) over lost matches.
LUCK, CHANCE, PAST, SCRATCH = range(4)
IMPORTANCE, PAST_VALUE, WEIGHT = range(3)  # columns of `worth`
# Cells of `sums`.  CUT: the least luck per weight that was too little so far.  SEEN: the
# importance of the rows that came, and their number; WEIGHED: the same of what a match with
# a shed row is worth.  ADMITTED: from this luck per weight on, a newcomer leaves no ghost.
(
    LOST,
    LOST_VARIANCE,
    VALUE,
    VALUE_VARIANCE,
    HELD,
    SPARE,
    CUT,
    SEEN,
    SEEN_ROWS,
    WEIGHED,
    WEIGHED_ROWS,
    ADMITTED,
) = range(12)
_EQUAL = 0.5  # the part of a weight that is the same for all rows
# Among many ghosts, those that would soon have to go are not taken in: it costs more than it
# tells.  Few lie in a cache, and every one of them counts.
_MANY = 4096
_SLACK = 2.0  # more is admitted than the last sweep let stay: fewer may come from now on
_KEPT_EIGHTHS = 7  # a sweep frees an eighth, so that sweeps cost a constant per ghost

MIN, SUM, PRODUCT, MAX, MEAN = range(5)
COMBINATIONS = {"min": MIN, "sum": SUM, "product": PRODUCT, "max": MAX, "mean": MEAN}


@by_address
class Ghosts(NamedTuple):
    """The ghosts of all streams, as flat arrays."""

    wide: Any  # int64[slot, 2]: hash, mark
    links: Any  # int32[slot, 4]
    odds: Any  # float32[slot, 4]
    worth: Any  # float64[slot, 3], or no rows when nothing has an importance
    table: Any  # int64[cell]
    sums: Any  # float64[12]


def new_ghosts(places: int, *, importance: bool) -> Ghosts:
    """Return room for so many ghosts."""
    links = np.full((places, 4), -1, np.int32)
    links[:, SPARE_SLOT] = np.arange(places - 1, -1, -1)
    sums = np.zeros(12)
    sums[SPARE], sums[CUT], sums[ADMITTED] = places, np.inf, np.inf
    return Ghosts(
        wide=np.zeros((places, 2), np.int64),
        links=links,
        odds=np.zeros((places, 4), np.float32),
        worth=np.zeros((places if importance else 0, 3)),
        table=np.full(cells_for(places), EMPTY, np.int64),
        sums=sums,
    )


def unseen(ghosts: Ghosts) -> float:
    """Return for how many lost matches one may stand that no ghost saw; 0 if all had a place.

    So that, if none is seen, 3.7 times this bounds what was lost with 97.5 % confidence: with
    the chance c of each ghost, `(1 - c) ** lost` is then 2.5 %.
    """
    least = _EQUAL if len(ghosts.worth) > 0 else 1.0
    chance = min(1.0, float(ghosts.sums[CUT]) * least)
    return 0.0 if chance == 1.0 else -1.0 / math.log1p(-chance)


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
        ghosts.sums[ADMITTED] *= _SLACK
        return
    seen = 0
    for slot in range(places):
        if links[slot, STREAM] >= 0:
            ghosts.odds[seen, SCRATCH] = ghosts.odds[slot, LUCK]
            seen += 1
    cut = _smallest(ghosts.odds[:, SCRATCH], seen, keep)
    for slot in range(places):
        if links[slot, STREAM] >= 0:
            if ghosts.odds[slot, LUCK] >= cut:
                _forget(ghosts, slot)
            else:
                weight = ghosts.worth[slot, WEIGHT] if len(ghosts.worth) > 0 else 1.0
                chance = min(float(ghosts.odds[slot, CHANCE]), float(cut) * weight)
                ghosts.odds[slot, CHANCE] = chance
    ghosts.sums[CUT] = min(ghosts.sums[CUT], float(cut))
    if places > _MANY:
        ghosts.sums[ADMITTED] = _SLACK * float(cut)


@inner
def _weight(ghosts: Ghosts, importance: float, how: int) -> float:
    """Return the weight of a shed row: half of it goes by what a match of it is worth.

    That is its importance combined with the mean of those that came, over the mean of this
    for the rows shed so far.
    """
    sums = ghosts.sums
    worth = abs(combined(how, importance, sums[SEEN] / max(1.0, sums[SEEN_ROWS])))
    sums[WEIGHED] += worth
    sums[WEIGHED_ROWS] += 1.0
    mean = sums[WEIGHED] / sums[WEIGHED_ROWS]
    return _EQUAL + (1.0 - _EQUAL) * worth / mean if mean > 0.0 else 1.0


@inner
def remember(
    ghosts: Ghosts,
    key: int,
    mark: int,
    stream: int,
    luck: float,
    importance: float,
    how: int,
    alive: Any,
) -> None:
    """Leave a ghost of a shed row; `alive` is each stream's lowest mark that can still match."""
    if len(ghosts.links) == 0:
        return
    weight = _weight(ghosts, importance, how) if len(ghosts.worth) > 0 else 1.0
    luck /= weight
    admitted = ghosts.sums[ADMITTED]
    if luck >= admitted:
        return
    if ghosts.sums[SPARE] == 0:
        _sweep(ghosts, alive)
        admitted = min(admitted, ghosts.sums[ADMITTED])  # it has passed both
        if luck >= admitted:
            return
    links, wide = ghosts.links, ghosts.wide
    spare = int(ghosts.sums[SPARE]) - 1
    ghosts.sums[SPARE] = spare
    ghosts.sums[HELD] += 1
    slot = int(np.int64(links[spare, SPARE_SLOT]))
    wide[slot, HASH], wide[slot, MARK] = key, mark
    links[slot, STREAM] = stream
    if len(ghosts.worth) > 0:
        ghosts.worth[slot, IMPORTANCE], ghosts.worth[slot, PAST_VALUE] = importance, 0.0
        ghosts.worth[slot, WEIGHT] = weight
    ghosts.odds[slot, LUCK], ghosts.odds[slot, PAST] = luck, 0.0
    ghosts.odds[slot, CHANCE] = min(1.0, admitted * weight)
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
    alive: int,
) -> None:
    """Count the matches that a newcomer loses: ghosts of `stream` with a mark from low to high.

    Ghosts with a mark below `alive`, which no row to come can match, go: where nothing is shed
    any longer no sweep would find them, and every row of their key would pass by.
    """
    if len(ghosts.worth) > 0:
        ghosts.sums[SEEN] += abs(value)
        ghosts.sums[SEEN_ROWS] += 1.0
    if ghosts.sums[HELD] == 0:
        return
    cell = find(ghosts.table, ghosts.wide, ghosts.links, STREAM, key, stream)
    if cell < 0:
        return
    slot = slot_at(ghosts.table, cell)
    while slot >= 0:
        mark, older = ghosts.wide[slot, MARK], int(np.int64(ghosts.links[slot, PREV]))
        if mark < alive:
            _forget(ghosts, slot)
        elif low <= mark <= high:
            weight = 1.0 / float(ghosts.odds[slot, CHANCE])
            if len(hits) > 0:
                hits[max(0, min((at - mark) // unit, len(hits) - 1))] += weight
            if reported:
                worth = 1.0
                if len(ghosts.worth) > 0:
                    worth = combined(how, value, ghosts.worth[slot, IMPORTANCE])
                _lose(ghosts, slot, weight, worth)
        slot = older
