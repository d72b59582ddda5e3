"""C++ functions that may run for ever, as Python callables that a signal interrupts.

A kernel with a loop in it checks now and then whether to stop (`cpp/burlab/stop_token.hpp`). Called from here it stops
where the handler of a signal raises, as that of Ctrl-C does, and then the call raises that exception.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from .cling import address, declare


def interruptible(header: str, parameters: str, expression: str, types: Sequence[Any]) -> Callable[..., int]:
    """A C++ expression as a function of a flag and its parameters; other Python threads run meanwhile.

    parameters: declared in C++, of the ctypes `types`. The flag, an address of a byte or None, stops it from another
    thread: Python handles signals on its main thread only.
    """
    unit = declare(
        f'extern "C" std::int64_t @unit_run(const std::atomic<bool>* flag, {parameters}) {{\n'
        f"  return burlab::python::interruptible(flag, [&]() -> std::int64_t {{ return {expression}; }});\n}}",
        (header, "burlab/python/signals.hpp"),
        name="interruptible",
    )
    # PYFUNCTYPE: after the call it looks for an exception that was set during it.
    kind = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *types)
    return kind(address(f"{unit}_run"))
