"""NumPy's running totals, one entry after the other as NumPy does it: cumprod, cumulative_*, and `ufunc.accumulate`."""

from typing import Any

import numpy as np

from burlab.errors import IndexRangeError, ShapeError
from burlab.graph import scan_nodes
from burlab.graph.faults import fault
from burlab.graph.graph import Graph, Region, ScanIterations
from burlab.graph.linear_nodes import as_total, broadcast, reshape
from burlab.graph.node import (
    ACCUMULATIONS,
    FUNCTIONS,
    METHODS,
    REDUCTIONS,
    SEGMENTS,
    Node,
    as_node,
    constant,
    holds_node,
)
from burlab.graph.origin import location
from burlab.graph.rules import Rule
from burlab.typing import ArrayLike, Axis, DTypeLike

from .arguments import known_dtype, normal_axis, only_defaults
from .elementwise import isnan, where
from .indexing import getitem
from .joining import concatenate_, stack
from .promotion import apply, as_dtype
from .reduction import cumsum_
from .shapes import moveaxis


def _running(op: str, first: ArrayLike, x: Node, axis: int) -> Node:
    """Element k along an axis: the operation over elements 0 to k, from the first one on."""
    rows = moveaxis(x, axis, 0)
    count, *rest = rows.shape
    if count == 0:
        return x
    form = (tuple(rest), x.dtype)
    carry, element = (Node("input", (), None, *form) for _ in range(2))
    total = apply(op, carry, element)
    region = Region((Graph((carry, element), (total, total)),), ScanIterations(1, 1, count, False))
    start = broadcast(constant(first, x.dtype), form[0])
    return moveaxis(scan_nodes.result((start, rows), region, 1), 0, axis)


def cumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: None = None) -> Node:
    """np.cumprod: without division, so the derivative is correct if factors are zero."""
    only_defaults("np.cumprod", {"out": out})
    x, k = _along(a, axis)
    x = as_dtype(x, known_dtype(dtype)) if dtype is not None else as_total(x)
    return _running("mul", 1, x, k)


def _along(a: ArrayLike, axis: Axis) -> tuple[Node, int]:
    """An array and one of its axes; all elements in a row if none is named."""
    x = as_node(a)
    return (reshape(x, (x.size,)), 0) if axis is None else (x, normal_axis(axis, x.ndim))


def nancumsum(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: None = None) -> Node:
    """np.nancumsum: NaNs count as 0."""
    return cumsum_(_without_nans(a, 0.0), axis, dtype, out)


def nancumprod(a: ArrayLike, axis: int | None = None, dtype: DTypeLike = None, out: None = None) -> Node:
    """np.nancumprod: NaNs count as 1."""
    return cumprod(_without_nans(a, 1.0), axis, dtype, out)


def _without_nans(a: ArrayLike, number: float) -> Node:
    x = as_node(a)
    return where(isnan(x), number, x) if x.dtype.kind == "f" else x


def _cumulative(running: Rule, start: int) -> Rule:
    """NumPy 2's spelling: an axis must be named where there are several, and what stands before may be included."""

    def rule(
        x: ArrayLike, /, *, axis: Axis = None, dtype: DTypeLike = None, out: None = None, include_initial: bool = False
    ) -> Node:
        a = as_node(x)
        if axis is None and a.ndim != 1:
            raise ShapeError(f"{location()}a cumulative function of an array with {a.ndim} axes needs axis=.")
        k = 0 if axis is None else normal_axis(axis, a.ndim)
        y: Node = running(a, k, dtype, out)
        if not include_initial:
            return y
        before = broadcast(constant(start, y.dtype), (*y.shape[:k], 1, *y.shape[k + 1 :]))
        return concatenate_([before, y], k)

    return rule


def _accumulation(op: str, lowest: bool) -> Rule:
    """`np.maximum.accumulate` or `np.minimum.accumulate`, along axis 0 unless given."""

    def rule(array: ArrayLike, axis: Axis = 0, dtype: DTypeLike = None, **kwargs: Any) -> Node:
        only_defaults(f"np.{op}.accumulate", {"dtype": dtype, **kwargs})
        x, k = _along(array, axis)
        if x.dtype.kind == "f":
            return _running(op, -np.inf if lowest else np.inf, x, k)
        if x.dtype.kind == "b":
            raise fault(f"np.{op}.accumulate of masks", "x.astype(int)")
        limits = np.iinfo(x.dtype)
        return _running(op, limits.min if lowest else limits.max, x, k)

    return rule


def _by_zero(running: Rule) -> Rule:
    """`ufunc.accumulate`, whose axis is 0 unless given."""

    def rule(array: ArrayLike, axis: Axis = 0, dtype: DTypeLike = None, **kwargs: Any) -> Node:
        return running(array, axis, dtype, **kwargs)

    return rule


def _segmented(name: str) -> Rule:
    """`ufunc.reduceat`: reductions of slices from each known index to the next one."""

    def rule(array: ArrayLike, indices: ArrayLike, axis: Axis = 0, dtype: DTypeLike = None, **kwargs: Any) -> Node:
        only_defaults(f"np.{name}.reduceat", {"dtype": dtype, **kwargs})
        if holds_node([indices]):
            raise fault(f"np.{name}.reduceat at traced indices", "known ones, or a scatter by bl.bincount")
        x, k = _along(array, axis)
        begins = np.asarray(indices)
        if begins.ndim != 1 or not begins.size or begins.min() < 0 or begins.max() >= x.shape[k]:
            what = f"np.{name}.reduceat got the indices {begins.tolist()!s:.80}"
            raise IndexRangeError(f"{location()}{what}, expected a vector of them from 0 to {x.shape[k] - 1}.")
        ends = [*begins[1:].tolist(), x.shape[k]]
        before = (slice(None),) * k
        parts = [getitem(x, (*before, slice(a, max(b, a + 1)))) for a, b in zip(begins.tolist(), ends, strict=True)]
        return stack([REDUCTIONS[name](part, k) for part in parts], k)

    return rule


METHODS["cumprod"] = cumprod
FUNCTIONS.update({np.cumprod: cumprod, np.nancumsum: nancumsum, np.nancumprod: nancumprod})
for _name, _rule, _start in (("cumulative_sum", cumsum_, 0), ("cumulative_prod", cumprod, 1)):
    if hasattr(np, _name):
        FUNCTIONS[getattr(np, _name)] = _cumulative(_rule, _start)
ACCUMULATIONS.update(
    add=_by_zero(cumsum_),
    multiply=_by_zero(cumprod),
    maximum=_accumulation("maximum", lowest=True),
    minimum=_accumulation("minimum", lowest=False),
)
SEGMENTS.update({name: _segmented(name) for name in REDUCTIONS})
