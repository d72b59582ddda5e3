"""Integers of every dtype at the ends of their ranges, and what NumPy makes of them."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import BurlabError
from burlab.graph import rare  # noqa: F401 - its modules fill the tables
from burlab.graph.node import UFUNCS
from burlab.runtime.dtypes import computed_in

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
DTYPES = (*SIGNED, *UNSIGNED, "bool")
REFUSALS = TypeError, OverflowError, ValueError

OPERATORS: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift lt le gt ge eq ne".split()
}
OPERATORS["divmod"] = divmod
UNARY_OPERATORS: dict[str, Callable[..., Any]] = {
    "neg": operator.neg, "pos": operator.pos, "abs": abs, "invert": operator.invert, "round": round,
}  # fmt: skip


def ufuncs(arity: int) -> dict[str, Callable[..., Any]]:
    """The ufuncs of NumPy that burlab has, with so many arguments."""
    found = {name: getattr(np, name) for name in sorted(UFUNCS) if isinstance(getattr(np, name, None), np.ufunc)}
    return {name: f for name, f in found.items() if f.nin == arity and f.signature is None}


def edges(dtype: str) -> "np.ndarray[Any, Any]":
    """Where arithmetic of a dtype goes wrong: the ends of its range, around 0, and around its number of bits."""
    if dtype == "bool":
        return np.array([False, True])
    limits, bits = np.iinfo(dtype), np.iinfo(dtype).bits
    numbers = {limits.min, limits.min + 1, -bits, -2, -1, 0, 1, 2, 3, 7, bits - 1, bits, bits + 1, 100}
    numbers |= {limits.max - 1, limits.max, limits.max // 2 + 1}
    return np.array(sorted(n for n in numbers if limits.min <= n <= limits.max), dtype)


def answer(f: Callable[..., Any], *args: Any) -> Any:
    """Return a function's results as a tuple of arrays; None where it raises."""
    try:
        with np.errstate(all="ignore"):
            result = f(*args)
    except REFUSALS:
        return None
    return result if isinstance(result, tuple) else (result,)


def same(got: Any, wanted: Any) -> bool:
    """Return True if values and dtypes are equal: integers to the bit, floats to rounding; float32 for float16."""
    if got.dtype != computed_in(wanted.dtype) or got.shape != wanted.shape:
        return False
    if wanted.dtype.kind != "f":
        return bool((got == wanted).all())
    rounding = {2: 2e-3, 4: 2e-6, 8: 1e-13}[wanted.dtype.itemsize]
    if wanted.dtype.itemsize == 2:  # beyond float16 there is no number
        wanted = np.where(np.isinf(wanted) & np.isfinite(got), got, wanted)
    return bool(np.allclose(got, wanted, rtol=rounding, atol=rounding * 1e-3, equal_nan=True))


def traceable(f: Callable[..., Any], *args: Any) -> bool:
    """Return True if burlab takes a function of these arguments."""
    from burlab.graph.tracing.trace import trace

    try:
        trace(f, args)
    except BurlabError:
        return False
    return True
