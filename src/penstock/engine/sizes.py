"""How a budget is divided between held rows and what stands beside them."""

from dataclasses import dataclass

from penstock.kernels.store import Shape
from penstock.query import Budget

_SLOT_BYTES = 64
_QUEUE_BYTES = 18  # a cell, and an eighth of one for the dead
_INDEX_BYTES = 14  # a cell and two thirds
_LISTED_BYTES = 4  # in which slot a row of a segment is
_GROWTH = 1.25  # room is made for a quarter more than is held
_GHOST_BYTES = 16 + 16 + 16 + _INDEX_BYTES
_GHOST_WORTH_BYTES = 24  # where rows have an importance
_COUNTER_BYTES = 60  # key and four counts, two thirds full
_PAYLOAD_BYTES = 64  # of a row nothing is known of yet
# A share of a budget in bytes that ghosts, and counters, may take at most.
_GHOST_SHARE, _COUNTER_SHARE = 1 / 8, 1 / 16
# In a small memory as many ghosts as rows, and a few hundred at least; in a large one an
# eighth, since the error of an estimate goes by how many there are, not by their share.
_ALL_GHOSTS, _GHOSTS_PER_ROW = 4096, 1 / 8
_LEAST_GHOSTS = 512  # without which an estimate is of little use, however small a budget of rows
_FEWEST_GHOSTS = 8  # where any are wanted
_ALL_COUNTERS, _COUNTERS_PER_ROW = 4096, 1 / 8
_LEAST_COUNTERS = 1024  # keys that are counted one by one even under the smallest budget of rows


@dataclass(frozen=True)
class Sizes:
    """What a join may hold beside its rows.

    Attributes
    ----------
    row_overhead
        Bytes that a held row takes beside its payload.
    ghosts
        Places for ghosts.
    counters
        Keys that are counted one by one before a sketch takes over.
    """

    row_overhead: int
    ghosts: int
    counters: int

    @property
    def ghost_bytes(self) -> int:
        """What the ghosts take at most."""
        return self.ghosts * _GHOST_BYTES


def sizes_of(
    memory: Budget | None, shape: Shape, *, counts: bool, ghosts: float | None, valued: bool
) -> Sizes:
    """Divide a budget.

    A budget in bytes is for everything, so ghosts and counters get a share of it.  A budget in
    rows counts rows, as the papers do; what stands beside them is in proportion.

    Parameters
    ----------
    memory
        The budget; None for the exact join, which sheds nothing and so needs neither.
    shape
        What the kernels keep of a row.
    counts
        Whether keys are counted.
    ghosts
        Ghosts per place for a row; None leaves it to the size of the memory.
    valued
        Whether rows have an importance, which their ghosts keep too.
    """
    row = _SLOT_BYTES + _INDEX_BYTES + 8 * shape.worth + 16 * shape.notes
    row += _QUEUE_BYTES if shape.queues else 0
    overhead = round(_GROWTH * row) + _LISTED_BYTES
    if memory is None:
        return Sizes(overhead, 0, 0)
    in_bytes = memory.unit == "bytes"
    rows = {
        "bytes": int(memory.amount / (overhead + _PAYLOAD_BYTES)),
        "rows": int(memory.amount),
        "share": _ALL_GHOSTS,  # of what, only the run will tell
    }[memory.unit]
    places = int(rows * ghosts) if ghosts is not None else 0
    if ghosts is None:
        places = max(_LEAST_GHOSTS, _fewer(rows, _ALL_GHOSTS, _GHOSTS_PER_ROW))
    counters = max(_LEAST_COUNTERS, _fewer(rows, _ALL_COUNTERS, _COUNTERS_PER_ROW))
    if in_bytes:
        each = _GHOST_BYTES + _GHOST_WORTH_BYTES * valued
        places = min(places, int(memory.amount * _GHOST_SHARE / each))
        counters = max(64, int(memory.amount * _COUNTER_SHARE / _COUNTER_BYTES))
    if ghosts is None or ghosts > 0:
        places = max(places, _FEWEST_GHOSTS)
    return Sizes(overhead, places, counters if counts else 0)


def _fewer(rows: int, all_up_to: int, share: float) -> int:
    """Return one for each row of a small memory, and a share of the rows of a large one."""
    return min(rows, max(all_up_to, int(rows * share)))
