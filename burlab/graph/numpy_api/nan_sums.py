"""NumPy's reductions that pass over NaNs, and statistics: covariance, correlation, integrals."""

from typing import Any

import numpy as np

from burlab.errors import ShapeError
from burlab.graph.linear_nodes import reshape, sum_over, transpose
from burlab.graph.node import FUNCTIONS, Node, as_node
from burlab.graph.origin import location
from burlab.typing import ArrayLike, Axis, DTypeLike

from . import elementwise
from .arguments import NOT_GIVEN, normal_axes, normal_axis, only_defaults, real
from .building import diff
from .chosen import check_initial, from_initial, given, only
from .elementwise import isnan, square
from .extremes import arg_extreme, extreme
from .indexing import getitem
from .joining import concatenate_
from .products import diagonal_of, matmul
from .promotion import FLOAT64, as_dtype
from .reduction import as_floats, average, mean_, prod, sum_, with_axes
from .roots import root
from .shapes import expand_dims, squeeze
from .ufuncs import clip


def _present(x: Node) -> Node:
    """Return the mask of entries that are numbers."""
    return ~isnan(x)


def _filled(a: ArrayLike, number: float) -> Node:
    """NaNs replaced by a number. No derivative reaches them."""
    x = as_node(a)
    return elementwise.where(isnan(x), number, x) if x.dtype.kind == "f" else x


def nansum(
    a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None, keepdims: bool = False, **kwargs: Any
) -> Node:
    """np.nansum."""
    return sum_(_filled(a, 0.0), axis, dtype, out, keepdims, **kwargs)


def nanprod(a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None, keepdims: bool = False,
            **kwargs: Any) -> Node:  # fmt: skip
    """np.nanprod."""
    return prod(_filled(a, 1.0), axis, dtype, out, keepdims, **kwargs)


def _chosen(a: ArrayLike, where: ArrayLike) -> Node:
    """The entries that count; the others become NaNs, over which these reductions pass."""
    return only(as_floats(as_node(a)), where, lambda _dtype: np.nan)


def _count(x: Node, axis: Axis, keepdims: bool) -> Node:
    return as_dtype(sum_(_present(x), axis, keepdims=keepdims), x.dtype)


def nanmean(a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None, keepdims: bool = False,
            where: ArrayLike = NOT_GIVEN) -> Node:  # fmt: skip
    """np.nanmean: NaN if there is no number."""
    only_defaults("np.nanmean", {"out": out, "dtype": dtype})
    x = _chosen(a, where)
    return sum_(_filled(x, 0.0), axis, keepdims=keepdims) / _count(x, axis, keepdims)


def nanvar(a: ArrayLike, axis: Axis = None, dtype: DTypeLike = None, out: None = None, ddof: float = 0,
           keepdims: bool = False, where: ArrayLike = NOT_GIVEN, **kwargs: Any) -> Node:  # fmt: skip
    """np.nanvar: NaN if there are no more numbers than `ddof`."""
    ddof = real(kwargs.pop("correction", ddof), "ddof")
    only_defaults("np.nanvar", {"out": out, "dtype": dtype, **kwargs})
    x = _chosen(a, where)
    axes = normal_axes(axis, x.ndim)
    centred = elementwise.where(isnan(x), 0.0, x - nanmean(x, axes, keepdims=True))
    total = with_axes(sum_over(square(centred), axes), x, axes, keepdims)
    rest = _count(x, axes, keepdims) - ddof
    return elementwise.where(rest > 0.0, total / rest, np.nan)


def nanstd(*args: Any, **kwargs: Any) -> Node:
    """np.nanstd: the square root of `nanvar`, whose derivative where that is 0 is 0."""
    return root(nanvar(*args, **kwargs))


def _nan_extreme(op: str, otherwise: float) -> Any:
    def rule(a: ArrayLike, axis: Axis = None, out: None = None, keepdims: bool = False,
             initial: ArrayLike | None = NOT_GIVEN, where: ArrayLike = NOT_GIVEN) -> Node:  # fmt: skip
        name = op[7:]
        only_defaults(f"np.nan{name}", {"out": out})
        check_initial(f"nan{name}", where, initial)
        x = as_node(a)
        if x.dtype.kind != "f":
            return FUNCTIONS[getattr(np, name)](x, axis, None, keepdims, initial, where)
        x = _chosen(x, where)
        value = extreme(op, _filled(x, otherwise), axis, keepdims)
        numbers = extreme("reduce_max", ~isnan(x), axis, keepdims)
        value = elementwise.where(numbers, value, np.nan)
        if not given(initial):
            return value
        started = from_initial(f"{name}imum", value, initial)
        return elementwise.where(numbers, started, as_dtype(as_node(initial), x.dtype))

    return rule


def _nan_position(op: str, otherwise: float) -> Any:
    def rule(a: ArrayLike, axis: int | None = None, out: None = None, keepdims: bool = False) -> Node:
        return arg_extreme(op, _filled(a, otherwise), axis, out, keepdims)

    return rule


def trapezoid(y: ArrayLike | None, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> Node:
    """np.trapezoid: the integral of the lines that join the points."""
    a = as_node(y)
    k = normal_axis(axis, a.ndim)
    if x is None:
        widths: Any = dx
    else:
        at = as_node(x)
        widths = diff(at, axis=k if at.ndim == a.ndim else -1)
        if at.ndim == 1 < a.ndim:
            widths = reshape(widths, tuple(widths.size if j == k else 1 for j in range(a.ndim)))
    before = getitem(a, (slice(None),) * k + (slice(None, -1),))
    after = getitem(a, (slice(None),) * k + (slice(1, None),))
    return sum_(widths * (before + after) / 2.0, k)


def cov(m: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, bias: bool = False, ddof: float | None = None,
        fweights: ArrayLike | None = None, aweights: ArrayLike | None = None, *,
        dtype: DTypeLike = None) -> Node:  # fmt: skip
    """np.cov: the covariance of variables, which are rows, with known or traced weights of the observations."""
    only_defaults("np.cov", {"dtype": dtype})
    x = as_dtype(_observations(m, rowvar), FLOAT64)
    if y is not None:
        x = concatenate_([x, as_dtype(_observations(y, rowvar), FLOAT64)], 0)
    less = real((0 if bias else 1) if ddof is None else ddof, "ddof")
    if fweights is None and aweights is None:
        centred = x - mean_(x, 1, keepdims=True)
        scale: Any = float(x.shape[1] - less)
        weighed = centred
    else:
        weights = as_floats(as_node(1.0 if fweights is None else fweights))
        weights = weights if aweights is None else weights * aweights
        total = sum_(weights)
        spare = total if aweights is None else sum_(weights * aweights) / total
        scale = total - (less if aweights is None else less * spare)
        centred = x - expand_dims(average(x, 1, weights), 1)
        weighed = centred * weights
    return squeeze(matmul(weighed, transpose(centred, (1, 0))) / scale)


def _observations(m: ArrayLike, rowvar: bool) -> Node:
    """Variables as rows."""
    x = as_floats(as_node(m))
    if x.ndim > 2:
        raise ShapeError(f"{location()}np.cov takes a vector or a matrix, got shape {x.shape}.")
    if x.ndim < 2:
        return reshape(x, (1, x.size))
    return x if rowvar or x.shape[0] == 1 else transpose(x, (1, 0))


def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, *, dtype: DTypeLike = None) -> Node:
    """np.corrcoef: covariances, divided by the standard deviations and cut off at -1 and 1.

    nan if a variable has only one value, with derivative 0.
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviation = root(diagonal_of(c, 0, 1))
    still = deviation == 0.0
    varies = elementwise.where(still, 1.0, deviation)
    ratio = c / expand_dims(varies, 1) / varies
    without = still | expand_dims(still, 1)
    return elementwise.where(without, np.nan, clip(ratio, -1.0, 1.0))


FUNCTIONS.update({
    np.nansum: nansum, np.nanprod: nanprod, np.nanmean: nanmean, np.nanvar: nanvar, np.nanstd: nanstd,
    np.nanmax: _nan_extreme("reduce_max", -np.inf), np.nanmin: _nan_extreme("reduce_min", np.inf),
    np.nanargmax: _nan_position("argmax", -np.inf), np.nanargmin: _nan_position("argmin", np.inf),
    np.trapezoid: trapezoid, np.cov: cov, np.corrcoef: corrcoef,
})  # fmt: skip
