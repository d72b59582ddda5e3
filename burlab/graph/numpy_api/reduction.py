"""Reductions over axes and their compositions: they need only the derivative rule of `sum`."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import ShapeError
from burlab.graph.linear_nodes import as_total, broadcast, concatenate, cumsum, reshape, slice_, sum_over, transpose
from burlab.graph.node import FUNCTIONS, METHODS, REDUCTIONS, Node, as_node, constant
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.graph.rules import Rule
from burlab.typing import ArrayLike, Axis, DTypeLike

from .arguments import NOT_GIVEN, known_dtype, normal_axes, normal_axis, only_defaults, real, several
from .chosen import counted, from_initial, given, one, only, zero
from .elementwise import square
from .promotion import FLOAT64, INT64, as_dtype, as_mask
from .roots import length, root


def with_axes(y: Node, x: Node, axes: tuple[int, ...], keepdims: bool) -> Node:
    """A reduction of x over axes, with these as axes of size 1 if `keepdims`."""
    if keepdims is NOT_GIVEN or not keepdims:
        return y
    return reshape(y, tuple(1 if i in axes else d for i, d in enumerate(x.shape)))


def _dtyped(x: Node, dtype: DTypeLike) -> Node:
    return x if dtype is None else as_dtype(x, known_dtype(dtype))


def as_floats(x: Node) -> Node:
    """x, as float64 if it is of integers or a mask."""
    return x if x.dtype.kind == "f" else as_dtype(x, FLOAT64)


def sum_(a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None, keepdims: bool = False,
         initial: ArrayLike | None = NOT_GIVEN, where: ArrayLike = NOT_GIVEN) -> Node:  # fmt: skip
    """np.sum."""
    only_defaults("np.sum", {"out": out})
    x = only(_dtyped(as_node(a), dtype), where, zero)
    axes = normal_axes(axis, x.ndim)
    total = sum_over(x, axes)
    return from_initial("add", with_axes(_dtyped(total, dtype), x, axes, keepdims), initial)


def sum_of_squares(x: Node) -> Node:
    """The sum of the squares of all elements in float64, for any dtype: used in the norms of a run.

    No function of NumPy's, and without a derivative.
    """
    return make_node("squares", None, x)


def mean_(a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None, keepdims: bool = False,
         where: ArrayLike = NOT_GIVEN) -> Node:  # fmt: skip
    """np.mean."""
    only_defaults("np.mean", {"out": out})
    x = only(as_floats(_dtyped(as_node(a), dtype)), where, zero)
    axes = normal_axes(axis, x.ndim)
    return with_axes(sum_over(x, axes), x, axes, keepdims) / _count(x, axes, keepdims, where)


def _count(x: Node, axes: tuple[int, ...], keepdims: bool, where: ArrayLike) -> Any:
    """Return the number of entries that count in each total."""
    if not given(where):
        return float(size_along(x, axes))
    return as_dtype(sum_(counted(x, where), axes, keepdims=keepdims), x.dtype)


def size_along(x: Node, axes: tuple[int, ...]) -> int:
    """Return how many numbers a reduction over axes combines."""
    return math.prod(x.shape[i] for i in axes)


def var(a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None, ddof: float = 0,
        keepdims: bool = False, where: ArrayLike = NOT_GIVEN, mean: ArrayLike = NOT_GIVEN,
        **kwargs: Any) -> Node:  # fmt: skip
    """np.var: the mean squared distance from the mean, two passes; mean: what is taken for it."""
    return _spread(a, axis, dtype, out, ddof, keepdims, where, mean, **kwargs).variance


class _Spread(NamedTuple):
    """A variance; the distances whose squares were added up, along which axes; what their sum was divided by."""

    variance: Node
    centred: Node
    axes: tuple[int, ...]
    divisor: float | Node


def _spread(a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None, ddof: float = 0,
            keepdims: bool = False, where: ArrayLike = NOT_GIVEN, mean: ArrayLike = NOT_GIVEN,
            **kwargs: Any) -> _Spread:  # fmt: skip
    ddof = real(kwargs.pop("correction", ddof), "ddof")
    only_defaults("np.var", {"out": out, **kwargs})
    x = as_floats(_dtyped(as_node(a), dtype))
    axes = normal_axes(axis, x.ndim)
    center = mean if given(mean) else mean_(x, axes, keepdims=True, where=where)
    centred = only(x - center, where, zero)
    total = with_axes(sum_over(square(centred), axes), x, axes, keepdims)
    count = _count(x, axes, keepdims, where)
    divisor = count - ddof if given(where) else float(count - ddof)
    return _Spread(total / divisor, centred, axes, divisor)


def std(*args: Any, **kwargs: Any) -> Node:
    """np.std: the square root of `var`, whose derivative where all values are equal is 0."""
    spread = _spread(*args, **kwargs)
    if isinstance(spread.divisor, Node) or not 0 < spread.divisor < math.inf:
        return root(spread.variance)
    return length(spread.variance, spread.centred, spread.axes, float(spread.divisor))


def prod(a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None, keepdims: bool = False,
         initial: ArrayLike | None = NOT_GIVEN, where: ArrayLike = NOT_GIVEN) -> Node:  # fmt: skip
    """np.prod by halving: without division, so the derivative is correct if factors are zero."""
    only_defaults("np.prod", {"out": out})
    x = as_total(as_node(a)) if dtype is None else _dtyped(as_node(a), dtype)
    return from_initial("mul", _product(only(x, where, one), axis, keepdims), initial)


def _product(x: Node, axis: Axis, keepdims: bool) -> Node:
    return halved(lambda a, b: a * b, x, axis, keepdims, 1)


def halved(pairwise: Callable[[Node, Node], Node], x: Node, axis: Axis, keepdims: bool, empty: Any) -> Node:
    """A reduction by an associative function of two arrays: one half with the other, until one entry is left."""
    axes = normal_axes(axis, x.ndim)
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    n = size_along(x, axes)
    y = reshape(transpose(x, axes + rest), (n, *(x.shape[i] for i in rest)))
    if n == 0:
        return with_axes(broadcast(constant(empty, x.dtype), y.shape[1:]), x, axes, keepdims)
    while n > 1:
        half = n // 2
        both = pairwise(_rows(y, 0, half), _rows(y, half, half))
        y = concatenate([both, _rows(y, 2 * half, 1)], 0) if n % 2 else both
        n -= half
    return with_axes(reshape(y, y.shape[1:]), x, axes, keepdims)


def _rows(x: Node, start: int, count: int) -> Node:
    return slice_(x, (start, *[0] * (x.ndim - 1)), (1,) * x.ndim, (count, *x.shape[1:]))


def cumsum_(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: None = None) -> Node:
    """np.cumsum."""
    only_defaults("np.cumsum", {"out": out})
    x = as_total(_dtyped(as_node(a), dtype))
    if axis is None:
        return _dtyped(cumsum(reshape(x, (x.size,)), 0), dtype)
    return _dtyped(cumsum(x, normal_axis(axis, x.ndim)), dtype)


def average(
    a: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, returned: bool = False, keepdims: bool = False
) -> Any:
    """np.average with weights of the same shape, or of that of the axes; `returned`: and the sums of these."""
    x = as_node(a)
    if weights is None:
        result = mean_(x, axis, keepdims=keepdims)
        total = as_node(float(size_along(x, normal_axes(axis, x.ndim))))
    else:
        weights = _along(as_node(weights), x, axis)
        dtype = np.result_type(x.dtype, weights.dtype, *([] if x.dtype.kind == "f" else [FLOAT64]))
        x, weights = as_dtype(x, dtype), as_dtype(weights, dtype)
        total = sum_(weights * constant(np.ones(x.shape), dtype), axis, keepdims=keepdims)
        result = sum_(x * weights, axis, keepdims=keepdims) / total
    return (result, broadcast(as_dtype(total, result.dtype), result.shape)) if returned else result


def _along(weights: Node, x: Node, axis: Axis) -> Node:
    """Weights of the axes that are averaged over, in the order of a tuple of axes, beside the others of x."""
    if weights.shape == x.shape:
        return weights
    axes = [] if axis is None else [normal_axis(k, x.ndim) for k in several(axis)]
    if weights.shape != tuple(x.shape[k] for k in axes) or not axes:
        raise ShapeError(
            f"{location()}np.average got weights of shape {weights.shape} for an array of shape {x.shape} and axis "
            f"{axis}. Pass weights of the array's shape, or an axis and one weight for each of its entries."
        )
    order = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    return reshape(transpose(weights, order), tuple(d if k in axes else 1 for k, d in enumerate(x.shape)))


def count_nonzero(a: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Node:
    """np.count_nonzero, int64."""
    return sum_(as_dtype(as_mask(as_node(a)), INT64), axis, keepdims=keepdims)


def reduced(function: Rule) -> Rule:
    """`ufunc.reduce`, whose axis is 0 unless given."""

    def rule(a: ArrayLike, axis: Axis = 0, dtype: DTypeLike = None, **kwargs: Any) -> Node:
        given = {} if dtype is None else {"dtype": dtype}
        return function(a, axis=axis, **given, **kwargs)

    return rule


_BY_NAME: dict[str, Rule] = {
    "sum": sum_, "mean": mean_, "var": var, "std": std, "prod": prod, "cumsum": cumsum_,
}  # fmt: skip
METHODS.update(_BY_NAME)
FUNCTIONS.update({getattr(np, name): rule for name, rule in _BY_NAME.items()})
FUNCTIONS.update({np.average: average, np.count_nonzero: count_nonzero})
REDUCTIONS.update({"add": reduced(sum_), "multiply": reduced(prod)})
