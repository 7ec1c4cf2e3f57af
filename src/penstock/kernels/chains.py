"""Two orders over the same slots: by key, newest first, and by time, oldest first.

Both are doubly linked, because any row may leave at any moment.  Rows almost
always come in time order and are linked at the new end; a row that comes late
is walked to its place, along its key if that is near, else from where the last one was put.
"""

from penstock.compiled import inner
from penstock.kernels.index import EMPTY, HASH, MARK, find, insert, point, remove, slot_at
from penstock.kernels.store import (
    LAST_LINKED,
    NEWER,
    NEWEST,
    NEXT,
    OLDER,
    OLDEST,
    PREV,
    STREAM,
    Store,
)

_NEAR = 32  # rows that are looked at before the walk is taken to be a long one


@inner
def _near_last_linked(store: Store, slot: int) -> int:
    """Return a row of the slot's key, no newer, near the row linked last; or -1.

    Late rows come together and in the order of time.  A key with so many rows that walking
    along them is slow has one among any few.
    """
    wide, links = store.wide, store.links
    key, mark = wide[slot, HASH], wide[slot, MARK]
    at = store.streams[LAST_LINKED, links[slot, STREAM]]
    for _ in range(_NEAR):
        if at < 0:
            return -1
        if wide[at, HASH] == key and wide[at, MARK] <= mark:
            return at
        at = links[at, OLDER]
    return -1


@inner
def link_key(store: Store, slot: int) -> None:
    """Put a slot, whose facts are written, among the rows of its key."""
    wide, links, table = store.wide, store.links, store.table
    key, mark, stream = wide[slot, HASH], wide[slot, MARK], links[slot, STREAM]
    cell = find(table, wide, links, STREAM, key, stream)
    links[slot, NEXT] = EMPTY
    if cell < 0:
        links[slot, PREV] = EMPTY
        insert(table, key, stream, slot)
        return
    newest = slot_at(table, cell)
    if wide[newest, MARK] <= mark:
        links[slot, PREV] = newest
        links[newest, NEXT] = slot
        point(table, cell, slot)
        return
    newer, steps = newest, 0
    while links[newer, PREV] >= 0 and wide[links[newer, PREV], MARK] > mark:
        newer = links[newer, PREV] + 0
        steps += 1
        if steps == _NEAR:
            known = _near_last_linked(store, slot)
            if known >= 0:
                while wide[links[known, NEXT], MARK] <= mark:  # the newest is newer, so this ends
                    known = links[known, NEXT] + 0
                newer = links[known, NEXT] + 0
                break
    older = links[newer, PREV]
    links[slot, NEXT], links[slot, PREV] = newer, older
    links[newer, PREV] = slot
    if older >= 0:
        links[older, NEXT] = slot


@inner
def unlink_key(store: Store, slot: int) -> None:
    """Take a slot out of the rows of its key."""
    links, table = store.links, store.table
    newer, older = links[slot, NEXT], links[slot, PREV]
    if older >= 0:
        links[older, NEXT] = newer
    if newer >= 0:
        links[newer, PREV] = older
        return
    cell = find(table, store.wide, links, STREAM, store.wide[slot, HASH], links[slot, STREAM])
    if older >= 0:
        point(table, cell, older)
    else:
        remove(table, cell)


@inner
def link_time(store: Store, slot: int) -> None:
    """Put a slot in the time order of its stream."""
    wide, links, ends = store.wide, store.links, store.streams
    mark, stream = wide[slot, MARK], links[slot, STREAM]
    newest = ends[NEWEST, stream]
    if newest < 0:
        links[slot, NEWER], links[slot, OLDER] = EMPTY, EMPTY
        ends[OLDEST, stream] = ends[NEWEST, stream] = ends[LAST_LINKED, stream] = slot
        return
    if wide[newest, MARK] <= mark:
        links[newest, NEWER] = slot
        links[slot, OLDER], links[slot, NEWER] = newest, EMPTY
        ends[NEWEST, stream] = ends[LAST_LINKED, stream] = slot
        return
    at = ends[LAST_LINKED, stream]
    while at >= 0 and wide[at, MARK] > mark:
        at = links[at, OLDER]
    ends[LAST_LINKED, stream] = slot
    if at < 0:
        oldest = ends[OLDEST, stream]
        links[slot, OLDER], links[slot, NEWER] = EMPTY, oldest
        links[oldest, OLDER] = slot
        ends[OLDEST, stream] = slot
        return
    while wide[links[at, NEWER], MARK] <= mark:  # the newest is newer, so this ends
        at = links[at, NEWER]
    newer = links[at, NEWER]
    links[slot, OLDER], links[slot, NEWER] = at, newer
    links[at, NEWER] = links[newer, OLDER] = slot


@inner
def unlink_time(store: Store, slot: int) -> None:
    """Take a slot out of the time order."""
    links, ends, stream = store.links, store.streams, store.links[slot, STREAM]
    newer, older = links[slot, NEWER], links[slot, OLDER]
    if older >= 0:
        links[older, NEWER] = newer
    else:
        ends[OLDEST, stream] = newer
    if newer >= 0:
        links[newer, OLDER] = older
    else:
        ends[NEWEST, stream] = older
    if ends[LAST_LINKED, stream] == slot:
        ends[LAST_LINKED, stream] = older if older >= 0 else newer
