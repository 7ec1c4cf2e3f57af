"""From index pairs to joined rows: payload taken where it lies, keys compared by value."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.checks import joined_columns
from penstock.engine.columns import NOWHERE_ELSE, Packed, gather, pack, places_of_pairs
from penstock.engine.plan import Plan
from penstock.engine.scratch import borrow, hand_back
from penstock.engine.segments import Segments
from penstock.engine.sequence import LATEST, Sequenced, importance_of
from penstock.kernels.ghosts import COMBINATIONS, MAX, MIN, PRODUCT, SUM
from penstock.kernels.terms import HELD_PLACE, NEW_ROW, OF_STREAM, TIME

_AT_ONCE = 16 << 20  # bytes of joined rows that are made at once


class Found(NamedTuple):
    """The matches of one buffer of pairs."""

    rows: pa.Table | None
    matched: int
    value: float


def output_schema(plan: Plan) -> pa.Schema:
    """Return the columns of a joined row: both sides', a shared key once, clashes with suffixes."""
    return pa.schema(
        [
            pa.field(name, plan.schemas[stream].field(column).type)
            for stream, column, name in joined_columns(plan.query, plan.schemas)
        ]
    )


def _combine(how: int, one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    if how == MIN:
        return np.minimum(one, other)
    if how == SUM:
        return one + other
    if how == PRODUCT:
        return one * other
    if how == MAX:
        return np.maximum(one, other)
    return (one + other) / 2.0


def batch_rows(sequenced: Sequenced, stream: int, at: Any) -> pa.Table:
    """Return rows of the batch at hand, with the columns that stay with a held row."""
    source = sequenced.sources[stream]
    if source is not None:
        schema = sequenced.kept[stream].schema
        return gather(schema, schema.names, NOWHERE_ELSE, source, at)
    return sequenced.kept[stream].take(pa.array(sequenced.row[at]))


def staying_rows(sequenced: Sequenced, stream: int, at: Any) -> pa.Table | Packed:
    """Return rows of the batch at hand as they are laid down."""
    source, schema = sequenced.sources[stream], sequenced.kept[stream].schema
    if source is None or len(schema) == 0:
        return batch_rows(sequenced, stream, at)
    return pack(schema, NOWHERE_ELSE, source, at)


def take_rows(
    segments: Segments, sequenced: Sequenced, stream: int, places: Any
) -> tuple[pa.Table, NDArray[np.int64]]:
    """Return rows of a stream by their places, one at least, and the order in which they come."""
    return segments.take(places, lambda at: batch_rows(sequenced, stream, at))


def matches_of(
    plan: Plan, segments: Segments, sequenced: Sequenced, pairs: NDArray[np.int64]
) -> Iterator[Found]:
    """Find the matches of index pairs, so many at a time that their rows take little memory.

    One wide row may be in very many pairs, and its payload is in each of them.
    """
    at_once = max(1, int(_AT_ONCE / max(1.0, _width(segments, sequenced))))
    waiting = [pairs[begin : begin + at_once] for begin in range(0, len(pairs), at_once)][::-1]
    while waiting:
        piece = waiting.pop()
        try:
            yield find_matches(plan, segments, sequenced, piece)
        except pa.ArrowInvalid:  # more than 2 GB of text: rows far wider than the others
            if len(piece) == 1:
                raise
            half = len(piece) // 2
            waiting += [piece[half:], piece[:half]]


def _width(segments: Segments, sequenced: Sequenced) -> float:
    """Return about how many bytes the widest kind of joined row takes."""
    widths = [table.nbytes / max(1, table.num_rows) for table in sequenced.kept]
    held = segments.by_number.values()
    return 2.0 * max(*widths, *(s.payload / max(1, len(s.slots)) for s in held))


def find_matches(
    plan: Plan, segments: Segments, sequenced: Sequenced, pairs: NDArray[np.int64]
) -> Found:
    """Build, or only count, the matches of index pairs."""
    numbers = sequenced.batch.numbers
    new = pairs[:, NEW_ROW]
    wants_rows = plan.side.output == "matches"
    if not wants_rows and plan.keys.hash_decides and not plan.query.valued:
        return Found(None, int(_reported(plan, numbers, new).sum()), 0.0)
    tables, matched, value = [], 0, 0.0
    for sides, at in _sides(plan, segments, sequenced, pairs):
        reported = _reported(plan, numbers, at)
        if not plan.keys.hash_decides:
            same = _same_keys(plan, sides)
            if not same.all():
                keep = pa.array(same)
                sides = (sides[0].filter(keep), sides[1].filter(keep))
                reported = reported[same]
        matched += int(reported.sum())
        if plan.query.valued:
            one, other = (
                importance_of(side, column)
                for side, column in zip(sides, plan.query.importance, strict=True)
            )
            worth = _combine(COMBINATIONS[plan.query.combine], one, other)
            value += float(worth[reported].sum())
        if wants_rows:
            names = joined_columns(plan.query, plan.schemas)
            columns = [sides[side][column] for side, column, _ in names]
            tables.append(pa.Table.from_arrays(columns, schema=output_schema(plan)))
    rows = pa.concat_tables(tables) if wants_rows and tables else None
    return Found(rows, matched, value)


def _reported(plan: Plan, numbers: Any, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    if plan.side.report_from <= -LATEST:
        return np.ones(len(at), bool)
    return np.asarray(numbers[at, TIME] >= plan.side.report_from)


def _sides(
    plan: Plan, segments: Segments, sequenced: Sequenced, pairs: NDArray[np.int64]
) -> Iterator[tuple[tuple[pa.Table, pa.Table], NDArray[np.int64]]]:
    """Yield the rows of pairs, left and right, and the newcomer's place in the sequence of each."""
    flags = sequenced.batch.flags
    sources = [source for source in sequenced.sources if source is not None]
    if len(sources) == 2 and segments.are_plain(0) and segments.are_plain(1):
        places = borrow((2, len(pairs)), np.int64)
        places_of_pairs(pairs, HELD_PLACE, NEW_ROW, flags, OF_STREAM, *places)
        left, right = (  # both here and now, or places would be handed back too soon
            gather(plan.schemas[s], plan.columns[s], segments.directory, sources[s], places[s])
            for s in (0, 1)
        )
        hand_back(places)
        yield (left, right), pairs[:, NEW_ROW]
        return
    of_stream = flags[pairs[:, NEW_ROW], OF_STREAM]
    for stream in (0, 1):
        mine = pairs[of_stream == stream]
        if len(mine):
            older, order = take_rows(segments, sequenced, 1 - stream, mine[:, HELD_PLACE])
            at = mine[order, NEW_ROW]
            newer = batch_rows(sequenced, stream, at)
            yield ((newer, older) if stream == 0 else (older, newer)), at


def _same_keys(plan: Plan, sides: tuple[pa.Table, pa.Table]) -> NDArray[np.bool_]:
    left, right = (
        plan.keys.read([side[pair[stream]] for pair in plan.query.on])
        for stream, side in enumerate(sides)
    )
    return plan.keys.equal(left, right)


def shed_rows(
    plan: Plan, segments: Segments, sequenced: Sequenced, places: Any, when: Any, streams: Any
) -> list[pa.Table]:
    """Return the rows that were shed, per stream, with the event time at which they had to go."""
    tables = []
    for stream in (0, 1):
        mine = streams == stream
        rows, order = plan.schemas[stream].empty_table(), np.zeros(0, np.int64)
        if mine.any():
            rows, order = take_rows(segments, sequenced, stream, places[mine])
        tables.append(rows.append_column("_shed_at", pa.array(when[mine][order], pa.int64())))
    return tables
