"""Without a budget the join is the one DuckDB makes, whatever the types, windows and batches."""

import datetime as dt
import itertools
import math
import random
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest

from penstock.engine.plan import Plan
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.policies import by_name
from penstock.query import Budget, JoinQuery, Window

ROWS = 40  # a side; with keys of five values and times up to 20 each row has a few partners
DAY = dt.date(2024, 2, 28)
MIDNIGHT = dt.datetime(2024, 2, 28)
NOON = dt.datetime(2024, 2, 29, 12)
BERLIN = "Europe/Berlin"
MINUTES = [dt.time(h, m) for h, m in [(0, 0), (0, 1), (23, 59)]]
POINT = pa.struct([("x", pa.int32()), ("y", pa.string())])
POINTS = [{"x": 1, "y": "a"}, {"x": 1, "y": "b"}, {"x": 2, "y": "a"}, {"x": None, "y": "a"}]
LISTS = [[], [1], [1, 2], [2, 1], [1, None], [0, 0]]
DEEP = pa.list_(pa.struct([("a", pa.list_(pa.string()))]))
DEEPS = [[], [{"a": []}], [{"a": ["x", "yz"]}], [{"a": ["xy", "z"]}], [{"a": [None]}], [None]]

# What each side's key is, and the values that come (on each side); None always comes too.
KEYS = {
    "int8": (pa.int8(), pa.int8(), [0, 1, -1, 127, -128]),
    "int16": (pa.int16(), pa.int16(), [0, 1, -(2**15)]),
    "int32": (pa.int32(), pa.int32(), [0, 1, -(2**31)]),
    "int64": (pa.int64(), pa.int64(), [0, 1, 2**63 - 1, -(2**63)]),
    "uint8": (pa.uint8(), pa.uint8(), [0, 1, 255]),
    "uint16": (pa.uint16(), pa.uint16(), [0, 1, 2**16 - 1]),
    "uint32": (pa.uint32(), pa.uint32(), [0, 1, 2**32 - 1]),
    "uint64": (pa.uint64(), pa.uint64(), [0, 1, 2**63, 2**64 - 1]),
    "int32 and int64": (pa.int32(), pa.int64(), [0, 1, -1, 2**31 - 1]),
    "int64 and uint64": (pa.int64(), pa.uint64(), [0, 1, 2**63 - 1]),
    "uint8 and int8": (pa.uint8(), pa.int8(), [0, 1, 127]),
    "bool": (pa.bool_(), pa.bool_(), [True, False]),
    "bool and int8": (pa.bool_(), pa.int8(), [True, False], [0, 1, 2]),
    "float64": (pa.float64(), pa.float64(), [0.0, -0.0, 0.1, math.inf, -math.inf, math.nan]),
    "float32": (pa.float32(), pa.float32(), [0.0, -0.0, 0.1, math.nan]),
    "float32 and float64": (pa.float32(), pa.float64(), [0.0, -0.0, 0.5, 0.1]),
    "int32 and float64": (pa.int32(), pa.float64(), [0, 1, -1]),
    "string": (pa.string(), pa.string(), ["", "a", "ä", "a" * 8, "a" * 9, "ab"]),
    "string and large": (pa.string(), pa.large_string(), ["", "a", "\0", "\0\0"]),
    "binary": (pa.binary(), pa.binary(), [b"", b"\0", b"\0\0", b"a" * 16, b"a" * 15 + b"b"]),
    "binary and large": (pa.binary(), pa.large_binary(), [b"", b"a", b"b"]),
    "fixed binary": (pa.binary(3), pa.binary(3), [b"abc", b"ab\0", b"\0\0\0"]),
    "fixed binary and binary": (pa.binary(2), pa.binary(), [b"ab", b"a\0"]),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()),) * 2 + (["a", "b", "c"],),
    "dictionary and string": (pa.dictionary(pa.int32(), pa.string()), pa.string(), ["a", "b"]),
    "decimal": (pa.decimal128(9, 2), pa.decimal128(9, 2), [Decimal(1), Decimal("1.01")]),
    "decimals": (pa.decimal128(9, 2), pa.decimal128(20, 4), [Decimal(1), Decimal("-1.01")]),
    "decimal and int": (pa.decimal128(9, 2), pa.int32(), [Decimal(1), Decimal(-7)]),
    "decimal and uint64": (pa.decimal128(30, 2), pa.uint64(), [Decimal(2**63), Decimal(7)]),
    "date32": (pa.date32(), pa.date32(), [DAY, dt.date(1969, 12, 31)]),
    "date32 and date64": (pa.date32(), pa.date64(), [DAY, dt.date(1969, 12, 31)]),
    "timestamp s": (pa.timestamp("s"), pa.timestamp("s"), [NOON, dt.datetime(1960, 1, 1)]),
    "timestamp ns and us": (pa.timestamp("ns"), pa.timestamp("us"), [NOON, NOON.min.replace(1700)]),
    "timestamp ms and s": (pa.timestamp("ms"), pa.timestamp("s"), [NOON, dt.datetime(9999, 1, 1)]),
    "zones": (pa.timestamp("us", tz=BERLIN), pa.timestamp("ms", tz="UTC"), [NOON]),
    "date and timestamp": (pa.date32(), pa.timestamp("us"), [DAY], [MIDNIGHT, NOON]),
    "time": (pa.time64("us"), pa.time64("us"), MINUTES),
    "times": (pa.time32("s"), pa.time64("us"), MINUTES),
    "duration": (pa.duration("us"), pa.duration("us"), [dt.timedelta(1), dt.timedelta(-1)]),
    "durations": (pa.duration("s"), pa.duration("ms"), [dt.timedelta(1), dt.timedelta(0)]),
    "struct": (POINT, POINT, POINTS),
    "structs": (POINT, pa.struct([("x", pa.int64()), ("y", pa.large_string())]), POINTS),
    "list": (pa.list_(pa.int32()), pa.list_(pa.int32()), LISTS),
    "lists": (pa.list_(pa.int8()), pa.large_list(pa.int64()), LISTS),
    "fixed list": (pa.list_(pa.int32(), 2), pa.list_(pa.int32(), 2), LISTS[2:]),
    "list of floats": (pa.list_(pa.float64()),) * 2 + ([[0.0], [-0.0], [math.nan], []],),
    "nested": (DEEP, DEEP, DEEPS),
}


def sound(value):
    """Whether a key has no null and no NaN in it, at any depth."""
    if isinstance(value, dict):
        return all(map(sound, value.values()))
    if isinstance(value, list):
        return all(map(sound, value))
    return value is not None and value == value


def stream(dice, key, values, times, **more):
    keys = [dice.choice([*values, *values, None]) for _ in times]
    columns = {"t": times, "k": pa.array(keys, key), **more}
    return pa.table({**columns, "id": range(len(times)), "sound": [sound(k) for k in keys]})


def awkward(dice, table):
    """The same rows in many chunks, each of them a slice of something longer."""
    edges = sorted(dice.choices(range(table.num_rows + 1), k=3))
    parts = []
    for begin, end in itertools.pairwise([0, *edges, table.num_rows]):
        whole = pa.concat_tables([table.slice(0, 3), table.slice(begin, end - begin)])
        parts.append(whole.combine_chunks().slice(min(3, table.num_rows)))
    return pa.concat_tables(parts)


def batches(dice, tables):
    """The rows in the order of time, cut anywhere; those of a batch come in any order."""
    sequence = sorted(
        (time is not None, time or 0, side, row)
        for side, table in enumerate(tables)
        for row, time in enumerate(ticks(table))
    )
    cuts = sorted(dice.choices(range(len(sequence) + 1), k=dice.randrange(5)))
    for begin, end in itertools.pairwise([0, *cuts, len(sequence)]):
        part = sequence[begin:end]
        dice.shuffle(part)
        rows = [pa.array([row for *_, s, row in part if s == side], pa.int64()) for side in (0, 1)]
        yield [awkward(dice, tables[side].take(rows[side])) for side in (0, 1)]


def ticks(table):
    kind = table.schema.field("t").type
    times = table["t"]
    if pa.types.is_date32(kind):
        return times.cast(pa.int32()).to_pylist()
    return times.cast(pa.int64()).to_pylist()


def joined(dice, left, right, windows, on=(("k", "k"),)):
    """What the engine makes, and whether each column holds the values of its row."""
    query = JoinQuery(on=on, time=("t", "t"), windows=windows)
    plan = Plan(query, [left.schema, right.schema], by_name("random"))
    state, found = start(plan), []
    for batch in batches(dice, (left, right)):
        out = step(state, batch)
        state = out.state
        found.append(out.matches)
    out = step(state, [None, None], last=True)
    state = out.state
    found.append(out.matches)
    rows = pa.concat_tables(found).combine_chunks()
    rows.validate(full=True)
    assert rows.num_rows == state.matched
    for side, name in ((left, "left"), (right, "right")):
        given = side.take(rows[f"id_{name}"])
        for column in side.column_names:
            theirs = column if column in rows.column_names else f"{column}_{name}"
            if column != "k" or name == "left":
                assert repr(rows[theirs].to_pylist()) == repr(given[column].to_pylist())
    return sorted(zip(rows["id_left"].to_pylist(), rows["id_right"].to_pylist(), strict=True))


def wanted(left, right, condition, on="l.k = r.k"):
    with duckdb.connect() as db:
        db.register("l_rows", left)
        db.register("r_rows", right)
        rows = db.sql(
            f"select l.id, r.id from l_rows l join r_rows r on {on} and l.sound and r.sound "
            f"where {condition} order by all"
        )
        return rows.fetchall()


def within(left, right, time="{}.t"):
    """The condition of time windows, on whole numbers; None is unbounded."""
    one, other = time.format("l"), time.format("r")
    older_left = f"{one} <= {other}" + ("" if left is None else f" and {other} - {one} <= {left}")
    older_right = f"{other} < {one}" + ("" if right is None else f" and {one} - {other} <= {right}")
    return f"({older_left}) or ({older_right})"


def lengths(dice):
    return dice.choice([(3, 3), (0, 0), (0, 5), (6, 1), (None, None), (2, None)])


@pytest.mark.parametrize("name", KEYS)
def test_any_key(name):
    dice = random.Random(name)
    one, other, *values = KEYS[name]
    for _ in range(3):
        left = stream(dice, one, values[0], dice.choices([*range(20), None], k=ROWS))
        right = stream(dice, other, values[-1], dice.choices([*range(20), None], k=ROWS))
        windows = lengths(dice)
        expected = wanted(left, right, within(*windows))
        assert expected
        assert joined(dice, left, right, tuple(map(Window.of, windows))) == expected


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        # What SQL cannot hold: decimals of 60 digits, halves, identifiers.
        (pa.decimal256(60, 1), pa.decimal256(60, 1), [Decimal(10**50), Decimal("0.5")]),
        (pa.decimal128(38, 20), pa.int64(), [Decimal(7), Decimal(-1)]),
        (pa.decimal128(38, 0), pa.decimal128(38, 10), [Decimal(7), Decimal(10**20)]),
        (pa.float16(), pa.float32(), [0.5, -0.0]),
        (pa.uuid(), pa.uuid(), [b"0123456789abcdef", b"0123456789abcdeg"]),
    ],
    ids=str,
)
def test_keys_that_duckdb_does_not_know(one, other, equal):
    left = pa.table({"t": [1, 1, 1], "k": pa.array([*equal, None], one), "id": [0, 1, 2]})
    right = pa.table({"t": [1, 1, 1], "k": pa.array([*equal, None], other), "id": [0, 1, 2]})
    dice = random.Random(0)
    assert joined(dice, left, right, (Window.of(0), Window.of(0))) == [(0, 0), (1, 1)]


@pytest.mark.parametrize(
    ("one", "other", "beyond"),
    [
        (pa.timestamp("ns"), pa.timestamp("us"), dt.datetime(9999, 12, 31)),
        (pa.timestamp("ns"), pa.date32(), dt.date(9999, 12, 31)),
        (pa.duration("ns"), pa.duration("s"), dt.timedelta(days=365 * 9999)),
    ],
    ids=str,
)
def test_a_key_beyond_what_the_other_side_can_hold_matches_nothing(one, other, beyond):
    left = pa.table({"t": [1, 1], "k": pa.array([0, None], pa.int64()).cast(one), "id": [0, 1]})
    day = pa.array([0], pa.int32() if pa.types.is_date32(other) else pa.int64()).cast(other)
    keys = pa.concat_arrays([pa.array([beyond], other), day])
    right = pa.table({"t": [1, 1], "k": keys, "id": [0, 1]})
    dice = random.Random(0)
    assert joined(dice, left, right, (Window.of(0), Window.of(0))) == [(0, 1)]


def test_a_key_of_nothing_but_nulls_matches_nothing():
    left = pa.table({"t": [1, 2], "k": pa.nulls(2), "id": [0, 1]})
    right = pa.table({"t": [1, 2], "k": [1, None], "id": [0, 1]})
    assert joined(random.Random(0), left, right, (Window.of(None), Window.of(None))) == []


TIMES = {
    "int16": (pa.int16(), pa.int64(), "{}.t::bigint", 1),
    "uint64": (pa.uint64(), pa.int32(), "{}.t::bigint", 1),
    "us": (pa.timestamp("us"), pa.timestamp("us"), "epoch_us({}.t)", 1),
    "ms": (pa.timestamp("ms"), pa.timestamp("us"), "epoch_us({}.t)", 1000),
    "s": (pa.timestamp("s"), pa.timestamp("ms"), "epoch_us({}.t::timestamp)", 10**6),
    "ns": (pa.timestamp("ns"), pa.timestamp("ns"), "epoch_ns({}.t) // 1000", 1),
    "zones": (pa.timestamp("us", tz=BERLIN), pa.timestamp("ms", tz="UTC"), "epoch_us({}.t)", 1000),
    "date32": (pa.date32(), pa.date32(), "epoch_us({}.t::timestamp)", 86_400 * 10**6),
    "date64": (pa.date64(), pa.date32(), "epoch_us({}.t::timestamp)", 86_400 * 10**6),
    "date and timestamp": (pa.date32(), pa.timestamp("s"), "epoch_us({}.t::timestamp)", 10**6),
}


def moments(dice, kind):
    numbers = [dice.choice([*range(3, 20), None]) for _ in range(ROWS)]
    if pa.types.is_date64(kind):
        numbers = [None if n is None else 86_400_000 * n for n in numbers]
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        numbers = [None if n is None else 300 * n for n in numbers]
    if pa.types.is_date32(kind):
        return pa.array(numbers, pa.int32()).cast(kind)
    return pa.array(numbers, pa.int64()).cast(kind)


@pytest.mark.parametrize("name", TIMES)
def test_any_event_time(name):
    dice = random.Random(name)
    one, other, number, unit = TIMES[name]
    for _ in range(3):
        left = stream(dice, pa.string(), ["a", "b"], moments(dice, one))
        right = stream(dice, pa.string(), ["a", "b"], moments(dice, other))
        lengths_ = [None if w is None else w * unit for w in lengths(dice)]
        expected = wanted(left, right, within(*lengths_, time=number))
        as_number = pa.types.is_integer(one)
        windows = [
            Window.of(w if as_number or w is None else dt.timedelta(microseconds=w))
            for w in lengths_
        ]
        assert joined_in_one(left, right, tuple(windows)) == expected


def joined_in_one(left, right, windows):
    query = JoinQuery(on=(("k", "k"),), time=("t", "t"), windows=windows)
    plan = Plan(query, [left.schema, right.schema], by_name("random"))
    rows = step(start(plan), [left, right], last=True).matches
    return sorted(zip(rows["id_left"].to_pylist(), rows["id_right"].to_pylist(), strict=True))


def test_times_before_1970_are_rounded_down_like_those_after():
    # A nanosecond before 1970 lies in the microsecond before 1970, not in the one after.
    left = pa.table({"t": pa.array([-1], pa.timestamp("ns")), "k": [1], "id": [0]})
    right = pa.table({"t": pa.array([10**9], pa.timestamp("ns")), "k": [1], "id": [0]})
    assert joined_in_one(left, right, (Window.of("1 s"), Window.of("1 s"))) == []
    assert joined_in_one(left, right, (Window.of("1000001 us"), Window.of("0 s"))) == [(0, 0)]


@pytest.mark.parametrize("seed", range(6))
def test_count_windows(seed):
    # One row an instant: then "the last n rows" means the same to everybody.
    dice = random.Random(seed)
    times = dice.sample(range(-50, 100), k=2 * ROWS)
    left = stream(dice, pa.int8(), [1, 2], times[:ROWS])
    right = stream(dice, pa.int8(), [1, 2], times[ROWS:])
    last = dice.choice([(1, 1), (5, 5), (2, 7), (3, 1000)])
    when = "greatest(l.t, r.t)"
    since = [
        f"(select count(*) from {side}_rows x where x.t > {side}.t and x.t <= {when}) < {n}"
        for side, n in zip("lr", last, strict=True)
    ]
    expected = wanted(left, right, " and ".join(since))
    assert joined(dice, left, right, tuple(Window("rows", n) for n in last)) == expected


def test_many_columns_with_other_names_and_types():
    dice = random.Random(7)
    left = stream(dice, pa.int32(), [1, 2], range(ROWS), shop=dice.choices("ab", k=ROWS))
    right = stream(dice, pa.int64(), [1, 2], range(ROWS), store=dice.choices("ab", k=ROWS))
    right = right.rename_columns(["t", "item", "store", "id", "sound"])
    on = (("k", "item"), ("shop", "store"))
    condition = "l.k = r.item and l.shop = r.store"
    expected = wanted(left, right, within(9, 4), on=condition)
    assert expected
    assert joined(dice, left, right, (Window.of(9), Window.of(4)), on=on) == expected


PAYLOADS = {
    "map": pa.array([[("a", 1)], None, [], [("b", None)]], pa.map_(pa.string(), pa.int8())),
    "nested": pa.array([DEEPS[2], None, DEEPS[0], DEEPS[4]], DEEP),
    "dictionary": pa.array(["x", None, "y", "x"]).dictionary_encode(),
    "extension": pa.array([b"0" * 16, None, b"1" * 16, b"2" * 16], pa.uuid()),
    "null": pa.nulls(4),
    "bool": pa.array([True, None, False, True]),
    "fixed list": pa.array([[1, 2], None, [3, None], [4, 5]], pa.list_(pa.int8(), 2)),
    "list view": pa.array([[1], None, [], [2, 3]], pa.list_view(pa.int8())),
    "interval": pa.array([(1, 2, 3), None, (0, 0, 0), (4, 5, 6)], pa.month_day_nano_interval()),
    "empty struct": pa.array([{}, None, {}, {}], pa.struct([])),
    "large": pa.array(["a" * 1000, None, "", "b"], pa.large_string()),
}


@pytest.mark.parametrize("memory", [None, "1MB"])
@pytest.mark.parametrize("name", PAYLOADS)
def test_any_payload_stays_with_its_row(name, memory):
    dice = random.Random(name)
    payload = pa.concat_arrays([PAYLOADS[name]] * (ROWS // 4))
    left = stream(dice, pa.int8(), [1, 2], range(ROWS), p=payload)
    right = stream(dice, pa.int8(), [1, 2], range(ROWS))
    expected = wanted(left.drop(["p"]), right, within(9, 4))
    assert joined(dice, left, right, (Window.of(9), Window.of(4))) == expected
    query = JoinQuery(
        on=(("k", "k"),),
        time=("t", "t"),
        windows=(Window.of(9), Window.of(4)),
        memory=Budget.of(memory),
    )
    plan = Plan(query, [left.schema, right.schema], by_name("random"))
    assert step(start(plan), [awkward(dice, left), right], last=True).health.matched == len(
        expected
    )


def test_a_column_of_both_sides_gets_a_suffix():
    left = pa.table({"t": [1], "k": [1], "a": ["l"], "b": [2]})
    right = pa.table({"t": [1], "k": [1], "a": ["r"], "c": [3]})
    query = JoinQuery(
        on=(("k", "k"),),
        time=("t", "t"),
        windows=(Window.of(1), Window.of(1)),
        suffixes=("", "_of_right"),
    )
    plan = Plan(query, [left.schema, right.schema], by_name("random"))
    assert step(start(plan), [left, right]).matches.to_pylist() == [
        {"t": 1, "k": 1, "a": "l", "b": 2, "t_of_right": 1, "a_of_right": "r", "c": 3}
    ]
