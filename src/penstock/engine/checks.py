"""What a join refuses before its first row: columns, types, times and windows that do not fit."""

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa

from penstock.errors import InvalidQuery
from penstock.policies.base import Policy
from penstock.query import JoinQuery, Window

SIDES = ("left", "right")


def check(query: JoinQuery, schemas: Sequence[pa.Schema], policy: Policy) -> None:
    """Refuse a query that these streams, or this policy, cannot answer."""
    if len(schemas) != len(SIDES):
        raise InvalidQuery(
            f"{len(schemas)} streams: this join takes two, a left and a right one; join the others "
            "to its result."
        )
    for stream, schema in enumerate(schemas):
        _check_columns(query, stream, schema)
        _check_time(query, stream, schema)
    _check_times_compare(query, schemas)
    _check_names(query, schemas)
    _check_policy(query, policy)


def is_event_time(kind: pa.DataType) -> bool:
    """Say whether a column of this type can be an event time."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_integer(kind))


def joined_columns(query: JoinQuery, schemas: Sequence[pa.Schema]) -> list[tuple[int, str, str]]:
    """Return the columns of a joined row, as (stream, column, name in the result).

    Both sides' columns, a key of one name once, clashing names with suffixes.
    """
    left, right = schemas
    shared = {one for one, other in query.on if one == other}
    clashing = (set(left.names) & set(right.names)) - shared
    columns = []
    for stream, schema in enumerate((left, right)):
        for name in schema.names:
            if stream == 1 and name in shared:
                continue
            renamed = name + query.suffixes[stream] if name in clashing else name
            columns.append((stream, name, renamed))
    return columns


def _check_columns(query: JoinQuery, stream: int, schema: pa.Schema) -> None:
    side = SIDES[stream]
    for name, times in Counter(schema.names).items():
        if times > 1:
            raise InvalidQuery(
                f"column {name!r}: the {side} side has {times} columns of this name; rename all "
                "but one."
            )
    wanted = [pair[stream] for pair in query.on]
    wanted += [query.time[stream], query.importance[stream] or query.time[stream]]
    for name in wanted:
        if name not in schema.names:
            raise InvalidQuery(
                f"column {name!r}: the {side} side has no such column; it has "
                f"{', '.join(sorted(schema.names)) or 'none at all'}."
            )
    for field in schema:
        if not _can_be_kept(field.type):
            raise InvalidQuery(
                f"column {field.name!r}: rows of type {field.type} cannot be picked one by one; "
                "cast the column to another type, or leave it out."
            )
    importance = query.importance[stream]
    if importance is not None and not _is_number(schema.field(importance).type):
        raise InvalidQuery(
            f"importance={importance!r}: the {side} side's column is "
            f"{schema.field(importance).type}; importance must be a number."
        )


def _can_be_kept(kind: pa.DataType) -> bool:
    nothing = pa.schema([("column", kind)])
    try:
        nothing.empty_table().take(pa.array([], pa.int64()))
    except pa.ArrowNotImplementedError:
        return False
    return True


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _check_time(query: JoinQuery, stream: int, schema: pa.Schema) -> None:
    name, window = query.time[stream], query.windows[stream]
    kind = schema.field(name).type
    if not is_event_time(kind):
        raise InvalidQuery(
            f"time={name!r}: {kind} is not an event time; use a timestamp, a date or an integer."
        )
    if window.kind == "time" and window.in_words == pa.types.is_integer(kind):
        raise InvalidQuery(
            f"within={_length(window)}: the time column {name!r} is {kind}; "
            + (
                "give the window as a whole number in the column's own unit."
                if window.in_words
                else "give the window in words, such as '10 minutes'."
            )
        )


def _length(window: Window) -> str:
    return f"{window.length / 10**6:g} seconds" if window.in_words else f"{window.length}"


def _check_times_compare(query: JoinQuery, schemas: Sequence[pa.Schema]) -> None:
    kinds = [schema.field(name).type for schema, name in zip(schemas, query.time, strict=True)]
    numbers = [pa.types.is_integer(kind) for kind in kinds]
    zoned = [pa.types.is_timestamp(kind) and kind.tz is not None for kind in kinds]
    if numbers[0] != numbers[1] or zoned[0] != zoned[1]:
        raise InvalidQuery(
            f"time=({query.time[0]!r}, {query.time[1]!r}): {kinds[0]} and {kinds[1]} cannot be "
            "compared; give both sides numbers, moments with a time zone, or moments without."
        )


def _check_names(query: JoinQuery, schemas: Sequence[pa.Schema]) -> None:
    names = Counter(name for _, _, name in joined_columns(query, schemas))
    twice = sorted(name for name, times in names.items() if times > 1)
    if twice:
        raise InvalidQuery(
            f"suffixes={query.suffixes!r}: the result would have two columns {twice[0]!r}; choose "
            "other suffixes, or rename a column."
        )


def _check_policy(query: JoinQuery, policy: Policy) -> None:
    if query.memory is None:
        return
    if "importance" in policy.needs and not query.valued:
        raise InvalidQuery(
            f"keep={policy.name!r}: it ranks by a column the query does not name; add "
            "importance='<column>' to the join."
        )
    if "window" in policy.needs and not query.bounded_windows:
        raise InvalidQuery(
            f"keep={policy.name!r}: it needs to know when a row expires, and a window is "
            "unbounded; give both sides a window or keep='match-probability'."
        )
