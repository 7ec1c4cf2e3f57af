"""The two streams: a file for each batch, of rows that are a little out of order."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SECONDS = 20  # of event time in a file
START = 1_900_000_000
_TICKS = 1_000_000
_LATE = 5  # seconds; less than the watermark waits


def write(folder, *, batches, rows=120, items=40, seed=5):
    """Write `batches` files for each side, older ones with an older date."""
    chance = np.random.default_rng(seed)
    for side in ("left", "right"):
        (folder / side).mkdir(parents=True)
        for batch in range(batches):
            times = START + SECONDS * batch + np.sort(chance.random(rows)) * SECONDS
            times -= (chance.random(rows) < 0.2) * chance.random(rows) * _LATE
            ids = batch * rows + np.arange(rows)
            table = pa.table(
                {
                    "ts": pa.array((times * _TICKS).astype(np.int64), pa.timestamp("us", "UTC")),
                    "item": (items * chance.random(rows) ** 2).astype(np.int64),
                    "id": ids,
                    "note": [f"{side} {number} " * 8 for number in ids],
                }
            )
            path = folder / side / f"{batch:03}.parquet"
            pq.write_table(table, path)
            os.utime(path, (START + batch, START + batch))
    return folder
