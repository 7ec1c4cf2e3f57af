"""One budget for all shards: each gets what its rows are worth beside those of the others.

Shards cannot see each other, so all see the same census: of every slice of event time, how many
rows of each stream came in each shard, and a sample of their keys.  From that alone each
works out the division for all, and takes its own part.  A division holds from one slice to the
next and rests on slices that are complete, so it does not depend on how batches are cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.sequence import ticks
from penstock.query import Budget
from penstock.spark.cells import SLICES, Batch, slice_length
from penstock.spark.census import Census, between, rows_between
from penstock.spark.shards import shard_of
from penstock.spark.spec import Spec

_RARE = 2  # sampled rows: keys that were not drawn more often than this are told apart by chance
_EVEN = 0.02  # of a budget, divided evenly: no shard is left without, should the census err
_FEW = 4096  # rows in a window, below which chance in their number matters
_FAR = 2**62  # from any event time
_LEAST_SHARE = 1e-6
_LEAST_PLACES = 16  # for each shard: of fewer rows no forecast says where they will be
_TEXT_BYTES = 32.0


class Piece(NamedTuple):
    """What a shard takes in between two divisions of the budget."""

    slice: int | None  # the slice since which the division holds
    begins: int | None  # the event time at which it does; None: it held before
    ends: int | None  # the event time at which it ends; None: with the batch
    part: "Part | None"
    tables: list[pa.Table | None]


@dataclass(frozen=True)
class Part:
    """A shard's part of the budget: places for rows in each pool, or bytes or a share.

    Parameters
    ----------
    memory
        Bytes, or a share; None where places are given.
    left
        The part of `memory` that the left rows have.
    places
        Rows of each pool.
    """

    memory: Budget | None = None
    left: float | None = None
    places: tuple[int, int] | None = None


class Division:
    """How the budget of a query is divided, as the census tells.

    Parameters
    ----------
    spec
        The join; its budget is for all shards.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self.length = slice_length(spec)
        plan = spec.plan(0)
        self._by_frequency = "matches" in spec.policy.needs
        self._row_bytes = plan.sizes.row_overhead + sum(map(_width, plan.schemas)) / 2
        self._beside = plan.beside if plan.costed else 0

    def pieces(
        self, shard: int, batch: Batch, census: Sequence[Census], at: int | None
    ) -> list[Piece]:
        """Cut a batch where the division changes.

        Parameters
        ----------
        shard
            Which one.
        batch
            Its rows.
        census
            Of each stream, the batch at hand included.
        at
            The slice since which the division holds; None before the first row.

        The census may speak of slices that come only after the batch.
        """
        tables = batch.tables
        known = np.unique(np.concatenate([one.slices for one in census]))
        if not self.length or len(known) == 0:
            return [Piece(at, None, None, None, tables)]
        at = int(known[0]) if at is None else at
        newest = max((time for time in batch.newest if time is not None), default=-_FAR)
        coming = known[(known > at) & (known <= newest // self.length)]
        edges = [at, *_edges(at, coming, census)]
        begins = [slice * self.length for slice in edges]
        parts = [None, *(self.part_of(shard, census, slice) for slice in edges[1:])]
        cut = [self._cut(stream, table, edges[1:]) for stream, table in enumerate(tables)]
        return [
            Piece(slice, begin if number else None, end, part, [side[number] for side in cut])
            for number, (slice, begin, end, part) in enumerate(
                zip(edges, begins, [*begins[1:], None], parts, strict=True)
            )
        ]

    def _cut(self, stream: int, table: pa.Table | None, edges: list[int]) -> list[pa.Table | None]:
        """Cut one side's rows at slices; rows without a time come first."""
        if table is None:
            return [None] * (len(edges) + 1)
        time = table[self._spec.query.time[stream]]
        timed = time.is_valid().combine_chunks().to_numpy(zero_copy_only=False)
        slices = ticks(time, name=self._spec.query.time[stream]) // self.length
        piece = np.where(timed, np.searchsorted(edges, slices, side="right"), 0)
        if (np.diff(piece) < 0).any():
            order = np.argsort(piece, kind="stable")
            piece, table = piece[order], table.take(pa.array(order))
        ends = np.searchsorted(piece, np.arange(len(edges) + 1), side="right")
        starts = [0, *ends[:-1]]
        return [
            table.slice(int(start), int(end - start))
            for start, end in zip(starts, ends, strict=True)
        ]

    def part_of(self, shard: int, census: Sequence[Census], at: int) -> Part | None:
        """Return a shard's part from slice `at` on; None where rows are too few to tell."""
        past = [between(one, at - SLICES, at) for one in census]
        live = np.array([one.counts.sum(axis=0) for one in past], float)
        if live.sum() == 0 or self._room(live) < _LEAST_PLACES * self._spec.shards:
            return None
        worth = self._worth(past, [between(one, at - 2 * SLICES, at) for one in census])
        kept = self._kept(past, worth, live)
        return self._amount(shard, kept, live)

    def _kept(
        self, past: Sequence[Census], worth: Sequence[Any], live: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return how many rows of each stream and shard the budget should keep."""
        weights = [_weights(one) for one in past]
        room = self._room(live)
        kept = np.zeros_like(live)
        for streams in self._pools():
            here = live[streams].sum()
            if here == 0:
                continue
            shards = np.concatenate([shard_of(past[s].hashes, live.shape[1]) for s in streams])
            of_stream = np.concatenate([np.full(len(past[s].hashes), s) for s in streams])
            weight = np.concatenate([weights[s] for s in streams])
            rank = np.concatenate([worth[s] for s in streams])
            places = room if len(streams) == 2 else room * self._side(streams[0])
            best, last = np.zeros_like(live), np.zeros_like(live)
            if places < here:
                bar = _bar(rank, weight, places)
                above, at = rank > bar, rank == bar
                np.add.at(best, (of_stream[above], shards[above]), weight[above])
                if bar > _RARE * weight.max():
                    np.add.at(last, (of_stream[at], shards[at]), weight[at])
            if not last.any():  # of rare keys the sample knows too little; the counts are exact
                last[streams] = np.maximum(live[streams] - best[streams], 0.0)
            if places >= here:  # there is room for more: where rows have come and where they may
                best[streams] = live[streams]
                often = live[streams].sum(axis=1, keepdims=True) / live.shape[1] + 1.0
                last[streams] = live[streams] + often
            left_over = max(places - best.sum(), 0.0)
            kept += best + (left_over * last / last.sum() if last.any() else 0.0)
        return kept

    def _pools(self) -> list[list[int]]:
        return [[0, 1]] if self._spec.query.split == "shared" else [[0], [1]]

    def _side(self, stream: int) -> float:
        split = self._spec.query.split
        weights = (1.0, 1.0) if isinstance(split, str) else split
        return weights[stream] / sum(weights)

    def _room(self, live: NDArray[np.float64]) -> float:
        """Return for how many rows the whole budget has places."""
        memory = self._spec.query.memory
        assert memory is not None
        if memory.unit == "share":
            return memory.amount * float(live.sum())
        if memory.unit == "rows":
            return memory.amount
        free = max(memory.amount - self._beside * self._spec.shards, 0.0)
        return free / self._row_bytes

    def _worth(self, past: Sequence[Census], longer: Sequence[Census]) -> list[Any]:
        """Return how often each sampled row's key came on the other stream, two windows back."""
        if not self._by_frequency:
            return [np.zeros(len(one.hashes)) for one in past]
        worth = []
        for stream, one in enumerate(past):
            other = longer[1 - stream]
            names, at = np.unique(other.hashes, return_inverse=True)
            sums = np.append(np.bincount(at, _weights(other), minlength=len(names)), 0.0)
            place = np.searchsorted(names, one.hashes)
            found = np.append(names, 0)[place] == one.hashes
            worth.append(np.where(found & (place < len(names)), sums[place], 0.0))
        return worth

    def _amount(self, shard: int, kept: NDArray[np.float64], live: NDArray[np.float64]) -> Part:
        """Return a shard's part, when it is known what each should keep."""
        memory, shards = self._spec.query.memory, self._spec.shards
        assert memory is not None
        if memory.unit == "rows":
            return Part(places=self._places(kept, int(memory.amount), shard))
        parts = (1 - _EVEN) * kept + _EVEN * kept.sum(axis=1, keepdims=True) / shards
        mine, here = parts[:, shard], live[:, shard].sum()
        left = float(mine[0] / mine.sum()) if mine.sum() else 0.5
        if memory.unit == "share":
            share = mine.sum() / here if here else memory.amount
            return Part(replace(memory, amount=max(share, _LEAST_SHARE)), left)
        free = memory.amount - self._beside * shards
        amount = self._beside + int(free * mine.sum() / parts.sum())
        return Part(replace(memory, amount=amount), left)

    def _places(self, kept: NDArray[np.float64], rows: int, shard: int) -> tuple[int, int]:
        """Round what each shard should keep of each pool to whole rows: those of the budget."""
        pools = self._pools()
        budgets = [rows] if len(pools) == 1 else [int(rows * self._side(0))]
        budgets.append(rows - budgets[0])
        places = [0, 0]
        for pool, streams in enumerate(pools):
            of_shard = kept[streams].sum(axis=0)
            if of_shard.sum() == 0:
                of_shard = np.ones(len(of_shard))
            exact = budgets[pool] * of_shard / of_shard.sum()
            down = np.floor(exact).astype(np.int64)
            most = np.lexsort((np.arange(len(exact)), down - exact))
            down[most[: budgets[pool] - int(down.sum())]] += 1
            places[pool] = int(down[shard])
        return places[0], places[1]


def _edges(at: int, slices: NDArray[np.int64], census: Sequence[Census]) -> list[int]:
    """Return the slices after `at` at which to divide anew: all of them only while rows are few.

    Else it is the first of each quarter of a window, however many batches that comes in.
    """
    quarters = slices // (SLICES // 4)
    begins = np.diff(quarters, prepend=at // (SLICES // 4)) > 0
    counts = sum(rows_between(one, slices - SLICES, slices) for one in census)
    return [int(slice) for slice in slices[begins | (counts <= _FEW)]]


def _weights(census: Census) -> NDArray[np.float64]:
    """Return for how many rows each sampled one stands."""
    rows = census.counts.sum(axis=1)
    drawn = np.bincount(
        np.searchsorted(census.slices, census.sampled_slice), minlength=len(census.slices)
    )
    each = rows / np.maximum(drawn, 1)
    return np.asarray(each[np.searchsorted(census.slices, census.sampled_slice)], float)


def _bar(rank: NDArray[np.float64], weight: NDArray[np.float64], places: float) -> float:
    """Return the rank at which the places run out: rows above it all have one."""
    order = np.argsort(-rank, kind="stable")
    before = np.cumsum(weight[order])
    at = int(np.searchsorted(before, places))
    return float(rank[order[min(at, len(order) - 1)]]) if len(order) else 0.0


def _width(schema: Any) -> float:
    """Return about how many bytes a row of a side takes."""
    total = 0.0
    for field in schema:
        try:
            total += field.type.bit_width / 8
        except ValueError:
            total += _TEXT_BYTES
    return total
