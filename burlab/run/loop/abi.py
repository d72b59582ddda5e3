"""The C++ structs of `cpp/burlab/run/abi/{plan,loop}.hpp`, field by field, and the functions that take them.

A test compares sizes and offsets with the compiler's.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from burlab.problems.kernels.abi import CKernel, CLoss, Outcome, Summand
from burlab.problems.sampling import Stream
from burlab.run.record.breakpoints import CBreakpoint
from burlab.run.record.stop import Criteria
from burlab.runtime.exports import exports

_INT, _POINTER, _NUMBER = ctypes.c_int64, ctypes.c_void_p, ctypes.c_double


class CValidation(ctypes.Structure):
    """A second problem, or the full gradient."""

    _fields_ = (("loss", CLoss), ("stream", Stream), ("threads", _INT), ("every", _INT), ("dimension", _INT))


class Piece(ctypes.Structure):
    """A window of a buffer."""

    _fields_ = (("buffer", _INT), ("offset", _INT))


class Fused(ctypes.Structure):
    """A step as one kernel."""

    _fields_ = (("kernel", CKernel), ("pieces", _INT), ("table", _POINTER))


class CRowBuffer(ctypes.Structure):
    """A buffer of which a step writes some rows."""

    _fields_ = (("buffer", _INT), ("row", _INT), ("rows", _INT))


class Plan(ctypes.Structure):
    """All that a run consists of."""

    _fields_ = (
        ("loss", CLoss),
        ("each", Summand),
        ("stream", Stream),
        ("size", CKernel),
        ("sampler", CKernel),
        ("threads", _INT),
        ("wide", _INT),
        ("dimension", _INT),
        ("leaves", _INT),
        ("places", _POINTER),
        ("gradient", _INT),
        ("metrics", _INT),
        ("measured", _INT),
        ("validation", ctypes.POINTER(CValidation)),
        ("full", ctypes.POINTER(CValidation)),
        ("update", CKernel),
        ("output", CKernel),
        ("fused", Fused),
        ("chunk", _INT),
        ("row_buffers", _INT),
        ("row_buffer", _POINTER),
        ("counters", _INT),
        ("totals", _INT),
        ("spent", _POINTER),
        ("queries", _POINTER),
        ("hypers", _INT),
        ("buffers", _INT),
        ("hyper", _POINTER),
        ("noted", _INT),
        ("logs_value", _INT),
        ("start", _POINTER),
        ("bytes", _POINTER),
        ("history_bytes", _INT),
        ("keyframe_bytes", _INT),
        ("feed_rows", _INT),
        ("criteria", Criteria),
    )


class CView(ctypes.Structure):
    """What the loop is doing."""

    _fields_ = (
        ("step", _INT),
        ("length", _INT),
        ("rests", _INT),
        ("reason", _INT),
        ("outcome", Outcome),
        ("elapsed", _NUMBER),
        ("value", _NUMBER),
        ("norm", _NUMBER),
        ("breakpoint", _INT),
    )


class FeedView(ctypes.Structure):
    """What is in a feed."""

    _fields_ = (("taken", _INT), ("head", _INT), ("generation", _INT))


class Event(ctypes.Structure):
    """A change of a hyperparameter."""

    _fields_ = (("step", _INT), ("hyper", _INT), ("value", _NUMBER))


@cache
def loop_exports() -> dict[str, Callable[..., Any]]:
    """The functions of `abi/loop.hpp`, by name."""
    loop, plan = _POINTER, ctypes.POINTER(Plan)
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
            "loop_feed": (None, loop, ctypes.POINTER(FeedView)),
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
            "loop_give": (_INT, loop, _POINTER, ctypes.POINTER(Outcome), _INT),
            "loop_measure": (_INT, loop, ctypes.POINTER(_NUMBER), _INT),
            "loop_record": (_POINTER, loop),
            "loop_path": (_POINTER, loop),
            "loop_traces": (_POINTER, loop),
            "loop_ledger": (_POINTER, loop),
            "loop_events": (_INT, loop, _INT, _INT, ctypes.POINTER(Event)),
        },
    )


@cache
def fork_exports() -> dict[str, Callable[..., Any]]:
    """The functions of `abi/fork.hpp`, by name."""
    loop, plan, back = _POINTER, ctypes.POINTER(Plan), ctypes.POINTER(_POINTER)
    return exports(
        "burlab/run/abi/fork.hpp",
        "burlab::run",
        {
            "loop_fork": (_INT, loop, plan, back, _INT),
            "loop_branch": (_INT, loop, plan, _INT, _NUMBER, back, _INT),
        },
    )
