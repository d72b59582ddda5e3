"""Counting: histograms, how often integers occur, the largest entries, and those that differ."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.faults import fault, unsupported
from burlab.graph.linear_nodes import broadcast, reshape, scatter
from burlab.graph.node import FUNCTIONS, Node, as_node, constant
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.typing import ArrayLike

from .arguments import whole
from .building import linspace
from .elementwise import minimum, where
from .extremes import extreme
from .indexing import getitem, take_along_axis
from .joining import concatenate_
from .ordering import MIN_SELECTED, argsort, searchsorted, sort
from .promotion import FLOAT64, INT64, as_dtype, promote
from .reduction import as_floats, cumsum_, sum_

_MIN_TOP = 96  # entries of an axis, from which on a few of them are found faster than all are sorted


def histogram(a: ArrayLike, bins: Any = 10, range: Sequence[Any] | None = None, density: bool | None = None,  # noqa: A002
              weights: ArrayLike | None = None) -> tuple[Node, Any]:  # fmt: skip
    """np.histogram: counts (int64) or sums of weights, which have derivatives, and the edges of the bins."""
    x = as_node(a)
    x = reshape(x, (x.size,))
    edges = _edges(x, bins, range)
    bin_, inside = _places(x, edges)
    if weights is None:
        value = as_dtype(inside, INT64)
    else:
        weight = reshape(as_node(weights), (x.size,))
        value = where(inside, weight, constant(0, weight.dtype))
    counts = scatter(value, where(inside, bin_, 0), 0, edges.size - 1)
    if density:
        counts = counts / _widths(edges) / sum_(counts)
    return counts, edges


def histogram2d(x: ArrayLike, y: ArrayLike, bins: Any = 10, range: Sequence[Any] | None = None,  # noqa: A002
                density: bool | None = None, weights: ArrayLike | None = None) -> tuple[Node, Node, Node]:  # fmt: skip
    """np.histogram2d of two vectors. bins: one for both or one for each, a number or edges. Counts are float64."""
    each = cast("list[Any]", bins) if isinstance(bins, (list, tuple)) else []
    both: Any = each if len(each) == 2 else (bins, bins)
    limits: Any = (None, None) if range is None else range
    xs = [as_node(z) for z in (x, y)]
    if any(z.ndim != 1 for z in xs) or xs[0].size != xs[1].size:
        what = f"np.histogram2d got shapes {xs[0].shape} and {xs[1].shape}"
        raise ShapeError(f"{location()}{what}, expected two vectors of one length.")
    first, second = (_edges(z, b, limit) for z, b, limit in zip(xs, both, limits, strict=True))
    (i, inside), (j, also) = (_places(z, edges) for z, edges in zip(xs, (first, second), strict=True))
    m, n = first.size - 1, second.size - 1
    inside = inside & also
    weight = as_floats(as_node(1.0 if weights is None else weights))
    value = where(inside, weight, constant(0, weight.dtype))
    place = where(inside, i * n + j, 0)
    counts = reshape(scatter(broadcast(value, xs[0].shape), place, 0, m * n), (m, n))
    if density:
        areas = reshape(_widths(first), (m, 1)) * _widths(second)
        counts = counts / areas / sum_(counts)
    return counts, first, second


def _places(x: Node, edges: Node) -> tuple[Node, Node]:
    """The bin of each entry, and whether it lies in one. The last bin has both of its ends."""
    place = searchsorted(edges, as_dtype(x, edges.dtype), "right")
    last = x == getitem(edges, -1)
    bin_ = where(last, edges.size - 1, place) - 1
    return bin_, (bin_ >= 0) & (bin_ < edges.size - 1)


def _widths(edges: Node) -> Node:
    return getitem(edges, slice(1, None)) - getitem(edges, slice(None, -1))


def _edges(x: Node, bins: Any, limits: Any) -> Node:
    """The ends of the bins: known ones, or so many of equal width."""
    edges = as_node(bins) if not isinstance(bins, str) else None
    if edges is not None and edges.ndim == 1:
        return edges
    if edges is None or not edges.is_constant or edges.dtype.kind not in "iu" or edges.params < 1:
        raise fault(f"np.histogram(bins={shown(bins)}) of a traced array", "a number of bins, or their edges")
    if limits is not None:
        return constant(np.linspace(limits[0], limits[1], int(edges.params) + 1))
    low, high = (as_floats(extreme(op, x)) for op in ("reduce_min", "reduce_max"))
    same = low == high
    low, high = where(same, low - 0.5, low), where(same, high + 0.5, high)
    return linspace(low, high, int(edges.params) + 1)


def bincount(x: ArrayLike, weights: ArrayLike | None = None, *, length: int) -> Node:
    """Count each of 0, ..., length - 1 (int64), or sum the weights of each. Other numbers are not counted."""
    i = as_node(x)
    if i.dtype.kind not in "iu" or i.ndim != 1:
        raise ArgumentError(f"{location()}bincount counts a vector of integers, got {i.dtype}{list(i.shape)}.")
    length = _at_least_0(length, "length of bincount")
    i = as_dtype(i, INT64)
    inside = (i >= 0) & (i < length)
    value = as_dtype(inside, INT64) if weights is None else where(inside, weights, 0.0)
    if length == 0:
        return broadcast(constant(0, value.dtype), (0,))
    return scatter(value, where(inside, i, 0), 0, length)


def _bincount_of_known(x: ArrayLike, /, weights: ArrayLike | None = None, minlength: int = 0) -> Node:
    """np.bincount: of known integers, with weights that may be traced."""
    places = as_node(x)
    if not places.is_constant:
        raise unsupported("np.bincount of traced integers", "its length would depend on them; use bl.bincount(length=)")
    longest = max(int(places.params.max(initial=-1)) + 1, whole(minlength, "minlength of np.bincount"))
    weight = None if weights is None else as_dtype(as_node(weights), FLOAT64)
    return bincount(places, weight, length=longest)


def top_k(x: ArrayLike, k: int) -> tuple[Node, Node]:
    """The k largest entries along the last axis, the largest first, and their positions (int64). NaNs are largest."""
    a = as_node(x)
    n = a.shape[-1] if a.ndim else 0
    if not 0 <= (k := whole(k, "k of top_k")) <= n:
        raise ArgumentError(f"{location()}top_k of {n} entries takes 0 to {n} of them, got k={shown(k)}.")
    if k and (n >= MIN_SELECTED or n >= max(_MIN_TOP, 8 * k)):
        places = make_node("argtop", k, a)
        return take_along_axis(a, places, -1), places
    backwards = (..., slice(None, None, -1))  # in turned rows, so that of equal entries the first is taken first
    order = n - 1 - getitem(argsort(getitem(a, backwards)), backwards)
    places = getitem(order, (..., slice(0, k)))
    return take_along_axis(a, places, -1), places


def unique(x: ArrayLike, size: int, fill_value: ArrayLike | None = None) -> Node:
    """The first `size` different entries in order; where there are fewer, `fill_value`, or else the smallest one.

    The first of equal entries gets their derivative. NaNs differ.
    """
    size = _at_least_0(size, "size of unique")
    a = as_node(x)
    if a.size == 0 or size == 0:
        if fill_value is None and size:
            raise ArgumentError(f"{location()}unique of no entries has nothing to fill with. Pass fill_value=.")
        return broadcast(as_dtype(as_node(0 if fill_value is None else fill_value), a.dtype), (size,))
    row = sort(a, None)
    new = getitem(row, slice(1, None)) != getitem(row, slice(None, -1))
    first = concatenate_([constant(np.ones(1, bool)), new])
    place = cumsum_(as_dtype(first, INT64)) - 1
    inside = first & (place < size)
    fill = getitem(row, 0) if fill_value is None else as_dtype(as_node(fill_value), a.dtype)
    found = scatter(where(inside, row, constant(0, a.dtype)), where(inside, place, 0), 0, size)
    present = constant(np.arange(size)) < getitem(place, -1) + 1
    return where(present, found, fill)


def isin(element: ArrayLike, test_elements: ArrayLike, assume_unique: bool = False, invert: bool = False, *,  # noqa: ARG001
         kind: str | None = None) -> Node:  # fmt: skip  # noqa: ARG001
    """np.isin, by halving among the sorted test elements; `assume_unique` and `kind` change nothing here."""
    x, known = promote([as_node(element), as_node(test_elements)])
    if known.size == 0:
        return broadcast(constant(bool(invert), bool), x.shape)
    row = sort(known, None)
    place = minimum(searchsorted(row, x), known.size - 1)
    found = getitem(row, place) == x
    return ~found if invert else found


def _at_least_0(value: ArrayLike, name: str) -> int:
    number = whole(value, name)
    if number < 0:
        raise ArgumentError(f"{location()}{name} is {number}, expected 0 or more.")
    return number


FUNCTIONS.update({
    np.histogram: histogram, np.histogram2d: histogram2d, np.isin: isin, np.bincount: _bincount_of_known,
})  # fmt: skip
