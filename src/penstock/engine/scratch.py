"""Arrays that live no longer than a step, in memory that the next step uses again.

What a step allocates goes back to the system when it ends, and the next one gets it again page
by page; that took a fifth of the time of a join whose rows all lie in the caches.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST = 8  # pieces that wait: what one step of the usual size works with
_SMALLEST = 1 << 12  # bytes: a smaller piece would only keep larger ones from waiting
_LARGEST = 4 << 20  # bytes: a larger piece is seldom needed and would be held for ever
_waiting: list[NDArray[np.int64]] = []  # of the whole process, since its joins take turns
_vast: list[NDArray[np.int64]] = []  # the same, of pieces of which only the beginning is used


def borrow(shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """Return an array to be filled; hand it back when nothing refers to it any longer."""
    count = int(np.prod(shape))
    words = -(-count * np.dtype(kind).itemsize // 8)
    piece = _found(_waiting, words)
    if piece is None:
        piece = np.empty(words, np.int64)
    return piece.view(kind)[:count].reshape(shape)


def borrow_vast(rows: int, columns: int) -> NDArray[np.int64]:
    """Return an array that is as long as it may have to be, and seldom is used beyond a little.

    The system provides memory only for what is used; but it provides it anew, page by page, for
    each new array.
    """
    words = rows * columns
    piece = _found(_vast, words)
    if piece is None:
        piece = np.empty(words + words // 4, np.int64)
    return piece[:words].reshape(rows, columns)


def hand_back_vast(array: NDArray[np.int64], used: int) -> None:
    """Let later steps use a vast array again, of which so many rows were used."""
    if not _vast and used * array.shape[1] * array.itemsize <= _LARGEST:
        _vast.append(_piece(array))


def _found(pieces: list[NDArray[np.int64]], words: int) -> NDArray[np.int64] | None:
    """Take a piece that is large enough off the list, if there is one."""
    for _ in range(len(pieces)):
        try:
            piece = pieces.pop(0)
        except IndexError:  # another thread was faster
            return None
        if len(piece) >= words:
            return piece
        if pieces is _waiting:
            pieces.append(piece)
    return None


def _piece(array: NDArray[Any]) -> NDArray[Any]:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def hand_back(*arrays: NDArray[Any]) -> None:
    """Let later steps use the memory of arrays that were borrowed."""
    for array in arrays:
        piece = _piece(array)
        if len(_waiting) < _MOST and _SMALLEST <= piece.nbytes <= _LARGEST:
            _waiting.append(piece)
