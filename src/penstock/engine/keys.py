"""Join keys of any Arrow type: one 64-bit hash a row, and equality on the real values.

Both sides are first cast to a common type, as SQL would.  A null or a NaN anywhere
in a key, at any depth, makes it match nothing.  For a single number, date or time the hash
is a bijection of the value, so equal hashes are equal keys; every other key is
compared by value when its hash has matched.  A value that the common type cannot
hold is equal to none on the other side, and counts as a null.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.arrivals.chance import splitmix
from penstock.compiled import compiled
from penstock.errors import InvalidQuery

_INTEGERS = (pa.types.is_integer, pa.types.is_boolean)
_MOST_DIGITS = 76  # of a decimal
_ODD = np.uint64(0x9E3779B97F4A7C15)  # so that multiplying by it can be undone
_START = np.uint64(0x243F6A8885A308D3)  # any odd-looking constant: the hash of a key of no columns


@compiled
def _mix(hashes: Any, more: Any) -> None:
    for i in range(len(hashes)):
        # Turned first, or (a, b) would have the hash of (b, a), and (a, a) that of (b, b).
        hashes[i] = splitmix(hashes[i] * _ODD ^ more[i])


@compiled
def _spread(hashes: Any) -> None:
    for i in range(len(hashes)):
        hashes[i] = splitmix(hashes[i])


@compiled
def _hash_bytes(offsets: Any, data: Any, hashes: Any) -> None:
    for i in range(len(hashes)):
        h = np.uint64(offsets[i + 1] - offsets[i])
        word, shift = np.uint64(0), np.uint64(0)
        for j in range(offsets[i], offsets[i + 1]):
            word |= np.uint64(data[j]) << shift
            shift += np.uint64(8)
            if shift == np.uint64(64):
                h = splitmix(h ^ word)
                word, shift = np.uint64(0), np.uint64(0)
        hashes[i] = splitmix(h ^ word)


@compiled
def _fold_lists(offsets: Any, items: Any, hashes: Any) -> None:
    for i in range(len(hashes)):
        h = np.uint64(offsets[i + 1] - offsets[i])
        for j in range(offsets[i], offsets[i + 1]):
            h = splitmix(h ^ items[j])
        hashes[i] = splitmix(h)


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_binary(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or pa.types.is_binary_view(kind)
    )


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def _integer_digits(kind: pa.DataType) -> int:
    """Return how many decimal digits the largest whole part of a number type has."""
    if pa.types.is_decimal(kind):
        return int(kind.precision - kind.scale)
    return 1 if pa.types.is_boolean(kind) else len(str(2**kind.bit_width))


def _common_number(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    kinds = (left, right)
    if all(any(is_kind(kind) for is_kind in _INTEGERS) for kind in kinds):
        # Only an unsigned 64-bit integer can hold what a signed one cannot.
        return (
            pa.decimal128(20, 0)
            if pa.uint64() in kinds and left != right
            else (pa.uint64() if left == pa.uint64() else pa.int64())
        )
    numeric = [
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        for kind in kinds
    ]
    if not all(numeric):
        return None
    if any(pa.types.is_floating(kind) for kind in kinds):
        return pa.float64()
    scale = max(kind.scale for kind in kinds if pa.types.is_decimal(kind))
    digits = scale + max(_integer_digits(kind) for kind in kinds)
    if digits > _MOST_DIGITS:
        return None
    return pa.decimal128(38, scale) if digits <= 38 else pa.decimal256(_MOST_DIGITS, scale)


def _finer(left: pa.DataType, right: pa.DataType) -> str:
    units = {kind.unit for kind in (left, right) if not pa.types.is_date(kind)}
    return next(unit for unit in ("ns", "us", "ms", "s") if unit in units)


def _common_moment(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    kinds = (left, right)
    if all(pa.types.is_date(kind) for kind in kinds):
        return pa.date32()
    if all(pa.types.is_date(kind) or pa.types.is_timestamp(kind) for kind in kinds):
        zones = {kind.tz for kind in kinds if pa.types.is_timestamp(kind)}
        aware = {zone is not None for zone in zones}
        if len(aware) > 1 or (True in aware and any(pa.types.is_date(kind) for kind in kinds)):
            return None
        return pa.timestamp(_finer(left, right), tz="UTC" if True in aware else None)
    if all(pa.types.is_time(kind) for kind in kinds):
        return pa.time64("ns")
    if all(pa.types.is_duration(kind) for kind in kinds):
        return pa.duration(_finer(left, right))
    return None


def _common_nested(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    if _is_list(left) and _is_list(right):
        item = common_type(left.value_type, right.value_type)
        return None if item is None else pa.large_list(item)
    if pa.types.is_struct(left) and pa.types.is_struct(right):
        if left.num_fields != right.num_fields:
            return None
        fields = []
        for i in range(left.num_fields):
            kind = common_type(left.field(i).type, right.field(i).type)
            if kind is None:
                return None
            fields.append(pa.field(f"{i}", kind))
        return pa.struct(fields)
    return None


def common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """Return the type in which values of both can be compared, or None.

    >>> common_type(pa.int32(), pa.int64()), common_type(pa.int8(), pa.float32())
    (DataType(int64), DataType(double))
    >>> common_type(pa.int64(), pa.string()) is None
    True
    """
    left = left.value_type if pa.types.is_dictionary(left) else left
    right = right.value_type if pa.types.is_dictionary(right) else right
    if isinstance(left, pa.BaseExtensionType) and left == right:
        left = right = left.storage_type
    if pa.types.is_null(left) or pa.types.is_null(right):
        return pa.null()
    if _is_text(left) and _is_text(right):
        return pa.large_string()
    if _is_binary(left) and _is_binary(right):
        return pa.large_binary()
    return _common_number(left, right) or _common_moment(left, right) or _common_nested(left, right)


def _fitted(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Cast, with a null where the common type cannot hold a value: none on the other side is it."""
    try:
        return array.cast(kind)
    except pa.ArrowInvalid:
        cast = array.cast(kind, safe=False)
        same = pc.equal(cast.cast(array.type, safe=False), array)
        return pc.if_else(same, cast, pa.scalar(None, kind))


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_null(kind):
        return pa.nulls(len(array))
    if pa.types.is_struct(kind):
        children = [_cast(child, kind.field(i).type) for i, child in enumerate(array.flatten())]
        names = [f"{i}" for i in range(len(children))]
        return pa.StructArray.from_arrays(children, names, mask=array.is_null())
    if _is_list(kind):
        as_list = array.cast(pa.large_list(array.type.value_type))
        items = _cast(as_list.values, kind.value_type)
        return (
            pa.LargeListArray.from_arrays(as_list.offsets, items, mask=as_list.is_null())
            if (as_list.null_count and as_list.offset == 0)
            else _rebuilt_list(as_list, kind)
        )
    if pa.types.is_boolean(array.type) and kind == pa.decimal128(20, 0):
        array = array.cast(pa.int64())
    if pa.types.is_date(array.type) and pa.types.is_timestamp(kind):
        array = array.cast(pa.date32())
    return _fitted(array, kind)


def _rebuilt_list(array: pa.Array, kind: pa.DataType) -> pa.Array:
    lengths = pc.fill_null(pc.list_value_length(array), 0)
    offsets = np.concatenate([[0], np.cumsum(lengths.to_numpy(zero_copy_only=False))])
    items = _cast(pc.list_flatten(array), kind.value_type)
    mask = array.is_null() if array.null_count else None
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), items, mask=mask)


def _bits(array: pa.Array) -> NDArray[np.uint64] | None:
    """Return fixed-width values of up to 64 bits as integers, or None for other types."""
    kind = array.type
    if pa.types.is_floating(kind):
        values = array.fill_null(0).to_numpy(zero_copy_only=False) + 0.0  # -0.0 + 0.0 is 0.0
        return np.ascontiguousarray(values, np.float64).view(np.uint64)
    if pa.types.is_date32(kind):
        array = array.cast(pa.int32())
    if pa.types.is_date(kind) or pa.types.is_temporal(kind) or pa.types.is_signed_integer(kind):
        values = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        return np.ascontiguousarray(values).view(np.uint64).copy()
    if kind == pa.uint64():
        return np.array(array.fill_null(0).to_numpy(zero_copy_only=False), np.uint64)
    return None


def _valid(array: pa.Array) -> NDArray[np.bool_]:
    """Return where a value has no null and no NaN in it."""
    valid = np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
    if pa.types.is_floating(array.type):
        return np.asarray(valid & ~np.isnan(array.fill_null(0).to_numpy(zero_copy_only=False)))
    if pa.types.is_struct(array.type):
        for child in array.flatten():
            valid &= _valid(child)
    if _is_list(array.type):
        bad = np.concatenate([[0], np.cumsum(~_valid(pc.list_flatten(array)))])
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
        ends = np.cumsum(lengths)
        valid &= bad[ends] == bad[ends - lengths]
    return valid


def _hash(array: pa.Array) -> NDArray[np.uint64]:
    bits = _bits(array)
    if bits is not None:
        _spread(bits)
        return bits
    hashes = np.empty(len(array), np.uint64)
    if pa.types.is_null(array.type):
        hashes[:] = 0
    elif pa.types.is_decimal(array.type):
        filled = array.fill_null(0)
        words = np.frombuffer(filled.buffers()[1], np.uint64)
        words = words.reshape(-1, array.type.byte_width // 8)
        words = words[filled.offset : filled.offset + len(filled)]
        hashes[:] = words[:, 0]
        _spread(hashes)
        for column in range(1, words.shape[1]):
            _mix(hashes, words[:, column])
    elif pa.types.is_struct(array.type):
        hashes[:] = _START
        for child in array.flatten():
            _mix(hashes, _hash(child))
    elif _is_list(array.type):
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        _fold_lists(offsets, _hash(pc.list_flatten(array)), hashes)
    else:
        offsets = np.frombuffer(array.buffers()[1], np.int64)
        data = np.frombuffer(array.buffers()[2] or b"", np.uint8)
        _hash_bytes(offsets[array.offset : array.offset + len(array) + 1], data, hashes)
    return hashes


def _equal(left: pa.Array, right: pa.Array) -> NDArray[np.bool_]:
    if pa.types.is_struct(left.type):
        same = np.ones(len(left), bool)
        for one, other in zip(left.flatten(), right.flatten(), strict=True):
            same &= _equal(one, other)
        return same
    if _is_list(left.type):
        one = pc.fill_null(pc.list_value_length(left), -1).to_numpy(zero_copy_only=False)
        other = pc.fill_null(pc.list_value_length(right), -1).to_numpy(zero_copy_only=False)
        same = np.asarray((one == other) & (one >= 0))
        alike = pa.array(same)
        items = _equal(pc.list_flatten(left.filter(alike)), pc.list_flatten(right.filter(alike)))
        wrong = np.concatenate([[0], np.cumsum(~items)])
        ends = np.cumsum(one[same])
        same[same] = wrong[ends] == wrong[ends - one[same]]
        return same
    return np.asarray(pc.fill_null(pc.equal(left, right), False).to_numpy(zero_copy_only=False))


@dataclass(frozen=True)
class Keys:
    """How the join keys of both sides are read, hashed and compared."""

    kinds: tuple[pa.DataType, ...]

    @classmethod
    def of(cls, on: Sequence[tuple[str, str]], left: pa.Schema, right: pa.Schema) -> "Keys":
        """Find the common type of each pair of key columns."""
        kinds = []
        for one, other in on:
            left_type, right_type = left.field(one).type, right.field(other).type
            kind = common_type(left_type, right_type)
            if kind is None:
                raise InvalidQuery(
                    f"on=({one!r}, {other!r}): {left_type} and {right_type} cannot be compared; "
                    "cast one side, or join on other columns."
                )
            kinds.append(kind)
        return cls(tuple(kinds))

    @property
    def hash_decides(self) -> bool:
        """Whether equal hashes are equal keys."""
        kind = self.kinds[0]
        return len(self.kinds) == 1 and not (
            _is_text(kind)
            or _is_binary(kind)
            or pa.types.is_decimal(kind)
            or pa.types.is_nested(kind)
        )

    def read(self, columns: Sequence[pa.Array | pa.ChunkedArray]) -> list[pa.Array]:
        """Return the key columns in their common types."""
        arrays = [c.combine_chunks() if isinstance(c, pa.ChunkedArray) else c for c in columns]
        return [_cast(array, kind) for array, kind in zip(arrays, self.kinds, strict=True)]

    def hashes(self, columns: Sequence[pa.Array]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return each row's hash, and whether its key can match at all."""
        with np.errstate(over="ignore"):
            hashes, valid = _hash(columns[0]), _valid(columns[0])
            for column in columns[1:]:
                _mix(hashes, _hash(column))
                valid &= _valid(column)
        return hashes.view(np.int64), valid

    def equal(self, left: Sequence[pa.Array], right: Sequence[pa.Array]) -> NDArray[np.bool_]:
        """Compare keys row by row."""
        same = np.ones(len(left[0]), bool)
        for one, other in zip(left, right, strict=True):
            same &= _equal(one, other)
        return same
