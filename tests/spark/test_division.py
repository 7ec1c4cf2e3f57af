"""One budget over shards: eight keep about what one keeps, and no more rows than they may."""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from penstock.engine.state import start
from penstock.policies import by_name
from penstock.query import Budget, JoinQuery, Window, pairs_of
from penstock.spark.cells import Cell, batch_of, packed
from penstock.spark.census import census_of, empty, together
from penstock.spark.division import Division
from penstock.spark.joining import Joining
from penstock.spark.keeper import Memory
from penstock.spark.shards import checked, label_of, shard_of
from penstock.spark.spec import Spec

SCHEMA = pa.schema([("key", pa.int64()), ("time", pa.timestamp("us"))])


def zipf(rows, keys, seed):
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, keys + 1)
    drawn = rng.choice(keys, rows, p=shares / shares.sum())
    return pa.table([drawn, pa.array(np.arange(rows) * 1000, pa.timestamp("us"))], schema=SCHEMA)


def spec_of(sides, on, time, within, memory, *, policy, shards, split="half"):
    query = JoinQuery(
        pairs_of(on), (time, time), (Window.of(within),) * 2, Budget.of(memory), split=split
    )
    schemas = (sides[0].schema, sides[1].schema)
    return Spec(query, schemas, by_name(policy), None, None, 0, shards, (0, 0))


def run(sides, spec, cuts, divided=None):
    """Join the sides in so many batches; the matches, and the most rows held after a batch.

    What each shard was given, and from which slice on, is added to `divided`.
    """
    division = Division(spec)
    nothing = (empty(spec.shards), empty(spec.shards))
    memory = [
        Memory(start(spec.plan(shard)), (None, None), nothing, None) for shard in range(spec.shards)
    ]
    name = spec.query.time[0]
    times = [side[name].cast(pa.int64()).to_numpy() for side in sides]
    edges = np.linspace(min(t.min() for t in times), max(t.max() for t in times) + 1, cuts + 1)
    most = 0
    for low, high in itertools.pairwise(edges):
        cells = []
        for stream, side in enumerate(sides):
            mine = side.filter(pa.array((times[stream] >= low) & (times[stream] < high)))
            for batch in packed(spec, stream, stream, iter(mine.to_batches())):
                cells += [Cell(*row.values()) for row in batch.to_pylist()]
        for shard in range(spec.shards):
            frame = pd.DataFrame([cell for cell in cells if cell.shard == label_of(shard)])
            before, batch = memory[shard], batch_of(spec, iter([frame]))
            after = before.with_news(batch)
            pieces = division.pieces(shard, batch, after.census, before.slice)
            if divided is not None:
                divided += [(shard, piece.slice, piece.part) for piece in pieces if piece.part]
            marks = spec.marks(before.newest), spec.marks(after.newest)
            joining = Joining(before.state, pieces, marks)
            for _ in joining:
                pass
            memory[shard] = after.after(joining.state, pieces[-1].slice)
        held = [memory[shard].state.health().held for shard in range(spec.shards)]
        most = max(most, int(np.sum(held)))
    matches = sum(memory[shard].state.health().matched for shard in range(spec.shards))
    return matches, most


@pytest.mark.parametrize("policy", ["match-probability", "random"])
@pytest.mark.parametrize("split", ["half", "shared"])
def test_eight_shards_keep_what_one_keeps_on_skewed_keys(policy, split):
    sides = [zipf(4000, 50, 1), zipf(4000, 50, 2)]
    how = {"on": "key", "time": "time", "within": "400 ms", "policy": policy, "split": split}
    exact, _ = run(sides, spec_of(sides, memory=None, shards=1, **how), 2)
    one, _ = run(sides, spec_of(sides, memory=200, shards=1, **how), 2)
    eight, held = run(sides, spec_of(sides, memory=200, shards=8, **how), 2)
    assert abs(eight - one) / exact < 0.02  # 400 rows a side: chance alone is a point
    assert held <= 200 + 8 * 2  # and the instants that are open


@pytest.mark.parametrize(("memory", "shards"), [(42, 1), (400, 2), (5000, 8), ("25%", 8)])
def test_a_budget_of_few_rows_is_not_cut_into_many_parts(memory, shards):
    query = JoinQuery(pairs_of("key"), ("time", "time"), (Window.of("1 s"),) * 2, Budget.of(memory))
    assert checked(8, query) == shards


@pytest.mark.parametrize(
    ("rows", "within"), [(2000, "300 ms"), (6000, "2500 ms")], ids=["few rows", "many rows"]
)
def test_how_batches_are_cut_does_not_change_what_is_kept(rows, within):
    sides = [zipf(rows, 50, 3), zipf(rows, 50, 4)]
    spec = spec_of(sides, "key", "time", within, 150, policy="match-probability", shards=4)
    once = []
    matches, _ = run(sides, spec, 1, once)
    for cuts in (3, 7):
        in_parts = []
        assert run(sides, spec, cuts, in_parts)[0] == matches
        assert sorted(in_parts, key=str) == sorted(once, key=str)


def test_the_census_of_parts_is_that_of_the_whole():
    rng = np.random.default_rng(5)
    times, hashes = rng.integers(0, 1000, 5000), rng.integers(0, 99, 5000)
    shards = shard_of(hashes, 3)
    whole = census_of(times, hashes, shards, length=100, count=3)
    cuts = [slice(0, 10), slice(10, 4000), slice(4000, 5000)]
    parts = [census_of(times[c], hashes[c], shards[c], length=100, count=3) for c in cuts]
    for one, other in zip(together(parts), whole, strict=True):
        assert (one == other).all()
    assert whole.counts.sum() == 5000
