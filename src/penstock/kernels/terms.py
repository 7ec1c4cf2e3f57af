"""What goes into the hot loop and what comes out: terms, a batch, pairs and departures."""

from typing import Any, NamedTuple

from penstock.compiled import by_address

# Rows of `limits`, a column per stream; BUDGET has a column per pool.  SHARE and LEFT_PART are in
# the first column: where the budget is a share, how large, and how much of it the first pool has.
# Rows older than WATERMARK are late.  COMING is the watermark after this batch: what later batches
# bring is no older.  REACHED: what is still to come, of this batch or later ones, is no older.
WINDOW, BUDGET, POOL, WATERMARK, SHARE, LEFT_PART, COMING, REACHED = range(8)
LIMITS = 8
NO_CONTEST, BY_QUEUE, BY_AGE, BY_SCAN = range(4)  # how the row to give up is found
DONE, PAIRS_FULL, NEED_ROOM, NEED_SKETCH = range(4)  # why the hot loop returned
GONE_EXPIRED, GONE_SHED = 0, 1
# Columns of a batch, and of what comes out.
KEY, TIME, ROW_PLACE, ROW_COST = range(4)  # `numbers`
OF_STREAM, MATCHABLE = 0, 1  # `flags`
IMPORTANCE, EXPECTED = 0, 1  # `worth`
HELD_PLACE, NEW_ROW = 0, 1  # `pairs`
GONE_PLACE, GONE_FATE, GONE_WHEN, GONE_STREAM = range(4)  # `gone`
PAIRS, GONE = 0, 1  # cells of `count`


@by_address
class Terms(NamedTuple):
    """What a step keeps to: constant while it runs."""

    limits: Any  # int64[8, stream]; W of a count window is rows - 1
    longest: int  # a W beyond this is no window
    pools: int
    in_order: bool  # the newest instant is everyone's watermark
    counted: bool  # count windows
    whole: bool  # instants come whole, and close at their end
    evict_first: bool
    bounded: bool  # there is a budget
    costed: bool  # rows differ in what they take of it
    how: int  # one of NO_CONTEST .. BY_SCAN
    fixed: bool  # a rank never changes
    matches: bool  # the policy asks how many partners to expect
    weighs_age: bool  # decayed counts are asked as of now, and so fall
    half_life: float
    second: int  # columns of Store.worth, or -1
    note: int
    kept_rank: int  # of ranks that change by their own history
    importance: int
    expected: int
    largest: int  # rows of an open instant before it is taken in parts
    heaviest: int  # what they may take of a budget in bytes before it is
    report_from: int  # lost matches count from this event time on
    combine: int
    policy_luck: Any  # uint64
    ghost_luck: Any  # uint64
    factor: float  # how a note fades in an instant
    step: float
    rank: Any  # pointer
    reward: Any  # pointer
    settings: Any  # four numbers of the policy's own


@by_address
class Batch(NamedTuple):
    """Rows in the order of the sequence."""

    numbers: Any  # int64[row, 4]
    flags: Any  # int8[row, 2]
    worth: Any  # float64[row, 0..2]


@by_address
class Out(NamedTuple):
    """What a step produced, as far as its buffers go."""

    pairs: Any  # int64[pair, 2]: place of the older row; the newcomer's row in the batch
    gone: Any  # int64[departure, 4]
    count: Any  # int64[2]
