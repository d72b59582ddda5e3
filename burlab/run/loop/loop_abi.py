"""The C++ structs of `cpp/burlab/run/abi/{plan,loop}.hpp`, field by field, and the functions that take them.

A test compares sizes and offsets with the compiler's.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from burlab.runtime.exports import exports
from burlab.runtime.structs import CBreakpoint, CEvent, CFeedView, COutcome, CPlan, CView

_INT, _POINTER, _NUMBER = ctypes.c_int64, ctypes.c_void_p, ctypes.c_double


@cache
def loop_exports() -> dict[str, Callable[..., Any]]:
    """The functions of `abi/loop.hpp`, by name."""
    loop, plan = _POINTER, ctypes.POINTER(CPlan)
    return exports(
        "burlab/run/abi/loop.hpp",
        "burlab::run",
        {
            "loop_open": (None, plan, ctypes.POINTER(loop)),
            "loop_quit": (None, loop),
            "loop_ended": (_INT, loop, _INT),
            "loop_stop": (None, loop),
            "loop_close": (None, ctypes.POINTER(loop)),
            "loop_aim": (None, loop, _INT),
            "loop_pause": (None, loop),
            "loop_seek": (None, loop, _INT),
            "loop_fed": (_INT, loop, _INT),
            "loop_feed": (None, loop, ctypes.POINTER(CFeedView)),
            "loop_feed_copy": (None, loop, _INT, _INT, _INT, _POINTER),
            "loop_feed_take": (None, loop, _INT, _INT, _INT, _INT),
            "loop_feed_open": (_INT, loop, _INT, _INT),
            "loop_arm": (_INT, loop, ctypes.POINTER(CBreakpoint), _INT),
            "loop_set": (_INT, loop, _INT, _NUMBER),
            "loop_hyper": (_NUMBER, loop, _INT),
            "loop_view": (None, loop, ctypes.POINTER(CView)),
            "loop_rests": (_INT, loop, _INT),
            "loop_settles": (_INT, loop, _INT),
            "loop_read": (_INT, loop, _INT, _POINTER, _INT),
            "loop_give": (_INT, loop, _POINTER, ctypes.POINTER(COutcome), _INT),
            "loop_measure": (_INT, loop, ctypes.POINTER(_NUMBER), _INT),
            "loop_record": (_POINTER, loop),
            "loop_path": (_POINTER, loop),
            "loop_traces": (_POINTER, loop),
            "loop_ledger": (_POINTER, loop),
            "loop_events": (_INT, loop, _INT, _INT, ctypes.POINTER(CEvent)),
        },
    )


@cache
def fork_exports() -> dict[str, Callable[..., Any]]:
    """The functions of `abi/fork.hpp`, by name."""
    loop, plan, back = _POINTER, ctypes.POINTER(CPlan), ctypes.POINTER(_POINTER)
    return exports(
        "burlab/run/abi/fork.hpp",
        "burlab::run",
        {
            "loop_fork": (_INT, loop, plan, back, _INT),
            "loop_branch": (_INT, loop, plan, _INT, _NUMBER, back, _INT),
        },
    )
