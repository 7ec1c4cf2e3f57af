"""A join as it travels to the workers: everything that is needed to plan it there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from penstock.arrivals.expectation import AgeSource, Expectation
from penstock.engine.joined import output_schema
from penstock.engine.keys import Keys
from penstock.engine.plan import Plan
from penstock.errors import InfeasibleBudget
from penstock.policies.base import Policy
from penstock.query import Budget, JoinQuery

_SPREAD = 0x9E3779B97F4A7C15  # shards of one seed must not draw the same luck
_SEEDS = 1 << 63
_NO_MARK = -(2**61)  # before any event time


@dataclass(frozen=True)
class Spec:
    """What a join is, and over how many shards it runs.

    Parameters
    ----------
    query
        With the budget of the whole query.
    schemas
        Each side's columns, in Arrow's types.
    delays
        By how many ticks each side's watermark trails its newest row; None: it has none.
    """

    query: JoinQuery
    schemas: tuple[pa.Schema, pa.Schema]
    policy: Policy
    expectation: Expectation | None
    ages: AgeSource | None
    seed: int
    shards: int
    delays: tuple[int | None, int | None]

    def plan(self, shard: int) -> Plan:
        """Return the plan of one shard, with an equal part of the budget."""
        memory = part_of(self.query.memory, shard, self.shards)
        return Plan(
            replace(self.query, memory=memory),
            self.schemas,
            self.policy,
            expectation=self.expectation,
            ages=self.ages,
            seed=(self.seed + shard * _SPREAD) % _SEEDS if shard else self.seed,
        )

    @property
    def keys(self) -> Keys:
        """How keys are read and hashed."""
        return Keys.of(self.query.on, *self.schemas)

    @property
    def bare(self) -> "Spec":
        """The join without what was learned, which only those need who plan it."""
        return replace(self, expectation=None, ages=None)

    def marks(self, newest: Sequence[int | None]) -> list[int]:
        """Return each side's watermark, when its newest row is known."""
        return [
            _NO_MARK if time is None or delay is None else time - delay
            for time, delay in zip(newest, self.delays, strict=True)
        ]

    @property
    def output(self) -> pa.Schema:
        """The columns of a joined row."""
        return output_schema(self.plan(0))


def part_of(memory: Budget | None, shard: int, shards: int) -> Budget | None:
    """Return the budget of one shard where all have the same."""
    if memory is None or memory.unit == "share" or shards == 1:
        return memory
    part, rest = divmod(int(memory.amount), shards)
    if part == 0:
        raise InfeasibleBudget(
            f"memory={memory.amount:g}: it cannot be divided over shards={shards}; raise the "
            "budget, or take fewer shards."
        )
    return replace(memory, amount=part + (shard < rest))


def fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table under a schema that differs in names of time zones and in nullability."""
    if table.schema.equals(schema):
        return table
    columns: Sequence[Any] = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)
