"""In one shard the join of two streams is the replay of the same rows, under every policy."""

import itertools
import random

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import penstock as ps
from on_spark import MINUTE, UTC, finished, ids, streams
from penstock.engine.plan import Plan
from penstock.engine.state import start
from penstock.lab.traces import Trace
from penstock.policies import ALL
from penstock.query import Budget, JoinQuery, Window

pytestmark = pytest.mark.spark

SIDE = pa.schema([("t", UTC), ("k", pa.int64()), ("worth", pa.float64()), ("id", pa.int64())])
ROWS, WINDOW, MEMORY = 150, 4, 24
every_policy = pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.name)


def sequence(seed):
    """Rows of both sides in the order of time; keys and importance are skewed."""
    dice = random.Random(seed)
    rows = []
    for stream in (0, 1):
        ts = sorted(dice.randrange(20) * MINUTE + dice.randrange(3) for _ in range(ROWS))
        rows += [
            (t, stream, number, min(dice.randrange(12), dice.randrange(12)), dice.choice([1, 2, 9]))
            for number, t in enumerate(ts)
        ]
    return sorted(rows)


def cut(rows, parts):
    """The parts of each side; cuts may fall inside of an instant."""
    edges = [len(rows) * part // parts for part in range(parts + 1)]
    return [
        [
            pa.Table.from_pylist(
                [
                    {"t": t, "k": key, "worth": worth, "id": number}
                    for t, side, number, key, worth in rows[begin:end]
                    if side == stream
                ],
                SIDE,
            )
            for begin, end in itertools.pairwise(edges)
        ]
        for stream in (0, 1)
    ]


def replayed(rows, policy, *, seed=0, split="half"):
    """The matches that the engine makes of a trace, as `penstock replay` feeds it."""
    left, right = (side[0] for side in cut(rows, 1))
    query = JoinQuery(
        on=(("k", "k"),),
        time=("t", "t"),
        windows=(Window.of(f"{WINDOW} minutes"),) * 2,
        memory=Budget.of(MEMORY),
        split=split,
        importance=("worth", "worth"),
    )
    trace, found = Trace(left, right, query), []
    plan = Plan(query, trace.schemas, policy, seed=seed)
    state = trace.feed(start(plan), receive=found.extend, rows_at_once=64)
    assert sum(state.health().shed) > ROWS / 4
    return ids(pa.concat_tables(found), "id_left", "id_right")


def joined(frames, policy, **more):
    settings = {"memory": MEMORY, "importance": "worth", "shards": 1, **more}
    return ps.join(
        *frames, on="k", time="t", within=f"{WINDOW} minutes", keep=policy, **settings
    ).select("id_left", "id_right")


@every_policy
def test_a_policy_keeps_on_spark_what_it_keeps_in_a_replay(spark, tmp_path, policy):
    rows = sequence(1)
    sides = cut(rows, 3)
    at_once = streams(spark, tmp_path / "at_once", sides, delays=("0 seconds",) * 2)
    later = streams(spark, tmp_path / "later", sides, delays=("2 minutes", "1 hour"))
    both = joined(at_once, policy).selectExpr("*", "'at once' as delay")
    both = both.union(joined(later, policy).selectExpr("*", "'later'"))
    found = finished(both).rows
    expected = replayed(rows, policy)
    for delay in ("at once", "later"):
        mine = found.filter(pc.field("delay") == delay)
        assert ids(mine, "id_left", "id_right") == expected, delay


@pytest.mark.parametrize("parts", [1, 8])
def test_it_does_not_matter_how_the_rows_lie_in_files(spark, tmp_path, parts):
    rows = sequence(2)
    frames = streams(spark, tmp_path, cut(rows, parts), delays=("0 seconds",) * 2)
    one, other = ALL[0], ALL[3]  # a number drawn by place, and one learned from what has come
    found = joined(frames, one, split="shared").selectExpr("*", "1 as which")
    found = found.union(joined(frames, other, split="shared").selectExpr("*", "2 as which"))
    table = finished(found).rows
    for which, policy in ((1, one), (2, other)):
        mine = table.filter(pc.field("which") == which)
        assert ids(mine, "id_left", "id_right") == replayed(rows, policy, split="shared")


def test_the_seed_decides_whom_chance_keeps(spark, tmp_path):
    rows = sequence(3)
    frames = streams(spark, tmp_path, cut(rows, 2), delays=("0 seconds",) * 2)
    found = joined(frames, "random", seed=1).selectExpr("*", "1 as seed")
    found = found.union(joined(frames, "random", seed=2).selectExpr("*", "2 as seed"))
    table = finished(found).rows
    of_seed = [
        ids(table.filter(pc.field("seed") == seed), "id_left", "id_right") for seed in (1, 2)
    ]
    assert of_seed == [replayed(rows, ALL[0], seed=seed) for seed in (1, 2)]
    assert of_seed[0] != of_seed[1]
