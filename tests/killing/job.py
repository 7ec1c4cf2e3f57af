"""Joins of two streams as a program of its own: `python job.py FOLDER QUERY ...`.

Every query reads the same files, one in a batch, keeps its checkpoint and its
result below `FOLDER/QUERY`, and ends when it has read them all.
"""

import json
import sys
from pathlib import Path

WITHIN = "40 seconds"
WATERMARK = "10 seconds"
SCHEMA = "side long, ts timestamp, item long, id long, note string"
ROWS = 160  # a third of what the exact join holds

QUERIES = {
    f"{name}-{shards}": {**choice, "shards": shards}
    for name, choice in {
        "exact": {},
        "random": {"memory": ROWS, "keep": "random"},
        "match-probability": {"memory": ROWS, "keep": "match-probability"},
    }.items()
    for shards in (1, 4)
}


def sink(folder, name):
    return Path(folder) / name / "sink"


def checkpoint(folder, name):
    return Path(folder) / name / "checkpoint"


def start(spark, files, folder, name):
    """Begin a query, or go on with it."""
    import penstock as ps

    rows = (
        spark.readStream.schema(SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(files))
        .withWatermark("ts", WATERMARK)
    )
    sides = [rows.where(f"side = {side}").drop("side") for side in (0, 1)]
    joined = ps.join(*sides, on="item", time="ts", within=WITHIN, seed=7, **QUERIES[name])
    return (
        joined.writeStream.format("parquet")
        .option("checkpointLocation", str(checkpoint(folder, name)))
        .trigger(availableNow=True)
        .queryName(name)
        .start(str(sink(folder, name)))
    )


def run(spark, files, folder, names):
    """Run queries side by side to their end."""
    queries = [start(spark, files, folder, name) for name in names]
    for query in queries:
        query.awaitTermination()
    return queries


def main(files, folder, settings, *names):
    from penstock.spark.session import embedded

    spark = embedded(2, conf=json.loads(settings))
    run(spark, files, folder, names)


if __name__ == "__main__":
    main(*sys.argv[1:])
