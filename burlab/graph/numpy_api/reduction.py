"""Reductions over axes and what is composed of them: no derivative rule of their own but that of `sum`.

Conventions: norm'(0) = 0 (`roots.py`); entries that tie for a maximum share its derivative equally.
"""

import math
from typing import Any

import numpy as np

from burlab.graph.linear import TOTALS, broadcast, concatenate, cumsum, reshape, slice_, sum_over, transpose
from burlab.graph.node import FUNCTIONS, METHODS, REDUCTIONS, Node, Rule, as_node, constant
from burlab.graph.operation import made
from burlab.graph.origin import fault

from .arguments import NOT_GIVEN, normal_axes, normal_axis, only_defaults
from .promotion import BOOL, FLOAT64, INT64, apply, as_dtype, as_mask
from .roots import root


def _keep(y: Node, x: Node, axes: tuple[int, ...], keepdims: Any) -> Node:
    if keepdims is NOT_GIVEN or not keepdims:
        return y
    return reshape(y, tuple(1 if i in axes else d for i, d in enumerate(x.shape)))


def _dtyped(x: Node, dtype: Any) -> Node:
    return x if dtype is None else as_dtype(x, np.dtype(dtype))


def _floating(x: Node) -> Node:
    return x if x.dtype.kind == "f" else as_dtype(x, FLOAT64)


def sum_(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: Any = False, **kwargs: Any) -> Node:
    """np.sum."""
    only_defaults("np.sum", {"out": out, **kwargs})
    x = _dtyped(as_node(a), dtype)
    axes = normal_axes(axis, x.ndim)
    return _keep(sum_over(x, axes), x, axes, keepdims)


def sum_of_squares(x: Node) -> Node:
    """The squares of all elements added up in float64, whatever the dtype: what norms of a run are made of.

    No function of NumPy's, and without a derivative.
    """
    return made("squares", None, x)


def mean(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: Any = False, **kwargs: Any) -> Node:
    """np.mean."""
    only_defaults("np.mean", {"out": out, **kwargs})
    x = _floating(_dtyped(as_node(a), dtype))
    axes = normal_axes(axis, x.ndim)
    return apply("div", _keep(sum_over(x, axes), x, axes, keepdims), float(_count(x, axes)))


def _count(x: Node, axes: tuple[int, ...]) -> int:
    return math.prod(x.shape[i] for i in axes)


def var(a: Any, axis: Any = None, dtype: Any = None, out: None = None, ddof: float = 0, keepdims: Any = False,
        **kwargs: Any) -> Node:  # fmt: skip
    """np.var: the mean squared distance from the mean, two passes."""
    ddof = kwargs.pop("correction", ddof)
    only_defaults("np.var", {"out": out, **kwargs})
    x = _floating(_dtyped(as_node(a), dtype))
    axes = normal_axes(axis, x.ndim)
    centred = apply("sub", x, mean(x, axes, keepdims=True))
    total = sum_over(apply("square", centred), axes)
    return apply("div", _keep(total, x, axes, keepdims), float(_count(x, axes) - ddof))


def std(*args: Any, **kwargs: Any) -> Node:
    """np.std: the square root of `var`."""
    return apply("sqrt", var(*args, **kwargs))


def extreme(op: str, a: Any, axis: Any = None, keepdims: Any = False) -> Node:
    """The largest or smallest value, by `reduce_max` or `reduce_min`, with the derivative of the tied entries' mean."""
    x = as_node(a)
    axes = normal_axes(axis, x.ndim)
    if _count(x, axes) == 0:
        raise ValueError(f"the {op[7:]} over an axis of size 0 (shape {x.shape}, axis {axis}) does not exist.")
    if not axes:
        return x
    value = made(op, axes, x)
    if x.dtype.kind == "f":
        tied = apply("equal", x, broadcast(value, x.shape, tuple(i for i in range(x.ndim) if i not in axes)))
        share = sum_over(apply("where", tied, x, constant(0.0, x.dtype)), axes)
        count = sum_over(as_dtype(tied, x.dtype), axes)
        value = made("surrogate", None, value, apply("div", share, count))
    return _keep(value, x, axes, keepdims)


def _max(a: Any, axis: Any = None, out: None = None, keepdims: Any = False, **kwargs: Any) -> Node:
    """np.max."""
    only_defaults("np.max", {"out": out, **kwargs})
    return extreme("reduce_max", a, axis, keepdims)


def _min(a: Any, axis: Any = None, out: None = None, keepdims: Any = False, **kwargs: Any) -> Node:
    """np.min."""
    only_defaults("np.min", {"out": out, **kwargs})
    return extreme("reduce_min", a, axis, keepdims)


def _all(a: Any, axis: Any = None, out: None = None, keepdims: Any = False, **kwargs: Any) -> Node:
    """np.all."""
    only_defaults("np.all", {"out": out, **kwargs})
    return _test("reduce_min", a, axis, keepdims, empty=True)


def _any(a: Any, axis: Any = None, out: None = None, keepdims: Any = False, **kwargs: Any) -> Node:
    """np.any."""
    only_defaults("np.any", {"out": out, **kwargs})
    return _test("reduce_max", a, axis, keepdims, empty=False)


def _test(op: str, a: Any, axis: Any, keepdims: Any, empty: bool) -> Node:
    x = as_mask(as_node(a))
    axes = normal_axes(axis, x.ndim)
    if _count(x, axes) == 0:
        shape = tuple(d for i, d in enumerate(x.shape) if i not in axes)
        return _keep(broadcast(constant(empty, BOOL), shape), x, axes, keepdims)
    return extreme(op, x, axes, keepdims)


def prod(a: Any, axis: Any = None, dtype: Any = None, out: None = None, keepdims: Any = False, **kwargs: Any) -> Node:
    """np.prod by halving: no division, so the derivative is right where factors are zero."""
    only_defaults("np.prod", {"out": out, **kwargs})
    x = _dtyped(as_node(a), dtype)
    if x.dtype.kind in "ib":
        x = as_dtype(x, INT64)
    axes = normal_axes(axis, x.ndim)
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    n = _count(x, axes)
    y = reshape(transpose(x, axes + rest), (n, *(x.shape[i] for i in rest)))
    if n == 0:
        return _keep(broadcast(constant(1, x.dtype), y.shape[1:]), x, axes, keepdims)
    while n > 1:
        half = n // 2
        product = apply("mul", _rows(y, 0, half), _rows(y, half, half))
        y = concatenate([product, _rows(y, 2 * half, 1)], 0) if n % 2 else product
        n -= half
    return _keep(reshape(y, y.shape[1:]), x, axes, keepdims)


def _rows(x: Node, start: int, count: int) -> Node:
    return slice_(x, (start, *[0] * (x.ndim - 1)), (1,) * x.ndim, (count, *x.shape[1:]))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Node:  # noqa: A002 - NumPy's own word
    """np.linalg.norm for vectors (2, 1, inf, -inf, 0, any p) and the Frobenius norm; its derivative at 0 is 0."""
    a = _floating(as_node(x))
    axes = normal_axes(axis, a.ndim)
    if ord == "fro" or (ord is None) or (ord == 2 and len(axes) == 1):
        if ord == "fro" and len(axes) != 2:
            raise ValueError(f"the Frobenius norm needs two axes, got {len(axes)}. Leave ord out for the 2-norm.")
        return root(sum_(apply("square", a), axes, keepdims=keepdims))
    if len(axes) != 1:
        raise fault(f"np.linalg.norm(ord={ord!r}) of a traced matrix", "the default ord, or axis= for norms of vectors")
    size = apply("abs", a)
    if ord in (math.inf, -math.inf):
        return extreme("reduce_max" if ord > 0 else "reduce_min", size, axes, keepdims)
    if ord == 0:
        return sum_(as_dtype(apply("not_equal", a, 0.0), a.dtype), axes, keepdims=keepdims)
    if ord == 1:
        return sum_(size, axes, keepdims=keepdims)
    power = float(ord)
    if power > 1:
        return root(sum_(apply("power", size, power), axes, keepdims=keepdims), power)
    return _safe_power(sum_(_safe_power(size, power), axes, keepdims=keepdims), 1.0 / power)


def _safe_power(x: Node, exponent: float) -> Node:
    zero = apply("equal", x, 0.0)
    return apply(
        "where", zero, 0.0 if exponent > 0 else math.inf, apply("power", apply("where", zero, 1.0, x), exponent)
    )


def arg_extreme(op: str, a: Any, axis: Any = None, out: None = None, keepdims: Any = False) -> Node:
    """np.argmax or np.argmin: the first position, int64, no derivative."""
    only_defaults(f"np.{op}", {"out": out})
    x = as_node(a)
    flat = axis is None
    y = reshape(x, (x.size,)) if flat else x
    k = 0 if flat else normal_axis(axis, x.ndim)
    if y.shape[k] == 0:
        raise ValueError(f"{op} over an axis of size 0 (shape {x.shape}) does not exist.")
    found = made(op, k, y)
    return _keep(found, x, tuple(range(x.ndim)) if flat else (k,), keepdims)


def _cumsum(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Node:
    """np.cumsum."""
    only_defaults("np.cumsum", {"out": out})
    x = _dtyped(as_node(a), dtype)
    x = x if x.dtype in TOTALS else as_dtype(x, INT64)
    if axis is None:
        return cumsum(reshape(x, (x.size,)), 0)
    return cumsum(x, normal_axis(axis, x.ndim))


def ptp(a: Any, axis: Any = None, out: None = None, keepdims: Any = False) -> Node:
    """np.ptp: maximum minus minimum."""
    only_defaults("np.ptp", {"out": out})
    return apply("sub", _max(a, axis, keepdims=keepdims), _min(a, axis, keepdims=keepdims))


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: Any = False) -> Node:
    """np.average with weights of the same shape."""
    if returned:
        raise fault("np.average(returned=True) of a traced array", "np.sum(weights) beside it")
    if weights is None:
        return mean(a, axis, keepdims=keepdims)
    weighted = sum_(apply("mul", a, weights), axis, keepdims=keepdims)
    return apply(
        "div", weighted, sum_(apply("mul", weights, constant(np.ones(as_node(a).shape))), axis, keepdims=keepdims)
    )


def count_nonzero(a: Any, axis: Any = None, keepdims: Any = False) -> Node:
    """np.count_nonzero, int64."""
    return sum_(as_dtype(as_mask(as_node(a)), INT64), axis, keepdims=keepdims)


def _argmax(a: Any, axis: Any = None, out: None = None, keepdims: Any = False) -> Node:
    """np.argmax."""
    return arg_extreme("argmax", a, axis, out, keepdims)


def _argmin(a: Any, axis: Any = None, out: None = None, keepdims: Any = False) -> Node:
    """np.argmin."""
    return arg_extreme("argmin", a, axis, out, keepdims)


def _reduce(function: Rule) -> Rule:
    """`ufunc.reduce`, whose axis is 0 unless given."""

    def rule(a: Any, axis: Any = 0, dtype: Any = None, **kwargs: Any) -> Node:
        given = {} if dtype is None else {"dtype": dtype}
        return function(a, axis=axis, **given, **kwargs)

    return rule


_BY_NAME: dict[str, Rule] = {
    "sum": sum_, "mean": mean, "var": var, "std": std, "max": _max, "min": _min, "all": _all, "any": _any, "prod": prod,
    "cumsum": _cumsum, "argmax": _argmax, "argmin": _argmin,
}  # fmt: skip
METHODS.update(_BY_NAME)
FUNCTIONS.update({getattr(np, name): rule for name, rule in _BY_NAME.items()})
FUNCTIONS.update({np.amax: _max, np.amin: _min, np.linalg.norm: norm})
FUNCTIONS.update({np.ptp: ptp, np.average: average, np.count_nonzero: count_nonzero})
REDUCTIONS.update({
    "add": _reduce(sum_), "multiply": _reduce(prod), "maximum": _reduce(_max), "minimum": _reduce(_min),
    "logical_and": _reduce(_all), "logical_or": _reduce(_any),
})  # fmt: skip
