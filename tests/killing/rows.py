"""What a sink holds, and what it should hold."""

import pyarrow.compute as pc
import pyarrow.parquet as pq

from killing import job

WITHIN = 40_000_000  # job.WITHIN in microseconds
COLUMNS = ("item", "ts_left", "ts_right", "id_left", "id_right", "note_left", "note_right")


def written(spark, folder, name):
    """Return the rows that a reader of the sink sees, in a fixed order."""
    rows = spark.read.parquet(str(job.sink(folder, name))).select(*COLUMNS).collect()
    return sorted(map(tuple, rows))


def pairs_of(rows):
    return sorted(row[3:5] for row in rows)


def all_pairs(files):
    """Return the pairs of the exact join, found without any of ours."""
    rows = pq.read_table(files)
    rows = rows.append_column("time", pc.cast(rows["ts"], "int64"))
    left, right = (
        rows.filter(pc.equal(rows["side"], side)).select(["item", "id", "time"]) for side in (0, 1)
    )
    found = left.join(right, "item", left_suffix="_left", right_suffix="_right", join_type="inner")
    near = pc.less_equal(pc.abs(pc.subtract(found["time_left"], found["time_right"])), WITHIN)
    found = found.filter(near)
    return sorted(zip(found["id_left"].to_pylist(), found["id_right"].to_pylist(), strict=True))
