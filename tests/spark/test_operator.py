"""The operator adds nothing to the engine, and loses nothing between batches; without a JVM."""

import itertools
import json

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql.streaming import TwsTester

import reference
from penstock.policies import by_name
from penstock.spark.cells import packed
from penstock.spark.health import together
from penstock.spark.operator import ShardJoin
from penstock.spark.shards import label_of
from penstock.spark.spec import Spec
from reference import Row
from running import SCHEMA, query_of

some_rows = st.lists(
    st.builds(Row, st.integers(0, 9), st.sampled_from([0, 1, 2, None])), max_size=10
)
cuts = st.lists(st.integers(0, 20), max_size=4)
windows = st.tuples(st.integers(0, 5), st.integers(0, 5))
policies = st.sampled_from(["random", "match-probability", "remaining-matches"])


def spec_of(windows, *, memory=None, policy="random", shards=1, delays=(0, 0)):
    return Spec(
        query=query_of(windows, memory=memory),
        schemas=(SCHEMA, SCHEMA),
        policy=by_name(policy),
        expectation=None,
        ages=None,
        seed=5,
        shards=shards,
        delays=delays,
    )


def cells_of(spec, tables, part=0):
    """What the packers of a batch send."""
    return [
        batch
        for stream, table in enumerate(tables)
        for batch in packed(spec, stream, 2 * part + stream, iter(table.to_batches()))
    ]


class Running:
    """A join whose every shard takes in cells, batch after batch."""

    def __init__(self, spec):
        self.spec = spec
        self.tester = TwsTester(ShardJoin(spec))
        self.health = {}
        self.pairs = []

    def take_in(self, cells):
        frame = pa.Table.from_batches(cells).to_pandas()
        for label, mine in frame.groupby("shard"):
            self._read(self.tester.testInPandas(label, mine))

    def _read(self, out):
        for body, shard, health in out.itertuples(index=False):
            if body is None:
                self.health[shard] = json.loads(health)
            else:
                rows = pa.ipc.read_record_batch(pa.py_buffer(body), self.spec.output)
                ids = (rows.column(f"id_{side}").to_pylist() for side in ("left", "right"))
                self.pairs += zip(*ids, strict=True)

    def segments(self, shard):
        """The names under which the state store holds payload."""
        return self.tester.peekMapState("segments", label_of(shard))


def sequence_of(sides):
    """Both sides' rows, numbered, in the order of time."""
    rows = [(row, stream, number) for stream in (0, 1) for number, row in enumerate(sides[stream])]
    return sorted(rows, key=lambda row: (row[0].time, row[1], row[2]))


def table_of(rows, stream):
    """The rows of one side out of a sequence."""
    mine = [(*row, number) for row, side, number in rows if side == stream]
    return pa.table(
        [pa.array(column) for column in zip(*mine, strict=True)] or [[]] * 4, schema=SCHEMA
    )


def run(spec, sides, cuts, *, shuffled=None):
    """The matches and the health of rows in time order, cut into batches."""
    rows, join = sequence_of(sides), Running(spec)
    edges = sorted({0, len(rows), *(cut % (len(rows) + 1) for cut in cuts)})
    for begin, end in itertools.pairwise([*edges, len(rows)]):
        # Every batch comes in two parts, as from two files that are read side by side.
        batch = rows[begin:end]
        parts = [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
        cells = [
            cells.slice(at, 1)
            for part, mine in enumerate(parts)
            for cells in cells_of(spec, [table_of(mine, side) for side in (0, 1)], part)
            for at in range(cells.num_rows)
        ]
        if shuffled:
            shuffled.shuffle(cells)
        join.take_in(cells)
    return join


def told(join):
    """Everything a join says of itself."""
    return sorted(join.pairs), join.health


def made_and_lost(join):
    """What must not depend on cuts: when a row leaves does, for watermarks move with batches."""
    health = together(list(join.health.values()))
    names = ("matched", "lost", "late_left", "late_right", "unmatchable_left", "unmatchable_right")
    return sorted(join.pairs), [round(health[name], 6) for name in names]


@settings(max_examples=20)
@given(left=some_rows, right=some_rows, windows=windows, shards=st.integers(1, 3), cuts=cuts)
def test_without_a_budget_it_is_the_exact_join_however_it_is_cut(
    left, right, windows, shards, cuts
):
    join = run(spec_of(windows, shards=shards), (left, right), cuts)
    assert sorted(join.pairs) == reference.exact_pairs(left, right, windows)


@settings(max_examples=25)
@given(
    sides=st.tuples(some_rows, some_rows),
    windows=windows,
    memory=st.integers(6, 12),
    policy=policies,
    shards=st.integers(1, 3),
    cuts=cuts,
)
def test_where_batches_are_cut_does_not_matter(sides, windows, memory, policy, shards, cuts):
    spec = spec_of(windows, memory=memory, policy=policy, shards=shards)
    assert made_and_lost(run(spec, sides, cuts)) == made_and_lost(run(spec, sides, []))


@settings(max_examples=20)
@given(
    keys=st.lists(st.integers(0, 3), min_size=4, max_size=12),
    shards=st.integers(1, 2),
    dice=st.randoms(use_true_random=False),
)
def test_the_order_in_which_cells_arrive_does_not_matter(keys, shards, dice):
    # All at once, so that the order of arrival alone decides who stays, and who meets them.
    left, right = [Row(0, key) for key in keys], [Row(1, key) for key in range(4)]
    spec = spec_of((5, 5), memory=4, policy="recent", shards=shards)
    cuts = [len(left)]
    assert told(run(spec, (left, right), cuts, shuffled=dice)) == told(
        run(spec, (left, right), cuts)
    )


@settings(max_examples=20)
@given(sides=st.tuples(some_rows, some_rows), windows=windows, cuts=cuts)
def test_every_row_has_one_fate(sides, windows, cuts):
    health = together(list(run(spec_of(windows, memory=4), sides, cuts).health.values()))
    for side in ("left", "right"):
        fates = ("held", "shed", "expired", "late", "unmatchable")
        assert health[f"arrived_{side}"] == sum(health[f"{fate}_{side}"] for fate in fates)


def test_segments_whose_rows_are_gone_leave_the_state():
    join = Running(spec_of((3, 3)))
    for time in range(0, 300, 10):
        rows = [(Row(time, key), side, 10 * time + key) for key in range(5) for side in (0, 1)]
        join.take_in(cells_of(join.spec, [table_of(rows, side) for side in (0, 1)]))
        # The five rows a side of the newest time, and at most those of the time before.
        assert len(join.segments(0)) <= 4
    assert len(join.pairs) == 150


def test_a_batch_without_rows_says_how_far_the_streams_have_come():
    join = Running(spec_of((3, 3), shards=2))
    rows = [(Row(time, time), 0, time) for time in range(5)]
    join.take_in(cells_of(join.spec, [table_of(rows, side) for side in (0, 1)]))
    assert sum(health["held_left"] for health in join.health.values()) == 5
    far = [(Row(99, 0), 1, 0)]
    join.take_in(cells_of(join.spec, [table_of(far, side) for side in (0, 1)]))
    assert sum(health["expired_left"] for health in join.health.values()) == 5
    assert all(health["held_left"] == 0 for health in join.health.values())
