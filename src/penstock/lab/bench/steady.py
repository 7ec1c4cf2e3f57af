"""How fast one join runs once its windows are full."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from penstock.engine.plan import Plan
from penstock.engine.state import State, start
from penstock.engine.step import Flow
from penstock.lab.bench.workload import SCHEMA, Stream, Tables
from penstock.policies import by_name

_FILLING = 1 << 16  # rows of a batch while windows fill, which is not measured

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Way:
    """How a join keeps to its budget: a policy, on a share of its window; without one, exact."""

    policy: str = ""
    share: float = 1.0

    @property
    def name(self) -> str:
        """What stands in tables."""
        return f"{self.policy}, {self.share:.0%}" if self.policy else "exact"

    def plan(self, stream: Stream) -> Plan:
        """Return the plan of this join of `stream`."""
        memory = int(stream.window * self.share) if self.policy else None
        policy = by_name(self.policy or "random")
        query = stream.query(memory)
        if "importance" in policy.needs:
            query = replace(query, importance=("value", "value"))
        return Plan(query, (SCHEMA, SCHEMA), policy)


@dataclass(frozen=True)
class Pace:
    """What the measured rows took, in processor time."""

    rows: int
    matches: int
    seconds: float

    @property
    def rows_per_second(self) -> float:
        """Rows taken in per second of processor time."""
        return self.rows / self.seconds

    @property
    def matches_per_second(self) -> float:
        """Matches built per second of processor time."""
        return self.matches / self.seconds

    @property
    def nanoseconds(self) -> float:
        """Processor time of one row."""
        return 1e9 * self.seconds / self.rows


def middle(paces: Sequence[Pace]) -> Pace:
    """Return the pace of the middle round, so that a disturbed one does not count."""
    return sorted(paces, key=lambda pace: pace.nanoseconds)[(len(paces) - 1) // 2]


class Steady:
    """A join whose windows are full, run on batch by batch."""

    def __init__(self, way: Way, stream: Stream, *, batch: int, filling: int = _FILLING) -> None:
        self._state = start(way.plan(stream))
        self._batch, self._stream = batch, stream
        self._at = 0
        # A quarter more than a window, so that queues and panes are as they will be ever after.
        wanted = stream.window + stream.window // 4
        size = min(filling, wanted)
        for tables in self._next(size, -(-wanted // size)):
            self._take(tables)

    @property
    def state(self) -> State:
        """The join as it is now."""
        return self._state

    def _next(self, size: int, count: int) -> Iterator[Tables]:
        drawn = self._stream.batches(size, first=self._at)
        for _ in range(count):
            yield next(drawn)
            self._at += size

    def _take(self, tables: Tables) -> int:
        flow = Flow(self._state, tables)
        matches = sum(found.num_rows for found in flow)
        self._state = flow.state
        return matches

    def run(self, batches: int) -> Pace:
        """Take in so many batches and build their matches; drawing the rows takes no time."""
        seconds, matches = 0.0, 0
        for tables in self._next(self._batch, batches):
            began = time.process_time()
            matches += self._take(tables)
            seconds += time.process_time() - began
        return Pace(batches * self._batch, matches, seconds)
