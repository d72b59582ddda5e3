"""The C++ struct of `cpp/burlab/run/lanes/lanes.hpp`, field by field, and the functions that take it.

A test compares sizes and offsets with the compiler's.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from burlab.runtime.exports import exports
from burlab.runtime.structs import CLanes

_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p


@cache
def lane_exports() -> dict[str, Callable[..., Any]]:
    """The functions of `abi/lanes.hpp`, by name."""
    lanes = ctypes.POINTER(CLanes)
    return exports(
        "burlab/run/abi/lanes.hpp",
        "burlab::run",
        {
            "lanes_step": (_INT, lanes, _POINTER, _INT, _INT, ctypes.c_double),
        },
    )
