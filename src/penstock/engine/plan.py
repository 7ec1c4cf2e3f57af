"""What a join has decided before its first row: types, policy, shape of the state, terms."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
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
    bytes_at_most,
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
from penstock.compiled import fingerprint_of, pointer
from penstock.engine.checks import SIDES, check
from penstock.engine.keys import Keys
from penstock.engine.sizes import sizes_of
from penstock.errors import InfeasibleBudget, InvalidData, InvalidQuery
from penstock.kernels.demand import LEAST, WHOLE, new_demand
from penstock.kernels.ghosts import COMBINATIONS, Ghosts, new_ghosts
from penstock.kernels.store import Shape, bytes_of, new_store
from penstock.kernels.terms import BY_AGE, BY_QUEUE, BY_SCAN, NO_CONTEST, Terms
from penstock.policies.base import Held, Policy
from penstock.query import Budget, JoinQuery, Window

UNBOUNDED = 2**62  # longer than any two event times lie apart
ROWS_OF_AN_INSTANT = 1 << 16  # an open instant of more rows is taken in parts
_FOR_PLACED = 7  # parts of a budget in bytes for placed rows; one is for an open instant
_LEAST_ROWS = 4  # that must fit beside the statistics
_ROOM_AHEAD = 64  # rows for which there is room before they come, however few are held
# A segment is rewritten when two fifths of its rows are gone.
_PAYLOAD_SLACK = 1.0 / 0.6
_SETTINGS = 4  # numbers of a policy's own
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
        Ghosts per place for a row; None leaves it to the size of the memory.
    output
        `"matches"`: build the joined rows.  `"counts"`: count them only.
    shed_rows
        Hand over the rows that were shed, with when.
    report_from
        Count matches, made and lost, from this event time on.
    age_buckets
        Add up at which age matches fall, over the whole run, in so many buckets.
    """

    ghosts: float | None = None
    output: Literal["matches", "counts"] = "matches"
    shed_rows: bool = False
    report_from: int = -(2**62)
    age_buckets: int = 0

    def __post_init__(self) -> None:
        if self.ghosts is not None and not 0 <= self.ghosts < math.inf:
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
        self.shared_out = self.bounded and query.memory.unit == "share"  # type: ignore[union-attr]
        needs = policy.needs if self.bounded else frozenset()
        self.asks_matches = "matches" in needs
        known = isinstance(self.expectation, Known) and self.asks_matches
        self.known = self.expectation if known and isinstance(self.expectation, Known) else None
        self.columns = tuple(self._kept_columns(stream) for stream in range(2))
        self._lay_out(needs)
        self._rank, self._reward = self._compiled("rank"), self._compiled("reward")

    def _compiled(self, question: str) -> Any:
        """Return a pointer to one of the policy's functions."""
        policy = self.policy
        if len(policy.settings) > _SETTINGS:
            raise InvalidQuery(
                f"keep={policy.name!r}: it has {len(policy.settings)} settings, and a rank reads "
                f"{_SETTINGS} at most; put what belongs together into one number."
            )
        try:
            return pointer(_flat, _SIGNATURE, question=getattr(policy, question))
        except TypeError as error:
            raise InvalidQuery(
                f"keep={policy.name!r}: its {question} cannot be compiled; mark it @compiled, let "
                "it take (held, settings) and return a float, and use numbers and `math` only."
            ) from error

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
        self.how = BY_QUEUE if self.bounded else NO_CONTEST
        if not self.bounded:
            pass
        elif policy.changes == "age":
            self.how = BY_AGE
        elif policy.fading is None and (policy.changes == "always" or (rising and falls)):
            self.how = BY_SCAN
        self.fixed = policy.changes == "never" or policy.fading is not None
        if rising and self.known is not None:
            self.fixed = True
        has_note = self.bounded and policy.fading is not None
        columns = {
            "note": has_note,
            "kept_rank": has_note and self.how == BY_QUEUE,
            "importance": self.bounded and self.query.valued,
            "expected": self.bounded and self.known is not None,
        }
        there = [name for name, needed in columns.items() if needed]
        self.worth_column = {name: there.index(name) if name in there else -1 for name in columns}
        self.batch_columns = 2 if self.known is not None else int(self.query.valued)
        self.has_ages = "ages" in needs
        buckets = self.new_ages().slopes.shape[1] if self.how == BY_AGE else 0
        pools = 1 if self.query.split == "shared" else 2
        self.shape = Shape(
            worth=len(there),
            notes=has_note,
            queues=pools if self.how == BY_QUEUE else 0,
            buckets=buckets,
        )
        self.pools = (0, pools - 1)
        counts = self.asks_matches and self.known is None
        self.sizes = sizes_of(
            self.query.memory,
            self.shape,
            counts=counts,
            ghosts=self.side.ghosts,
            valued=self.query.valued,
        )

    @cached_property
    def fingerprint(self) -> str:
        """What identifies a plan: two plans with the same one continue each other's states."""
        digest = hashlib.blake2b(digest_size=16)
        known, policy = self.expectation, self.policy
        schemas = [str(schema.remove_metadata()) for schema in self.schemas]
        described = type(known).__name__ if isinstance(known, Known) else known
        rules = [fingerprint_of(rule) for rule in (policy.rank, policy.reward)]
        stated = (
            *(self.query, schemas, policy, rules, described),
            *(self.age_source, self.seed, self.side),
        )
        digest.update(repr(stated).encode())
        if isinstance(known, Known):
            for array in (*known.hashes, *known.counts):
                digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    @property
    def windows(self) -> list[int]:
        """Each stream's W: the furthest that two matching rows lie apart."""
        return [reach(window) for window in self.query.windows]

    def budget(self, memory: Budget | None = None, left: float | None = None) -> NDArray[np.int64]:
        """Return each pool's budget, in rows or bytes; `left` is the first pool's part of it."""
        memory = memory or self.query.memory
        if memory is None:
            return np.zeros(2, np.int64)
        total = LEAST if memory.unit == "share" else int(memory.amount)
        if self.costed:
            beside, least = self.beside, _LEAST_ROWS * self.sizes.row_overhead
            if total < least + beside:
                raise InfeasibleBudget(
                    f"memory={total}B: statistics and the first rows need "
                    f"{least + beside} bytes; raise the budget."
                )
            total = (total - beside) * _FOR_PLACED // (_FOR_PLACED + 1)
        first = round(total * left) if left is not None else int(total * self._left_part)
        return np.array([first, total - first])

    @property
    def beside(self) -> int:
        """What a budget in bytes spends on all but rows."""
        parts = (self.new_ghosts(), self.new_ages())
        beside = sum(map(bytes_of, (*parts, new_store(2, self.shape, new_demand(2, wanted=False)))))
        beside += bytes_at_most(self.new_counting())
        return int(beside + _ROOM_AHEAD * self.sizes.row_overhead)

    def share(self, memory: Budget | None = None, left: float | None = None) -> tuple[int, int]:
        """Return the budget as a share, and the first pool's part of it; 0 where it is none."""
        memory = memory or self.query.memory
        if memory is None or memory.unit != "share":
            return 0, 0
        part = self._left_part if left is None else left
        return round(memory.amount * WHOLE), round(part * WHOLE)

    @property
    def _left_part(self) -> float:
        split = self.query.split
        if split == "shared":
            return 1.0
        left, right = (1.0, 1.0) if split == "half" else split
        return left / (left + right)

    def open_bytes(self, limits: NDArray[np.int64]) -> int:
        """Return what rows that have not asked for a place yet may take of a budget in bytes."""
        return int(limits[1].sum()) // _FOR_PLACED if self.costed else UNBOUNDED

    def new_counting(self) -> Counting:
        """Return counters as the policy's expectation needs them."""
        mode = NOTHING
        if self.sizes.counters:
            modes = {LastWindow: PANES, Retained: RETAINED, Decayed: DECAYED}
            mode = modes[type(self.expectation)]
        lengths = [0, 0]
        if self.query.counted:
            lengths = [w.length if w.kind == "rows" else 0 for w in self.query.windows]
        elif self.query.bounded_windows:
            lengths = [max(1, *self.windows)] * 2
        return new_counting(mode, limit=self.sizes.counters, pane_lengths=lengths)

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
        """Return room for ghosts."""
        return new_ghosts(self.sizes.ghosts, importance=self.query.valued)

    def cost_of(self, payload: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what rows take of a budget in bytes."""
        return self.sizes.row_overhead + (payload * _PAYLOAD_SLACK).astype(np.int64)

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
        settings = (*map(float, policy.settings), 0.0, 0.0, 0.0, 0.0)[:_SETTINGS]
        half_life = self.expectation.half_life if isinstance(self.expectation, Decayed) else 1.0
        return Terms(
            limits=limits,
            longest=UNBOUNDED - 1,
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
            second=column["importance"] if policy.second else -1,
            note=column["note"],
            kept_rank=column["kept_rank"],
            importance=column["importance"],
            expected=column["expected"],
            largest=ROWS_OF_AN_INSTANT,
            heaviest=self.open_bytes(limits),
            report_from=self.side.report_from,
            combine=COMBINATIONS[self.query.combine],
            policy_luck=lane(self.seed, POLICY),
            ghost_luck=lane(self.seed, GHOST),
            factor=float(factor),
            step=float(step),
            rank=self._rank,
            reward=self._reward,
            settings=settings,
        )


def _listed(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in schema)


def reach(window: Window) -> int:
    """Return a window's W; of a count window that is one less than its rows."""
    if window.kind == "unbounded":
        return UNBOUNDED
    return window.length - 1 if window.kind == "rows" else window.length
