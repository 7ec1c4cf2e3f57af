"""Where the state of a shard lies between two batches: in Spark's state store, and on a shelf.

In the store a segment of payload is written once, under a name that never means other bytes,
and removed when its rows are gone; what changes with every batch is one small value.  The store
is read back only where the shelf of this machine does not hold the very state it speaks of.
"""

import json
import uuid
from dataclasses import dataclass, replace
from mmap import mmap
from typing import Any

from penstock.engine.parked import park, unpark
from penstock.engine.plan import Plan
from penstock.engine.saved import CHANGING, restore, save
from penstock.engine.state import State, start
from penstock.errors import UnreadableState
from penstock.kernels.pages import provided_by
from penstock.spark.cells import SLICES, Batch
from penstock.spark.census import Census, between, empty, together
from penstock.spark.shelf import Shelf

_HEAD = "facts string, left binary, right binary, body binary"
_LAST = 2**62
_NAME, _PART = "name string", "body binary"


@dataclass(frozen=True)
class Memory:
    """What a shard remembers from one batch to the next.

    Parameters
    ----------
    state
        Of the join.
    newest
        The newest event time of each stream, in all shards.
    census
        Of each stream, in all shards.
    slice
        Since which slice of event time the budget is divided as it is.
    """

    state: State
    newest: tuple[int | None, int | None]
    census: tuple[Census, Census]
    slice: int | None

    def with_news(self, batch: Batch) -> "Memory":
        """Return what is known of the streams with a batch."""
        newest = [_later(*pair) for pair in zip(self.newest, batch.newest, strict=True)]
        census = [together(pair) for pair in zip(self.census, batch.census, strict=True)]
        return replace(self, newest=(newest[0], newest[1]), census=(census[0], census[1]))

    def after(self, state: State, slice: int | None) -> "Memory":
        """Return what remains after a batch."""
        census = self.census
        if slice is not None:
            census = tuple(between(one, slice - 2 * SLICES, _LAST) for one in census)  # type: ignore[assignment]
        return replace(self, state=state, slice=slice, census=census)


def _later(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return max(one, other)


class Keeper:
    """The state variables of a stateful operator, for whatever shard it works on."""

    def __init__(self, handle: Any) -> None:
        self._head = handle.getValueState("changing", _HEAD)
        self._parts = handle.getMapState("segments", _NAME, _PART)

    def open(self, plan: Plan, shards: int) -> Memory:
        """Return what the shard at hand remembers."""
        head = self._head.get()
        if head is None:
            self._written: list[str] = []
            self._shard = uuid.uuid4().hex
            self._shelf = Shelf.new(self._shard)
            return Memory(start(plan), (None, None), (empty(shards), empty(shards)), None)
        told, left, right, body = head
        facts = json.loads(told)
        if facts["shards"] != shards:
            raise UnreadableState(
                f"shards={shards}: this query began with shards={facts['shards']}, and rows stay "
                "where they are; go on with as many, or begin with a new checkpoint."
            )
        self._written, self._shard = facts["parts"], facts["shard"]
        state = self._from_shelf(plan, facts) or self._from_store(plan, bytes(body))
        census = (Census.of_bytes(left), Census.of_bytes(right))
        return Memory(state, tuple(facts["newest"]), census, facts["slice"])

    def map(self, size: int) -> mmap:
        """Return memory where the state at hand can wait for the next batch."""
        return self._shelf.map(size)

    def _from_shelf(self, plan: Plan, facts: dict[str, Any]) -> State | None:
        if facts["plan"] != plan.fingerprint:
            return None  # the store will say so
        self._shelf = Shelf.of(self._shard, facts["shelf"])
        parked = self._shelf.take(facts["token"])
        return None if parked is None else unpark(plan, parked)

    def _from_store(self, plan: Plan, body: bytes) -> State:
        self._shelf = Shelf.new(self._shard)
        parts = {name: bytes(self._parts.getValue((name,))[0]) for name in self._written}
        with provided_by(self._shelf.map):
            return restore(plan, {CHANGING: body, **parts})

    def close(self, memory: Memory) -> None:
        """Keep it for the next batch; its state must not be used again."""
        saved = save(memory.state, written=self._written)
        names = [name for name in saved.names if name != CHANGING]
        for name, body in saved.parts.items():
            if name != CHANGING:
                self._parts.updateValue((name,), (body,))
        for name in set(self._written) - set(names):
            self._parts.removeKey((name,))
        token = uuid.uuid4().hex
        facts = {
            "newest": memory.newest,
            "slice": memory.slice,
            "parts": names,
            "shards": len(memory.census[0].counts.T),
            "plan": memory.state.plan.fingerprint,
            "shard": self._shard,
            "shelf": self._shelf.name,
            "token": token,
        }
        self._shelf.put(park(memory.state), token)
        left, right = (one.to_bytes() for one in memory.census)
        self._head.update((json.dumps(facts), left, right, saved.parts[CHANGING]))
        del self._shelf  # an idle process must not hold on to memory that the next one lets go
