"""What a join reports of itself: one record, which every reader shares."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Health:
    """Counts since the join began; those in tuples are per stream.

    Attributes
    ----------
    arrived
        Rows that came: `held + shed + expired + late + unmatchable`.
    held
        Rows in the join memory, those of the open instant included.
    shed
        Rows the policy gave up.
    expired
        Rows whose window has passed.
    late
        Rows behind the watermark.
    unmatchable
        Rows whose key or time is null or NaN.
    waiting
        Rows of an instant that is not whole yet and that cannot be taken in before it is.
    matched, value
        Matches made and the sum of their importance; 1 each where the query names none.
    lost, lost_variance
        Matches lost to shedding, estimated from ghosts, and the variance of the estimate.
    lost_value, lost_value_variance
        The same for the sum of importance.
    unseen
        For how many lost matches one may stand that no ghost saw; 0 while every ghost has had
        a place, so that losses are counted and not estimated.
    ghosts
        Ghosts remembered now; 0 places for ghosts means that losses are not known.
    estimated
        Whether losses are counted at all.
    peak_rows
        The most rows held after an instant.
    budget
        What the join may hold, in rows or bytes; None for the exact join.
    bytes
        What the state takes.
    clock
        The newest event time.
    """

    arrived: tuple[int, ...]
    held: tuple[int, ...]
    shed: tuple[int, ...]
    expired: tuple[int, ...]
    late: tuple[int, ...]
    unmatchable: tuple[int, ...]
    waiting: tuple[int, ...]
    matched: int
    value: float
    lost: float
    lost_variance: float
    lost_value: float
    lost_value_variance: float
    unseen: float
    ghosts: int
    estimated: bool
    peak_rows: int
    budget: int | None
    bytes: int
    clock: int | None
