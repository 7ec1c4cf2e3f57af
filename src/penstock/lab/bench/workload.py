"""The rows that every bench of speed runs on: numbers only, made chunk by chunk.

Left and right come with the same chance, one row per unit of time, so a window of so many units
holds as many rows.  A key is drawn as `keys * u ** 1.5`, u uniform: some keys are a hundred times
as frequent as others, so that there is something to learn, and yet the matches of a row depend
on rows per key alone, however many of both there are.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.query import Budget, JoinQuery, Window

SCHEMA = pa.schema([("time", pa.int64()), ("key", pa.int64()), ("value", pa.float64())])
ROW_BYTES = 24
_BEND = 1.5
_MEETINGS = 4 / 3  # the sum of squared frequencies, times the number of keys

Tables = tuple[pa.Table, pa.Table]


@dataclass(frozen=True)
class Stream:
    """Two endless streams of numbers, and the join of them.

    Parameters
    ----------
    keys
        How many keys there are.
    window
        How many rows of both sides together a window holds.
    seed
        Of the rows.
    """

    keys: int
    window: int
    seed: int = 0

    @property
    def matches_per_row(self) -> float:
        """How many partners a row finds in the window before it, on average."""
        return _MEETINGS * self.window / 2 / self.keys

    def query(self, memory: int | None) -> JoinQuery:
        """Return the join, exact or on a budget of rows."""
        return JoinQuery(
            on=(("key", "key"),),
            time=("time", "time"),
            windows=(Window("time", self.window),) * 2,
            memory=None if memory is None else Budget("rows", memory),
        )

    def batches(self, rows: int, *, first: int = 0) -> Iterator[Tables]:
        """Draw batch after batch of so many rows, from the event time `first` on."""
        chance = np.random.default_rng([self.seed, first])
        while True:
            time = np.arange(first, first + rows)
            key = (self.keys * chance.random(rows) ** _BEND).astype(np.int64)
            left = chance.random(rows) < 0.5
            yield _table(time[left], key[left]), _table(time[~left], key[~left])
            first += rows


def _table(time: np.ndarray, key: np.ndarray) -> pa.Table:
    # A payload that is a whole number adds up without rounding, whatever the order.
    return pa.table([time, key, time.astype(np.float64)], schema=SCHEMA)
