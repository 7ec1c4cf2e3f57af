"""The two streams in one folder: a file for each batch, its rows in no order.

One folder, since Spark plans one source after the other: a driver that dies in between goes on with
one of them a file ahead, for good.  A join on a budget then rightly keeps other rows.  Of one
source, a driver that dies while planning puts two files into the next batch, nothing else.
"""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SECONDS = 20  # of event time in a file
START = 1_900_000_000
_TICKS = 1_000_000


def write(folder, *, batches, rows=120, items=40, seed=5):
    """Write files of `rows` rows of each side, older ones with an older date."""
    chance = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    for batch in range(batches):
        times = START + SECONDS * (batch + chance.random(2 * rows))
        ids = batch * rows + np.tile(np.arange(rows), 2)
        table = pa.table(
            {
                "side": np.repeat([0, 1], rows),
                "ts": pa.array((times * _TICKS).astype(np.int64), pa.timestamp("us", "UTC")),
                "item": (items * chance.random(2 * rows) ** 2).astype(np.int64),
                "id": ids,
                "note": [f"row {number} " * 8 for number in ids],
            }
        )
        path = folder / f"{batch:03}.parquet"
        pq.write_table(table.take(chance.permutation(2 * rows)), path)
        os.utime(path, (START + batch, START + batch))
    return folder
