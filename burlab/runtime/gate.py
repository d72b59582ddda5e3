"""Python callables around compiled functions: the C gate (`cpp/burlab/python/gate.hpp`), and what takes over at its no.

The gate checks dtype, byte order, contiguity, alignment, writeability and shape by the buffer protocol and calls the
function: about 100 ns. What does not pass comes here, is converted or explained, and then run through ctypes.
"""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from .cling import address, declare
from .coerce import Array, ArraySpec, check_apart, check_count, coerce_input, coerce_output

_UNFIT, _UNKNOWN_KEYWORD = -1, -2  # burlab::python::kUnfit, kUnknownKeyword
_CODES = {"float64": b"d\0", "float32": b"f\0", "int64": b"lq", "int32": b"ii", "uint64": b"LQ", "bool": b"?\0"}
_RUN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

Explain = Callable[[int, Sequence[Array]], None]


@dataclass(frozen=True, slots=True)
class Function:
    """A compiled function `int64 run(context, in, out, workspace)` and what keeps the memory behind `context` alive."""

    address: int
    context: int
    workspace_bytes: int
    keep: object

    def __call__(self, arrays: Sequence[Array], buffers: Sequence[Array], workspace: "Workspace") -> int:
        """Run on arrays that fit, without a check; the outcome. Other Python threads run meanwhile."""
        return int(_RUN(self.address)(self.context, pointers(arrays), pointers(buffers), workspace.address))


class _Port(ctypes.Structure):
    _fields_ = (
        ("codes", ctypes.c_char_p),
        ("itemsize", ctypes.c_ssize_t),
        ("ndim", ctypes.c_ssize_t),
        ("nbytes", ctypes.c_ssize_t),
        ("shape", ctypes.c_void_p),
        ("make", ctypes.py_object),
        ("cell", ctypes.c_void_p),
    )


class _Gate(ctypes.Structure):
    _fields_ = (
        ("run", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("workspace", ctypes.c_int64),
        ("inputs", ctypes.c_int64),
        ("outputs", ctypes.c_int64),
        ("releases", ctypes.c_int64),
        ("ports", ctypes.c_void_p),
        ("empty", ctypes.py_object),
        ("number", ctypes.py_object),
        ("fallback", ctypes.py_object),
        (
            "owner",
            ctypes.c_void_p,
        ),  # no py_object: a cycle through the gate would never be freed
        ("spare", ctypes.c_void_p),
    )


class Slow:
    """The way around the gate: converts arguments, calls through ctypes, raises what a status means.

    explain: raises the exception for an outcome that is not 0, given the arguments, or returns if there is none to raise.
    """

    def __init__(
        self, function: Function, inputs: Sequence[ArraySpec], outputs: Sequence[ArraySpec], explain: Explain
    ) -> None:
        self.function = function
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.explain = explain

    def __call__(self, status: int, arguments: tuple[Any, ...], out: Any) -> tuple[Any, ...]:
        """Called by the gate. out: the value of the keyword, () where there was none."""
        if status == _UNKNOWN_KEYWORD:
            raise TypeError(f"a kernel takes arrays and out=, got the keywords {', '.join(out)}.")
        given: list[Any] | None = None
        if isinstance(out, tuple):
            given = list(cast("tuple[Any, ...]", out)) or None
        elif out is not None:
            given = [out]
        return self.run(arguments, given)

    def run(self, arguments: Sequence[Any], out: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """The outputs; 0-d ones as NumPy scalars, unless the caller passed an array for them."""
        check_count(arguments, self.inputs, "arguments")
        arrays = [coerce_input(x, spec) for x, spec in zip(arguments, self.inputs, strict=True)]
        if out is None:
            buffers = [np.empty(spec.shape, spec.dtype) for spec in self.outputs]
        else:
            check_count(out, self.outputs, "out")
            buffers = [coerce_output(x, spec) for x, spec in zip(out, self.outputs, strict=True)]
            check_apart(buffers, arrays)
        outcome = self.function(arrays, buffers, Workspace(self.function.workspace_bytes))
        if outcome:
            self.explain(outcome, arrays)
        return tuple(buffers) if out is not None else tuple(y if y.ndim else y[()] for y in buffers)


class Workspace:
    """Memory for one call at a time, aligned to 64 bytes; freed with this object. bytes: as an array."""

    def __init__(self, nbytes: int) -> None:
        memory: Array = np.empty(nbytes + 64, np.uint8)
        skip = -memory.ctypes.data % 64
        self.bytes: Array = memory[skip : skip + nbytes]
        self.address: int = memory.ctypes.data + skip


def pointers(arrays: Sequence[Array]) -> Any:
    """A C array of the arrays' addresses."""
    return (ctypes.c_void_p * max(len(arrays), 1))(*(x.ctypes.data for x in arrays))


def make_callable(slow: Slow, *, releases: bool) -> Callable[..., Any]:
    """A builtin function of the arrays that goes through the gate; it keeps everything that it needs alive.

    releases: let other Python threads run during the call, which costs 50 ns.
    """
    ports = (_Port * max(len(slow.inputs) + len(slow.outputs), 1))()
    keep: list[Any] = [slow, slow.function.keep, ports]
    for k, spec in enumerate((*slow.inputs, *slow.outputs)):
        keep.append(_fill(ports[k], spec))
    gate = _Gate(
        run=slow.function.address,
        context=slow.function.context,
        workspace=slow.function.workspace_bytes,
        inputs=len(slow.inputs),
        outputs=len(slow.outputs),
        releases=releases,
        ports=ctypes.addressof(ports),
        empty=np.empty,
        number=float,
        fallback=slow,
    )
    owner = (gate, *keep)
    gate.owner = id(owner)
    return _new_callable()(ctypes.addressof(gate))


def _fill(port: Any, spec: ArraySpec) -> object:
    """Describe an array to the gate; what is returned must stay alive."""
    shape = (ctypes.c_ssize_t * max(len(spec.shape), 1))(*spec.shape)
    cell = np.zeros(1, spec.dtype)
    port.codes = _CODES[spec.dtype.name]
    port.itemsize, port.ndim, port.nbytes = spec.dtype.itemsize, len(spec.shape), spec.nbytes
    port.shape = ctypes.addressof(shape)
    port.make = (spec.shape, spec.dtype) if spec.shape else cell
    port.cell = cell.ctypes.data
    return shape, cell, port.make


@cache
def _new_callable() -> Callable[[int], Any]:
    """The C function that makes a callable from a gate: compiled once."""
    unit = declare(
        'extern "C" void* @unit_new(void* gate) noexcept {'
        " return burlab::python::new_callable(static_cast<burlab::python::Gate*>(gate)); }",
        ["burlab/python/gate.hpp"],
        name="gate",
    )
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)(address(f"{unit}_new"))
