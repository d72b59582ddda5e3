"""Conversion to float16, which no graph has: the numbers are those of the dtype, and stand in float32."""

import numpy as np

from burlab.graph.linear_nodes import convert
from burlab.graph.node import UFUNCS, Node
from burlab.graph.operation import make_node

from .elementwise import maximum, rint, where
from .promotion import FLOAT64, as_dtype

_DIGITS, _MIN_EXPONENT, _BEYOND = (
    11,
    -13,
    65520.0,
)  # of float16: binary digits, exponent of the least normal, first infinity


def as_half(x: Node) -> Node:
    """To the nearest number of float16, the even one of two; the derivative is that of x, as JAX has it."""
    x = x if x.dtype.kind == "f" else as_dtype(x, FLOAT64)
    known = make_node("stop_gradient", None, x)
    size = abs(known)
    small = where(size < _BEYOND, known, 0.0)
    exponent = UFUNCS["frexp"](small)[1]
    lowest = maximum(exponent, _MIN_EXPONENT) - _DIGITS
    near = UFUNCS["ldexp"](rint(UFUNCS["ldexp"](small, -lowest)), lowest)
    infinite = UFUNCS["copysign"](np.inf, known)
    value = where(size >= _BEYOND, infinite, near)
    value = where(UFUNCS["isnan"](known), known, value)
    return convert(make_node("surrogate", None, value, x), np.dtype(np.float32))
