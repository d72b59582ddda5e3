"""Compile the eager gear: the one place of this layer that talks to the C++ compiler."""

import ctypes
import threading
from collections.abc import Callable
from contextvars import ContextVar, Token
from numbers import Real
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import ArgumentError, DTypeError, TapeError
from burlab.runtime import address, declare
from burlab.runtime.once import once

# The tape that the innermost `with Tape()` block has put in force; None for the default tape of the thread.
entered_tape: ContextVar[Any] = ContextVar("burlab tape", default=None)

# NumPy's name of an operation, where it is not ours.
_UFUNC_NAMES = {"sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative", "abs": "absolute"}


class Types(NamedTuple):
    """Types of every session with Values, and each operation of the table as a function of Values."""

    Value: Any
    Tape: Any
    operations: dict[str, Any]
    entered: int  # the address of a C++ bool: whether a tape was ever entered, and must be asked for


@once
def types() -> Types:
    """The types, compiled by the first call (0.25 s)."""
    ufunc_codes: dict[np.ufunc, int] = {}
    unit = declare(
        'extern "C" PyObject* @unit_types(PyObject* given) { return burlab::eager::make_types(given); }',
        ("burlab/python/value_type.hpp",),
    )
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(address(f"{unit}_types"))
    errors = (TapeError, ArgumentError, DTypeError)
    numbers = (np.floating, np.integer, np.bool_, Real)
    found = Types(*make((*errors, entered_tape, _default_tape, numbers, ufunc_codes, _answer, tools)))
    for name, operation in found.operations.items():
        ufunc = getattr(np, _UFUNC_NAMES.get(name, name), None)
        if isinstance(ufunc, np.ufunc):
            ufunc_codes[ufunc] = operation.code
    return found


@once
def tools() -> SimpleNamespace:
    """Return rarer functions, compiled by the first call (0.15 s): rare operations, labels, sequences, replay."""
    unit = declare(
        'extern "C" PyObject* @unit_tools() { return burlab::eager::make_tools<double>(); }',
        ("burlab/python/tools.hpp",),
    )
    return SimpleNamespace(**ctypes.PYFUNCTYPE(ctypes.py_object)(address(f"{unit}_tools"))())


@once
def float_tools() -> SimpleNamespace:
    """Return the same functions for float32 tapes, and `make_float`, compiled by the first call."""
    tools()  # the operations of float64 belong to everyone
    unit = declare(
        'extern "C" PyObject* @unit_tools() { return burlab::eager::make_float_tools(); }',
        ("burlab/python/float_tape.hpp",),
    )
    return SimpleNamespace(**ctypes.PYFUNCTYPE(ctypes.py_object)(address(f"{unit}_tools"))())


def tools_of(tape: Any) -> SimpleNamespace:
    """Return the functions for the numbers of a tape."""
    return float_tools() if tape.dtype == np.float32 else tools()


def enter(tape: Any) -> Token[Any]:
    """Put a tape in force; the token takes it out of force."""
    ctypes.c_bool.from_address(types().entered).value = True
    return entered_tape.set(tape)


def current_tape() -> Any:
    """The tape in force: that of the innermost `with` block, else the default tape of this thread."""
    entered = entered_tape.get()
    return _default_tape() if entered is None else entered


# What compiled code calls back, by name. It is built on the compiled types, so `value`, at the top of the layer, puts
# it here: an import from here would be a circle.
CALLBACKS: dict[str, Callable[..., Any]] = {}
_of_thread = threading.local()


def _default_tape() -> Any:
    if not hasattr(_of_thread, "tape"):
        _of_thread.tape = CALLBACKS["default_tape"]()
    return _of_thread.tape


def _answer(*arguments: Any, **keywords: Any) -> Any:
    return CALLBACKS["answer"](*arguments, **keywords)
