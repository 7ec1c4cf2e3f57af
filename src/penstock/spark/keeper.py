"""Where the state of a shard lies between two batches: in Spark's state store.

A segment of payload is written once, under a name that never means other bytes, and removed
when its rows are gone; what changes with every batch is one small value.
"""

import json
from typing import Any, NamedTuple

from penstock.engine.plan import Plan
from penstock.engine.saved import CHANGING, restore, save
from penstock.engine.state import State, start

_HEAD = "facts string, body binary"
_NAME, _PART = "name string", "body binary"


class Memory(NamedTuple):
    """What a shard remembers: the join's state, and the newest time of each stream."""

    state: State
    newest: tuple[int | None, int | None]


class Keeper:
    """The state variables of a stateful operator, for whatever shard it works on."""

    def __init__(self, handle: Any) -> None:
        self._head = handle.getValueState("changing", _HEAD)
        self._parts = handle.getMapState("segments", _NAME, _PART)
        self._written: list[str] = []

    def open(self, plan: Plan) -> Memory:
        """Return what the shard at hand remembers."""
        head = self._head.get()
        if head is None:
            self._written = []
            return Memory(start(plan), (None, None))
        facts = json.loads(head[0])
        self._written = facts["parts"]
        parts = {name: bytes(self._parts.getValue((name,))[0]) for name in self._written}
        state = restore(plan, {CHANGING: bytes(head[1]), **parts})
        left, right = facts["newest"]
        return Memory(state, (left, right))

    def close(self, memory: Memory) -> None:
        """Keep it for the next batch."""
        saved = save(memory.state, written=self._written)
        names = [name for name in saved.names if name != CHANGING]
        for name, body in saved.parts.items():
            if name != CHANGING:
                self._parts.updateValue((name,), (body,))
        for name in set(self._written) - set(names):
            self._parts.removeKey((name,))
        facts = json.dumps({"newest": memory.newest, "parts": names})
        self._head.update((facts, saved.parts[CHANGING]))
        self._written = names
