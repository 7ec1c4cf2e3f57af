"""Where a state waits on this machine for the next batch, so that no process has to make it anew.

Spark hands a shard to whichever Python process is free.  Large arrays of a state lie in files
that any process of the machine maps; the rest is written beside them when the batch ends.

Nothing here is ever needed: what counts is in Spark's state store.  A shelf is used only if it
was left by the very batch whose state the store holds, which a token says, since the machine
was last started, and whoever takes it makes it invalid first.  Everything else that is found
here is thrown away.
"""

import contextlib
import errno
import json
import math
import mmap
import os
import shutil
import tempfile
import time
import uuid
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from penstock.engine.parked import Parked
from penstock.kernels.pages import mapping_of, whole

_LINE = 64  # bytes: arrays begin on lines of the cache
_OLD = 24 * 3600  # seconds after which what nobody came back for is thrown away
_HEAD = 8  # bytes: how long the description is
_STATE = "state"
_BOOT = Path("/proc/sys/kernel/random/boot_id")  # files may be cut short when a machine goes down
_FREE = 256 << 20  # bytes that a disk must have beside what is asked for


def _boot() -> str:
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""


def root() -> Path:
    """Return the folder of this user's shelves: in Spark's own local folder, which it cleans up."""
    local = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or tempfile.gettempdir()
    return Path(local) / f"penstock-{os.getuid()}"


class Described(NamedTuple):
    """Where an array lies: in a file of its own, or after the description."""

    file: str
    words: str  # the type of the whole file
    at: int  # bytes
    kind: str
    shape: tuple[int, ...]


class Shelf:
    """Files of one shard's state, for one process at a time.

    Parameters
    ----------
    folder
        Its own; made when it is first needed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[int, tuple[str, mmap.mmap]] = {}  # by the identity of the mapping
        self._tables: dict[int, tuple[str, pa.Table]] = {}  # by the number of the segment

    @classmethod
    def new(cls, shard: str) -> "Shelf":
        """Return an empty shelf for a shard, and throw away what else there is of it."""
        others = root() / shard
        shutil.rmtree(others, ignore_errors=True)
        _throw_out_old()
        return cls(others / uuid.uuid4().hex)

    @classmethod
    def of(cls, shard: str, name: str) -> "Shelf":
        """Return a shelf by its name."""
        return cls(root() / shard / name)

    @property
    def name(self) -> str:
        """What the shelf is called among those of its shard."""
        return self.folder.name

    def map(self, size: int) -> mmap.mmap:
        """Return memory that lies in a file of the shelf, or, if none can be made, in none."""
        try:
            return self._map(uuid.uuid4().hex, size)
        except OSError:  # no room on this disk: the state lives on in the store alone
            return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)

    def _map(self, name: str, size: int | None = None) -> mmap.mmap:
        self._make()
        if size is not None:
            # A page of a file for which the disk has no room ends the process that touches it.
            disk = os.statvfs(self.folder)
            if disk.f_bavail * disk.f_frsize < size + _FREE:
                raise OSError(errno.ENOSPC, "too little room on the disk", str(self.folder))
        path = self.folder / name
        with path.open("r+b" if size is None else "x+b") as file:
            if size is not None:
                os.truncate(file.fileno(), size)
            pages = mmap.mmap(file.fileno(), 0)
        self._files[id(pages)] = name, pages
        return pages

    def _make(self) -> None:
        """Make the folder, unless somebody else made the one that it would lie in."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (self.folder, root()):
            if folder.stat().st_uid != os.getuid():
                raise OSError(errno.EPERM, "this folder is not ours", str(folder))

    def put(self, parked: Parked, token: str) -> bool:
        """Leave a state here for whoever knows the token; say whether that could be done."""
        try:
            self._put(parked, token)
        except OSError:
            shutil.rmtree(self.folder, ignore_errors=True)
            return False
        return True

    def _put(self, parked: Parked, token: str) -> None:
        self._make()
        described: dict[str, Described] = {}
        copied: list[NDArray[Any]] = []
        end = 0
        for name, array in parked.arrays.items():
            words = whole(array)
            kept = self._files.get(id(mapping_of(array)))
            if kept is None:
                described[name] = Described("", "", end, array.dtype.str, array.shape)
                copied.append(array)
                end += -(-array.nbytes // _LINE) * _LINE
            else:
                at = int(array.ctypes.data - words.ctypes.data)
                kind = array.dtype.str
                described[name] = Described(kept[0], words.dtype.str, at, kind, array.shape)
        tables = {number: self._file_of(number, table) for number, table in parked.tables.items()}
        body = b"".join(array.tobytes() + b"\0" * (-array.nbytes % _LINE) for array in copied)
        told = {"arrays": described, "tables": tables, "facts": parked.facts}
        head = json.dumps({**told, "boot": _boot(), "sum": zlib.crc32(body)}).encode()
        head += b" " * (-(len(head) + _HEAD) % _LINE)
        self._throw_out({entry.file for entry in described.values()} | set(tables.values()))
        with (self.folder / f".{_STATE}").open("wb") as file:
            file.write(len(head).to_bytes(_HEAD, "little") + head)
            file.write(body)
        (self.folder / f".{_STATE}").rename(self.folder / f"{_STATE}-{token}")

    def _file_of(self, number: int, table: pa.Table) -> str:
        """Return the file in which a table lies; it is written once."""
        name, known = self._tables.get(number, ("", None))
        if known is not table:
            name = uuid.uuid4().hex
            path = str(self.folder / name)
            with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
                writer.write_table(table)
            self._tables[number] = name, table
        return name

    def _throw_out(self, used: set[str]) -> None:
        for path in self.folder.iterdir():
            if path.name not in used:
                path.unlink(missing_ok=True)

    def take(self, token: str) -> Parked | None:
        """Return the state that was left under a token, which no other process can then take."""
        path = self.folder / f"{_STATE}-{token}"
        taken = self.folder / f"taken-{uuid.uuid4().hex}"
        try:
            path.rename(taken)
            return self._take(taken)
        except (OSError, ValueError, KeyError):  # not there, or damaged: the store has it
            return None

    def _take(self, path: Path) -> Parked:
        body = np.fromfile(path, np.uint8)
        size = int.from_bytes(body[:_HEAD].tobytes(), "little")
        told = json.loads(body[_HEAD : _HEAD + size].tobytes())
        copied = body[_HEAD + size :]
        if told["boot"] != _boot() or told["sum"] != zlib.crc32(copied.tobytes()):
            raise ValueError("what lies here is of another start of the machine, or damaged")
        mapped: dict[str, NDArray[Any]] = {}
        arrays: dict[str, NDArray[Any]] = {}
        for name, line in told["arrays"].items():
            file, words, at, kind, shape = line
            if file and file not in mapped:
                mapped[file] = np.frombuffer(self._map(file), words)
            found = mapped[file].view(np.uint8) if file else copied
            values = found[at : at + math.prod(shape) * np.dtype(kind).itemsize]
            values = values.view(kind).reshape(shape)
            arrays[name] = values if file else values.copy()
        tables = {}
        for number, name in told["tables"].items():
            with pa.memory_map(str(self.folder / name)) as source:
                tables[int(number)] = pa.ipc.open_stream(source).read_all().combine_chunks()
            self._tables[int(number)] = name, tables[int(number)]
        return Parked(arrays, tables, told["facts"])


def _throw_out_old() -> None:
    """Throw away shelves that nobody came back for."""
    with contextlib.suppress(OSError):
        for shard in root().iterdir():
            if time.time() - shard.stat().st_mtime > _OLD:
                shutil.rmtree(shard, ignore_errors=True)
