"""Bad input is refused in one clear sentence before anything starts, or has a counted fate."""

import math

import pyarrow as pa
import pytest

from penstock.engine.change import change
from penstock.engine.plan import Plan, Side
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.errors import InfeasibleBudget, InvalidData, InvalidQuery, StateMoved
from penstock.policies import by_name
from penstock.query import Budget, JoinQuery, Window

LATEST = 2**61 - 1


def table(times, keys=None, *, time=None, key=None, **more):
    keys = [1] * len(times) if keys is None else keys
    return pa.table({"t": pa.array(times, time), "k": pa.array(keys, key), **more})


def plan(left, right=None, *, keep="random", within=5, memory=None, side=None, **stated):
    right = left if right is None else right
    lengths = within if isinstance(within, tuple) else (within, within)
    windows = tuple(w if isinstance(w, Window) else Window.of(w) for w in lengths)
    stated = {"on": (("k", "k"),), "time": ("t", "t"), **stated}
    query = JoinQuery(windows=windows, memory=Budget.of(memory), **stated)
    return Plan(query, [left.schema, right.schema], by_name(keep), side=side)


ROWS = table([1, 2, 3])
CLOCK = table([1, 2], time=pa.timestamp("us"))


# ------------------------------------------------------------------- before anything has started


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        ({"on": (("x", "k"),)}, "'x': the left side has no such column; it has k, t"),
        ({"on": (("k", "x"),)}, "'x': the right side has no such column; it has k, t"),
        ({"time": ("t", "when")}, "'when': the right side has no such column"),
        ({"importance": ("worth", None)}, "'worth': the left side has no such column"),
        ({"importance": (None, "worth")}, "'worth': the right side has no such column"),
    ],
)
def test_an_unknown_column_is_named_with_those_there_are(stated, says):
    with pytest.raises(InvalidQuery, match=says):
        plan(ROWS, **stated)


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.float64(), pa.bool_(), pa.time32("s"), pa.duration("s"), pa.null()],
    ids=str,
)
@pytest.mark.parametrize("within", [5, "5 s", None])
def test_a_time_column_holds_moments_or_whole_numbers(kind, within):
    left = pa.table({"t": pa.nulls(1, kind), "k": [1]})
    with pytest.raises(InvalidQuery, match="use a timestamp, a date or an integer"):
        plan(left, within=within)


def test_a_window_is_stated_as_the_time_column_asks():
    with pytest.raises(InvalidQuery, match="whole number in the column's own unit"):
        plan(ROWS, within="5 s")
    with pytest.raises(InvalidQuery, match="give the window in words"):
        plan(CLOCK, within=5)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.int64(), pa.timestamp("us")),
        (pa.date32(), pa.int32()),
        (pa.timestamp("us", tz="UTC"), pa.timestamp("us")),
        (pa.timestamp("us", tz="UTC"), pa.date32()),
    ],
    ids=str,
)
def test_times_that_do_not_compare_are_refused(one, other):
    left, right = (pa.table({"t": pa.nulls(1, kind), "k": [1]}) for kind in (one, other))
    with pytest.raises(InvalidQuery, match="cannot be compared; give both sides numbers"):
        plan(left, right, within=None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.int64(), pa.string()),
        (pa.float64(), pa.bool_()),
        (pa.timestamp("us"), pa.timestamp("us", tz="UTC")),
        (pa.date32(), pa.int32()),
        (pa.binary(), pa.string()),
        (pa.list_(pa.int8()), pa.list_(pa.string())),
        (pa.struct([("a", pa.int8())]), pa.struct([("a", pa.int8()), ("b", pa.int8())])),
        (pa.struct([("a", pa.int8())]), pa.struct([("a", pa.string())])),
        (pa.map_(pa.int8(), pa.int8()), pa.map_(pa.int8(), pa.int8())),
        (pa.month_day_nano_interval(), pa.month_day_nano_interval()),
        (pa.decimal256(76, 0), pa.decimal128(5, 5)),
    ],
    ids=str,
)
def test_keys_that_do_not_compare_are_refused(one, other):
    left, right = (pa.table({"t": [1], "k": pa.nulls(1, kind)}) for kind in (one, other))
    with pytest.raises(InvalidQuery, match="cannot be compared; cast one side"):
        plan(left, right)


def test_a_column_there_twice_is_refused():
    twice = pa.table([[1], [1], [1]], names=["t", "k", "k"])
    with pytest.raises(InvalidQuery, match="2 columns of this name; rename all but one"):
        plan(ROWS, twice)


@pytest.mark.parametrize("suffixes", [("", ""), ("_x", "_x"), ("_left", "")])
def test_names_that_would_clash_are_refused(suffixes):
    left = pa.table({"t": [1], "k": [1], "a": [1], "a_left": [1]})
    right = pa.table({"t": [1], "k": [1], "a": [1]})
    with pytest.raises(InvalidQuery, match=r"two columns .*; choose other suffixes"):
        plan(left, right, suffixes=suffixes)


def test_a_column_that_arrow_cannot_pick_from_is_refused():
    union = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
    for column in (union, pa.array(["a"], pa.string_view())):
        with pytest.raises(InvalidQuery, match="cast the column to another type, or leave it out"):
            plan(ROWS, pa.table({"t": [1], "k": [1], "p": column}))


@pytest.mark.parametrize("kind", [pa.string(), pa.bool_(), pa.timestamp("us"), pa.null()], ids=str)
def test_importance_is_a_number(kind):
    left = table([1], worth=pa.nulls(1, kind))
    with pytest.raises(InvalidQuery, match="importance must be a number"):
        plan(left, ROWS, importance=("worth", None))


def test_a_policy_says_what_it_misses():
    with pytest.raises(InvalidQuery, match="add importance='<column>' to the join"):
        plan(ROWS, keep="importance", memory=4)
    with pytest.raises(InvalidQuery, match="give both sides a window or keep='match-probability'"):
        plan(ROWS, keep="remaining-matches", within=(5, None), memory=4)
    assert not plan(ROWS, keep="importance").bounded  # without a budget nobody is asked


def test_two_streams_are_joined():
    query = JoinQuery(on=(("k", "k"),), time=("t", "t"), windows=(Window.of(1), Window.of(1)))
    with pytest.raises(InvalidQuery, match="3 streams: this join takes two"):
        Plan(query, [ROWS.schema] * 3, by_name("random"))


def test_a_budget_in_bytes_has_room_for_statistics_and_a_few_rows():
    with pytest.raises(InfeasibleBudget, match=r"need \d+ bytes; raise the budget"):
        start(plan(ROWS, keep="match-probability", memory="100B"))


@pytest.mark.parametrize("ghosts", [-1.0, math.nan, math.inf])
def test_ghosts_per_place_are_a_number(ghosts):
    with pytest.raises(InvalidQuery, match="give 0 for none, or 1 for one per place"):
        Side(ghosts=ghosts)


# ------------------------------------------------------------------------- a batch that is wrong


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        ([ROWS], "1 table for 2 streams: give a table for each, or None"),
        ([ROWS] * 3, "3 tables for 2 streams"),
        (ROWS, "1 table for 2 streams"),
        ([ROWS, ROWS.to_batches()[0]], r"right side brings a RecordBatch; bring a pyarrow\.Table"),
        ([5, None], "left side brings a int"),
        ([ROWS.select(["t"]), None], "and began with t .*; start a new join for a new schema"),
        ([None, table([1], ["a"])], "right side has .*k .string.*; start a new join"),
        ([ROWS.select(["k", "t"]), None], "start a new join for a new schema"),
        ([table([LATEST + 1]), None], r"between -2\*\*61 and 2\*\*61"),
        ([None, table([-LATEST - 1])], "correct the rows that lie beyond, or leave them out"),
    ],
    ids=[
        *("too few", "too many", "not a list", "a batch", "no table", "a column less"),
        *("another type", "another order", "too late", "too early"),
    ],
)
def test_a_wrong_batch_is_refused_and_the_state_stays(tables, says):
    state = step(start(plan(ROWS)), [ROWS, None]).state
    with pytest.raises(InvalidData, match=says):
        step(state, tables)
    assert step(state, [None, ROWS.slice(2)]).matches.num_rows == 3


@pytest.mark.parametrize("watermark", [[1], [1, 2, 3], 1.5, "5", [1, None], [1, 2.5]], ids=str)
def test_a_watermark_is_a_number_or_one_for_each_stream(watermark):
    state = start(plan(ROWS))
    with pytest.raises(InvalidQuery, match="one whole number for both streams, or one for each"):
        step(state, [None, None], watermark=watermark)
    assert not state.moved


@pytest.mark.parametrize(
    "times",
    [
        pa.array([2**45], pa.timestamp("s")),
        pa.array([-(2**60)], pa.timestamp("ms")),
        pa.array([2**63], pa.uint64()),
        pa.array([2**31 - 1], pa.date32()),
    ],
    ids=lambda times: str(times.type),
)
def test_times_that_would_overflow_are_refused(times):
    left = pa.table({"t": times, "k": [1]})
    within = 5 if pa.types.is_integer(times.type) else "5 s"
    with pytest.raises(InvalidData, match=r"between -2\*\*61 and 2\*\*61"):
        step(start(plan(left, within=within)), [left, None])


def test_a_state_is_used_once():
    state = start(plan(ROWS))
    step(state, [None, None])
    with pytest.raises(StateMoved, match="go on with the state that step returned"):
        step(state, [None, None])


def test_a_budget_or_a_window_of_another_kind_is_refused():
    state = start(plan(ROWS, memory=4))
    with pytest.raises(InvalidQuery, match="a budget in the same unit"):
        change(state, memory=Budget.of("1MB"))
    with pytest.raises(InfeasibleBudget, match="memory=2 or more"):
        change(state, memory=Budget.of(1))
    with pytest.raises(InvalidQuery, match="only lengths change"):
        change(state, windows=(Window("rows", 1), Window("rows", 1)))
    assert step(state, [ROWS, ROWS], last=True).health.held == (2, 2)


# --------------------------------------------------------------------------------- counted fates


def test_rows_without_a_time_or_a_key_are_counted_and_match_nothing():
    left = table([1, None, 2], [1, 1, None])
    out = step(start(plan(left)), [left, left])
    assert out.matches.num_rows == 1
    assert out.health.unmatchable == (2, 2)
    assert out.health.arrived == (3, 3)


@pytest.mark.parametrize("window", [Window.of(5), Window("rows", 2), Window.of(None)], ids=str)
def test_a_batch_without_any_time_is_counted(window):
    left = table([None, None], time=pa.int64())
    out = step(start(plan(left, within=(window, window))), [left, None], last=True)
    assert out.health.unmatchable == (2, 0)
    assert out.health.clock is None


def test_a_key_that_is_no_number_matches_nothing():
    left = table([1, 2], [math.nan, 1.0])
    out = step(start(plan(left)), [left, left])
    assert out.matches.num_rows == 1
    assert out.health.unmatchable == (1, 1)


def test_time_that_goes_backwards_is_late():
    out = step(start(plan(ROWS)), [table([5]), None])
    out = step(out.state, [table([4, 5, 6]), table([4])])
    assert out.health.late == (1, 1)
    assert out.health.arrived == (4, 1)
    assert out.matches.num_rows == 0


def test_a_watermark_that_goes_backwards_stays_where_it_was():
    state = step(start(plan(ROWS)), [None, None], watermark=10).state
    out = step(state, [table([9, 10]), None], watermark=[3, 3])
    assert out.health.late == (1, 0)


def test_a_watermark_may_be_as_high_or_low_as_there_are_numbers():
    out = step(start(plan(ROWS)), [ROWS, ROWS], watermark=-(2**63))
    assert out.health.late == (0, 0)
    out = step(out.state, [ROWS, None], watermark=2**63 - 1)
    assert out.health.late == (3, 0)
    assert out.health.held == (0, 0)


@pytest.mark.parametrize(
    ("importance", "value"),
    [(None, 0.0), (math.nan, 0.0), (-2.0, -2.0), (math.inf, 1e100), (-math.inf, -1e100)],
)
def test_importance_that_is_no_finite_number_has_a_stated_value(importance, value):
    left = table([1], worth=pa.array([importance], pa.float64()))
    made = plan(left, ROWS, importance=("worth", None), combine="product")
    assert step(start(made), [left, ROWS.slice(0, 1)]).health.value == value


def test_rows_of_infinite_importance_are_still_told_apart_by_age():
    left = table([1, 2, 3], [1, 2, 3], worth=[math.inf, math.inf, math.nan])
    made = plan(
        left,
        ROWS,
        keep="expected-importance-live",
        memory=2,
        importance=("worth", None),
        side=Side(shed_rows=True),
    )
    out = step(start(made), [left, None], last=True)
    assert sorted(out.shed[0]["t"].to_pylist()) == [1, 3]
    assert out.health.held == (1, 0)


def test_importance_may_be_any_number():
    for kind in (pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(20, 0)):
        left = table([1], worth=pa.array([9], kind))
        out = step(start(plan(left, importance=("worth", "worth"))), [left, left])
        assert out.health.value == 9.0
    large = table([1], worth=pa.array([2**63 - 1], pa.int64()))
    assert step(start(plan(large, importance=("worth", None))), [large, large]).health.value == 1.0


@pytest.mark.parametrize("sides", [(0, 0), (0, 1), (1, 0)])
@pytest.mark.parametrize("memory", [None, 2, "1MB"])
def test_an_empty_stream_is_no_trouble(sides, memory):
    made = plan(ROWS, memory=memory, keep="match-probability")
    out = step(start(made), [ROWS.slice(0, n) for n in sides], last=True)
    assert out.matches.num_rows == 0
    assert out.health.arrived == sides
