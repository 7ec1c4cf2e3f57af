"""The one file that knows the compiler.

Hot code is plain Python marked `@compiled`.  NUMBA_DISABLE_JIT=1 runs the same
source uncompiled: for tests, for coverage, for a debugger.

The compiler's disk cache does not notice a change in another file.  So machine
code lies in a folder named after a fingerprint of all source that goes into it:
change one such file, and everything is compiled anew.
"""

import ctypes
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir
from numba import cfunc, njit, types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.errors import NumbaError
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)

_pointers: dict[tuple[str, str, str], Any] = {}  # made once a process: reading one back takes 5 ms

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def _source_fingerprint() -> str:
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        source = path.read_bytes()
        if b"compiled" in source:
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


def _in_full_width(resolve: Callable[..., Any], made: Any, arguments: Any, named: Any) -> Any:
    """Resolve a call with numbers of 64 bits, or each mixture of widths would be compiled apart."""
    wide = [
        types.int64
        if isinstance(kind, types.Integer) and kind.signed
        else types.float64
        if isinstance(kind, types.Float)
        else types.unliteral(kind)
        for kind in arguments
    ]
    return resolve(made, wide, named)


class _Elsewhere:
    """In place of the engine that would run a draft: nothing is to be done there."""

    def set_env(self, name: str, environment: object) -> None:
        pass


class _Draft(JITCodeLibrary):
    """Code that waits to be linked into its callers."""

    codegen = _Elsewhere()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0


class _Drafter(Compiler):
    """Numba's own steps, but for where the result is put."""

    def define_pipelines(self) -> Any:
        self.state.library = _Draft(self.state.targetctx.codegen(), self.state.func_id.func_name)
        return super().define_pipelines()


# Compiled code never makes an array: it works on those it is given.  So it need not count
# references to them, which cost ten times as much as the work itself where tuples of arrays are
# handed from function to function (measured: docs/decisions/0002-kernels.md).
_OPTIONS = {"_nrt": False, "error_model": "numpy"}


def compiled(function: F) -> F:
    """Compile `function` on first use and keep the machine code on disk.

    A function typed at a prompt has no file to name the machine code after; it
    is compiled for this process alone.
    """
    try:
        return cast(F, njit(cache=True, **_OPTIONS)(function))
    except RuntimeError:
        return cast(F, njit(**_OPTIONS)(function))


def inner(function: F) -> F:
    """Compile a function that only compiled functions call.

    It has no door from Python and no machine code of its own: it is linked into its callers as a
    draft, and optimised there.  Optimising every function once more in each of its callers, and
    theirs, took twenty times as long (measured: docs/decisions/0002-kernels.md).
    """
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "pipeline_class": _Drafter}
    made = njit(**options, **_OPTIONS)(function)
    if not numba.config.DISABLE_JIT:
        made.get_call_template = partial(_in_full_width, type(made).get_call_template, made)
    return cast(F, made)


def fingerprint_of(function: Callable[..., Any]) -> str:
    """Return what tells two functions apart: their code, what they call, the globals they read.

    >>> def one(x): return x + 1
    >>> def other(x): return x + 2
    >>> fingerprint_of(one) == fingerprint_of(other)
    False
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in _source_of(function, set()):
        digest.update(part.encode())
    return digest.hexdigest()


def _source_of(value: Any, seen: set[int]) -> Iterator[str]:
    body = getattr(value, "py_func", value)
    if isinstance(body, np.ndarray):  # its own words leave out the middle of a long one
        content = hashlib.blake2b(np.ascontiguousarray(body).tobytes(), digest_size=16)
        yield f"{body.dtype} {body.shape} {content.hexdigest()}"
    elif isinstance(body, tuple | list):
        for part in body:
            yield from _source_of(part, seen)
    elif not isinstance(body, FunctionType):
        yield getattr(body, "__name__", "") if isinstance(body, ModuleType | type) else repr(body)
    elif id(body) not in seen:
        seen.add(id(body))
        yield f"{body.__module__} {body.__qualname__}"
        yield from _code_of(body.__code__, body, seen)
        for cell in body.__closure__ or ():
            yield from _source_of(cell.cell_contents, seen)


def _code_of(code: CodeType, body: FunctionType, seen: set[int]) -> Iterator[str]:
    yield repr((code.co_code, code.co_names))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_of(constant, body, seen)
        else:
            yield repr(constant)
    for name in code.co_names:
        if name in body.__globals__:
            yield from _source_of(body.__globals__[name], seen)


def pointer(template: Callable[..., Any], signature: str, **parts: Callable[..., Any]) -> Any:
    """Compile `template`, each named part fixed, to a pointer that kernels take as an argument.

    A kernel that takes a function is compiled anew for each function; one that takes
    a pointer is compiled once and read back from disk, at 6 ns a call.  The
    pointer's name carries a fingerprint of its parts, so that two policies never
    share machine code, nor do two versions of a user's own policy.

    Raises
    ------
    TypeError
        If a part cannot be compiled.
    """
    name = f"{template.__name__}_{'_'.join(fingerprint_of(part) for part in parts.values())}"
    made = _pointers.get((template.__module__, name, signature))
    if made is not None:
        return made
    copy = FunctionType(template.__code__, {**template.__globals__, **parts}, name)
    copy.__qualname__ = name
    copy.__module__ = template.__module__
    if numba.config.DISABLE_JIT:
        made = copy
    else:
        try:
            made = cfunc(signature, cache=True)(copy)
        except NumbaError as error:
            raise TypeError(str(error)) from error
    return _pointers.setdefault((template.__module__, name, signature), made)


class _Address(types.Type):
    """The type of a tuple that compiled functions hand on by its address."""

    def __init__(self, fields: types.NamedTuple) -> None:
        self.fields = fields
        super().__init__(name=f"address of {fields}")


def by_address(kind: type[T]) -> type[T]:
    """Let compiled functions hand on tuples of this class by their address.

    Handed on by value, a tuple of arrays is taken apart into a hundred numbers at every call;
    machine code for that took minutes to make (measured: docs/decisions/0002-kernels.md).
    Reading a field is the only thing compiled code can do with such a tuple.
    """
    known: dict[tuple[Any, ...], _Address] = {}

    @typeof_impl.register(kind)
    def typeof(value: Any, context: Any) -> _Address:
        # Asked at every call from Python, and slow to work out anew.
        made = known.get(key := tuple(map(_kind_of, value)))
        if made is None:
            fields = [typeof_impl(field, context) for field in value]
            made = known[key] = _Address(types.NamedTuple(fields, kind))
        return made

    return kind


def _kind_of(field: Any) -> Any:
    """Return what decides the type of a field: its class, and of an array how it lies."""
    if isinstance(field, np.ndarray):
        return field.dtype, field.ndim, field.flags.c_contiguous, field.flags.writeable
    if isinstance(field, tuple):
        return tuple(map(_kind_of, field))
    return getattr(field, "_sig", type(field))  # of a pointer its signature


@register_model(_Address)
class _AddressModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _Address) -> None:
        super().__init__(manager, kind, manager.lookup(kind.fields).get_data_type().as_pointer())


@infer_getattr
class _AddressAttribute(AttributeTemplate):
    key = _Address

    def generic_resolve(self, kind: _Address, name: str) -> Any:
        fields = kind.fields.fields
        return kind.fields.types[fields.index(name)] if name in fields else None


@unbox(_Address)
def _unbox_address(kind: _Address, value: Any, c: Any) -> NativeValue:
    made = c.unbox(kind.fields, value)
    model = c.context.data_model_manager[kind.fields]
    place = cgutils.alloca_once(c.builder, model.get_data_type())
    c.builder.store(model.as_data(c.builder, made.value), place)
    # From here on the fields never change.  An empty piece of assembly keeps the optimiser
    # from looking behind this moment, when they had not been written yet.
    kind_of_place = ir.FunctionType(place.type, [place.type])
    address = c.builder.asm(kind_of_place, "", "=r,0,~{memory}", [place], True)
    return NativeValue(address, is_error=made.is_error, cleanup=made.cleanup)


@lower_getattr_generic(_Address)
def _read_field(context: Any, builder: Any, kind: _Address, value: Any, name: str) -> Any:
    at = kind.fields.fields.index(name)
    place = cgutils.gep_inbounds(builder, value, 0, at)
    model = context.data_model_manager[kind.fields.types[at]]
    read = builder.load(place)
    read.set_metadata("invariant.load", builder.module.add_metadata([]))
    return model.from_data(builder, read)


def _ask(builder: Any, place: Any) -> None:
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    declared = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(ir.VoidType(), [byte, number, number, number]),
        "llvm.prefetch.p0" if _OPAQUE else "llvm.prefetch.p0i8",
    )
    # For reading, to be kept in every cache, of data rather than code.
    builder.call(declared, [place, number(0), number(3), number(1)])


def _prefetch(context: Any, array: Any, row: Any) -> Any:
    """Ask memory for a row of an array, and go on without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, at = signature.args[0], arguments[1]
        seen = context.make_array(kind)(context, builder, arguments[0])
        stride = cgutils.unpack_tuple(builder, seen.strides)[0]
        start = builder.bitcast(seen.data, ir.IntType(8).as_pointer())
        _ask(builder, builder.gep(start, [builder.mul(at, stride)]))
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


def _prefetch_at(context: Any, address: Any) -> Any:
    """Ask memory for what lies at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _ask(builder, builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64), generate


def _no_prefetch(*place: Any) -> None:
    """Do nothing: without the compiler there is nothing to gain."""


_OPAQUE = not getattr(ir, "context", None) or not hasattr(ir.IntType(8).as_pointer(), "pointee")
prefetch: Callable[[Any, int], None] = (
    _no_prefetch if numba.config.DISABLE_JIT else cast(Any, intrinsic(_prefetch))
)
prefetch_at: Callable[[int], None] = (
    _no_prefetch if numba.config.DISABLE_JIT else cast(Any, intrinsic(_prefetch_at))
)


def _copying(size: int) -> Any:
    """Return what compiles to a copy of so many bytes from one address to another."""

    def copied(context: Any, source: Any, target: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kind = ir.IntType(8 * size).as_pointer()
            there, here = (builder.inttoptr(address, kind) for address in arguments)
            builder.store(builder.load(there, align=1), here, align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    def copied_plainly(source: int, target: int) -> None:
        ctypes.memmove(int(target), int(source), size)

    return copied_plainly if numba.config.DISABLE_JIT else intrinsic(copied)


# Copy a value of so many bytes from one address to another.  Whoever calls sees to it that the
# memory is there.
copy_1, copy_2, copy_4, copy_8 = (_copying(size) for size in (1, 2, 4, 8))
