"""Parts of the key space: which shard a key belongs to, and what Spark calls the shard.

Spark sends a group to the partition `pmod(hash(label), partitions)`, so shards called 0, 1, 2
fall onto few partitions.  The hash of an integer can be undone, so shard `i` gets the label
whose hash is `i`: shard `i` is in partition `i % partitions`, however many there are.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.arrivals.chance import splitmix
from penstock.compiled import compiled
from penstock.errors import InvalidQuery
from penstock.query import JoinQuery

DEFAULT = 8  # the same everywhere, since a state cannot change its shards
_MOST = 4096
# What a budget should have for each shard.  Fewer rows than that are held well by one shard only:
# in each of many, chance alone would now leave places empty and now shed what another had room for.
_LEAST_ROWS, _LEAST_BYTES = 128, 1 << 20
_WORD = 0xFFFFFFFF
_SEED = 42  # of Spark's `hash`
_FIRST, _SECOND = 0xCC9E2D51, 0x1B873593  # constants of Murmur3, 32 bits
_FIFTH = 0xE6546B64
_LAST = (0x85EBCA6B, 0xC2B2AE35)
_BYTES = 4  # of an integer
_LANE = np.uint64(0x5EED0F5AAD5)  # a shard must not share bits with the place in an index


def checked(shards: int | None, query: JoinQuery) -> int:
    """Return the number of shards, or the usual one: fewer where a budget is small.

    >>> from penstock.query import Window
    >>> window = Window.of("1 hour")
    >>> checked(None, JoinQuery((("k", "k"),), ("t", "t"), (window, window)))
    8
    """
    if shards is None:
        return _usual(query)
    if isinstance(shards, bool) or not isinstance(shards, int) or not 1 <= shards <= _MOST:
        raise InvalidQuery(f"shards={shards!r}: give a whole number from 1 to {_MOST}.")
    if query.counted and shards > 1:
        raise InvalidQuery(
            f"shards={shards}: the last rows of a stream are those of all its keys, so a join with "
            "rows= cannot be cut into shards; leave shards out."
        )
    return _enough(query, shards) if _in_rows(query) else shards


def _in_rows(query: JoinQuery) -> bool:
    return query.memory is not None and query.memory.unit == "rows"


def _usual(query: JoinQuery) -> int:
    return 1 if query.counted else _enough(query, DEFAULT)


def _enough(query: JoinQuery, shards: int) -> int:
    """Return so many shards, or fewer where each would have too little of the budget."""
    least = {"rows": _LEAST_ROWS, "bytes": _LEAST_BYTES}
    while (
        shards > 1
        and query.memory is not None
        and query.memory.unit in least
        and query.memory.amount < shards * least[query.memory.unit]
    ):
        shards //= 2
    return shards


def label_of(shard: int) -> int:
    """Return the 32-bit integer whose hash in Spark is `shard`.

    >>> [label_of(shard) for shard in range(3)]
    [-1693959553, -1910889132, -1382833682]
    """
    h = shard
    h ^= h >> 16
    h = h * pow(_LAST[1], -1, 1 << 32) & _WORD
    h = _unshifted(h, 13)
    h = h * pow(_LAST[0], -1, 1 << 32) & _WORD
    h ^= h >> 16
    h ^= _BYTES
    h = (h - _FIFTH) * pow(5, -1, 1 << 32) & _WORD
    k = _turned(h, 32 - 13) ^ _SEED
    k = k * pow(_SECOND, -1, 1 << 32) & _WORD
    k = _turned(k, 32 - 15) * pow(_FIRST, -1, 1 << 32) & _WORD
    return k - (1 << 32) if k >> 31 else k


def _turned(word: int, by: int) -> int:
    return (word << by | word >> (32 - by)) & _WORD


def _unshifted(word: int, by: int) -> int:
    """Undo `word ^= word >> by`."""
    found = word
    for _ in range(32 // by):
        found = word ^ found >> by
    return found


@compiled
def _place(hashes: Any, shards: int, lane: Any, into: Any) -> None:
    for i in range(len(hashes)):
        # The upper half times the number of shards: the quotient needs no division.
        high = splitmix(np.uint64(hashes[i]) ^ lane) >> np.uint64(32)
        into[i] = (high * np.uint64(shards)) >> np.uint64(32)


def shard_of(hashes: NDArray[np.int64], shards: int) -> NDArray[np.int32]:
    """Return the shard of each key hash."""
    into = np.zeros(len(hashes), np.int32)
    if shards > 1:
        _place(hashes, shards, _LANE, into)
    return into
