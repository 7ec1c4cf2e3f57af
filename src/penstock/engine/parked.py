"""A state taken apart into arrays, and put together from them as it was.

Unlike `saved`, nothing is made anew: slots, index and queue are what they were.  So a process
that finds the arrays where another one left them goes on at once, however many rows are held.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.arrivals.ages import Ages
from penstock.arrivals.counting import Counting
from penstock.engine.columns import Packed
from penstock.engine.plan import Plan
from penstock.engine.saved import bytes_of_table, table_of_bytes
from penstock.engine.segments import Segment
from penstock.engine.state import State, start
from penstock.kernels.ghosts import Ghosts
from penstock.kernels.store import Store, on_lines

_BUNDLES: dict[str, Any] = {"store": Store, "ghosts": Ghosts, "counting": Counting, "ages": Ages}
_VIEW = "store:links"  # the same bytes as `wide`


class Parked(NamedTuple):
    """A state in parts.

    Attributes
    ----------
    arrays
        By name; they may lie anywhere, and are used where they lie.
    tables
        Payload that Arrow keeps, by the number of its segment; it never changes.
    facts
        The rest, in types that JSON has.
    """

    arrays: dict[str, NDArray[Any]]
    tables: dict[int, pa.Table]
    facts: dict[str, Any]


def park(state: State) -> Parked:
    """Take a state apart; it must not be used again."""
    state = state.take_over()
    arrays: dict[str, NDArray[Any]] = {"limits": state.limits}
    for name in _BUNDLES:
        bundle = getattr(state, name)
        arrays |= {f"{name}:{field}": getattr(bundle, field) for field in bundle._fields}
    del arrays[_VIEW]
    tables, segments = {}, []
    for number, segment in state.segments.by_number.items():
        arrays[f"slots:{number}"] = segment.slots
        if isinstance(segment.rows, Packed):
            arrays[f"values:{number}"] = segment.rows.values
        else:
            tables[number] = segment.rows
        count = segment.rows.count if isinstance(segment.rows, Packed) else -1
        segments.append([number, segment.stream, segment.alive, count])
    for name in ("waiting", "leaving"):
        for stream, table in enumerate(getattr(state, name)):
            if table is not None:
                arrays[f"{name}:{stream}"] = np.frombuffer(bytes_of_table(table), np.uint8)
    facts = {
        "matched": state.matched,
        "value": state.value.hex(),
        "segments": segments,
        "following": state.segments.following,
    }
    return Parked(arrays, tables, facts)


def unpark(plan: Plan, parked: Parked) -> State:
    """Put a state together again.

    Parameters
    ----------
    plan
        The plan the state belongs to, made anew from the same query.
    parked
        Its arrays are taken over.
    """
    arrays, facts = parked.arrays, parked.facts
    state = start(plan)
    for name, kind in _BUNDLES.items():
        found: dict[str, Any] = {field: arrays.get(f"{name}:{field}") for field in kind._fields}
        if name == "store":
            found["wide"] = on_lines(arrays["store:wide"])
            found["links"] = found["wide"].view(np.int32)
        setattr(state, name, kind(**found))
    state.limits = arrays["limits"]
    state.matched, state.value = facts["matched"], float.fromhex(facts["value"])
    for name in ("waiting", "leaving"):
        blobs = [arrays.get(f"{name}:{stream}") for stream in range(len(plan.schemas))]
        tables = tuple(None if blob is None else table_of_bytes(blob) for blob in blobs)
        setattr(state, name, tables)
    state.segments.resume(_segments(plan, parked), facts["following"])
    return state


def _segments(plan: Plan, parked: Parked) -> Mapping[int, Segment]:
    """Return the segments by number."""
    kept = [
        pa.schema([schema.field(name) for name in names])
        for schema, names in zip(plan.schemas, plan.columns, strict=True)
    ]
    found = {}
    for number, stream, alive, count in parked.facts["segments"]:
        rows: Any = parked.tables.get(number)
        if count >= 0:
            rows = Packed(kept[stream], parked.arrays[f"values:{number}"], count)
        found[number] = Segment(stream, rows, parked.arrays[f"slots:{number}"], alive)
    return found
