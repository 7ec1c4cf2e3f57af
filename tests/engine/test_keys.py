"""Keys: equal values have equal hashes, and for single numbers different values different ones."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.keys import Keys
from penstock.engine.plan import Plan, Side
from penstock.engine.state import start
from penstock.engine.step import step
from penstock.policies import by_name
from penstock.query import JoinQuery, Window
from reference import splitmix

MASK = 2**64 - 1


def keys_of(one, other):
    schemas = [pa.schema([("k", kind)]) for kind in (one, other)]
    return Keys.of([("k", "k")], *schemas)


def hashes(keys, array):
    found, valid = keys.hashes(keys.read([array]))
    return found.tolist(), valid.tolist()


def unmixed(number):
    """The value that splitmix64 makes this number of: each of its steps undone."""

    def unshifted(x, by):
        found = x
        for _ in range(64 // by):
            found = x ^ (found >> by)
        return found

    x = unshifted(number & MASK, 31)
    x = unshifted(x * pow(0x94D049BB133111EB, -1, 2**64) & MASK, 27)
    x = unshifted(x * pow(0xBF58476D1CE4E5B9, -1, 2**64) & MASK, 30)
    return (x - 0x9E3779B97F4A7C15) & MASK


@pytest.mark.plain
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.int64(), [0, 1, -1, 2**63 - 1, -(2**63)]),
        (pa.uint64(), [0, 1, 2**64 - 1]),
        (pa.int8(), [0, 1, -128]),
        (pa.bool_(), [False, True]),
        (pa.date32(), [dt.date(1969, 12, 31), dt.date(2024, 2, 29)]),
        (pa.timestamp("us"), [dt.datetime(1969, 12, 31), dt.datetime(2024, 2, 29)]),
    ],
    ids=str,
)
def test_the_hash_of_a_number_can_be_undone(kind, values):
    array = pa.array(values, kind)
    keys = keys_of(kind, kind)
    assert keys.hash_decides
    found, valid = hashes(keys, array)
    wide = array.cast(pa.int32()) if pa.types.is_date32(kind) else array
    as_numbers = wide.cast(pa.uint64() if kind == pa.uint64() else pa.int64()).to_pylist()
    assert [unmixed(hashed) for hashed in found] == [number & MASK for number in as_numbers]
    assert all(valid)


@given(st.lists(st.floats(), min_size=2))
def test_floats_have_one_hash_exactly_when_they_are_equal(values):
    keys = keys_of(pa.float64(), pa.float64())
    found, valid = hashes(keys, pa.array(values, pa.float64()))
    for one, first, ok in zip(values, found, valid, strict=True):
        assert ok == (one == one)
        for other, second in zip(values, found, strict=True):
            if one == one and other == other:
                assert (one == other) == (first == second)


nested = st.lists(
    st.fixed_dictionaries(
        {"a": st.one_of(st.none(), st.text("ab", max_size=3)), "b": st.lists(st.integers(0, 1))}
    ),
    max_size=3,
)
NESTED = pa.list_(pa.struct([("a", pa.string()), ("b", pa.list_(pa.int8()))]))
VALUES = st.one_of(st.none(), nested)


def whole(value):
    if isinstance(value, dict):
        return all(map(whole, value.values()))
    return value is not None and (not isinstance(value, list) or all(map(whole, value)))


@given(pairs=st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=8), begin=st.integers(0, 3))
def test_nested_keys_are_compared_as_values_are(pairs, begin):
    keys = keys_of(NESTED, NESTED)
    assert not keys.hash_decides
    left, right = (
        pa.array([None] * begin + [pair[side] for pair in pairs], NESTED).slice(begin)
        for side in (0, 1)
    )
    one, other = keys.read([left]), keys.read([right])
    (first, valid), (second, _) = keys.hashes(one), keys.hashes(other)
    assert valid.tolist() == [whole(a) for a, _ in pairs]
    wanted = [whole(a) and whole(b) and a == b for a, b in pairs]
    same = (first == second) & valid
    assert [bool(s) and whole(b) for s, (_, b) in zip(same, pairs, strict=True)] == wanted
    compared = keys.equal(one, other)
    for equal, want, (a, b) in zip(compared, wanted, pairs, strict=True):
        if whole(a) and whole(b):
            assert bool(equal) == want


def test_texts_of_one_hash_would_still_be_told_apart():
    keys = keys_of(pa.string(), pa.string())
    one, other = keys.read([pa.array(["a", "b"])]), keys.read([pa.array(["a", "c"])])
    assert keys.equal(one, other).tolist() == [True, False]


@pytest.mark.parametrize(
    ("one", "other", "values"),
    [
        (pa.int32(), pa.int64(), [7, -7]),
        (pa.int64(), pa.uint64(), [7, 0]),
        (pa.int8(), pa.float64(), [7, -7]),
        (pa.int16(), pa.decimal128(9, 2), [7, -7]),
        (pa.decimal128(9, 2), pa.decimal256(50, 5), [Decimal("7.25"), Decimal(-7)]),
        (pa.date32(), pa.timestamp("ns"), [dt.date(2024, 2, 29)]),
        (pa.string(), pa.large_string(), ["", "a" * 20]),
        (pa.binary(2), pa.binary(), [b"ab", b"\0\0"]),
    ],
    ids=str,
)
def test_equal_values_of_different_types_have_one_hash(one, other, values):
    keys = keys_of(one, other)
    right = pa.array(values, one).cast(other)
    assert hashes(keys, pa.array(values, one)) == hashes(keys, right)


def test_the_place_in_a_pair_of_keys_matters():
    schema = pa.schema([("a", pa.int64()), ("b", pa.int64())])
    keys = Keys.of([("a", "a"), ("b", "b")], schema, schema)
    grid = np.array([(a, b) for a in range(100) for b in range(100)])
    found, _ = keys.hashes(keys.read([pa.array(grid[:, 0]), pa.array(grid[:, 1])]))
    assert len(set(found.tolist())) == len(grid)


def colliding():
    """Two texts of bytes with one hash: the second half undoes what the first half did."""
    one, other = (int.from_bytes(half, "little") for half in (b"left hal", b"another!"))
    ends = [splitmix(16 ^ one), splitmix(16 ^ other)]
    second = int.from_bytes(b"the end.", "little")
    return [
        first.to_bytes(8, "little") + (second ^ end).to_bytes(8, "little")
        for first, end in zip((one, other), ends, strict=True)
    ]


@pytest.mark.parametrize("output", ["matches", "counts"])
def test_different_keys_of_one_hash_do_not_match(output):
    keys = colliding()
    found, _ = hashes(keys_of(pa.binary(), pa.binary()), pa.array(keys))
    assert found[0] == found[1]
    left, right = (pa.table({"t": [1, 2], "k": side}) for side in (keys, [keys[1], b"third"]))
    query = JoinQuery(on=(("k", "k"),), time=("t", "t"), windows=(Window.of(5), Window.of(5)))
    plan = Plan(query, [left.schema, right.schema], by_name("random"), side=Side(output=output))
    out = step(start(plan), [left, right])
    assert out.health.matched == 1
    if output == "matches":
        assert out.matches["t_left"].to_pylist() == [2]
