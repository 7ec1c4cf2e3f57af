"""Arrays that grow where they lie, in large pages.

What is held lies scattered over an array that outgrows the caches, and each place is found in
memory through tables of pages, which outgrow them too.  Large pages need tables a five hundredth
as long.  The system moves an array that outgrows its place by giving it small ones, so more
places are asked for than are needed: the system provides memory only for those that are used.
"""

import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

_LARGE_PAGE = 1 << 21
_WORTH_IT = 2 * _LARGE_PAGE  # bytes; of a smaller array, large pages would be mostly empty
_AHEAD = 4  # times as many places are asked for as are needed
_WORD = 8
_GAP = 1 << 19  # bytes; smaller gaps are soon filled
_AT_ONCE = 1 << 22  # words that are moved before those they were moved from are let go
_CAN = hasattr(mmap, "MADV_HUGEPAGE") and hasattr(mmap, "MAP_ANONYMOUS")


Provider = Callable[[int], mmap.mmap]
_provider: Provider | None = None  # of the whole process, since its joins take turns


@contextmanager
def provided_by(provider: Provider) -> Iterator[None]:
    """Let large arrays that are made meanwhile lie in memory that `provider` maps."""
    global _provider
    before, _provider = _provider, provider
    try:
        yield
    finally:
        _provider = before


def _mapped(size: int) -> mmap.mmap:
    if _provider is not None:
        return _provider(size)
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def whole(array: Any) -> Any:
    """Return all the places, used or not, that an array is a part of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def mapping_of(array: Any) -> mmap.mmap | None:
    """Return the mapping in which an array lies, if it lies in one."""
    base = whole(array).base
    held = base.obj if isinstance(base, memoryview) else base
    return held if isinstance(held, mmap.mmap) else None


def places(count: int) -> Any:
    """Return at least so many words, all of them 0; the system provides those that are used."""
    size = count * _WORD
    if not _CAN or size < _WORTH_IT:
        return np.zeros(count, np.int64)
    for ahead in (_AHEAD, 1):
        rounded = -(-ahead * size // _LARGE_PAGE) * _LARGE_PAGE
        try:
            pages = _mapped(rounded)
        except OSError:  # more than the system will promise
            continue
        pages.madvise(mmap.MADV_HUGEPAGE)
        return np.frombuffer(pages, np.int64)
    return np.zeros(count, np.int64)


def alone(size: int) -> Any:
    """Return so many bytes that go back to the system when nothing refers to them any longer.

    What is allocated among others leaves a gap, for which the system sees no end.
    """
    if not _CAN or size < _GAP:
        return np.empty(size, np.uint8)
    return np.frombuffer(_mapped(size), np.uint8)


def move(old: Any, new: Any) -> None:
    """Copy words to the beginning of others, and let go of the memory they lay in on the way."""
    for begin in range(0, len(old), _AT_ONCE):
        end = min(begin + _AT_ONCE, len(old))
        new[begin:end] = old[begin:end]
        _let_go(old[begin:end])


def _let_go(words: Any) -> None:
    """Give memory back to the system; the words are 0 from now on, or what they were."""
    held = whole(words)
    mapping = mapping_of(words)
    if mapping is not None:
        begin = -(-(words.ctypes.data - held.ctypes.data) // _LARGE_PAGE) * _LARGE_PAGE
        size = words.ctypes.data - held.ctypes.data + words.nbytes - begin
        if size >= _LARGE_PAGE:
            mapping.madvise(mmap.MADV_DONTNEED, begin, size // _LARGE_PAGE * _LARGE_PAGE)


def more(words: Any, count: int) -> Any:
    """Return so many words, of which the first are those given; their memory is taken over."""
    held = whole(words)
    if len(held) >= count:
        return held[:count]
    wider = places(count)
    move(words, wider)
    _let_go(held)
    return wider[:count]
