"""Ufuncs of scipy.special as calls of a kernel, which runs SciPy's own loop: its address stands in the descriptor.

NumPy documents the memory of a ufunc: the struct `PyUFuncObject` of its C API. What is read there is compared with what
the ufunc says of itself.
"""

import ctypes
import struct
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from burlab.compiler.ir.library import kernel
from burlab.compiler.ir.plan import KernelCall
from burlab.compiler.ir.strides import StridedView
from burlab.errors import CompileError
from burlab.graph import Node
from burlab.graph.special_ufuncs import loop_of, ufunc_of

from .descriptors import UfuncLoop


class _Held(NamedTuple):
    """Fields of NumPy's struct behind the head that all objects have, in its order."""

    nin: int
    nout: int
    nargs: int
    identity: int
    functions: int
    data: int
    ntypes: int
    reserved: int
    name: int
    types: int


_LAYOUT = struct.Struct("iiiiPPiiPP")


def special(n: Node, views: dict[Node, StridedView]) -> list[KernelCall]:
    """The call of the kernel for a node."""
    loop = loop_of(n.params)
    parts = [np.dtype(code).itemsize for code in loop.results]
    starts = [sum(parts[:k]) for k in range(len(parts))]
    steps = [np.dtype(code).itemsize for code in loop.arguments]
    size = n.inputs[0].size // (steps[0] // n.inputs[0].itemsize)
    sizes = UfuncLoop(size, *_address(*n.params), len(steps), len(parts))
    operands = tuple((views[x].base, views[x].offset) for x in n.inputs)
    made = kernel("special", "Special", "special")
    return [KernelCall(made, (*sizes, *steps, sum(parts), *starts), operands, may_fail=True)]


@cache
def _address(name: str, types: str) -> tuple[int, int]:
    """Return the address of a loop, and of what NumPy passes on to it."""
    ufunc = ufunc_of(name)
    held = _Held._make(_LAYOUT.unpack(ctypes.string_at(id(ufunc) + object.__basicsize__, _LAYOUT.size)))
    if not _is_as_stated(held, ufunc):
        raise CompileError(
            f"the loops of scipy.special.{name} are not where NumPy's C API has them: NumPy {np.__version__} keeps "
            "them in another way. Call the function outside of traced code, or use another version of NumPy."
        )
    place = [*map(str, ufunc.types)].index(types)
    return _pointer(held.functions, place), _pointer(held.data, place) if held.data else 0


def _pointer(array: int, place: int) -> int:
    """Return a pointer of an array of such, 0 for none."""
    return ctypes.c_void_p.from_address(array + place * ctypes.sizeof(ctypes.c_void_p)).value or 0


def _is_as_stated(held: _Held, ufunc: np.ufunc) -> bool:
    numbers = (held.nin, held.nout, held.nargs, held.ntypes)
    if numbers != (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes):
        return False  # the addresses, which are read next, may be anything
    if ctypes.string_at(held.name) != ufunc.__name__.encode():
        return False
    codes = ctypes.string_at(held.types, ufunc.nargs * ufunc.ntypes)
    return _numbers(ufunc.types) == list(codes)


def _numbers(types: Sequence[str]) -> list[int]:
    return [np.dtype(code).num for row in types for code in row.replace("->", "")]
