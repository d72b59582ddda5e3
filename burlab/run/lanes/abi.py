"""The C++ struct of `cpp/burlab/run/lanes/lanes.hpp`, field by field, and the functions that take it.

A test compares sizes and offsets with the compiler's.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from burlab.problems.kernels.abi import CKernel
from burlab.runtime.exports import exports

_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p


class CLanes(ctypes.Structure):
    """Steps of several runs at once."""

    _fields_ = (
        ("kernel", CKernel),
        ("hypers", _INT),
        ("columns", _INT),
        ("numbers", _INT),
        ("points", _INT),
        ("most", _INT),
        ("done", _INT),
        ("hyper", _POINTER),
        ("taken", _POINTER),
        ("states", _POINTER),
        ("least", _POINTER),
        ("record", _POINTER),
        ("in_", _POINTER),
        ("out", _POINTER),
        ("workspace", _POINTER),
    )


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
