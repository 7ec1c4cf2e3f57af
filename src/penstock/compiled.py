"""The one file that knows the compiler.

Hot code is plain Python marked `@compiled`.  NUMBA_DISABLE_JIT=1 runs the same
source uncompiled: for tests, for coverage, for a debugger.

The compiler's disk cache does not notice a change in another file.  So machine
code lies in a folder named after a fingerprint of all source that goes into it:
change one such file, and everything is compiled anew.
"""

import hashlib
import os
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
from numba import cfunc, njit

_CONSTANTS = ("terms.py", "store.py")  # no machine code of their own, but built into it

_pointers: dict[tuple[str, str, str], Any] = {}  # made once a process: reading one back takes 5 ms

F = TypeVar("F", bound=Callable[..., Any])


def _source_fingerprint() -> str:
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        source = path.read_bytes()
        if b"compiled" in source or path.name in _CONSTANTS:
            digest.update(source)
    return digest.hexdigest()


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def cache_folder() -> Path:
    """Return the folder for machine code: the first of the usual places that can be written.

    `NUMBA_CACHE_DIR`, the user's cache folder, and for workers that have no home a
    folder below the system's temporary one.
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    places = [
        os.environ.get("NUMBA_CACHE_DIR"),
        os.path.join(home, "penstock"),
        os.path.join(tempfile.gettempdir(), f"penstock-{os.getuid()}"),
    ]
    for place in filter(None, places):
        folder = Path(place) / _source_fingerprint()
        if _writable(folder):
            return folder
    return Path(tempfile.mkdtemp(prefix="penstock-"))


numba.config.CACHE_DIR = str(cache_folder())


def compiled(function: F) -> F:
    """Compile `function` on first use and keep the machine code on disk.

    Compiled code never makes an array: it works on those it is given.  So it need not
    count references to them, which cost ten times as much as the work itself where tuples of
    arrays are handed from function to function (measured: docs/decisions/0002-kernels.md).

    A function typed at a prompt has no file to name the machine code after; it
    is compiled for this process alone.
    """
    options = {"_nrt": False, "error_model": "numpy"}
    try:
        return cast(F, njit(cache=True, **options)(function))
    except RuntimeError:
        return cast(F, njit(**options)(function))


def pointer(template: Callable[..., Any], signature: str, **parts: Callable[..., Any]) -> Any:
    """Compile `template`, each named part fixed, to a pointer that kernels take as an argument.

    A kernel that takes a function is compiled anew for each function; one that takes
    a pointer is compiled once and read back from disk, at 6 ns a call.  The
    pointer's name carries a fingerprint of its parts, so that two policies never
    share machine code, nor do two versions of a user's own policy.
    """
    seen = []
    for part in parts.values():
        body = getattr(part, "py_func", part)
        code = body.__code__
        seen.append((body.__module__, body.__qualname__, code.co_code, code.co_consts, code.co_names))
    name = f"{template.__name__}_{zlib.crc32(repr(seen).encode()):08x}"
    made = _pointers.get((template.__module__, name, signature))
    if made is not None:
        return made
    copy = FunctionType(template.__code__, {**template.__globals__, **parts}, name)
    copy.__qualname__ = name
    copy.__module__ = template.__module__
    made = copy if numba.config.DISABLE_JIT else cfunc(signature, cache=True)(copy)
    return _pointers.setdefault((template.__module__, name, signature), made)
