"""Kernels and outcomes as C++ takes them, and the functions of `cpp/burlab/run/abi/sum.hpp`."""

import ctypes
import enum
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from burlab.compiler.executable import Executable
from burlab.runtime.cling import address, declare
from burlab.runtime.exports import exports
from burlab.runtime.interruptible import interruptible
from burlab.runtime.status import joined
from burlab.runtime.structs import CKernel, COutcome, CSumCall


class Part(enum.IntEnum):
    """The part of a loss or of a step that failed."""

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
    FINISH = 13
    ROW = 14


VALIDATION, FULL_GRADIENT = -2, -3
"""The owner of a loss that is the validation's, or the full gradient's; a query's is its number."""


def kernel_of(executable: Executable) -> CKernel:
    """Return an executable, which must outlive it, as C++ calls it."""
    return CKernel(executable.address, executable.context, executable.workspace_bytes)


def answer_of(outcome: COutcome) -> int:
    """Return the answer of the kernel that failed, as `Executable.error` takes it."""
    return joined(outcome.status, outcome.node)


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
    header, call = "burlab/run/abi/sum.hpp", ctypes.POINTER(CSumCall)
    found = exports(header, "burlab::run", {"abandon": (None, call)})
    for name in ("sum", "rows"):
        function = interruptible(header, "burlab::run::SumCall* call", f"burlab::run::{name}(call)", [call])
        found[name] = partial(function, None)
    return found
