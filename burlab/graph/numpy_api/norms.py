"""np.linalg.norm of vectors and matrices, of every order that needs no singular values.

Convention: the derivative of a norm at 0 is 0 (`roots.py`).
"""

import math

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.faults import fault
from burlab.graph.node import FUNCTIONS, Node, as_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.typing import ArrayLike, Axis

from .arguments import normal_axes, real
from .elementwise import cube, power, square, where
from .extremes import extreme
from .promotion import as_dtype
from .reduction import as_floats, sum_
from .roots import length, root


def norm(x: ArrayLike, ord: float | str | None = None, axis: Axis = None, keepdims: bool = False) -> Node:  # noqa: A002 - NumPy's own word
    """np.linalg.norm for vectors (2, 1, inf, -inf, 0, any p) and the Frobenius norm; its derivative at 0 is 0."""
    a = as_floats(as_node(x))
    axes = normal_axes(axis, a.ndim)
    if ord == "fro" or (ord is None) or (ord == 2 and len(axes) == 1):
        if ord == "fro" and len(axes) != 2:
            raise ArgumentError(
                f"{location()}the Frobenius norm needs two axes, got {len(axes)}. Leave ord out for the 2-norm."
            )
        return length(sum_(square(a), axes, keepdims=keepdims), a, axes)
    if len(axes) != 1:
        raise fault(
            f"np.linalg.norm(ord={shown(ord)}) of a traced matrix", "the default ord, or axis= for norms of vectors"
        )
    size = abs(a)
    if ord in (math.inf, -math.inf):
        return extreme("reduce_max" if ord > 0 else "reduce_min", size, axes, keepdims)
    if ord == 0:
        return sum_(as_dtype(a != 0.0, a.dtype), axes, keepdims=keepdims)
    if ord == 1:
        return sum_(size, axes, keepdims=keepdims)
    order = real(ord, "ord of a norm")
    if order > 1:
        powers = cube(size) if order == 3 else power(size, order)
        return root(sum_(powers, axes, keepdims=keepdims), order)
    return _safe_power(sum_(_safe_power(size, order), axes, keepdims=keepdims), 1.0 / order)


def _safe_power(x: Node, exponent: float) -> Node:
    zero = x == 0.0
    return where(zero, 0.0 if exponent > 0 else math.inf, power(where(zero, 1.0, x), exponent))


FUNCTIONS[np.linalg.norm] = norm
