"""A join as it travels to the workers: everything that is needed to plan it there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from penstock.arrivals.expectation import AgeSource, Expectation
from penstock.engine.joined import output_schema
from penstock.engine.plan import Plan
from penstock.policies.base import Policy
from penstock.query import JoinQuery

_SPREAD = 0x9E3779B97F4A7C15  # shards of one seed must not draw the same luck
_SEEDS = 1 << 63


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
        memory = self.query.memory
        if memory is not None and memory.unit != "share" and self.shards > 1:
            part, rest = divmod(int(memory.amount), self.shards)
            memory = replace(memory, amount=part + (shard < rest))
        return Plan(
            replace(self.query, memory=memory),
            self.schemas,
            self.policy,
            expectation=self.expectation,
            ages=self.ages,
            seed=(self.seed + shard * _SPREAD) % _SEEDS if shard else self.seed,
        )

    @property
    def output(self) -> pa.Schema:
        """The columns of a joined row."""
        return output_schema(self.plan(0))


def fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table under a schema that differs in names of time zones and in nullability."""
    if table.schema.equals(schema):
        return table
    columns: Sequence[Any] = [
        column if column.type == field.type else column.cast(field.type)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)
