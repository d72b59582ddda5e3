"""Counting: histograms, how often integers occur, the largest entries, and those that differ."""

from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.faults import fault
from burlab.graph.linear import broadcast, reshape, scatter
from burlab.graph.node import FUNCTIONS, Node, as_node, constant
from burlab.graph.origin import location

from .arguments import whole
from .building import linspace
from .extremes import extreme
from .indexing import getitem, take_along_axis
from .joining import concatenate_
from .ordering import argsort, searchsorted, sort
from .promotion import INT64, apply, as_dtype
from .reduction import as_floats, cumsum_, sum_


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> tuple[Node, Any]:  # noqa: A002
    """np.histogram: counts (int64) or sums of weights, which have derivatives, and the edges of the bins."""
    x = as_node(a)
    x = reshape(x, (x.size,))
    edges = _edges(x, bins, range)
    place = searchsorted(edges, as_dtype(x, edges.dtype), "right")
    last = apply("equal", x, getitem(edges, -1))  # the last bin has both of its ends
    bin_ = apply("sub", apply("where", last, edges.size - 1, place), 1)
    size = edges.size - 1
    inside = apply("logical_and", apply("greater_equal", bin_, 0), apply("less", bin_, size))
    if weights is None:
        value = as_dtype(inside, INT64)
    else:
        weight = reshape(as_node(weights), (x.size,))
        value = apply("where", inside, weight, constant(0, weight.dtype))
    counts = scatter(value, apply("where", inside, bin_, 0), 0, size)
    if density:
        widths = apply("sub", getitem(edges, slice(1, None)), getitem(edges, slice(None, -1)))
        counts = apply("div", apply("div", counts, widths), sum_(counts))
    return counts, edges


def _edges(x: Node, bins: Any, limits: Any) -> Node:
    """The ends of the bins: known ones, or so many of equal width."""
    edges = as_node(bins) if not isinstance(bins, str) else None
    if edges is not None and edges.ndim == 1:
        return edges
    if edges is None or not edges.is_constant or edges.dtype.kind not in "iu" or edges.params < 1:
        raise fault(f"np.histogram(bins={bins!r:.40}) of a traced array", "a number of bins, or their edges")
    if limits is not None:
        return constant(np.linspace(limits[0], limits[1], int(edges.params) + 1))
    low, high = (as_floats(extreme(op, x)) for op in ("reduce_min", "reduce_max"))
    same = apply("equal", low, high)
    low, high = apply("where", same, apply("sub", low, 0.5), low), apply("where", same, apply("add", high, 0.5), high)
    return linspace(low, high, int(edges.params) + 1)


def bincount(x: Any, weights: Any = None, *, length: Any) -> Node:
    """How often each of 0, ..., length - 1 occurs (int64), or the sums of weights. Other numbers are not counted."""
    i = as_node(x)
    if i.dtype.kind not in "iu" or i.ndim != 1:
        raise ArgumentError(f"{location()}bincount counts a vector of integers, got {i.dtype}{list(i.shape)}.")
    length = _at_least_0(length, "length of bincount")
    i = as_dtype(i, INT64)
    inside = apply("logical_and", apply("greater_equal", i, 0), apply("less", i, length))
    value = as_dtype(inside, INT64) if weights is None else apply("where", inside, weights, 0.0)
    if length == 0:
        return broadcast(constant(0, value.dtype), (0,))
    return scatter(value, apply("where", inside, i, 0), 0, length)


def top_k(x: Any, k: Any) -> tuple[Node, Node]:
    """The k largest entries along the last axis, the largest first, and their positions (int64)."""
    a = as_node(x)
    n = a.shape[-1] if a.ndim else 0
    if not 0 <= (k := whole(k, "k of top_k")) <= n:
        raise ArgumentError(f"{location()}top_k of {n} entries takes 0 to {n} of them, got k={k}.")
    order = argsort(apply("neg", a))
    places = getitem(order, (..., slice(0, k)))
    return take_along_axis(a, places, -1), places


def unique(x: Any, size: Any, fill_value: Any = None) -> Node:
    """The first `size` different entries in order; where there are fewer, `fill_value`, or else the smallest one.

    Entries that tie share the derivative of the one that stands for them: the first of them has it. NaNs differ.
    """
    size = _at_least_0(size, "size of unique")
    a = as_node(x)
    if a.size == 0 or size == 0:
        if fill_value is None and size:
            raise ArgumentError(f"{location()}unique of no entries has nothing to fill with. Pass fill_value=.")
        return broadcast(as_dtype(as_node(0 if fill_value is None else fill_value), a.dtype), (size,))
    row = sort(a, None)
    new = apply("not_equal", getitem(row, slice(1, None)), getitem(row, slice(None, -1)))
    first = concatenate_([constant(np.ones(1, bool)), new])
    place = apply("sub", cumsum_(as_dtype(first, INT64)), 1)
    inside = apply("logical_and", first, apply("less", place, size))
    fill = getitem(row, 0) if fill_value is None else as_dtype(as_node(fill_value), a.dtype)
    found = scatter(apply("where", inside, row, constant(0, a.dtype)), apply("where", inside, place, 0), 0, size)
    there = apply("less", constant(np.arange(size)), apply("add", getitem(place, -1), 1))
    return apply("where", there, found, fill)


def _at_least_0(value: Any, name: str) -> int:
    number = whole(value, name)
    if number < 0:
        raise ArgumentError(f"{location()}{name} is {number}, expected 0 or more.")
    return number


FUNCTIONS[np.histogram] = histogram
