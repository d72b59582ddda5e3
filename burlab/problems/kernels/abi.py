"""The C++ structs of `cpp/burlab/run/abi/{outcome,summand,sum}.hpp`, field by field, and the functions that take them.

A test compares sizes and offsets with the compiler's.
"""

import ctypes
import enum
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from burlab.compiler.executable import Executable
from burlab.problems.sampling import Stream
from burlab.runtime.cling import address, declare
from burlab.runtime.exports import exports
from burlab.runtime.interruptible import interruptible
from burlab.runtime.status import joined

_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p


class Part(enum.IntEnum):
    """Which kernel of a loss or of a step failed."""

    SAMPLES = 0
    PREPARE = 1
    REGULARIZER = 2
    UPDATE = 3
    CHOSEN = 4
    OUTPUT = 5
    ENTRIES = 6
    CLIENTS = 7
    WITHIN = 8
    ELSEWHERE = 9
    SAMPLER = 10
    DRAWN = 11
    SIZE = 12


VALIDATION, FULL_GRADIENT = -2, -3
"""The owner of a loss that is the validation's, or the full gradient's; a query's is its number."""


class Outcome(ctypes.Structure):
    """How a step or a sum ended: the status, and where it was not OK.

    part: a `Part`. owner: whose loss it was: a query's number, or VALIDATION, or -1 for the run's own. node: at fault,
    in the kernel's graph. sample: at fault, or -1.
    """

    _fields_ = (
        ("status", ctypes.c_int32),
        ("part", ctypes.c_int32),
        ("owner", ctypes.c_int32),
        ("node", ctypes.c_int32),
        ("sample", _INT),
    )

    @property
    def answer(self) -> int:
        """What the kernel answered, as `Executable.error` takes it."""
        return joined(self.status, self.node)


class CKernel(ctypes.Structure):
    """A generated kernel behind its binary interface."""

    _fields_ = (("function", _POINTER), ("context", _POINTER), ("workspace", _INT))

    @classmethod
    def of(cls, executable: Executable) -> "CKernel":
        """The kernel of an executable, which must outlive it."""
        return cls(executable.address, executable.context, executable.workspace_bytes)


class Span(ctypes.Structure):
    """A span of a result whose numbers have one dtype."""

    _fields_ = (("offset", _INT), ("count", _INT), ("wide", _INT))


class Block(ctypes.Structure):
    """Where numbers lie in one block of memory."""

    _fields_ = (
        ("outputs", _INT),
        ("spans", _INT),
        ("offsets", _POINTER),
        ("parts", _POINTER),
        ("bytes", _INT),
    )


class Summand(ctypes.Structure):
    """A kernel of one sample or of a tile, and where its inputs and outputs lie."""

    _fields_ = (
        ("kernel", CKernel),
        ("tile", _INT),
        ("contexts", _POINTER),
        ("fixed", _INT),
        ("arrays", _INT),
        ("keyed", _INT),
        ("placed", _INT),
        ("least", _INT),
        ("data", _POINTER),
        ("strides", _POINTER),
        ("sizes", _POINTER),
        ("rows", _POINTER),
        ("sums", Block),
        ("result", Block),
        ("finish", CKernel),
        ("prepare", CKernel),
        ("prepared", Block),
    )


class CLoss(ctypes.Structure):
    """The mean of a summand over samples, and a regularizer that is added once."""

    _fields_ = (("samples", Summand), ("regularizer", Summand))


class MeanKernel(ctypes.Structure):
    """The context of the mean over a batch as a kernel."""

    _fields_ = (
        ("summand", Summand),
        ("stream", Stream),
        ("threads", _INT),
    )


class SumCall(ctypes.Structure):
    """One evaluation over one batch."""

    _fields_ = (
        ("summand", Summand),
        ("stream", Stream),
        ("key", ctypes.c_uint64 * 2),
        ("fixed", _POINTER),
        ("result", _POINTER),
        ("threads", _INT),
        ("slice", _INT),
        ("position", _INT),
        ("job", _POINTER),
        ("outcome", Outcome),
    )


@cache
def mean_address() -> int:
    """The address of the C++ function whose context is a `MeanKernel`."""
    unit = declare(
        'extern "C" std::int64_t @unit_mean(const void* context, const void* const* in, void* const* out, void* work)'
        " noexcept { return burlab::run::mean(context, in, out, work); }",
        ["burlab/run/abi/sum.hpp"],
        name="mean",
    )
    return address(f"{unit}_mean")


@cache
def sum_exports() -> dict[str, Callable[..., Any]]:
    """`sum` and `rows` evaluate a call and answer a status; `abandon` forgets a sum that was stopped.

    A loss that never ends is left where a signal's handler raises.
    """
    header, call = "burlab/run/abi/sum.hpp", ctypes.POINTER(SumCall)
    found = exports(header, "burlab::run", {"abandon": (None, call)})
    for name in ("sum", "rows"):
        function = interruptible(header, "burlab::run::SumCall* call", f"burlab::run::{name}(call)", [call])
        found[name] = partial(function, None)
    return found
