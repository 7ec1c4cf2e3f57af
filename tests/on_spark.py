"""Joins of two streams on Spark, run to their end: rows in files, matches and health out.

And the same join by DuckDB, over the rows that are not late.
"""

import itertools
import math
import os
from typing import NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

import penstock as ps

MINUTE = 60_000_000  # event times count microseconds
UTC = pa.timestamp("us", "UTC")
SIDE = pa.schema([("t", UTC), ("k", pa.float64()), ("id", pa.int64())])
KEYS = [0.0, -0.0, 1.0, 2.0, 0.5, math.nan, None]
PER_SIDE = ("arrived", "held", "shed", "expired", "late", "unmatchable")
_names = itertools.count(1)


class Ran(NamedTuple):
    rows: pa.Table
    health: dict  # of all shards together
    shards: list  # the same of each


def put(folder, parts):
    """Add files to a folder, in this order, after those that are there."""
    folder.mkdir(exist_ok=True)
    already = len(list(folder.iterdir()))
    for number, part in enumerate(parts, already):
        path = folder / f"{number:04}.parquet"
        pq.write_table(part, path, store_schema=False)
        os.utime(path, (1_700_000_000 + number,) * 2)


def stream(spark, folder, parts, *, delay=None, time="t", schema=None):
    """A stream that brings one part, a table, in each micro-batch."""
    put(folder, parts)
    schema = schema or spark.read.parquet(str(folder)).schema
    rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    return rows if delay is None else rows.withWatermark(time, delay)


def streams(spark, place, sides, *, delays=(None, None), time="t"):
    """Both streams, in folders of their own."""
    place.mkdir(exist_ok=True)
    return [
        stream(spark, place / name, parts, delay=delay, time=time)
        for name, parts, delay in zip(("left", "right"), sides, delays, strict=True)
    ]


def finished(rows, *, kept=None, as_rows=False):
    """Run a streaming DataFrame over all that its sources have; go on with what `kept` holds."""
    spark, name = rows.sparkSession, f"found_{next(_names)}"
    writer = rows.writeStream.trigger(availableNow=True)
    if kept is None:
        query = writer.format("memory").queryName(name).start()
    else:
        writer = writer.option("checkpointLocation", str(kept / "checkpoint"))
        query = writer.format("parquet").option("path", str(kept / "found")).start()
    query.awaitTermination()
    lines = ps.health(query).rows
    if kept is None:
        table = spark.table(name)
        table = table.collect() if as_rows else table.toArrow()
        spark.sql(f"drop view {name}")
    else:
        table = pq.read_table(kept / "found")  # copied files too, which the sink does not know
    healths = [line for line in lines if line["shard"] is None]
    return Ran(table, healths[-1], [line for line in lines if line["shard"] is not None])


def ids(table, *names):
    """The rows of a result, as sorted tuples of the columns that tell them apart."""
    return sorted(zip(*[table[name].to_pylist() for name in names], strict=True))


def counts(health, name):
    """A count of both sides."""
    return health[f"{name}_left"], health[f"{name}_right"]


def adds_up(health):
    """Whether every row that came has one fate."""
    fates = [sum(counts(health, name)) for name in PER_SIDE]
    return fates[0] == sum(fates[1:])


def trace(dice, count, *, parts, late, keys=KEYS, first=0, span=20 * MINUTE, silent_until=0):
    """Rows as they come, in parts; some by up to so many of `late` after their time."""
    coming = sorted(dice.randrange(first, first + span) for _ in range(count))
    rows = [
        {
            "t": None
            if dice.random() < 0.05
            else at // 5 * 5 - dice.choice([0, dice.randrange(late)]),
            "k": dice.choice(keys),
            "id": number,
        }
        for number, at in enumerate(coming)
    ]
    cuts = [first + span * (part + 1) // parts for part in range(parts)]
    part_of = [
        max(silent_until, next(p for p, cut in enumerate(cuts) if at < cut)) for at in coming
    ]
    return [
        pa.Table.from_pylist([row for row, p in zip(rows, part_of, strict=True) if p == part], SIDE)
        for part in range(parts)
    ]


def times(table):
    return table["t"].cast(pa.int64()).to_pylist()


def on_time(parts, delay):
    """The rows that are not behind the watermark of the parts before theirs, and how many are."""
    kept, late, mark = [], 0, -math.inf
    for part in parts:
        behind = [t is not None and t < mark for t in times(part)]
        kept.append(part.filter(pa.array([not one for one in behind], pa.bool_())))
        late += sum(behind)
        mark = max([mark, *(t - delay for t in times(part) if t is not None)])
    return pa.concat_tables(kept), late


def exact(left, right, within, *, on="l.k = r.k and not isnan(l.k)", where="true"):
    """The join as DuckDB makes it; the lengths of windows in minutes."""
    bounds = ["true" if m is None else f"apart <= {m * MINUTE}" for m in within]
    with duckdb.connect() as db:
        db.register("l", left)
        db.register("r", right)
        return db.sql(
            "select id, id_1 from (select l.id, r.id as id_1, epoch_us(r.t) - epoch_us(l.t) as way,"
            f" abs(way) as apart from l join r on {on} where {where})"
            f" where (way >= 0 and {bounds[0]}) or (way < 0 and {bounds[1]}) order by all"
        ).fetchall()
