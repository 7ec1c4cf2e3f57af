"""`penstock.join`: two DataFrames in, one out; nothing runs before a sink asks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it
from pyspark.sql.types import StringType, StructField, StructType

from penstock.engine.checks import SIDES, joined_columns
from penstock.errors import InfeasibleBudget, InvalidQuery
from penstock.policies import by_name
from penstock.policies.base import Policy
from penstock.query import Budget, Combination, Duration, JoinQuery, Window, both, pairs_of
from penstock.spark import batch, streaming
from penstock.spark.learned import Learned
from penstock.spark.shards import checked
from penstock.spark.spec import Spec
from penstock.spark.types import arrow_schema, delay_of, resolved

Within = Duration | None
Keep = str | Policy | Learned


@dataclass(frozen=True)
class Wanted:
    """A join of two DataFrames, checked, before it is laid out on Spark."""

    left: DataFrame
    right: DataFrame
    spec: Spec

    @property
    def schema(self) -> StructType:
        """The columns of the result, in Spark's types."""
        sides = (self.left.schema, self.right.schema)
        fields = []
        for stream, column, name in joined_columns(self.spec.query, self.spec.schemas):
            field = sides[stream][column]
            fields.append(StructField(name, field.dataType, field.nullable))
        return StructType(fields)


def join(
    left: DataFrame,
    right: DataFrame,
    *,
    on: str | Sequence[str | tuple[str, str]],
    time: str | tuple[str, str],
    within: Within | tuple[Within, Within] = None,
    rows: int | tuple[int, int] | None = None,
    where: str | None = None,
    how: Literal["inner"] = "inner",
    memory: str | int | None = None,
    split: Literal["half", "shared"] | tuple[float, float] = "half",
    keep: Keep = "largest",
    importance: str | tuple[str | None, str | None] | None = None,
    combine: Combination = "min",
    suffixes: tuple[str, str] = ("_left", "_right"),
    shards: int | None = None,
    seed: int = 0,
) -> DataFrame:
    """Join two streams, or two tables, over a sliding window on a budget of memory.

    Parameters
    ----------
    left, right
        Both streaming or both not.
    on
        The key: a column, columns, or pairs `(left, right)`.
    time
        The event-time column, or one for each side.
    within
        How far apart in time matching rows may lie: `"1 hour"`, a timedelta, a whole number for
        an integer time column, or one for each side's rows.
    rows
        Instead of `within`: among how many of the last rows of its stream a row can be met.
    where
        A further condition in SQL, over the columns of the result, or over `left.x` and `right.x`.
    how
        `"inner"`.
    memory
        What the join may hold: bytes (`"64MB"`), rows (`40_000`), or a share of what the exact join
        would hold (`"25%"`).  None: the exact join.
    split
        Whether each side has its own part of the budget, `"half"` and half or by weights, or both
        compete for all of it: `"shared"`.
    keep
        What to keep when memory is full: a goal (`"largest"`, `"valuable"`), a policy by its
        name, a policy, or what `penstock.learn` found in the history of the two streams.
    importance
        The column that says what a row is worth, or one for each side.
    combine
        How the importance of a match follows from that of its rows.
    suffixes
        What is added to column names that both sides have.
    shards
        Into how many parts of the key space the work is cut at most: a budget of few rows is not
        cut into parts of fewer than 128.  It must not change over the life of a checkpoint.
    seed
        Seed of all chance.

    Returns
    -------
    DataFrame
        The columns of both sides; a key of one name once.

    Examples
    --------
    >>> import penstock as ps
    >>> matches = ps.join(
    ...     orders, payments, on="order_id", time="ts", within="1 hour", memory="64MB"
    ... )  # doctest: +SKIP
    """
    if how != "inner":
        raise InvalidQuery(f"how={how!r}: this join makes inner matches only; use how='inner'.")
    _refuse_kinds(where, suffixes, seed)
    frames = left, right = _frames(left, right)
    names = [frame.schema.names for frame in frames]
    times = both(time)
    query = JoinQuery(
        on=_pairs(on, names),
        time=(resolved(times[0], names[0]), resolved(times[1], names[1])),
        windows=_windows(within, rows),
        memory=Budget.of(memory),
        split=split,
        importance=_importance(importance, names),
        combine=combine,
        suffixes=suffixes,
    )
    learned = keep if isinstance(keep, Learned) else None
    policy = learned.policy if learned else keep
    spec = Spec(
        query=query,
        schemas=(arrow_schema(left), arrow_schema(right)),
        policy=policy if isinstance(policy, Policy) else by_name(str(policy)),
        expectation=learned.frequencies if learned else None,
        ages=learned.ages if learned else None,
        seed=seed,
        shards=checked(shards, query),
        delays=(delay_of(left, query.time[0]), delay_of(right, query.time[1])),
    )
    spec.plan(0)  # refuses what the engine would refuse
    _refuse_scant(spec)
    _refuse_endless(spec, frames)
    _refuse_collations(spec, frames)
    wanted = Wanted(left, right, spec)
    layout = streaming if left.isStreaming else batch
    return _where(layout.joined(wanted), wanted, where)


def _frames(left: Any, right: Any) -> tuple[DataFrame, DataFrame]:
    for side, frame in (("left", left), ("right", right)):
        if not isinstance(frame, DataFrame):
            raise InvalidQuery(f"{side}: give a DataFrame of Spark, not a {type(frame).__name__}.")
    if left.isStreaming != right.isStreaming:
        streams, table = ("left", "right") if left.isStreaming else ("right", "left")
        raise InvalidQuery(
            f"the {streams} side is a stream and the {table} side is a table, which has no window; "
            "read both as streams, or use DataFrame.join."
        )
    return left, _spelled(right, left)


def _spelled(frame: DataFrame, other: DataFrame) -> DataFrame:
    """Spell columns as the other side does, where upper and lower case are one to Spark."""
    if str(frame.sparkSession.conf.get("spark.sql.caseSensitive", "false")) == "true":
        return frame
    names = frame.schema.names
    if len({name.lower() for name in names}) < len(names):
        return frame  # of a column that is there twice another error tells
    theirs = {name.lower(): name for name in other.schema.names}
    spelled = [theirs.get(name.lower(), name) for name in names]
    return frame if spelled == names else frame.toDF(*spelled)


def _refuse_kinds(where: Any, suffixes: Any, seed: Any) -> None:
    """Refuse arguments of the wrong type that nobody else looks at."""
    if where is not None and not isinstance(where, str):
        raise InvalidQuery(f"where={where!r}: give a condition in SQL, such as 'left.x < right.x'.")
    pair = isinstance(suffixes, tuple | list) and len(suffixes) == len(SIDES)
    if not pair or not all(isinstance(suffix, str) for suffix in suffixes):
        raise InvalidQuery(
            f"suffixes={suffixes!r}: give two texts, one for each side, such as ('_l', '_r')."
        )
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise InvalidQuery(f"seed={seed!r}: give a whole number.")


def _refuse_scant(spec: Spec) -> None:
    """Refuse a budget of which the shard that gets the least could hold nothing."""
    try:
        spec.plan(spec.shards - 1).budget()
    except InfeasibleBudget as error:
        if spec.shards == 1:
            raise
        raise InfeasibleBudget(
            f"shards={spec.shards}: each has its part of the budget, and to one alone applies "
            f"{error}"
        ) from error


def _refuse_endless(spec: Spec, frames: Sequence[DataFrame]) -> None:
    """Refuse a stream whose state could only grow, or whose rows have no event time for Spark."""
    if not frames[0].isStreaming or spec.query.memory is not None or spec.query.counted:
        return
    for stream, delay in enumerate(spec.delays):
        if delay is None and spec.query.bounded_windows:
            time = spec.query.time[stream]
            raise InvalidQuery(
                f"time={time!r}: the {SIDES[stream]} side has no watermark on it, so the exact "
                f"join could never let a row go; add .withWatermark({time!r}, '10 minutes'), or "
                "give the join a memory=."
            )


def _refuse_collations(spec: Spec, frames: Sequence[DataFrame]) -> None:
    """Refuse keys that are equal to Spark where their bytes are not."""
    for pair in spec.query.on:
        for name, frame in zip(pair, frames, strict=True):
            kind = frame.schema[name].dataType
            if isinstance(kind, StringType) and not kind.isUTF8BinaryCollation():
                raise InvalidQuery(
                    f"on={name!r}: keys are compared byte by byte, and this column has the "
                    f"collation {kind.collation}; join on lower({name}), or on a cast to string."
                )


def _where(rows: DataFrame, wanted: Wanted, where: str | None) -> DataFrame:
    """Keep the matches that fulfil a condition over the columns of both sides."""
    if where is None:
        return rows
    names = rows.columns
    sides: dict[str, list[Column]] = {"left": [], "right": []}
    for stream, column, name in joined_columns(wanted.spec.query, wanted.spec.schemas):
        sides[SIDES[stream]].append(F.col(f"`{name}`").alias(column))
    shared = [F.col(f"`{one}`") for one, other in wanted.spec.query.on if one == other]
    sides["right"] += shared
    both_sides = [F.struct(*columns).alias(side) for side, columns in sides.items()]
    try:
        found = rows.select(*[F.col(f"`{name}`") for name in names], *both_sides).where(where)
    except AnalysisException as error:
        reason = str(error).split("SQLSTATE")[0].strip()
        raise InvalidQuery(f"where={where!r}: {reason}") from error
    return found.select(*[F.col(f"`{name}`") for name in names])


def _pairs(
    on: str | Sequence[str | tuple[str, str]], names: Sequence[list[str]]
) -> tuple[tuple[str, str], ...]:
    left, right = names
    return tuple((resolved(one, left), resolved(other, right)) for one, other in pairs_of(on))


def _windows(within: Any, rows: Any) -> tuple[Window, Window]:
    if rows is not None:
        left, right = both(rows, name="rows")
        if within is not None:
            raise InvalidQuery(
                f"within={within!r} and rows={rows!r}: a window is a length of time or a number "
                "of rows; give one of the two."
            )
        for count in (left, right):
            if isinstance(count, bool) or not isinstance(count, int):
                raise InvalidQuery(f"rows={count!r}: give a whole number of rows.")
        return Window("rows", left), Window("rows", right)
    left, right = both(within, name="within")
    return Window.of(left), Window.of(right)


def _importance(
    importance: str | tuple[str | None, str | None] | None, names: Sequence[list[str]]
) -> tuple[str | None, str | None]:
    left, right = both(importance, name="importance")
    return (
        None if left is None else resolved(left, names[0]),
        None if right is None else resolved(right, names[1]),
    )
