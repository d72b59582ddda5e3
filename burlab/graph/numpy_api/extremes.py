"""Largest and smallest values, their positions, and `any` and `all`, which are extremes of masks.

Convention: entries that tie for a maximum share its derivative equally.
"""

import numpy as np

from burlab.errors import ShapeError
from burlab.graph.linear_nodes import broadcast, reshape, sum_over
from burlab.graph.node import FUNCTIONS, METHODS, REDUCTIONS, Node, as_node, constant
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.graph.rules import Rule
from burlab.typing import ArrayLike, Axis

from .arguments import NOT_GIVEN, normal_axes, normal_axis, only_defaults
from .chosen import Neutral, check_initial, from_initial, highest, lowest, only
from .elementwise import where
from .promotion import BOOL, as_dtype, as_mask
from .reduction import reduced, size_along, with_axes


def extreme(op: str, a: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Node:
    """The largest or smallest value, by `reduce_max` or `reduce_min`, with the derivative of the tied entries' mean."""
    x = as_node(a)
    axes = normal_axes(axis, x.ndim)
    if size_along(x, axes) == 0:
        what = f"the {op[7:]} over an axis of size 0 (shape {x.shape}, axis {axis})"
        raise ShapeError(f"{location()}{what} does not exist. Pass an array with entries, or initial=.")
    if not axes:
        return x
    value = make_node(op, axes, x)
    if x.dtype.kind == "f":
        tied = x == broadcast(value, x.shape, tuple(i for i in range(x.ndim) if i not in axes))
        share = sum_over(where(tied, x, constant(0.0, x.dtype)), axes)
        count = sum_over(as_dtype(tied, x.dtype), axes)
        value = make_node("surrogate", None, value, share / count)
    return with_axes(value, x, axes, keepdims)


def _max(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False,
         initial: ArrayLike | None = NOT_GIVEN, where: ArrayLike = NOT_GIVEN) -> Node:  # fmt: skip
    """np.max."""
    only_defaults("np.max", {"out": out})
    return _from("max", "maximum", lowest, a, axis, keepdims, initial, where)


def _min(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False,
         initial: ArrayLike | None = NOT_GIVEN, where: ArrayLike = NOT_GIVEN) -> Node:  # fmt: skip
    """np.min."""
    only_defaults("np.min", {"out": out})
    return _from("min", "minimum", highest, a, axis, keepdims, initial, where)


def _from(name: str, op: str, neutral: Neutral, a: ArrayLike, axis: Axis, keepdims: bool, initial: ArrayLike | None,
          where: ArrayLike) -> Node:  # fmt: skip
    """The extreme of the entries that count, and of the start value."""
    check_initial(name, where, initial)
    x = as_node(a)
    axes = normal_axes(axis, x.ndim)
    if size_along(x, axes) == 0 and initial is not NOT_GIVEN:
        shape = tuple(d for i, d in enumerate(x.shape) if i not in axes)
        return with_axes(broadcast(as_dtype(as_node(initial), x.dtype), shape), x, axes, keepdims)
    return from_initial(op, extreme(f"reduce_{name}", only(x, where, neutral), axis, keepdims), initial)


def _all(
    a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False, *, where: ArrayLike = NOT_GIVEN
) -> Node:
    """np.all."""
    only_defaults("np.all", {"out": out})
    return _test("reduce_min", only(as_mask(as_node(a)), where, highest), axis, keepdims, empty=True)


def _any(
    a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False, *, where: ArrayLike = NOT_GIVEN
) -> Node:
    """np.any."""
    only_defaults("np.any", {"out": out})
    return _test("reduce_max", only(as_mask(as_node(a)), where, lowest), axis, keepdims, empty=False)


def _test(op: str, a: ArrayLike, axis: Axis, keepdims: bool, empty: bool) -> Node:
    x = as_mask(as_node(a))
    axes = normal_axes(axis, x.ndim)
    if size_along(x, axes) == 0:
        shape = tuple(d for i, d in enumerate(x.shape) if i not in axes)
        return with_axes(broadcast(constant(empty, BOOL), shape), x, axes, keepdims)
    return extreme(op, x, axes, keepdims)


def arg_extreme(op: str, a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool = False) -> Node:
    """np.argmax or np.argmin: the first position, int64, no derivative."""
    only_defaults(f"np.{op}", {"out": out})
    x = as_node(a)
    flat = axis is None
    y = reshape(x, (x.size,)) if flat else x
    k = 0 if flat else normal_axis(axis, x.ndim)
    if y.shape[k] == 0:
        raise ValueError(f"{op} over an axis of size 0 (shape {x.shape}) does not exist.")
    found = make_node(op, k, y)
    return with_axes(found, x, tuple(range(x.ndim)) if flat else (k,), keepdims)


def ptp(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False) -> Node:
    """np.ptp: maximum minus minimum."""
    only_defaults("np.ptp", {"out": out})
    return _max(a, axis, keepdims=keepdims) - _min(a, axis, keepdims=keepdims)


def _argmax(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool = False) -> Node:
    """np.argmax."""
    return arg_extreme("argmax", a, axis, out, keepdims)


def _argmin(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool = False) -> Node:
    """np.argmin."""
    return arg_extreme("argmin", a, axis, out, keepdims)


_BY_NAME: dict[str, Rule] = {
    "max": _max, "min": _min, "all": _all, "any": _any, "argmax": _argmax, "argmin": _argmin,
}  # fmt: skip
METHODS.update(_BY_NAME)
FUNCTIONS.update({getattr(np, name): rule for name, rule in _BY_NAME.items()})
FUNCTIONS.update({np.amax: _max, np.amin: _min, np.ptp: ptp})
REDUCTIONS.update(maximum=reduced(_max), minimum=reduced(_min), logical_and=reduced(_all), logical_or=reduced(_any))
