"""A step that knows the next watermark lets rows go sooner, and changes nothing else."""

import itertools

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.policies import ALL, by_name
from reference import Row
from running import plan_of, query_of, table_of

FIRST = -20  # before every row
every_policy = pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.name)
some_rows = st.lists(
    st.builds(
        Row, st.integers(-8, 12), st.sampled_from([0, 1, 2, None]), st.sampled_from([1.0, 2.0])
    ),
    max_size=6,
)
delays = st.tuples(st.integers(0, 8), st.integers(0, 8))
lengths = st.tuples(*[st.one_of(st.none(), st.integers(0, 6))] * 2)
bounded = st.tuples(st.integers(0, 6), st.integers(0, 6))
# Rows come in order of time but for some that come up to a delay, or more, after theirs.
batches = st.lists(st.tuples(some_rows, some_rows), max_size=5)


def marked(arrivals, delays):
    """Each batch, its watermarks, and those of the next: the newest times less the delays."""
    marks = [FIRST, FIRST]
    for sides in arrivals:
        coming = [
            max([mark, *(row.time - delay for row in rows)])
            for mark, delay, rows in zip(marks, delays, sides, strict=True)
        ]
        yield sides, marks, coming
        marks = coming


def numbered(arrivals):
    """The tables of each batch, their rows numbered by stream over all batches."""
    seen = [0, 0]
    for sides in arrivals:
        tables = []
        for stream, rows in enumerate(sides):
            ids = range(seen[stream], seen[stream] + len(rows))
            tables.append(table_of(rows).set_column(3, "id", pa.array(ids, pa.int64())))
            seen[stream] += len(rows)
        yield tables


def pairs_in(found):
    return list(zip(found["id_left"].to_pylist(), found["id_right"].to_pylist(), strict=True))


def fed(plan, arrivals, delays, *, ahead):
    """The matches of each batch in turn, and the health after it."""
    state, pairs, healths = start(plan), [], []
    steps = zip(marked(arrivals, delays), numbered(arrivals), strict=True)
    for (_, marks, coming), tables in steps:
        out = step(state, tables, watermark=marks, next_watermark=coming if ahead else None)
        state = out.state
        pairs.append(sorted(pairs_in(out.matches)))
        healths.append(out.health)
    return pairs, healths


def on_time(arrivals, delays):
    """Each stream's rows as they came; a late row keeps its place, where nothing can match it."""
    kept, late = ([], []), [0, 0]
    for sides, marks, _ in marked(arrivals, delays):
        for stream, rows in enumerate(sides):
            punctual = [row.time >= marks[stream] for row in rows]
            late[stream] += punctual.count(False)
            kept[stream].extend(
                row if fine else row._replace(key=None)
                for row, fine in zip(rows, punctual, strict=True)
            )
    return kept, tuple(late)


@given(windows=lengths, arrivals=batches, delays=delays)
def test_without_a_budget_only_late_rows_are_missing(windows, arrivals, delays):
    plan = plan_of(query_of(windows), by_name("random"))
    pairs, healths = fed(plan, arrivals, delays, ahead=True)
    kept, late = on_time(arrivals, delays)
    assert sorted(itertools.chain(*pairs)) == reference.exact_pairs(*kept, windows)
    if healths:
        assert healths[-1].late == late


@given(windows=lengths, arrivals=batches, delays=delays)
def test_without_a_budget_exactly_the_rows_that_can_still_match_are_held(windows, arrivals, delays):
    plan = plan_of(query_of(windows), by_name("random"))
    _, healths = fed(plan, arrivals, delays, ahead=True)
    steps = list(marked(arrivals, delays))
    for number, (health, (_, _, coming)) in enumerate(zip(healths, steps, strict=True), 1):
        kept, _ = on_time(arrivals[:number], delays)
        newest = health.clock if min(coming) <= (health.clock or 0) else None  # is still open
        assert health.held == tuple(
            sum(
                row.key is not None
                and (w is None or row.time + w >= coming[1 - stream] or row.time == newest)
                for row in kept[stream]
            )
            for stream, w in enumerate(windows)
        )


@every_policy
@given(
    windows=bounded,
    arrivals=batches,
    delays=delays,
    memory=st.integers(2, 5),
    split=st.sampled_from(["half", "shared"]),
)
def test_on_a_budget_every_match_is_one_of_the_exact_join_and_every_row_has_one_fate(
    policy, windows, arrivals, delays, memory, split
):
    plan = plan_of(query_of(windows, "time", memory, split), policy, ghosts=100.0)
    pairs, healths = fed(plan, arrivals, delays, ahead=True)
    kept, _ = on_time(arrivals, delays)
    exact = reference.exact_pairs(*kept, windows)
    found = list(itertools.chain(*pairs))
    assert len(found) == len(set(found))
    assert set(found) <= set(exact)
    for health in healths:
        fates = (health.held, health.shed, health.expired, health.late, health.unmatchable)
        assert tuple(map(sum, zip(*fates, strict=True))) == health.arrived


@every_policy
@given(
    windows=bounded,
    left=st.lists(st.builds(Row, st.integers(0, 12), st.integers(0, 2)), max_size=12),
    right=st.lists(st.builds(Row, st.integers(0, 12), st.integers(0, 2)), max_size=12),
    memory=st.one_of(st.none(), st.integers(2, 6)),
    split=st.sampled_from(["half", "shared"]),
    cuts=st.lists(st.integers(0, 12), max_size=4),
)
def test_in_order_every_row_has_the_fate_it_has_without_watermarks(
    policy, windows, left, right, memory, split, cuts
):
    plan = plan_of(query_of(windows, "time", memory, split), policy, ghosts=100.0)
    edges = sorted({-1, *cuts, 12})
    sides = [sorted(side) for side in (left, right)]
    states, mark = [start(plan), start(plan)], FIRST
    for begin, end in itertools.pairwise(edges):
        rows = [[row for row in side if begin < row.time <= end] for side in sides]
        newest = max([mark, *(row.time for side in rows for row in side)])
        tables = list(map(table_of, rows))
        plain = step(states[0], tables)
        told = step(states[1], tables, watermark=mark, next_watermark=newest)
        assert sorted(pairs_in(told.matches)) == sorted(pairs_in(plain.matches))
        for name in ("arrived", "held", "shed", "expired", "late", "lost", "peak_rows"):
            assert getattr(told.health, name) == getattr(plain.health, name), name
        states, mark = [plain.state, told.state], newest
