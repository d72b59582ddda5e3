"""Linear algebra as calls of kernels: each takes dense matrices, one behind the other.

Matrices that are not small go to the LAPACK that SciPy carries, whose routines' addresses are given to C++ once. SciPy
offers them for Cython, as capsules that hold the address of a C function and are named by its signature. With a SciPy
whose integers are not C's int, our own loops serve every size.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from burlab.compiler.ir.library import kernel
from burlab.compiler.ir.plan import KernelCall
from burlab.compiler.ir.spelling import C_TYPES, NAMES
from burlab.compiler.ir.strides import StridedView, elements
from burlab.errors import CompileError
from burlab.graph import Node
from burlab.runtime import blas_threads
from burlab.runtime.exports import exports

from .descriptors import Eigenvalues, Matrices

Views = dict[Node, StridedView]
Rule = Callable[[Node, Views], list[KernelCall]]
ROUTINES = {
    "getrf": "cython_lapack",
    "potrf": "cython_lapack",
    "trsm": "cython_blas",
    "gemm": "cython_blas",
    "geqrf": "cython_lapack",
    "orgqr": "cython_lapack",
    "syevd": "cython_lapack",
    "gesdd": "cython_lapack",
}
"""In the order of the struct `Lapack` of kernels/linalg/lapack.hpp, and the module of `scipy.linalg` that has them."""
_HEADER = "burlab/kernels/linalg/lapack.hpp"


def _task(struct: str, header: str, n: Node, views: Views, matrices: Matrices, *operands: Node) -> KernelCall:
    connect()
    made = kernel(f"{n.op}_{NAMES[n.dtype]}", f"{struct}<{C_TYPES[n.dtype]}>", f"linalg/{header}")
    return KernelCall(made, matrices, tuple((views[x].base, views[x].offset) for x in operands), may_fail=True)


def _sizes(x: Node, option: int) -> Matrices:
    return Matrices(elements(x.shape[:-2]), x.shape[-2], x.shape[-1], option)


def _factored(struct: str, header: str) -> Rule:
    """A kernel that takes one array of matrices; its option is the parameter of the node, if that is a flag."""

    def rule(n: Node, views: Views) -> list[KernelCall]:
        (a,) = n.inputs
        return [_task(struct, header, n, views, _sizes(a, int(n.params or 0)), a)]

    return rule


def _lu_solve(n: Node, views: Views) -> list[KernelCall]:
    b, _, factors = n.inputs
    return [_task("LuSolve", "lu", n, views, _sizes(b, int(n.params)), b, factors)]


def _solve_triangular(n: Node, views: Views) -> list[KernelCall]:
    b, a = n.inputs
    lower, transposed, unit = n.params
    sizes = _sizes(b, lower + 2 * transposed + 4 * unit)
    return [_task("SolveTriangular", "triangular", n, views, sizes, b, a)]


def _eig(n: Node, views: Views) -> list[KernelCall]:
    (a,) = n.inputs
    vectors, is_complex = n.params
    matrix = a.shape[:-1] if is_complex else a.shape
    letter = ("c" if a.itemsize == 4 else "z") if is_complex else ("s" if a.itemsize == 4 else "d")
    if (routine := address_of(f"{letter}geev", "cython_lapack")) is None:
        raise CompileError(
            "eigenvalues of matrices that are not symmetric are computed by SciPy's LAPACK, and that of this SciPy has "
            "integers of another size than C's int. Install SciPy's own wheel: pip install scipy."
        )
    blas_threads.connect()
    sizes = Eigenvalues(elements(matrix[:-2]), matrix[-2], matrix[-1], int(vectors), routine)
    name = f"eig_{'complex_' * is_complex}{NAMES[n.dtype]}"
    made = kernel(name, f"Eig<{C_TYPES[n.dtype]}, {str(is_complex).lower()}>", "linalg/eig")
    return [KernelCall(made, sizes, ((views[a].base, views[a].offset),), may_fail=True)]


KERNELS: dict[str, Rule] = {
    "lu": _factored("Lu", "lu"),
    "lu_solve": _lu_solve,
    "solve_triangular": _solve_triangular,
    "cholesky": _factored("Cholesky", "cholesky"),
    "eigh": _factored("Eigh", "eigh"),
    "eig": _eig,
    "svd": _factored("Svd", "svd"),
    "qr": _factored("Qr", "qr"),
    "expm": _factored("Expm", "expm"),
}


@cache
def connect() -> None:
    """Write the addresses into the process, at the first call."""
    blas_threads.connect()
    addresses = [address_of(prefix + name, module) for prefix in "sd" for name, module in ROUTINES.items()]
    table = (ctypes.c_void_p * len(addresses))(*addresses)
    exports(_HEADER, "burlab::kernels", {"connect_lapack": (None, ctypes.c_void_p)})["connect_lapack"](table)


def address_of(name: str, module: str) -> int | None:
    """Return the address of a routine, None if its integers are not C's int. module: the one of `scipy.linalg`."""
    capsule: Any = import_module(f"scipy.linalg.{module}").__pyx_capi__[name]
    signature = _NAME_OF(capsule)
    return _POINTER_OF(capsule, signature) if b"int *" in signature else None


_NAME_OF = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_POINTER_OF = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
