"""A state as named parts of bytes, most of which never change once written.

Each segment of payload is one part, with the numbers of its rows beside it, and is the same
bytes for as long as it lives.  What changes with every step is small: counters, statistics,
ghosts, notes, and which rows of which segment are still held.  So who writes states one
after the other (a checkpoint, a state store) writes only the parts that are not there yet:

    state   step 1        step 2        step 3
    parts   segment-1-80  segment-1-80  segment-4-97   1 and 2 merged; 3 had died
                          segment-2-50
            changing      changing      changing

Indexes and eviction orders are not saved.  They are made anew from the rows.
"""

import json
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.arrivals.ages import Ages
from penstock.arrivals.counting import Counting
from penstock.engine import refill as rows
from penstock.engine.narrow import narrowed, widened
from penstock.engine.plan import Plan
from penstock.engine.room import with_room
from penstock.engine.segments import NOWHERE, Segment, place_of
from penstock.engine.state import State, start
from penstock.errors import UnreadableState
from penstock.kernels.ghosts import Ghosts
from penstock.kernels.index import HASH, MARK
from penstock.kernels.queue import list_ranks
from penstock.kernels.store import (
    BASE,
    CELLS,
    CHUNKS,
    COST,
    FIRST_CELL,
    FIRST_OPEN,
    FREE,
    GAINED,
    HELD,
    INSTANTS,
    LAST_LINKED,
    NEWEST,
    OLDEST,
    PLACE,
    QUEUED,
    SPARE,
    STREAM,
    TOUCHED,
    TURN,
    UNPLACED,
)

VERSION = 3
CHANGING = "changing"  # the name of the one part that every state has
_NO_KEYS = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Saved:
    """A state as bytes.

    Attributes
    ----------
    names
        The parts that make up the state; any other part that was written before may go.
    parts
        Those of them that the writer did not have yet, by name.
    """

    names: tuple[str, ...]
    parts: dict[str, bytes]


def save(state: State, *, written: Collection[str] = ()) -> Saved:
    """Return a state as named parts.

    Parameters
    ----------
    state
        It stays usable.
    written
        Names of parts that an earlier call returned and that are safely kept; their bytes are
        not made again.
    """
    changing = _counters(state)
    segments = sorted(state.segments.by_number.items())
    names = [_part_name(state, number, segment, written) for number, segment in segments]
    parts = dict.fromkeys(names, b"")
    loose = _loose_slots(state)
    keys = _rank_keys(state) if len(loose) or set(names) - set(written) else _NO_KEYS
    for name, (_, segment) in zip(names, segments, strict=True):
        changing[f"alive:{name}"] = np.packbits(segment.slots >= 0)
        if name not in written:
            parts[name] = _segment_bytes(state, segment, keys)
    changing |= {f"loose:{key}": value for key, value in _numbers(state, loose, keys).items()}
    for name, tables in (("waiting", state.waiting), ("leaving", state.leaving)):
        for stream, table in enumerate(tables):
            if table is not None:
                changing[f"{name}:{stream}"] = np.frombuffer(bytes_of_table(table), np.uint8)
    fresh = {name: blob for name, blob in parts.items() if name not in written}
    facts = {
        "version": VERSION,
        "plan": state.plan.fingerprint,
        "matched": state.matched,
        "value": state.value.hex(),
        "parts": list(parts),
    }
    return Saved((CHANGING, *parts), {CHANGING: _packed(changing, facts), **fresh})


def _part_name(state: State, number: int, segment: Segment, written: Collection[str]) -> str:
    """Return the name of a segment's part: the one it was written under, or a new one.

    What is written says nothing of rows that were gone by then, and rows only leave.  So number
    and rows alive name the bytes: under one name they are always the same.
    """
    start = f"segment-{number}-"
    for name in written:
        if name.startswith(start) and not name.endswith("-open"):
            return name
    # Rows of an instant that is still open have no turn yet; their segment is not final.
    living = segment.slots[segment.slots >= 0]
    is_open = bool((state.store.wide[living, TURN] == UNPLACED).any())
    return f"{start}{segment.alive}" + "-open" * is_open


def restore(plan: Plan, parts: Mapping[str, bytes]) -> State:
    """Return the state that `save` made parts of.

    Parameters
    ----------
    plan
        The plan the state belongs to, made anew from the same query.
    parts
        At least the parts that `Saved.names` lists.
    """
    changing, facts = _unpacked(_part(parts, CHANGING), CHANGING)
    if facts["version"] != VERSION:
        raise UnreadableState(
            f"version={facts['version']}: this state was saved by another version of Penstock, "
            f"which reads version {VERSION}; finish the join with the version it began with."
        )
    if facts["plan"] != plan.fingerprint:
        raise UnreadableState(
            "plan: this state belongs to another query, budget, schema, policy or seed; restore it "
            "with the one it was saved with, or start a new join."
        )
    state = start(plan)
    state.matched, state.value = facts["matched"], float.fromhex(facts["value"])
    state.limits = changing["limits"]
    state.ghosts = Ghosts(*(changing[f"ghosts:{name}"] for name in Ghosts._fields))
    state.counting = Counting(*(changing[f"counting:{name}"] for name in Counting._fields))
    state.ages = Ages(*(changing[f"ages:{name}"] for name in Ages._fields))
    for name in ("waiting", "leaving"):
        blobs = [changing.get(f"{name}:{stream}") for stream in range(len(plan.schemas))]
        tables = tuple(None if blob is None else table_of_bytes(blob) for blob in blobs)
        setattr(state, name, tables)
    _lay_out_rows(state, _rows_of(state, parts, changing, facts["parts"]), changing)
    return state


def _held_slots(state: State) -> NDArray[np.int64]:
    """Return the slots that hold a row, each stream's in the order of time."""
    slots = np.zeros(int(state.store.streams[HELD].sum()), np.int64)
    rows.list_held(state.store, slots)
    return slots


def _loose_slots(state: State) -> NDArray[np.int64]:
    """Return the slots of rows that nothing is kept of but numbers."""
    if all(state.plan.columns):
        return np.zeros(0, np.int64)
    held = _held_slots(state)
    return held[state.store.wide[held, PLACE] == NOWHERE]


def _counters(state: State) -> dict[str, NDArray[Any]]:
    arrays = {
        "limits": state.limits,
        "demand": state.store.demand,
        "streams": state.store.streams,
        "tally": state.store.tally,
    }
    for name in ("ghosts", "counting", "ages"):
        bundle = getattr(state, name)
        arrays |= {f"{name}:{field}": getattr(bundle, field) for field in bundle._fields}
    if len(state.store.notes):
        # Ranks that add up change with every instant, so they are not part of a segment.
        held = _held_slots(state)
        arrays["noted:place"] = state.store.wide[held, PLACE]
        arrays["noted:mark"] = state.store.wide[held, MARK]
        arrays["noted:worth"] = state.store.worth[held]
        touched = state.store.notes[held, GAINED] == state.store.tally[INSTANTS]
        arrays["noted:touched"] = touched & (state.store.tally[TOUCHED] > 0)
    return arrays


def _rank_keys(state: State) -> NDArray[np.int64]:
    """Return what the queue knows of each slot's rank, where that can never change."""
    if not state.plan.shape.queues or not state.plan.fixed:
        return _NO_KEYS
    keys = np.zeros(len(state.store.wide), np.int64)
    if state.plan.worth_column["kept_rank"] < 0:
        list_ranks(state.store, state.plan.terms(state.limits, in_order=True), keys)
    return keys


def _numbers(
    state: State, slots: NDArray[np.int64], keys: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Return what the kernels know of rows; zeros for those that are gone."""
    gone = slots < 0
    facts = np.zeros((len(slots), rows.FACTS), np.int64)
    wide, links = state.store.wide[slots], state.store.links[slots]
    facts[:, rows.FACT_TURN], facts[:, rows.FACT_MARK] = wide[:, TURN], wide[:, MARK]
    facts[:, rows.FACT_HASH], facts[:, rows.FACT_STREAM] = wide[:, HASH], links[:, STREAM]
    facts[:, rows.FACT_PLACE] = NOWHERE
    if len(keys):
        facts[:, rows.FACT_RANK] = keys[slots]
    if state.plan.costed:
        facts[:, rows.FACT_COST] = links[:, COST]
    worth = state.store.worth[slots]
    facts[gone], worth[gone] = 0, 0.0
    return {"facts": facts, "worth": worth}


def _segment_bytes(state: State, segment: Segment, keys: NDArray[np.int64]) -> bytes:
    numbers = _numbers(state, segment.slots.astype(np.int64), keys)
    column = state.plan.worth_column
    for moving in (column["note"], column["kept_rank"]):
        if moving >= 0:
            numbers["worth"][:, moving] = 0.0  # saved apart, with what changes
    payload = np.frombuffer(_buffer_of_table(segment.table()), np.uint8)
    facts = narrowed(numbers["facts"], segment.slots >= 0)
    arrays = {**facts, "worth": numbers["worth"], "payload": payload}
    return _packed(arrays, {"stream": segment.stream})


class _Rows:
    """Rows on their way back, and the segments they lie in."""

    def __init__(self) -> None:
        self.facts: list[NDArray[np.int64]] = []
        self.worth: list[NDArray[np.float64]] = []
        self.segments: list[tuple[int, Segment]] = []


def _rows_of(
    state: State, parts: Mapping[str, bytes], changing: Any, names: Collection[str]
) -> _Rows:
    found = _Rows()
    found.facts.append(changing["loose:facts"])
    found.worth.append(changing["loose:worth"])
    for name in names:
        arrays, described = _unpacked(_part(parts, name), name)
        number = int(name.split("-")[1])
        facts = widened(arrays, len(arrays["worth"]))
        alive = np.unpackbits(changing[f"alive:{name}"], count=len(facts)).astype(bool)
        facts[:, rows.FACT_PLACE] = place_of(number, np.arange(len(facts)))
        found.facts.append(facts[alive])
        found.worth.append(arrays["worth"][alive])
        slots = np.where(alive, 0, -1).astype(np.int32)
        table = table_of_bytes(arrays["payload"])
        segment = Segment(described["stream"], table, slots, int(alive.sum()))
        found.segments.append((number, segment))
    return found


def _lay_out_rows(state: State, found: _Rows, changing: Any) -> None:
    plan = state.plan
    facts, worth = np.concatenate(found.facts), np.concatenate(found.worth)
    if "noted:place" in changing:
        _give_notes(facts, worth, changing)
    unplaced = facts[:, rows.FACT_TURN] == UNPLACED
    turns = np.where(unplaced, np.iinfo(np.int64).max, facts[:, rows.FACT_TURN])
    order = np.lexsort((facts[:, rows.FACT_PLACE], turns, facts[:, rows.FACT_MARK]))
    state.store.demand[:] = changing["demand"]
    state.store.streams[:] = changing["streams"]
    state.store.streams[[FIRST_OPEN, OLDEST, NEWEST, LAST_LINKED, BASE]] = -1
    state.store.streams[[FIRST_CELL, CELLS, QUEUED]] = 0
    state.store.streams[CHUNKS] = 1
    state.store.tally[:] = changing["tally"]
    state.store.tally[[SPARE, TOUCHED]] = 0
    state.store.tally[FREE] = -1
    held = int(state.store.streams[HELD].sum())
    if held != len(facts):
        raise UnreadableState(
            f"rows: the state should hold {held} rows and its parts hold {len(facts)}; parts of "
            "two states were mixed, so restore those of one."
        )
    if held:
        state.store = with_room(state.store, plan, state.limits, rows=held)
    slots = np.zeros(held, np.int32)
    terms = plan.terms(state.limits, in_order=True)
    with np.errstate(over="ignore"):
        rows.refill(
            state.store, state.counting, state.ages, terms, facts[order], worth[order], slots
        )
    in_order = np.empty(held, np.int32)
    in_order[order] = slots
    begin = len(found.facts[0])
    for number, segment in found.segments:
        segment.slots[segment.slots >= 0] = in_order[begin : begin + segment.alive]
        begin += segment.alive
        state.segments.restore(number, segment)


def _give_notes(facts: NDArray[np.int64], worth: NDArray[np.float64], changing: Any) -> None:
    """Write the ranks that add up, which were saved apart, to their rows."""
    ours, theirs = np.argsort(facts[:, rows.FACT_PLACE]), np.argsort(changing["noted:place"])
    if (facts[:, rows.FACT_PLACE] == NOWHERE).any():
        ours = theirs = np.arange(len(facts))  # without payload both are in the order of time
    worth[ours] = changing["noted:worth"][theirs]
    facts[ours, rows.FACT_TOUCHED] = changing["noted:touched"][theirs]


def bytes_of_table(table: pa.Table) -> bytes:
    """Return a table as bytes, with its schema."""
    return _buffer_of_table(table).to_pybytes()


def _buffer_of_table(table: pa.Table) -> Any:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def table_of_bytes(blob: NDArray[np.uint8]) -> pa.Table:
    """Return the table that `bytes_of_table` made bytes of; it lies where they lie."""
    return pa.ipc.open_stream(pa.py_buffer(blob)).read_all().combine_chunks()


def _packed(arrays: Mapping[str, NDArray[Any]], facts: Mapping[str, Any]) -> bytes:
    """Return arrays and facts as bytes: a checksum, the length of the header, header, arrays."""
    described = {name: [array.dtype.str, array.shape] for name, array in arrays.items()}
    header = json.dumps({"arrays": described, "facts": facts}, default=int).encode()
    parts: list[Any] = [len(header).to_bytes(8, "little"), header]
    for array in arrays.values():
        parts.append(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    check = 0
    for part in parts:
        check = zlib.crc32(part, check)
    return b"".join([check.to_bytes(4, "little"), *parts])


def _unpacked(blob: bytes, name: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    if len(blob) < 12 or zlib.crc32(blob[4:]) != int.from_bytes(blob[:4], "little"):
        raise UnreadableState(
            f"{name}: this part of the state is damaged or cut short; restore an older state."
        )
    begin = 12 + int.from_bytes(blob[4:12], "little")
    header = json.loads(blob[12:begin])
    arrays = {}
    for key, (kind, shape) in header["arrays"].items():
        dtype, count = np.dtype(kind), int(np.prod(shape))
        arrays[key] = np.frombuffer(blob, dtype, count, begin).reshape(shape).copy()
        begin += count * dtype.itemsize
    return arrays, header["facts"]


def _part(parts: Mapping[str, bytes], name: str) -> bytes:
    if name not in parts:
        raise UnreadableState(f"{name}: this part of the state is missing; restore an older state.")
    return parts[name]
