"""Columns of integers in as few bytes as their range needs: what is saved of a row is mostly small.

A column is its least value and, where its values differ, their distances from it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WIDTHS = (np.uint8, np.uint16, np.uint32)


def narrowed(table: NDArray[np.int64], kept: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Return the columns of a table narrowed; rows that are not `kept` may come back as others.

    Examples
    --------
    >>> table = np.array([[2**40, 7], [2**40 + 3, 7]])
    >>> parts = narrowed(table, np.array([True, True]))
    >>> [(name, part.dtype.itemsize * len(part)) for name, part in parts.items()]
    [('least', 16), ('column-0', 2)]
    >>> bool((widened(parts, 2) == table).all())
    True
    """
    rows = table[kept]
    least = rows.min(axis=0) if len(rows) else np.zeros(table.shape[1], np.int64)
    most = rows.max(axis=0) if len(rows) else least
    parts: dict[str, NDArray[Any]] = {"least": least}
    for column, (low, high) in enumerate(zip(least.tolist(), most.tolist(), strict=True)):
        if low == high:
            continue
        far = high - low
        width: Any = next((kind for kind in _WIDTHS if far <= np.iinfo(kind).max), np.uint64)
        # Wraps around for rows that are not kept, and where the values lie 2**63 apart.
        distance = table[:, column].view(np.uint64) - np.uint64(low & 0xFFFFFFFFFFFFFFFF)
        parts[f"column-{column}"] = distance.astype(width)
    return parts


def widened(parts: Mapping[str, NDArray[Any]], rows: int) -> NDArray[np.int64]:
    """Return the table that was narrowed."""
    least = parts["least"]
    table = np.empty((rows, len(least)), np.int64)
    for column, low in enumerate(least):
        distance = parts.get(f"column-{column}")
        table[:, column] = low
        if distance is not None:
            table[:, column].view(np.uint64)[:] += distance.astype(np.uint64)
    return table
