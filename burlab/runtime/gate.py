"""Python callables around compiled functions: the C gate (`cpp/burlab/python/gate.hpp`), and its fallback.

The gate checks dtype, byte order, contiguity, alignment, writeability and shape by the buffer protocol and calls the
function: about 100 ns. What does not pass comes here, is converted or explained, and then run through ctypes.
"""

import ctypes
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np

from burlab.runtime.dtypes import KNOWN_DTYPES, NARROW_FLOATS, is_narrow_float
from burlab.runtime.structs import CArgumentSpec, CGate, CGuard

from .cling import address, declare
from .coerce import Array, ArraySpec, check_apart, check_count, coerce_input, coerce_output
from .interruptible import interruptible
from .mapped import mapped
from .memory import empty

_FASTCALL, _KEYWORDS = 0x80, 0x02  # METH_FASTCALL, METH_KEYWORDS
_CODES = {row.name: row.codes for row in (*KNOWN_DTYPES, *NARROW_FLOATS)}
KernelAddress = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4)  # context, in, out, workspace

Explain = Callable[[int, Sequence[Array]], None]


@dataclass(frozen=True, slots=True)
class NativeFunction:
    """A compiled function `int64 run(context, in, out, workspace)` and what keeps the memory behind `context` alive.

    contexts: its contexts, by how many samples of a tile count. loops: whether it may run for ever: then it must be
    called so that it hears signals. folder: where a file holds its workspace, if one does.
    """

    address: int
    contexts: Callable[[int | None], int]
    workspace_bytes: int
    keep: object
    loops: bool = False
    folder: str | None = None

    @property
    def context(self) -> int:
        """The address that it takes first."""
        return self.contexts(None)

    def workspace(self) -> "Workspace":
        """Memory for its calls, one at a time."""
        return Workspace(self.workspace_bytes, self.folder)

    def __call__(self, arrays: Sequence[Array], buffers: Sequence[Array], workspace: "Workspace") -> int:
        """Run on arrays that fit, without a check; the outcome. Other Python threads run meanwhile."""
        places = pointers(arrays), pointers(buffers), workspace.address
        if self.loops:
            return _run_interruptible()(None, self.address, self.context, *places)
        return int(KernelAddress(self.address)(self.context, *places))


class CallSignature(NamedTuple):
    """The arrays that a compiled function takes and gives."""

    inputs: Sequence[ArraySpec]
    outputs: Sequence[ArraySpec]


class LookupKind(IntEnum):
    """Kind of lookup of a guarded value. Mirrored by `gate.hpp`."""

    FIXED = 0  # it cannot change
    ENTRY = 1  # of a dictionary, by its key
    CELL = 2  # of a closure
    ITEM = 3  # of a list or tuple, by its place
    ATTRIBUTE = 4  # of an object or class
    LENGTH = 5  # no value: the container must have as many items as `size`
    CODE = 6  # of a function
    DEFAULTS = 7  # of its arguments
    KWDEFAULTS = 8  # of its keyword arguments


class Nothing:
    """The value of a guard of a key that a dictionary must not have."""


NOTHING = Nothing()


class Guard(NamedTuple):
    """Something read from outside of a kernel's arguments, which must be unchanged for the gate to answer.

    where: how `value` is found in `container`. Of an array that must also hold the same numbers: content, its bytes, or
    digest, a fingerprint of them; size: their number.
    """

    where: LookupKind
    container: Any
    key: Any
    value: Any
    content: bytes | None = None
    digest: int = 0
    size: int = 0


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("ml_name", ctypes.c_char_p),
        ("ml_meth", ctypes.c_void_p),
        ("ml_flags", ctypes.c_int),
        ("ml_doc", ctypes.c_char_p),
    )


class FallbackCall:
    """The way around the gate: converts arguments, calls through ctypes, raises what a status means.

    explain: raises the exception for an outcome that is not 0, given the arguments, or returns if there is none to
    raise.
    """

    def __init__(
        self, function: NativeFunction, inputs: Sequence[ArraySpec], outputs: Sequence[ArraySpec], explain: Explain
    ) -> None:
        self.function = function
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.explain = explain

    def __call__(self, *arguments: Any, out: Any = None) -> tuple[Any, ...]:
        """Handle a call that the gate passes on, with its arguments as they were."""
        if out is not None and not isinstance(out, tuple):
            out = (out,)
        return self.run(arguments, cast("tuple[Any, ...] | None", out))

    def run(self, arguments: Sequence[Any], out: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """The outputs; 0-d ones as NumPy scalars, unless the caller passed an array for them."""
        check_count(arguments, self.inputs, "arguments")
        arrays = [coerce_input(x, spec) for x, spec in zip(arguments, self.inputs, strict=True)]
        if out is None:
            buffers = [spec.empty() for spec in self.outputs]
        else:
            check_count(out, self.outputs, "out")
            buffers = [coerce_output(x, spec) for x, spec in zip(out, self.outputs, strict=True)]
            check_apart(buffers, arrays)
        outcome = self.function(arrays, buffers, self.function.workspace())
        if outcome:
            self.explain(outcome, arrays)
        return tuple(buffers) if out is not None else tuple(y if y.ndim else y[()] for y in buffers)


class Workspace:
    """Memory for one call at a time, aligned to 64 bytes; freed with this object. bytes: as an array."""

    def __init__(self, nbytes: int, folder: str | None = None) -> None:
        """folder: where a file holds the memory; None: nowhere."""
        kind = np.dtype(np.uint8)
        memory = mapped(nbytes + 64, folder) if folder else empty((nbytes + 64,), kind, "the workspace of a call")
        skip = -memory.ctypes.data % 64
        self.bytes: Array = memory[skip : skip + nbytes]
        self.address: int = memory.ctypes.data + skip


def pointers(arrays: Sequence[Array]) -> Any:
    """A C array of the arrays' addresses."""
    return (ctypes.c_void_p * max(len(arrays), 1))(*(x.ctypes.data for x in arrays))


def make_callable(
    function: NativeFunction,
    face: CallSignature,
    fallback: Callable[..., Any],
    *,
    releases: bool,
    tree: bytes = b"",
    weak: Collection[int] | None = None,
    takes_out: bool = True,
    guards: Sequence[Guard] = (),
) -> Callable[..., Any]:
    """A builtin function of the arrays that goes through the gate; it keeps everything that it needs alive.

    fallback: called with the same arguments if the gate or the kernel fails. releases: let other Python threads run
    during the call, which costs 50 ns. tree: how the outputs are nested, see `flat`, which it is if
    empty. weak: inputs that are Python floats and nothing else, while the others are buffers and nothing else; None:
    either. takes_out: whether the keyword `out` means buffers for the results. guards: what must be unchanged.
    """
    inputs, outputs = face
    count = len(inputs) + len(outputs)
    specs = (CArgumentSpec * max(count, 1))()
    kept = [_fill(specs[k], spec) for k, spec in enumerate((*inputs, *outputs))]
    for k, spec in enumerate(inputs):
        number = not spec.shape and spec.dtype.kind == "f" and not is_narrow_float(spec.dtype)
        specs[k].takes = (3 if number else 2) if weak is None else 1 if k in weak else 2
    workspace = function.workspace()
    watched = (CGuard * max(len(guards), 1))(*map(_watch, guards))
    gate = CGate(
        run=function.address,
        context=function.context,
        workspace=function.workspace_bytes,
        inputs=len(inputs),
        outputs=len(outputs),
        releases=releases,
        loops=function.loops,
        takes_out=takes_out,
        specs=ctypes.addressof(specs),
        guards=ctypes.addressof(watched),
        guarded=len(guards),
        tree=tree or flat(len(outputs)),
        array=id(np.ndarray),
        scalar=id(np.generic),
        empty=id(np.empty),
        number=id(float),
        fallback=id(fallback),
        spare=workspace.address,
    )
    method = _method()  # kept by every callable: threads that come first together each make one, and one is remembered
    named = np.ndarray, np.generic, np.empty, float  # a test may put others in their places
    owner = (
        ctypes.addressof(gate),
        gate,
        named,
        specs,
        kept,
        workspace,
        function,
        fallback,
        method,
        watched,
        tuple(guards),
    )
    new_function = ctypes.pythonapi.PyCFunction_NewEx
    new_function.restype, new_function.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return new_function(ctypes.addressof(method), owner, None)


def _watch(guard: Guard) -> CGuard:
    content = None if guard.content is None else ctypes.cast(ctypes.c_char_p(guard.content), ctypes.c_void_p).value
    container, key = (None if x is None else id(x) for x in (guard.container, guard.key))
    value = None if guard.value is NOTHING else id(guard.value)
    return CGuard(container, key, value, content, guard.digest, guard.size, int(guard.where))


def flat(count: int) -> bytes:
    """The tree of a tuple of all outputs, in postfix: 0 is the next output, n + 1 a tuple of the n things before it.

    >>> list(flat(2))
    [0, 0, 3, 255]
    """
    return bytes([0] * count + [min(count + 1, 254), 255])  # more than 253 go to the fallback


def _fill(argument: Any, spec: ArraySpec) -> object:
    """Describe an array to the gate; what is returned must stay alive."""
    shape = (ctypes.c_ssize_t * max(len(spec.shape), 1))(*spec.shape)
    cell = np.zeros(1, spec.dtype)
    argument.codes = _CODES[spec.dtype.name]
    argument.itemsize, argument.ndim, argument.nbytes = spec.dtype.itemsize, len(spec.shape), spec.nbytes
    argument.shape = ctypes.addressof(shape)
    argument.shape_object = id(spec.shape) if spec.shape else id(cell)
    argument.dtype_object = id(spec.dtype)
    argument.cell = cell.ctypes.data
    return shape, cell, spec


def gate_is_open() -> bool:
    """Return True if the gate is compiled."""
    return _method.cache_info().currsize > 0


@cache
def _run_interruptible() -> Callable[..., int]:
    inputs = "const void* context, const void* const* in, void* const* out, void* workspace"
    kind = f"std::int64_t (*run)({inputs}) noexcept"
    return interruptible(
        "burlab/stop_token.hpp", f"{kind}, {inputs}", "run(context, in, out, workspace)", [ctypes.c_void_p] * 5
    )


@cache
def _method() -> _MethodDef:
    """The gate as a method of CPython: compiled once."""
    unit = declare(
        # not noexcept: a thread that takes Python's lock back while the interpreter shuts down is unwound through it
        'extern "C" void* @unit_pass(void* self, void* args, std::int64_t count, void* names) {\n'
        "  using namespace burlab::python;\n"
        "  return pass((Object*)self, (Object* const*)args, count, (Object*)names);\n}",
        ["burlab/python/gate.hpp"],
        name="gate",
    )
    doc = b"kernel(*arrays, out=None): the outputs of a compiled graph."
    return _MethodDef(ml_name=b"kernel", ml_meth=address(f"{unit}_pass"), ml_flags=_FASTCALL | _KEYWORDS, ml_doc=doc)
