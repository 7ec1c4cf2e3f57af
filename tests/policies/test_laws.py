"""Laws that every policy obeys, on every stream."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from penstock.arrivals.expectation import Decayed, LastWindow, LearnedAges, Retained
from penstock.engine.change import change
from penstock.engine.plan import Plan, Side
from penstock.engine.saved import restore, save
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.policies import ALL, Weighted, by_name
from penstock.query import Budget, Window
from reference import Row
from running import AGES, SCHEMA, query_of, run, table_of, window_of
from streams import cuts, orders, rows, splits

POLICIES = [
    *ALL,
    by_name("match-probability", refresh="arrival"),
    by_name("gain-and-loss", how="subtract", loss=0.25, gain=0.5),
    Weighted(how="add", alpha=1, beta=2, delta=0.5),
    Weighted(how="accumulate", alpha=1, beta=1, delta=1, gain=0.1),
    Weighted(alpha=1, beta=1, delta=1),
    Weighted(refresh="arrival"),
]
every_policy = pytest.mark.parametrize("policy", POLICIES, ids=str)
windows = st.tuples(st.integers(0, 6), st.integers(0, 6))
kinds = st.sampled_from(["time", "count"])
memories = st.integers(2, 6)
learning = st.sampled_from([LastWindow(), Retained(), Decayed(3.0)])
curves = st.sampled_from([AGES, LearnedAges(3)])
examples = settings(max_examples=25)


def query_for(kind, lengths, memory, split="half", order="join-first"):
    lengths = tuple(max(1, length) for length in lengths) if kind == "count" else lengths
    return query_of(lengths, kind, memory, split, order), lengths


def places_of(memory, split):
    if split == "shared":
        return memory, memory
    left, right = (1, 1) if split == "half" else split
    first = int(memory * left / (left + right))
    return first, memory - first


def instants(left, right):
    """The rows of each instant, as a pair of lists."""
    for time in sorted({row.time for row in left + right}):
        yield [[row for row in side if row.time == time] for side in (left, right)]


@every_policy
@examples
@given(
    left=rows,
    right=rows,
    lengths=windows,
    kind=kinds,
    memory=memories,
    split=splits,
    order=orders,
    expectation=learning,
    ages=curves,
)
def test_never_over_budget_and_nothing_is_lost_from_the_ledger(
    policy, left, right, lengths, kind, memory, split, order, expectation, ages
):
    query, _ = query_for(kind, lengths, memory, split, order)
    plan = Plan(query, [SCHEMA, SCHEMA], policy, expectation=expectation, ages=ages)
    state, arrived = start(plan), [0, 0]
    for sides in instants(left, right):
        out = step(state, [table_of(side) for side in sides], last=True)
        state, health = out.state, out.health
        assert sum(health.held) <= memory
        assert all(h <= p for h, p in zip(health.held, places_of(memory, split), strict=True))
        assert health.peak_rows <= memory
        arrived = [n + len(side) for n, side in zip(arrived, sides, strict=True)]
        assert list(health.arrived) == arrived
        assert adds_up(health)


def adds_up(health):
    fates = (
        *(health.held, health.shed, health.expired),
        *(health.late, health.unmatchable, health.waiting),
    )
    return list(health.arrived) == [sum(counts) for counts in zip(*fates, strict=True)]


@every_policy
@examples
@given(
    left=rows, right=rows, lengths=windows, kind=kinds, memory=memories, split=splits, order=orders
)
def test_every_match_is_one_of_the_exact_join_once(
    policy, left, right, lengths, kind, memory, split, order
):
    query, lengths = query_for(kind, lengths, memory, split, order)
    ran = run(left, right, query, policy, ages=AGES)
    exact = reference.exact_pairs(left, right, lengths, kind)
    assert len(set(ran.pairs)) == len(ran.pairs) == ran.health.matched
    assert set(ran.pairs) <= set(exact)
    assert ran.health.matched + ran.health.lost == pytest.approx(len(exact))


@every_policy
@examples
@given(left=rows, right=rows, lengths=windows, kind=kinds, order=orders)
def test_a_budget_of_both_windows_gives_the_exact_join(policy, left, right, lengths, kind, order):
    query, lengths = query_for(kind, lengths, 60, "half", order)
    ran = run(left, right, query, policy, ages=AGES)
    assert ran.pairs == reference.exact_pairs(left, right, lengths, kind)
    assert ran.shed == []
    assert ran.health.lost == 0


def outcome(ran):
    """Everything of a run but its bytes, which depend on how the payload lies."""
    health = {**vars(ran.health), "bytes": None}
    for name in ("value", "lost", "lost_value", "lost_variance", "lost_value_variance"):
        health[name] = pytest.approx(health[name], rel=1e-9, abs=1e-9)
    return ran.pairs, ran.shed, health


@every_policy
@examples
@given(
    left=rows,
    right=rows,
    lengths=windows,
    kind=kinds,
    memory=memories,
    split=splits,
    order=orders,
    expectation=learning,
    ages=curves,
    ghosts=st.sampled_from([0.0, 1.0, 9.0]),
    cut=cuts,
)
def test_where_the_batches_are_cut_does_not_matter(
    policy, left, right, lengths, kind, memory, split, order, expectation, ages, ghosts, cut
):
    query, _ = query_for(kind, lengths, memory, split, order)
    more = {"expectation": expectation, "ages": ages, "ghosts": ghosts, "seed": 5}
    whole = run(left, right, query, policy, **more)
    assert outcome(run(left, right, query, policy, cuts=cut, **more)) == outcome(whole)
    assert adds_up(whole.health)


# ------------------------------------------------------------------------------- larger streams


def many(seed, count=300, keys=150, times=100, nulls=True):
    """Enough rows and keys for counters to overflow into a sketch, and ghosts into a sample."""
    dice = random.Random(seed)
    pool = [None] * nulls + [int(keys * dice.random() ** 3) for _ in range(count)]
    return [
        Row(dice.randrange(times), dice.choice(pool), dice.choice([1.0, 2.0, 5.0]))
        for _ in range(count)
    ]


LEFT, RIGHT = many(1), many(2)
BYTES = "30KB"  # room for a few dozen rows, and for 64 counters before a sketch takes over


@every_policy
@pytest.mark.parametrize("memory", [40, BYTES])
@pytest.mark.parametrize("split", ["half", "shared"])
def test_nor_does_it_in_a_long_run_on_rows_or_bytes(policy, memory, split):
    query = query_of((30, 20), "time", memory, split)
    whole = run(LEFT, RIGHT, query, policy, ghosts=0.5)
    assert sum(whole.health.shed) > 50
    fine = run(LEFT, RIGHT, query, policy, ghosts=0.5, cuts=range(0, 600, 7))
    assert outcome(fine) == outcome(whole)


def test_the_streams_are_long_enough_for_a_sketch():
    query = query_of((30, 20), "time", BYTES)
    state = run(LEFT, RIGHT, query, by_name("match-probability"), ghosts=0.5).state
    assert state.counting.sketch.shape[1] > 0


@every_policy
def test_the_same_seed_gives_the_same_and_another_seed_not_always(policy):
    query = query_of((30, 20), "time", 40)
    one, again, other = (run(LEFT, RIGHT, query, policy, seed=seed) for seed in (1, 1, 2))
    assert outcome(again) == outcome(one)
    assert (other.pairs == one.pairs) == (policy.name != "random")


@every_policy
def test_sides_are_treated_alike(policy):
    if policy.name == "random":
        pytest.skip("what a row draws depends on its place in the sequence, left before right")
    # No two rows at once, so that neither side comes first.
    dice = random.Random(4)
    times = dice.sample(range(400), k=200)
    sides = [
        [Row(t, dice.randrange(5), dice.choice([1.0, 2.0])) for t in times[begin::2]]
        for begin in (0, 1)
    ]
    for split, swapped in [((3, 1), (1, 3)), ("shared", "shared")]:
        one = run(*sides, query_of((60, 40), "time", 12, split), policy)
        other = run(*sides[::-1], query_of((40, 60), "time", 12, swapped), policy)
        assert sorted((right, left) for left, right in other.pairs) == one.pairs
        assert other.health.held == one.health.held[::-1]


@every_policy
def test_all_times_may_be_shifted(policy):
    # By whole windows, or rows would fall into other panes.
    query = query_of((30, 30), "time", 20)
    settled = run(LEFT, RIGHT, query, policy, expectation=Decayed(10.0))
    for far in (-30 * 10**12, -30, 30 * 10**12):
        left, right = ([r._replace(time=r.time + far) for r in side] for side in (LEFT, RIGHT))
        moved = run(left, right, query, policy, expectation=Decayed(10.0))
        if policy.name != "weighted":  # adds the time itself, in which digits are lost
            assert moved.pairs == settled.pairs


# ------------------------------------------------------------------------ another budget midway


def feed(state, left, right, times, *, last=True):
    found = []
    sides = [[row for row in side if row.time in times] for side in (left, right)]
    out = step(state, [table_of(side) for side in sides], last=last)
    for one, other in zip(
        out.matches["time_left"].to_pylist(), out.matches["time_right"].to_pylist(), strict=True
    ):
        found.append((one, other))
    return sorted(found), out


@every_policy
@pytest.mark.parametrize("split", ["half", "shared"])
def test_a_smaller_budget_sheds_at_once(policy, split):
    plan = Plan(query_of((50, 50), "time", 40, split), [SCHEMA, SCHEMA], policy, ages=AGES)
    _, out = feed(start(plan), LEFT, RIGHT, range(50))
    assert sum(out.health.held) == 40
    state = change(out.state, memory=Budget.of(6))
    assert sum(state.health().held) == 6
    assert sum(state.health().shed) == sum(out.health.shed) + 34
    assert adds_up(state.health())
    _, out = feed(state, LEFT, RIGHT, range(50, 100))
    assert sum(out.health.held) <= 6


@every_policy
def test_a_larger_budget_is_filled(policy):
    plan = Plan(query_of((200, 200), "time", 6), [SCHEMA, SCHEMA], policy, ages=AGES)
    _, out = feed(start(plan), LEFT, RIGHT, range(50))
    assert sum(out.health.held) == 6
    state = change(out.state, memory=Budget.of(40))
    assert state.health().held == out.health.held
    _, out = feed(state, LEFT, RIGHT, range(50, 100))
    assert sum(out.health.held) == 40
    assert out.health.budget == 40


@every_policy
@pytest.mark.parametrize(("before", "after"), [(40, 10), (10, 40), (40, 40)])
def test_a_budget_that_changes_before_the_first_row_is_as_if_stated(policy, before, after):
    stated = Plan(query_of((30, 30), "time", after), [SCHEMA, SCHEMA], policy, ages=AGES)
    changed = Plan(query_of((30, 30), "time", before), [SCHEMA, SCHEMA], policy, ages=AGES)
    state = change(start(changed), memory=Budget.of(after))
    assert (
        feed(state, LEFT, RIGHT, range(100))[0] == feed(start(stated), LEFT, RIGHT, range(100))[0]
    )


@pytest.mark.parametrize("memory", [None, 1000])
@given(left=rows, right=rows, at=st.integers(0, 9), lengths=windows, later=windows)
def test_windows_that_change_count_from_then_on(memory, left, right, at, lengths, later):
    # A pair is made under the windows of its newer row; what expired before does not come back.
    plan = Plan(query_of(lengths, "time", memory), [SCHEMA, SCHEMA], by_name("random"))
    before, out = feed(start(plan), left, right, range(at))
    state = change(out.state, windows=tuple(map(Window.of, later)))
    after, _ = feed(state, left, right, range(at, 10))
    last = max((row.time for row in left + right if row.time < at), default=-1)
    assert before == pairs_of(left, right, lambda a, b, w: max(a, b) < at, lengths)

    def still_there(a, b, side):
        older = min(a, b)
        # At the end of `last` it could join no later instant; then the window grew, or shrank.
        return older >= at or (older + lengths[side] > last and older + later[side] >= last)

    assert after == pairs_of(
        left, right, lambda a, b, side: max(a, b) >= at and still_there(a, b, side), later
    )


def pairs_of(left, right, wanted, lengths):
    return sorted(
        (a.time, b.time)
        for a, b in itertools.product(left, right)
        if a.key is not None
        and a.key == b.key
        and abs(a.time - b.time) <= lengths[side := int(b.time < a.time)]
        and wanted(a.time, b.time, side)
    )


def test_a_shorter_count_window_lets_go_at_once():
    plan = Plan(query_of((5, 5), "count", 20), [SCHEMA, SCHEMA], by_name("recent"))
    out = step(start(plan), [table_of([Row(t, 1) for t in range(5)]), None], last=True)
    assert out.health.held == (5, 0)
    state = change(out.state, windows=(Window("rows", 2), Window("rows", 5)))
    assert state.health().held == (2, 0)
    assert step(state, [None, table_of([Row(9, 1)])], last=True).matches.num_rows == 2


def test_rows_shed_by_a_smaller_budget_leave_by_the_side_door():
    plan = Plan(
        query_of((50, 50), "time", 4),
        [SCHEMA, SCHEMA],
        by_name("recent"),
        side=Side(shed_rows=True),
    )
    out = step(start(plan), [table_of([Row(t, t) for t in range(2)]), None], last=True)
    state = change(out.state, memory=Budget.of(2))
    again = change(restore(plan, save(state).parts), memory=Budget.of(3))
    out = step(again, [None, None])
    assert out.shed[0]["time"].to_pylist() == [0]
    assert step(out.state, [None, None]).shed[0].num_rows == 0


def test_a_change_takes_nothing_from_rows_out_of_order():
    # The left row of time 0 still waits for a right row that may come as late as 0.
    plan = Plan(query_of((5, 5), "time", 8), [SCHEMA, SCHEMA], by_name("recent"))
    rows_ = [table_of([Row(0, 1), Row(20, 1)]), None]
    out = step(step(start(plan), rows_, watermark=0).state, [None, None], watermark=[20, 0])
    state = change(out.state, memory=Budget.of(6))
    assert state.health().held == (2, 0)
    out = step(state, [None, table_of([Row(3, 1)])], watermark=[20, 3])
    assert out.matches.num_rows == 1


@pytest.mark.parametrize("kind", ["time", "count"])
def test_a_side_without_a_window_has_none_after_a_change(kind):
    plan = Plan(query_of((5, None), kind), [SCHEMA, SCHEMA], by_name("random"))
    out = step(start(plan), [None, table_of([Row(0, 1), Row(0, 1)])])
    later = (window_of(7, kind), window_of(None, kind))
    out = step(change(out.state, windows=later), [table_of([Row(100, 1)]), None], last=True)
    assert sorted(out.matches["id_right"].to_pylist()) == [0, 1]


@pytest.mark.parametrize("memory", [None, 4])
def test_without_a_window_rows_meet_from_one_end_of_time_to_the_other(memory):
    plan = Plan(query_of((None, None), memory=memory), [SCHEMA, SCHEMA], by_name("random"))
    ends = table_of([Row(1 - 2**61, 1)]), table_of([Row(2**61 - 1, 1)])
    for left, right in (ends, ends[::-1]):
        assert step(start(plan), [left, right], last=True).health.matched == 1
