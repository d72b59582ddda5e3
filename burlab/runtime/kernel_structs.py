"""C++ structs of `cpp/burlab/kernels/` that Python shares, as ctypes. `make pages` writes them from the headers.

Names are those of C++ (`CBlock` is `Block`, `in_` is `in`), where comments explain the fields. Pointers are addresses.
"""

import ctypes
from typing import Any

_INT, _POINTER = ctypes.c_int64, ctypes.c_void_p


def _of(kind: type[Any], names: str) -> list[tuple[str, Any]]:
    return [(name, kind) for name in names.split()]


class CTimed(ctypes.Structure):
    """burlab::kernels::Timed, burlab/kernels/clock.hpp."""

    _fields_ = [*_of(_POINTER, "function context clock")]


class CQuestion(ctypes.Structure):
    """burlab::kernels::Question, burlab/kernels/oracle_query.hpp."""

    _fields_ = [
        *_of(_INT, "query"),
        *_of(_POINTER, "about"),
        *_of(_INT, "numbers"),
        *_of(_POINTER, "chosen"),
        *_of(_INT, "count"),
    ]


class CPoisoned(ctypes.Structure):
    """burlab::kernels::Poisoned, burlab/kernels/poison.hpp."""

    _fields_ = [
        *_of(_POINTER, "function context"),
        *_of(_INT, "workspace inputs outputs"),
        *_of(_POINTER, "in_bytes out_bytes"),
    ]


class COperand(ctypes.Structure):
    """burlab::kernels::Operand, burlab/kernels/replay/program.hpp."""

    _fields_ = [*_of(ctypes.c_int32, "table index"), *_of(_INT, "offset")]


class CRecord(ctypes.Structure):
    """burlab::kernels::Record, burlab/kernels/replay/program.hpp."""

    _fields_ = [*_of(_POINTER, "kernel descriptor box"), *_of(_INT, "first count node results table")]


class CProgram(ctypes.Structure):
    """burlab::kernels::Program, burlab/kernels/replay/program.hpp."""

    _fields_ = [*_of(_POINTER, "records operands constants"), *_of(_INT, "length"), *_of(_POINTER, "clock")]


class CGroup(ctypes.Structure):
    """burlab::kernels::Group, burlab/kernels/replay/segment.hpp."""

    _fields_ = [*_of(_POINTER, "interpreter end")]


class CSegment(ctypes.Structure):
    """burlab::kernels::Segment, burlab/kernels/replay/segment.hpp."""

    _fields_ = [*_of(_POINTER, "groups code"), *_of(_INT, "length")]


class CInstruction(ctypes.Structure):
    """burlab::kernels::Instruction, burlab/kernels/replay/threaded.hpp."""

    _fields_ = [*_of(_POINTER, "code"), *_of(ctypes.c_uint32, "result x y z")]


class CCall(ctypes.Structure):
    """burlab::kernels::Call, burlab/kernels/replay/threaded.hpp."""

    _fields_ = [*_of(_POINTER, "interpreter begin end")]


class CMappedRows(ctypes.Structure):
    """burlab::kernels::MappedRows, burlab/kernels/rows.hpp."""

    _fields_ = [
        *_of(_POINTER, "run context"),
        *_of(_INT, "inputs outputs"),
        *_of(_POINTER, "in_ in_steps out out_steps"),
    ]
