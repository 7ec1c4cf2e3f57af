"""What a join has decided before its first row: types, policy, shape of the state, terms."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.arrivals.ages import Ages, known_ages, learned_ages, no_ages
from penstock.arrivals.chance import GHOST, POLICY, lane
from penstock.arrivals.counting import (
    DECAYED,
    NOTHING,
    PANES,
    RETAINED,
    Counting,
    new_counting,
)
from penstock.arrivals.expectation import (
    AgeSource,
    Decayed,
    Expectation,
    Known,
    KnownAges,
    LastWindow,
    LearnedAges,
    Retained,
)
from penstock.compiled import pointer
from penstock.engine.checks import SIDES, check
from penstock.engine.keys import Keys
from penstock.errors import InfeasibleBudget, InvalidData, InvalidQuery
from penstock.kernels.ghosts import COMBINATIONS, Ghosts, new_ghosts
from penstock.kernels.store import COST, RANK, SPOT, STREAM, Shape
from penstock.kernels.terms import BY_AGE, BY_HEAP, BY_SCAN, Terms
from penstock.policies.base import Held, Policy
from penstock.query import JoinQuery, Window

UNBOUNDED = 2**61  # longer than any two event times lie apart
_ROWS_OF_AN_INSTANT = 1 << 16  # an open instant of more rows is taken in parts
_COUNTERS = 1024  # keys that are counted one by one even under the smallest budget
# What a held row takes beside its payload: all columns, its share of the key index at its
# emptiest, of a list of segment rows, and a quarter for room to grow.
_INDEX_BYTES = 22
_GROWTH = 1.25
# A segment is rewritten when two fifths of its rows are gone.
_PAYLOAD_SLACK = 1.0 / 0.6
_SIGNATURE = "f8(i8,i8,i8,f8,f8,f8,f8,f8,f8,f8,f8,f8)"


def question(held: Held, settings: Any) -> float:
    """Stand in for a policy's function, which `pointer` puts here."""
    raise NotImplementedError


def _flat(
    time: int,
    age: int,
    life: int,
    importance: float,
    matches: float,
    slope: float,
    luck: float,
    note: float,
    first: float,
    second: float,
    third: float,
    fourth: float,
) -> float:
    held = Held(time, age, life, importance, matches, slope, luck, note)
    return question(held, (first, second, third, fourth))


@dataclass(frozen=True)
class Side:
    """How much goes beside the rows, and what is wanted of a run.

    Parameters
    ----------
    ghosts
        Ghosts per place for a row.
    output
        `"matches"`: build the joined rows.  `"counts"`: count them only.
    shed_rows
        Hand over the rows that were shed, with when.
    report_from
        Count matches, made and lost, from this event time on.
    age_buckets
        Add up at which age matches fall, over the whole run, in so many buckets.
    """

    ghosts: float = 1.0
    output: Literal["matches", "counts"] = "matches"
    shed_rows: bool = False
    report_from: int = -(2**62)
    age_buckets: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.ghosts < math.inf:
            raise InvalidQuery(
                f"ghosts={self.ghosts!r}: give 0 for none, or 1 for one per place, or any number "
                "between or above."
            )
        if not -(2**62) <= self.report_from <= 2**62:
            raise InvalidQuery(
                f"report_from={self.report_from!r}: give an event time, between -2**62 and 2**62."
            )


class Plan:
    """One join, checked and laid out; it does not change while the join runs."""

    def __init__(
        self,
        query: JoinQuery,
        schemas: Sequence[pa.Schema],
        policy: Policy,
        *,
        expectation: Expectation | None = None,
        ages: AgeSource | None = None,
        seed: int = 0,
        side: Side | None = None,
    ) -> None:
        self.query, self.policy, self.seed = query, policy, seed
        self.schemas = tuple(schemas)
        self.side = side or Side()
        self.expectation = expectation or LastWindow()
        self.age_source = ages or LearnedAges()
        check(query, self.schemas, policy)
        self.keys = Keys.of(query.on, *self.schemas)
        self.bounded = query.memory is not None
        self.costed = self.bounded and query.memory.unit == "bytes"  # type: ignore[union-attr]
        needs = policy.needs if self.bounded else frozenset()
        self.asks_matches = "matches" in needs
        known = isinstance(self.expectation, Known) and self.asks_matches
        self.known = self.expectation if known and isinstance(self.expectation, Known) else None
        self.columns = tuple(self._kept_columns(stream) for stream in range(2))
        self._lay_out(needs)

    def _kept_columns(self, stream: int) -> list[str]:
        """Return the columns that must stay with a held row."""
        if self.side.output == "matches" or self.side.shed_rows:
            return list(self.schemas[stream].names)
        if self.keys.hash_decides and not self.query.valued:
            return []
        kept = [] if self.keys.hash_decides else [pair[stream] for pair in self.query.on]
        kept.append(self.query.importance[stream] or self.query.time[stream])
        return list(dict.fromkeys(kept))

    def _lay_out(self, needs: frozenset[str]) -> None:
        policy, rising = self.policy, self.policy.changes == "rising"
        falls = isinstance(self.expectation, Retained | Decayed) and self.asks_matches
        self.how = BY_HEAP
        if policy.changes == "age":
            self.how = BY_AGE
        elif policy.fading is None and (policy.changes == "always" or (rising and falls)):
            self.how = BY_SCAN
        self.fixed = policy.changes == "never" or policy.fading is not None
        if rising and self.known is not None:
            self.fixed = True
        names = [
            ("second", bool(policy.second)),
            ("note", policy.fading is not None),
            ("importance", self.query.valued),
            ("expected", self.known is not None),
        ]
        self.worth_column, at = {}, RANK + 1
        for name, needed in names:
            self.worth_column[name] = at if needed and self.bounded else -1
            at += needed
        self.batch_columns = 2 if self.known is not None else int(self.query.valued)
        self.has_ages = "ages" in needs
        buckets = self.new_ages().slopes.shape[1] if self.how == BY_AGE and self.bounded else 0
        pools = 1 if self.query.split == "shared" else 2
        self.shape = Shape(
            links=(COST if self.costed else SPOT if self.bounded else STREAM) + 1,
            worth=at if self.bounded else 0,
            notes=self.bounded and policy.fading is not None,
            heaps=pools if self.bounded and self.how == BY_HEAP else 0,
            buckets=buckets,
        )
        self.pools = (0, pools - 1)

    @property
    def windows(self) -> list[int]:
        """Each stream's W: the furthest that two matching rows lie apart."""
        return [_reach(window) for window in self.query.windows]

    @property
    def row_overhead(self) -> int:
        """What a held row takes beside its payload, its ghosts included."""
        shape = self.shape
        row = 32 + 4 * shape.links + 8 * shape.worth + 16 * shape.notes
        row += 4 * (1 + shape.heaps) + 4
        return round(_GROWTH * row) + _INDEX_BYTES + round(self.side.ghosts * self.ghost_bytes)

    @property
    def ghost_bytes(self) -> int:
        """What a ghost takes."""
        return 16 + 16 + 12 + 16 * self.query.valued + _INDEX_BYTES

    def budget(self, memory: Any = None) -> NDArray[np.int64]:
        """Return each pool's budget, in rows or bytes."""
        memory = memory or self.query.memory
        if memory is None:
            return np.zeros(2, np.int64)
        if memory.unit == "share":
            raise InfeasibleBudget(
                f"memory={memory.amount:.0%}: a share of what the exact join holds must be "
                "turned into rows before the join starts."
            )
        total = int(memory.amount)
        if self.costed:
            total -= self.counting_bytes
            least = 4 * self.row_overhead
            if total < least:
                raise InfeasibleBudget(
                    f"memory={int(memory.amount)}B: statistics and the first rows need "
                    f"{least + self.counting_bytes} bytes; raise the budget."
                )
        split = self.query.split
        if split == "shared":
            return np.array([total, 0])
        left, right = (1.0, 1.0) if split == "half" else split
        first = int(total * left / (left + right))
        return np.array([first, total - first])

    @property
    def counting_limit(self) -> int:
        """How many keys are counted one by one before a sketch takes over."""
        if not self.asks_matches or self.known is not None or self.query.memory is None:
            return 0
        places = self.query.memory.amount
        if self.costed:
            return max(64, int(places / 16 / 72))
        return max(_COUNTERS, int(places) // 2)

    @property
    def counting_bytes(self) -> int:
        """What the counters take."""
        arrays = self.new_counting()
        return sum(array.nbytes for array in arrays)

    def new_counting(self) -> Counting:
        """Return counters as the policy's expectation needs them."""
        mode = NOTHING
        if self.counting_limit:
            modes = {LastWindow: PANES, Retained: RETAINED, Decayed: DECAYED}
            mode = modes[type(self.expectation)]
        lengths = [0, 0]
        if self.query.counted:
            lengths = [w.length if w.kind == "rows" else 0 for w in self.query.windows]
        elif self.query.bounded_windows:
            lengths = [max(1, *self.windows)] * 2
        return new_counting(mode, limit=self.counting_limit, pane_lengths=lengths)

    def new_ages(self) -> Ages:
        """Return age curves as the policy needs them."""
        if self.side.age_buckets:
            return learned_ages(self.windows, self.side.age_buckets, forget=False)
        if not self.has_ages:
            return no_ages(2)
        if isinstance(self.age_source, KnownAges):
            return known_ages(
                [np.array(curve) for curve in self.age_source.curves], list(self.age_source.units)
            )
        return learned_ages(self.windows, self.age_source.buckets)

    def new_ghosts(self) -> Ghosts:
        """Return room for ghosts: so many per place, within the budget."""
        places = 0
        if self.bounded:
            total = int(self.budget().sum())
            rows = total / (self.row_overhead + 32) if self.costed else total
            places = int(rows * self.side.ghosts)
            places = max(places, 8) if self.side.ghosts > 0 else 0
        return new_ghosts(places, importance=self.query.valued)

    def cost_of(self, payload: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what rows take of a budget in bytes."""
        return self.row_overhead + (payload * _PAYLOAD_SLACK).astype(np.int64)

    def accept_all(self, tables: Sequence[pa.Table | None]) -> list[pa.Table]:
        """Check that a batch has a table per stream, and return them."""
        if isinstance(tables, pa.Table) or len(tables) != len(self.schemas):
            count = 1 if isinstance(tables, pa.Table) else len(tables)
            given = "1 table" if count == 1 else f"{count} tables"
            raise InvalidData(
                f"{given} for {len(self.schemas)} streams: give a table for each, or None where a "
                "stream brings nothing."
            )
        return [self.accept(stream, table) for stream, table in enumerate(tables)]

    def accept(self, stream: int, table: pa.Table | None) -> pa.Table:
        """Check that a batch has the columns it should, and return it."""
        schema = self.schemas[stream]
        if table is None:
            return schema.empty_table()
        if not isinstance(table, pa.Table):
            raise InvalidData(
                f"the {SIDES[stream]} side brings a {type(table).__name__}; bring a pyarrow.Table."
            )
        if table.schema.equals(schema):
            return table
        if table.schema.names != schema.names or table.schema.types != schema.types:
            raise InvalidData(
                f"the {SIDES[stream]} side has columns {_listed(table.schema)}, and began "
                f"with {_listed(schema)}; start a new join for a new schema."
            )
        return table.cast(schema)

    def terms(self, limits: NDArray[np.int64], *, in_order: bool) -> Terms:
        """Return what a step keeps to."""
        policy, column = self.policy, self.worth_column
        factor, step = policy.fading or (1.0, 0.0)
        settings = (*policy.settings, 0.0, 0.0, 0.0, 0.0)[:4]
        largest = _ROWS_OF_AN_INSTANT
        if self.costed:
            largest = max(64, min(largest, int(limits[1].sum() // (8 * self.row_overhead))))
        half_life = self.expectation.half_life if isinstance(self.expectation, Decayed) else 1.0
        return Terms(
            limits=limits,
            pools=self.pools[1] + 1,
            in_order=in_order,
            counted=self.query.counted,
            whole=self.query.counted or self.query.order == "evict-first",
            evict_first=self.query.order == "evict-first",
            bounded=self.bounded,
            costed=self.costed,
            how=self.how,
            fixed=self.fixed,
            matches=self.asks_matches,
            weighs_age=isinstance(self.expectation, Decayed) and self.asks_matches,
            half_life=float(half_life),
            second=column["second"],
            note=column["note"],
            importance=column["importance"],
            expected=column["expected"],
            largest=largest,
            report_from=self.side.report_from,
            combine=COMBINATIONS[self.query.combine],
            policy_luck=lane(self.seed, POLICY),
            ghost_luck=lane(self.seed, GHOST),
            factor=float(factor),
            step=float(step),
            rank=pointer(_flat, _SIGNATURE, question=policy.rank),
            reward=pointer(_flat, _SIGNATURE, question=policy.reward),
            settings=tuple(float(number) for number in settings),
        )


def _listed(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in schema)


def _reach(window: Window) -> int:
    if window.kind == "unbounded":
        return UNBOUNDED
    return window.length - 1 if window.kind == "rows" else window.length
