"""Conversions to dtypes that no graph has: the numbers are those of the dtype, and stand in a wider one."""

import numpy as np

from burlab.graph.linear import convert
from burlab.graph.node import UFUNCS, Node
from burlab.graph.operation import made

from .promotion import FLOAT64, INT64, apply, as_dtype

_DIGITS, _LEAST, _BEYOND = 11, -13, 65520.0  # of float16: binary digits, exponent of the least normal, first infinity
NARROW = frozenset({"float16", "int8", "int16", "uint8", "uint16", "uint32", "uint64"})


def as_narrow(x: Node, dtype: "np.dtype[np.generic]") -> Node:
    """x rounded to float16, in float32; or what small integers keep of it, in int64. uint64 is a dtype of graphs."""
    if dtype.kind == "f":
        return _rounded(x if x.dtype.kind == "f" else as_dtype(x, FLOAT64))
    if dtype.itemsize == 8:
        return as_dtype(as_dtype(x, INT64) if x.dtype.kind == "b" else x, dtype)
    whole, count = as_dtype(x, INT64), 1 << 8 * dtype.itemsize
    if dtype.kind == "u":
        return apply("bitwise_and", whole, count - 1)
    return apply("sub", apply("bitwise_and", apply("add", whole, count // 2), count - 1), count // 2)


def _rounded(x: Node) -> Node:
    """To the nearest number of float16, the even one of two; the derivative is that of x, as JAX has it."""
    known = made("stop_gradient", None, x)
    size = apply("abs", known)
    small = apply("where", apply("less", size, _BEYOND), known, 0.0)
    exponent = UFUNCS["frexp"](small)[1]
    lowest = apply("sub", apply("maximum", exponent, _LEAST), _DIGITS)
    near = UFUNCS["ldexp"](apply("rint", UFUNCS["ldexp"](small, apply("neg", lowest))), lowest)
    infinite = UFUNCS["copysign"](np.inf, known)
    value = apply("where", apply("greater_equal", size, _BEYOND), infinite, near)
    value = apply("where", UFUNCS["isnan"](known), known, value)
    return convert(made("surrogate", None, value, x), np.dtype(np.float32))
