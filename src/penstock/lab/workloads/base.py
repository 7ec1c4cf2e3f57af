"""What a workload is: two streams, and how they came about."""

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class Workload:
    """Two bounded streams, ready to be joined.

    Attributes
    ----------
    name
        Its name in kebab case, as in `WORKLOADS`.
    left, right
        The streams, in order of arrival.  Column `time` (int64, not null, never
        decreasing) is the event time in a unit that the workload documents; column `key`
        (int64 or string) is what they join on.  A column `importance` (float64, above 0)
        is there where the workload has one; any other column is payload.
    note
        In one sentence, how the rows were made.  It says "stand-in" where they take
        the place of data that is not to be had.

    Examples
    --------
    >>> rows = pa.table({"time": [0, 1], "key": [7, 7]})
    >>> Workload(name="twins", left=rows, right=rows, note="Written by hand.").left.num_rows
    2
    """

    name: str
    left: pa.Table
    right: pa.Table
    note: str
