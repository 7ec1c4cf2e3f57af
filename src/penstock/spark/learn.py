"""`penstock.learn`: a batch job over the history of two streams, for a policy to use."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

from penstock.arrivals.expectation import Known, KnownAges
from penstock.engine.checks import SIDES, check
from penstock.engine.keys import Keys
from penstock.engine.sequence import ticks
from penstock.errors import InvalidData, InvalidQuery
from penstock.policies import by_name
from penstock.policies.base import Policy
from penstock.query import Duration, JoinQuery, Window, both, pairs_of
from penstock.spark.learned import Learned
from penstock.spark.types import arrow_schema, resolved

_BUCKETS = 64  # of an age curve, as many as a join cuts a window into when it learns by itself
_COUNTED = "hash long, rows long, first long, last long"
_AGED = "stream int, bucket int, matches long"
_TIME = "_time"
_Batches = Iterator[pa.RecordBatch]


def learn(
    left: DataFrame,
    right: DataFrame,
    *,
    on: str | Sequence[str | tuple[str, str]],
    time: str | tuple[str, str],
    within: Duration | tuple[Duration | None, Duration | None] | None = None,
    keep: str | Policy = "largest",
    most: int = 1_000_000,
) -> Learned:
    """Learn from the history of two streams what a policy asks: frequencies of keys, age curves.

    A join that is not told learns while it runs, from what has passed.  It keeps more when it
    knows beforehand, as long as the future is like the history.

    Parameters
    ----------
    left, right
        Tables: what the two streams brought in the past.  Columns must have the types that they
        have in the streams.
    on, time, within
        As they will be given to `penstock.join`.
    keep
        A goal, or a policy by its name or as itself.  One that goes by keys gets their
        frequencies, one that goes by age gets the curves.  Age curves take an exact join of the
        history, which Spark runs in batch: a week of it may do where a year takes long.
    most
        Of how many keys a side's frequencies are kept: the most frequent ones, 16 bytes each.
        Any other counts as one that never comes.

    Returns
    -------
    Learned
        To be given to `penstock.join(..., keep=learned)`.

    Examples
    --------
    >>> import penstock as ps
    >>> learned = ps.learn(
    ...     old_orders, old_payments, on="order_id", time="ts", within="1 hour"
    ... )  # doctest: +SKIP
    """
    policy = keep if isinstance(keep, Policy) else by_name(str(keep))
    history = _history(left, right, on, time, within)
    _refuse(history, policy, most)
    counted = [_counted(history, stream, most) for stream in range(2)]
    for side, found in zip(SIDES, counted, strict=True):
        if not found.rows:
            raise InvalidData(
                f"{side}: the history has no row with a time, so nothing can be learned from it."
            )
    wants_ages = "ages" in policy.needs
    return Learned(
        policy,
        _frequencies(history, counted) if "matches" in policy.needs else None,
        _age_curves(history, [found.rows for found in counted]) if wants_ages else None,
    )


@dataclass(frozen=True)
class _History:
    """Two tables under the names of a query of their own: keys `_0`, `_1` and so on, and a time."""

    frames: tuple[DataFrame, DataFrame]
    query: JoinQuery
    schemas: tuple[pa.Schema, pa.Schema]


@dataclass(frozen=True, eq=False)
class _Counted:
    """The most frequent keys of a side by their hash, and over which time they came."""

    hashes: NDArray[np.int64]
    counts: NDArray[np.int64]
    rows: int
    first: int
    last: int


def _history(left: Any, right: Any, on: Any, time: Any, within: Any) -> _History:
    for side, frame in zip(SIDES, (left, right), strict=True):
        if not isinstance(frame, DataFrame):
            raise InvalidQuery(f"{side}: give a DataFrame of Spark, not a {type(frame).__name__}.")
        if frame.isStreaming:
            raise InvalidQuery(
                f"{side}: it is a stream, and what is learned comes from the past; read what the "
                "stream brought as a table, with spark.read."
            )
    frames = (left, right)
    names = [frame.schema.names for frame in frames]
    lengths = both(within, name="within")
    query = JoinQuery(
        on=tuple(
            (resolved(one, names[0]), resolved(other, names[1])) for one, other in pairs_of(on)
        ),
        time=(resolved(both(time)[0], names[0]), resolved(both(time)[1], names[1])),
        windows=(Window.of(lengths[0]), Window.of(lengths[1])),
    )
    schemas = (arrow_schema(left), arrow_schema(right))
    check(query, schemas, by_name("recent"))
    Keys.of(query.on, *schemas)  # refuses keys that cannot be compared
    return _narrowed(frames, query)


def _narrowed(frames: tuple[DataFrame, DataFrame], query: JoinQuery) -> _History:
    """Leave the keys and the time only."""
    keys = [f"_{number}" for number in range(len(query.on))]
    left, right = (
        frame.select(
            *(
                F.col(f"`{pair[stream]}`").alias(key)
                for pair, key in zip(query.on, keys, strict=True)
            ),
            F.col(f"`{query.time[stream]}`").alias(_TIME),
        ).where(F.col(_TIME).isNotNull())
        for stream, frame in enumerate(frames)
    )
    narrow = JoinQuery(
        on=tuple((key, key) for key in keys), time=(_TIME, _TIME), windows=query.windows
    )
    return _History((left, right), narrow, (arrow_schema(left), arrow_schema(right)))


def _refuse(history: _History, policy: Policy, most: int) -> None:
    if not policy.needs & {"matches", "ages"}:
        raise InvalidQuery(
            f"keep={policy.name!r}: it goes by neither frequencies nor ages, so there is nothing "
            "to learn for it; give keep= to the join itself."
        )
    if "ages" in policy.needs and not history.query.bounded_windows:
        raise InvalidQuery(
            f"keep={policy.name!r}: an age curve ends with the window, and a window is unbounded; "
            "state within=, or learn for keep='match-probability'."
        )
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InvalidQuery(f"most={most!r}: give a whole number of keys, 1 or more.")


def _counted(history: _History, stream: int, most: int) -> _Counted:
    """Count the rows of each key on Spark, and bring home the most frequent ones."""
    lines = history.frames[stream].mapInArrow(
        counter(history.query, history.schemas, stream), _COUNTED
    )
    keys = lines.groupBy("hash").agg(
        F.sum("rows").alias("rows"), F.min("first").alias("first"), F.max("last").alias("last")
    )
    # The line for all rows has no hash, and comes first.
    best = keys.orderBy(F.col("hash").isNotNull(), F.desc("rows"), "hash").limit(most + 1)
    found = best.toArrow()
    hashes, rows = found["hash"].slice(1).to_numpy(), found["rows"].slice(1).to_numpy()
    order = np.argsort(hashes)
    whole = (found.slice(0, 1).to_pylist() or [{"rows": 0, "first": 0, "last": 0}])[0]
    return _Counted(hashes[order], rows[order], whole["rows"], whole["first"], whole["last"])


def counter(
    query: JoinQuery, schemas: tuple[pa.Schema, pa.Schema], stream: int
) -> Callable[[_Batches], _Batches]:
    """Return the function that counts keys; a line without a hash is for all rows."""

    def count(batches: _Batches) -> _Batches:
        keys = Keys.of(query.on, *schemas)
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            if not rows.num_rows:
                continue
            hashes, matchable = keys.hashes(keys.read([rows[pair[stream]] for pair in query.on]))
            distinct, counts = np.unique(hashes[matchable], return_counts=True)
            times = ticks(rows[query.time[stream]], name=query.time[stream])
            nothing = pa.nulls(len(distinct), pa.int64())
            columns = {
                "hash": (None, pa.array(distinct)),
                "rows": (rows.num_rows, pa.array(counts, pa.int64())),
                "first": (int(times.min()), nothing),
                "last": (int(times.max()), nothing),
            }
            yield pa.RecordBatch.from_pydict(
                {
                    name: pa.concat_arrays([pa.array([whole], pa.int64()), of_keys])
                    for name, (whole, of_keys) in columns.items()
                }
            )

    return count


def _frequencies(history: _History, counted: list[_Counted]) -> Known:
    """Return how often each key comes in a window.

    Only to the nearest power of two: a whole number times that is exact, so that ranks which
    are equal when whole rows are counted stay equal.
    """
    span = max(side.last for side in counted) - min(side.first for side in counted) + 1
    reach = [window.length for window in history.query.windows if window.kind == "time"]
    scale = 2.0 ** round(math.log2(max(1, *reach) / span)) if len(reach) == 2 else 1.0
    left, right = counted
    counts = (np.asarray(side.counts * scale, np.float64) for side in counted)
    return Known((left.hashes, right.hashes), tuple(counts))


def _age_curves(history: _History, rows: list[int]) -> KnownAges:
    """Return at which age rows find their matches: the exact join, counted by age on Spark."""
    from penstock.spark.join import join  # which knows what is learned, as this knows the join

    query = history.query
    lengths = [window.length for window in query.windows]
    units = [max(1, -(-length // _BUCKETS)) for length in lengths]
    matches = join(
        *history.frames,
        on=query.on,
        time=query.time,
        within=(_stated(query.windows[0]), _stated(query.windows[1])),
    )
    counts = (
        matches.select(*(_TIME + suffix for suffix in query.suffixes))
        .mapInArrow(ager(units), _AGED)
        .groupBy("stream", "bucket")
        .agg(F.sum("matches").alias("matches"))
        .collect()
    )
    curves = np.zeros((2, _BUCKETS))
    for line in counts:
        curves[line["stream"], line["bucket"]] = line["matches"] / rows[line["stream"]]
    left, right = (tuple(float(share) for share in curve) for curve in curves)
    return KnownAges((left, right), (units[0], units[1]))


def _stated(window: Window) -> Duration:
    return f"{window.length} us" if window.in_words else window.length


def ager(units: Sequence[int]) -> Callable[[_Batches], _Batches]:
    """Return the function that counts matches by the stream and the age of the row that waited."""

    def count(batches: _Batches) -> _Batches:
        hits = np.zeros((2, _BUCKETS), np.int64)
        for batch in batches:
            left, right = (
                ticks(pa.chunked_array([column]), name=_TIME) for column in batch.columns
            )
            for stream, age in enumerate((right - left, left - right)):
                # Of two rows of one moment the left one is taken in first, and waits.
                waited = age[age >= stream] // units[stream]
                hits[stream] += np.bincount(waited[waited < _BUCKETS], minlength=_BUCKETS)
        streams, buckets = np.nonzero(hits)
        yield pa.RecordBatch.from_pydict(
            {
                "stream": pa.array(streams, pa.int32()),
                "bucket": pa.array(buckets, pa.int32()),
                "matches": pa.array(hits[streams, buckets], pa.int64()),
            }
        )

    return count
