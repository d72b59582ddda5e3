"""The threads of OpenBLAS, which stand still while somebody asks for it (`cpp/burlab/blas_threads.hpp`)."""

import ctypes
import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import TracebackType
from typing import Any, Self

from .exports import exports

MODULES = ("scipy.linalg.cython_lapack", "numpy.linalg._umath_linalg")
"""Modules that bring the OpenBLAS of SciPy, and that of NumPy."""


class OneBlasThread:
    """NumPy's and SciPy's OpenBLAS compute on the threads of their callers inside of `with`; nothing else changes them.

    >>> with OneBlasThread() as one:
    ...     one.outside(abs)(-1.0)
    1.0
    """

    def __enter__(self) -> Self:
        connect()["hold_blas"]()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        connect()["release_blas"]()

    def outside(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that is called as if it were called outside of `with`."""
        calls = connect()

        def call(*args: Any) -> Any:
            calls["release_blas"]()
            try:
                return function(*args)
            finally:
                calls["hold_blas"]()

        return call


@cache
def connect() -> dict[str, Callable[..., Any]]:
    """Give the addresses to C++, at the first call; return what sets the number of threads to 1, and what frees it."""
    void = (None,)
    calls = exports(
        "burlab/blas_threads.hpp",
        "burlab",
        {"connect_blas": (None, *[ctypes.c_void_p] * 2), "hold_blas": void, "release_blas": void, "free_blas": void},
    )
    calls["connect_blas"](*map(setter, MODULES))
    os.register_at_fork(after_in_child=calls["free_blas"])
    return calls


def setter(module: str) -> int | None:
    """Return the address of what sets the number of threads of the OpenBLAS of a module; None for another BLAS."""
    try:
        library = ctypes.CDLL(import_module(module).__file__)
        return ctypes.cast(library.openblas_set_num_threads_local, ctypes.c_void_p).value
    except (AttributeError, ImportError, OSError):
        return None
