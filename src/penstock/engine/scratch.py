"""Arrays that live no longer than a step, in memory that the next step uses again.

What a step allocates goes back to the system when it ends, and the next one gets it again page
by page; that took a fifth of the time of a join whose rows all lie in the caches.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST = 8  # pieces that wait: what one step of the usual size works with
_LARGEST = 4 << 20  # bytes: a larger piece is seldom needed and would be held for ever
_waiting: list[NDArray[np.int64]] = []  # of the whole process, since its joins take turns


def borrow(shape: tuple[int, ...], kind: Any) -> NDArray[Any]:
    """Return an array to be filled; hand it back when nothing refers to it any longer."""
    count = int(np.prod(shape))
    words = -(-count * np.dtype(kind).itemsize // 8)
    piece = _found(words)
    if piece is None:
        piece = np.empty(words, np.int64)
    return piece.view(kind)[:count].reshape(shape)


def _found(words: int) -> NDArray[np.int64] | None:
    """Take a piece that is large enough off the list, if there is one."""
    for _ in range(len(_waiting)):
        try:
            piece = _waiting.pop(0)
        except IndexError:  # another thread was faster
            return None
        if len(piece) >= words:
            return piece
        _waiting.append(piece)
    return None


def hand_back(*arrays: NDArray[Any]) -> None:
    """Let later steps use the memory of arrays that were borrowed."""
    for array in arrays:
        piece = array
        while isinstance(piece.base, np.ndarray):
            piece = piece.base
        if len(_waiting) < _MOST and 0 < piece.nbytes <= _LARGEST:
            _waiting.append(piece)
