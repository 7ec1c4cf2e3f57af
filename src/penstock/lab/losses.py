"""Which matches a join on a budget lost, and why: held against the exact join, one by one."""

import time
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.arrivals.expectation import Expectation
from penstock.engine.plan import Plan, Side
from penstock.engine.sequence import ticks
from penstock.engine.state import start
from penstock.engine.step import Flow
from penstock.lab.traces import Progress, Ran, Trace, ran_of
from penstock.policies.base import Policy
from penstock.policies.random import RandomDrop
from penstock.query import Budget

ROW = "_row"  # the column that carries a row's number through the join
_NEVER = 2**62


class Outcome(NamedTuple):
    """One run of a trace with its matches and its shed rows, by row number."""

    ran: Ran
    pairs: NDArray[np.int64]  # left row x rows of the right + right row, ascending
    shed_at: tuple[NDArray[np.int64], NDArray[np.int64]]  # per stream and row; far ahead: never


class Pairs(NamedTuple):
    """Matches by the rows they are made of."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]


@dataclass(frozen=True)
class Losses:
    """The matches that the exact join has and the join on a budget has not.

    Attributes
    ----------
    pairs
        Those matches.
    by_shedding
        How many could not be made because the earlier row had been given up.
    by_lateness
        How many could not be made because one of the rows came behind the watermark and was
        never taken in.

    None can be lost to expiry: a row that is past its window has no partner left in the
    exact join either.
    """

    pairs: Pairs
    by_shedding: int
    by_lateness: int


class Numbered:
    """A trace whose rows carry their number through the join, so that each match tells its rows."""

    def __init__(self, trace: Trace) -> None:
        left, right = (
            table.append_column(ROW, pa.array(np.arange(table.num_rows))) for table in trace.tables
        )
        self.trace = Trace(left, right, trace.query)
        self.times = tuple(
            ticks(table[name], name=name)
            for table, name in zip(self.trace.tables, trace.query.time, strict=True)
        )

    def exact(self, *, progress: Progress | None = None) -> Outcome:
        """Run the trace without a budget."""
        return self.run(RandomDrop(), memory=None, progress=progress)

    def run(
        self,
        policy: Policy,
        *,
        memory: Budget | None,
        expectation: Expectation | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Outcome:
        """Run the trace under a policy and a budget, and keep which rows met and which left."""
        query = replace(self.trace.query, memory=memory)
        side = Side(output="matches", shed_rows=True)
        schemas = self.trace.schemas
        plan = Plan(query, schemas, policy, expectation=expectation, seed=seed, side=side)
        codes: list[NDArray[np.int64]] = []
        shed_at = self.nothing_shed

        def receive(flow: Flow) -> None:
            for matches in flow:
                codes.append(self._codes(matches))
            for column, tables in zip(shed_at, flow.shed, strict=True):
                for table in tables:
                    column[table[ROW].to_numpy()] = table["_shed_at"].to_numpy()

        state = start(plan)
        began = time.perf_counter()
        state = self.trace.feed(state, receive=receive, progress=progress or (lambda *_: None))
        ran = ran_of(state, time.perf_counter() - began)
        pairs = np.sort(np.concatenate([np.zeros(0, np.int64), *codes]))
        return Outcome(ran, pairs, shed_at)

    @property
    def nothing_shed(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What an outcome says of the rows where none was shed."""
        left, right = (np.full(len(times), _NEVER) for times in self.times)
        return left, right

    def codes_of(self, matches: pa.Table) -> NDArray[np.int64]:
        """Return the pairs of an outcome, from the rows of a result."""
        return np.sort(self._codes(matches))

    def _codes(self, matches: pa.Table) -> NDArray[np.int64]:
        names = [ROW + suffix for suffix in self.trace.query.suffixes]
        left, right = (matches[name].to_numpy() for name in names)
        return left * max(1, self.trace.tables[1].num_rows) + right

    def rows_of(self, codes: NDArray[np.int64]) -> Pairs:
        """Return the rows of each match of an outcome."""
        return Pairs(*np.divmod(codes, max(1, self.trace.tables[1].num_rows)))

    def losses(self, exact: Outcome, bounded: Outcome) -> Losses:
        """Return the matches that a run lost, and why.

        A match is lost to shedding when its earlier row had been given up before the later one
        came.  Any other match that is missing has a row that was never taken in: it was late.
        """
        lost = self.rows_of(np.setdiff1d(exact.pairs, bounded.pairs, assume_unique=True))
        left, right = self.times[0][lost.left], self.times[1][lost.right]
        gone = np.where(
            left <= right, bounded.shed_at[0][lost.left], bounded.shed_at[1][lost.right]
        )
        by_shedding = int((gone < np.maximum(left, right)).sum())
        return Losses(lost, by_shedding, len(gone) - by_shedding)


class Group(NamedTuple):
    """The matches of one value of a column: in the exact join, and of those lost."""

    value: Any
    exact: int
    lost: int

    @property
    def kept(self) -> float:
        """The share that was made."""
        return 1.0 - self.lost / self.exact if self.exact else 1.0


def grouped(exact: pa.Array, lost: pa.Array) -> tuple[Group, ...]:
    """Count matches by a value that each has, the values that lost most first.

    Examples
    --------
    >>> grouped(pa.array(["MIA", "BOS", "MIA"]), pa.array(["MIA"]))
    (Group(value='MIA', exact=2, lost=1), Group(value='BOS', exact=1, lost=0))
    """
    coded = exact.dictionary_encode()
    values = coded.dictionary
    whole = np.bincount(coded.indices.to_numpy(), minlength=len(values))
    at = pc.index_in(lost, values).to_numpy()
    missing = np.bincount(at, minlength=len(values))
    order = np.lexsort((whole, -missing))
    return tuple(Group(values[i].as_py(), int(whole[i]), int(missing[i])) for i in order)


def worst_tenth(groups: tuple[Group, ...]) -> tuple[int, float]:
    """Return how many groups are a tenth of them, and which share of all losses the worst bear.

    Examples
    --------
    >>> worst_tenth((Group("MIA", 9, 6), Group("BOS", 9, 2)))
    (1, 0.75)
    """
    count = max(1, round(len(groups) / 10))
    whole = sum(group.lost for group in groups)
    return count, sum(group.lost for group in groups[:count]) / whole if whole else 0.0
