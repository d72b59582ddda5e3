"""The LAPACK that SciPy carries, for matrices that are not small: its routines' addresses, given to C++ once.

SciPy offers them for Cython, as capsules that hold the address of a C function and are named by its signature. Without
SciPy, or with one whose integers are not C's int, our own loops serve every size.
"""

import ctypes
from functools import cache
from importlib import import_module
from typing import Any

from burlab.runtime.exports import exports

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


@cache
def connect() -> None:
    """Write the addresses into the process, at the first call."""
    addresses = [_address(module, prefix + name) for prefix in "sd" for name, module in ROUTINES.items()]
    if any(addresses):
        addresses.append(_threads())
        table = (ctypes.c_void_p * len(addresses))(*addresses)
        exports(_HEADER, "burlab::kernels", {"connect_lapack": (None, ctypes.c_void_p)})["connect_lapack"](table)


def _address(module: str, name: str) -> int | None:
    try:
        capsules: Any = import_module(f"scipy.linalg.{module}")
        capsule: Any = capsules.__pyx_capi__[name]
    except (ImportError, AttributeError, KeyError):
        return None
    signature = _NAME_OF(capsule)
    return _POINTER_OF(capsule, signature) if b"int *" in signature else None


def _threads() -> int | None:
    """Return the function that sets the number of threads of the OpenBLAS below SciPy, if it is one."""
    try:
        library = ctypes.CDLL(import_module("scipy.linalg.cython_lapack").__file__)
        return ctypes.cast(library.openblas_set_num_threads_local, ctypes.c_void_p).value
    except (ImportError, AttributeError, OSError):
        return None


_NAME_OF = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_POINTER_OF = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
