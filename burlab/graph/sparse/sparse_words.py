"""NumPy's functions on sparse rows and matrices: products, sums, norms, scaling, and functions with f(0) = 0."""

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.faults import fault, unsupported
from burlab.graph.linear_nodes import reshape, transpose
from burlab.graph.node import Node, as_node
from burlab.graph.numpy_api.promotion import common_dtype
from burlab.graph.rules import Rule
from burlab.runtime.plain import is_complex

from .dense_results import as_floats, dense, ones_of, scaled_along, spread, times
from .sparse_array import ADVICE, FUNCTIONS, METHODS, UFUNCS, SparseArray, refused

_OF_ZERO_IS_ZERO = (
    "sqrt cbrt square log1p expm1 sin tan arcsin arctan sinh tanh arcsinh arctanh sign rint floor ceil trunc "
    "deg2rad rad2deg radians degrees"
).split()


def product(a: Any, b: Any) -> Node:
    """Return a @ b, of which one is sparse and the other one dense."""
    if isinstance(a, SparseArray) and isinstance(b, SparseArray):
        if a is b and a.ndim == 1:
            return _squares(a)
        raise fault("a product of two sparse arrays", f"one of them as dense: {ADVICE}")
    if is_complex(a) or is_complex(b):
        raise fault("a product of a sparse array with complex numbers", "products with z.real and with z.imag")
    if isinstance(a, SparseArray):
        x = as_node(b)
        if x.ndim not in (1, 2):
            raise ShapeError(f"{a!r} @ an array of shape {x.shape}: expected a vector or a matrix.")
        return spread(a, x) if a.flipped else times(a, x)
    x = as_node(a)
    if x.ndim not in (1, 2):
        raise ShapeError(f"an array of shape {x.shape} @ {b!r}: expected a vector or a matrix.")
    return _transposed(product(b.T, _transposed(x)))  # x A = (A' x')'


def inner(a: Any, b: Any) -> Node:
    """Return the sums of products along the last axes."""
    return product(a, b.T if isinstance(b, SparseArray) else _transposed(as_node(b)))


def vdot(a: Any, b: Any) -> Node:
    """Return the sum of all products of two rows."""
    if a.ndim != 1 or b.ndim != 1:
        raise fault("np.vdot of a sparse matrix, which would be made flat", "np.sum of products, or np.dot of rows")
    return product(a, b)


def _transposed(x: Node) -> Node:
    return transpose(x, tuple(reversed(range(x.ndim))))


def scaled(a: Any, b: Any) -> SparseArray:
    """Return a * b, where one is sparse and the other one a number, one for each column, or one for each row."""
    if not isinstance(a, SparseArray):
        a, b = b, a
    if isinstance(b, SparseArray):
        raise fault("an elementwise product of two sparse arrays", f"one of them as dense: {ADVICE}")
    x = as_node(b)
    if not x.ndim:
        return a.replaced(factor=x if a.factor is None else scaled_along(a.factor, x, 0))
    by_column, by_row = (a.size_of_row,), (*a.starts.shape, 1)
    if a.flipped:
        by_column, by_row = (a.size_of_row, 1), a.starts.shape
    if x.shape == by_column:
        weights = reshape(x, (a.size_of_row,))
        return a.replaced(weights=weights if a.weights is None else scaled_along(weights, a.weights, 0))
    if x.shape == by_row and a.ndim > 1:
        factor = reshape(x, a.starts.shape)
        return a.replaced(factor=factor if a.factor is None else scaled_along(factor, a.factor, 0))
    raise ShapeError(
        f"a sparse array of shape {a.shape} times an array of shape {x.shape}: expected a number, or one for each row "
        f"or column. Or use {ADVICE}."
    )


def divided(a: Any, b: Any) -> SparseArray:
    """Return a / b for a sparse a."""
    if not isinstance(a, SparseArray) or isinstance(b, SparseArray):
        raise refused("a division by it")
    return scaled(a, np.divide(1.0, as_node(b)))


def power(a: Any, exponent: Any) -> SparseArray:
    """Return a ** exponent for a known exponent above zero."""
    known = isinstance(exponent, (int, float, np.integer, np.floating))
    if known and exponent > 0 and isinstance(a, SparseArray):
        return entrywise(partial(_raised, exponent), a)
    raise refused("a power with an exponent other than a known number above 0")


def _raised(exponent: Any, v: Any) -> Any:
    return np.power(v, exponent)


def entrywise(f: Callable[[Any], Any], a: SparseArray) -> SparseArray:
    """Return f(a), for a function with f(0) = 0: f of the stored entries."""
    if a.factor is not None or a.weights is not None:
        raise fault("a function of a sparse array after a scaling", f"the scaling after the function, or {ADVICE}")
    return a.replaced(values=f(a.values))


def total(a: SparseArray, axis: Any = None, **kwargs: Any) -> Node:
    """Return the sum of all elements, or along an axis."""
    _alone("np.sum", kwargs)
    if a.ndim == 1 and axis in (None, 0, -1, (0,)):
        return times(a, ones_of(a))
    if axis in (None, (0, 1)):
        return np.sum(times(a.replaced(flipped=False), ones_of(a)))
    if not isinstance(axis, (int, np.integer)) or not -a.ndim <= axis < a.ndim or a.ndim == 1:
        raise ArgumentError(f"axis is {axis!r} for a sparse array of shape {a.shape}, expected None, 0 or 1.")
    along_columns = (axis % 2 == 1) != a.flipped
    a = a.replaced(flipped=False)
    if along_columns:
        return times(a, ones_of(a))
    return spread(a, as_node(np.ones(a.starts.shape, as_floats(a.values).dtype)))


def mean(a: SparseArray, axis: Any = None, **kwargs: Any) -> Node:
    """Return the mean of all elements, zeros too, or along an axis."""
    _alone("np.mean", kwargs)
    summed = total(a, axis)
    return summed / (a.size // max(summed.size, 1) if a.size else 1)


def norm(a: SparseArray, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Node:  # noqa: A002 - NumPy's name
    """Return the Euclidean norm of a row, its sum of absolute values, or the Frobenius norm of a matrix."""
    if axis is not None or keepdims:
        raise unsupported("np.linalg.norm(axis=..., keepdims=...) of a sparse array", "sums of a ** 2")
    if ord is None or (a.ndim, ord) in ((1, 2), (2, "fro")):
        return np.sqrt(np.sum(_squares(a.replaced(flipped=False))))
    if ord == 1 and a.ndim == 1:
        return times(_each(np.absolute, a), ones_of(a))
    raise unsupported(f"np.linalg.norm(ord={ord!r}) of a sparse array of shape {a.shape}", ADVICE)


def _squares(a: SparseArray) -> Node:
    """Sums of squares, of each row."""
    return times(_each(np.square, a), ones_of(a))


def _each(f: Callable[[Any], Any], a: SparseArray) -> SparseArray:
    """f of all parts, for an f of products that is the product of its values."""
    parts = {name: f(x) for name in ("values", "factor", "weights") if (x := getattr(a, name)) is not None}
    return a.replaced(**parts)


def item(a: SparseArray, key: Any) -> SparseArray:
    """Return rows of a matrix: a[i], a[2:5], a[indices]."""
    if a.ndim == 1 or a.flipped or (isinstance(key, tuple) and len(cast("Any", key)) > 1):
        raise fault("an element or a column of a sparse array", f"rows, as A[i] and A[rows], or {ADVICE}")
    factor = a.factor if a.factor is None or not a.factor.ndim else a.factor[key]
    return a.replaced(starts=a.starts[key], ends=a.ends[key], factor=factor)


def converted(a: SparseArray, dtype: Any, **_: Any) -> SparseArray:
    """Return it with entries of another dtype."""
    return a.replaced(values=as_node(a.values).astype(dtype))


def _alone(name: str, kwargs: dict[str, Any]) -> None:
    given = [key for key, value in kwargs.items() if value is not None and value is not False]
    if given:
        raise unsupported(f"{name}({given[0]}=...) of a sparse array", "leave it out")


def _entrywise(name: str) -> Callable[[SparseArray], SparseArray]:
    return lambda a: entrywise(getattr(np, name), a)


def _result_type(*args: Any) -> "np.dtype[Any]":
    return common_dtype([as_node(np.zeros((), x.dtype)) if isinstance(x, SparseArray) else as_node(x) for x in args])


def _sizes(a: SparseArray, axis: int | None = None) -> int:
    return a.size if axis is None else a.shape[axis]


def _with_axes(a: SparseArray, *axes: Any) -> SparseArray:
    """Return the transpose; axes may be given as NumPy has them."""
    order = axes[0] if len(axes) == 1 else axes or None
    reverse = tuple(reversed(range(a.ndim)))
    if order is not None and tuple(axis % a.ndim for axis in order) != reverse:
        raise unsupported(f"np.transpose(axes={order}) of a sparse array", f"axes={reverse}, or leave it out")
    return a.T


def _negative(a: SparseArray) -> SparseArray:
    return scaled(a, -1.0)


_absolute: Rule = partial(_each, np.absolute)
_itself: Rule = attrgetter("real")
_UFUNCS: dict[str, Rule] = {
    **{name: _entrywise(name) for name in _OF_ZERO_IS_ZERO},
    "matmul": product,
    "multiply": scaled,
    "divide": divided,
    "power": power,
    "negative": _negative,
    "positive": _itself,
    "conjugate": _itself,
    "absolute": _absolute,
    "fabs": _absolute,
}
_FUNCTIONS: dict[Callable[..., Any], Rule] = {
    np.dot: product,
    np.inner: inner,
    np.vdot: vdot,
    np.sum: total,
    np.mean: mean,
    np.linalg.norm: norm,
    np.transpose: _with_axes,
    np.shape: attrgetter("shape"),
    np.ndim: attrgetter("ndim"),
    np.size: _sizes,
    np.result_type: _result_type,
}
_METHODS: dict[str, Rule] = {
    "dot": product,
    "multiply": scaled,
    "sum": total,
    "mean": mean,
    "power": power,
    "toarray": dense,
    "todense": dense,
    "astype": converted,
    "copy": _itself,
    "transpose": _with_axes,
    "__getitem__": item,
}
UFUNCS.update(_UFUNCS)
FUNCTIONS.update(_FUNCTIONS)
METHODS.update(_METHODS)
