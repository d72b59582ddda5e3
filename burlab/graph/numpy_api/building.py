"""NumPy's functions that build arrays of numbers: ranges, grids, products of shapes, differences, and choices."""

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.faults import fault
from burlab.graph.linear_nodes import broadcast, reshape, slice_
from burlab.graph.node import FUNCTIONS, Node, as_node, constant
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.runtime.memory import check_fits
from burlab.typing import ArrayLike, Axis, DTypeLike

from .arguments import NOT_GIVEN, known_dtype, normal_axes, normal_axis, several, whole
from .elementwise import where
from .indexing import getitem
from .joining import broadcast_arrays, concatenate_, stack
from .promotion import FLOAT64, apply, as_dtype, promote
from .reduction import as_floats
from .shapes import moveaxis
from .ufuncs import power_


def linspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, retstep: bool = False,
             dtype: DTypeLike = None, axis: int = 0, **_device: Any) -> Any:  # fmt: skip
    """np.linspace between traced ends; the last entry is the end itself."""
    count = _count(num, "num of np.linspace")
    low, high = _ends(start, stop)
    low, high = low * 1.0, high * 1.0
    parts = count - 1 if endpoint else count
    step = (high - low) / float(parts) if parts else constant(np.nan)
    shape = np.broadcast_shapes(low.shape, high.shape)
    places = reshape(as_dtype(constant(np.arange(float(count))), step.dtype), (count, *(1,) * len(shape)))
    values = places * step + low if parts else broadcast(low, (count, *shape))
    if endpoint and count > 1:
        ends = constant((np.arange(count) == count - 1).reshape(places.shape))
        values = where(ends, high, values)
    if axis != 0:
        values = moveaxis(values, 0, axis)
    values = values if dtype is None else as_dtype(values, known_dtype(dtype))
    return (values, step) if retstep else values


def logspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, base: ArrayLike = 10.0,
             dtype: DTypeLike = None, axis: int = 0) -> Node:  # fmt: skip
    """np.logspace: powers of a base, whose exponents are equally far apart."""
    values = power_(base, linspace(start, stop, num, endpoint, axis=axis))
    return values if dtype is None else as_dtype(values, known_dtype(dtype))


def geomspace(start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, dtype: DTypeLike = None,
              axis: int = 0) -> Node:  # fmt: skip
    """np.geomspace between traced ends of one sign, which are among the entries."""
    count = _count(num, "num of np.geomspace")
    low, high = (as_dtype(as_node(x), FLOAT64) for x in (start, stop))
    share = linspace(low * 0.0, high * 0.0 + 1.0, count, endpoint)
    values = low * power_(high / low, share)
    first = constant((np.arange(count) == 0).reshape(count, *(1,) * (values.ndim - 1)))
    values = where(first, low, values)
    if endpoint and count > 1:
        values = where(constant(first.params[::-1].copy()), high, values)
    values = values if axis == 0 else moveaxis(values, 0, axis)
    return values if dtype is None else as_dtype(values, known_dtype(dtype))


def _ends(*ends: Any) -> tuple[Node, Node]:
    """Both ends in the dtype that they have together with a Python float."""
    low, high, _ = promote([*map(as_node, ends), as_node(1.0)])
    return low, high


def _count(num: int, name: str) -> int:
    count = whole(num, name)
    if count < 0:
        raise ArgumentError(f"{location()}{name} is {count}, expected 0 or more.")
    return count


def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Node:
    """np.vander: powers 0 to N - 1 of a vector, by repeated multiplication."""
    a = as_node(x)
    if a.ndim != 1:
        raise ShapeError(f"{location()}np.vander takes a vector, got shape {a.shape}.")
    a = as_dtype(a, np.result_type(a.dtype, np.int64))
    count = a.size if N is None else _count(N, "N of np.vander")
    check_fits(a.size * count * a.itemsize, f"{location()}np.vander of {count} powers")
    powers = [constant(np.ones(a.shape, a.dtype)), a][:count]
    while len(powers) < count:
        k = len(powers)
        powers.append(powers[k // 2] * powers[k - k // 2])
    if not powers:
        return constant(np.zeros((a.size, 0), a.dtype))
    return stack(powers if increasing else powers[::-1], 1)


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Node, ...]:  # noqa: ARG001
    """np.meshgrid."""
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"{location()}indexing of np.meshgrid is 'xy' or 'ij', got {shown(indexing)}.")
    xs = [as_node(x) for x in xi]
    xs = [reshape(x, (x.size,)) for x in xs]
    n = len(xs)
    place = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else [*range(n)]
    shape = tuple(xs[place.index(k)].size for k in range(n))
    grids = [reshape(x, tuple(x.size if j == k else 1 for j in range(n))) for x, k in zip(xs, place, strict=True)]
    return tuple(grids if sparse else [broadcast(grid, shape) for grid in grids])


def kron(a: ArrayLike, b: ArrayLike) -> Node:
    """np.kron."""
    x, y = as_node(a), as_node(b)
    ndim = max(x.ndim, y.ndim)
    left, right = ((1,) * (ndim - z.ndim) + z.shape for z in (x, y))
    x = reshape(x, tuple(d for size in left for d in (size, 1)))
    y = reshape(y, tuple(d for size in right for d in (1, size)))
    return reshape(x * y, tuple(p * q for p, q in zip(left, right, strict=True)))


def cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Node:
    """np.cross of vectors with 3 entries, or 2."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if x.shape[-1] not in (2, 3) or y.shape[-1] not in (2, 3):
        raise ShapeError(f"{location()}np.cross takes vectors with 2 or 3 entries, got shapes {x.shape} and {y.shape}.")
    flat = x.shape[-1] == y.shape[-1] == 2
    zero: Any = 0.0
    u, v = ([*(getitem(z, (..., k)) for k in range(z.shape[-1])), zero] for z in (x, y))

    def minor(i: int, j: int) -> Node:
        return u[i] * v[j] - u[j] * v[i]

    if flat:
        return minor(0, 1)
    parts = broadcast_arrays(minor(1, 2), minor(2, 0), minor(0, 1))
    return moveaxis(stack(parts, -1), -1, axisc)


def diff(
    a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike = NOT_GIVEN, append: ArrayLike = NOT_GIVEN
) -> Node:
    """np.diff, n times."""
    x = as_node(a)
    k = normal_axis(axis, x.ndim)
    if whole(n, "the order of np.diff") < 0:
        raise ArgumentError(f"{location()}np.diff takes differences {n} times, expected 0 or more.")
    if n == 0:
        return x
    ends = [None if end is NOT_GIVEN else as_node(end) for end in (prepend, append)]
    row = (*x.shape[:k], 1, *x.shape[k + 1 :])
    before, after = ([] if e is None else [broadcast(e, row) if e.ndim == 0 else e] for e in ends)
    if before or after:
        x = concatenate_([*before, x, *after], k)
    for _ in range(min(n, x.shape[k])):  # then nothing is left
        x = _less(x, k, 1)
    return x


def _less(x: Node, k: int, gap: int) -> Node:
    """Entries minus those at a distance before them along an axis; for masks, whether they differ."""
    size = max(x.shape[k] - gap, 0)
    unit = (1,) * x.ndim
    shape = (*x.shape[:k], size, *x.shape[k + 1 :])
    later = slice_(x, tuple(gap * int(i == k and size > 0) for i in range(x.ndim)), unit, shape)
    earlier = slice_(x, (0,) * x.ndim, unit, shape)
    return apply("not_equal" if x.dtype.kind == "b" else "sub", later, earlier)


def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Node:
    """np.ediff1d: differences of all elements, between the values put at the ends."""
    x = as_node(ary)
    middle = _less(reshape(x, (x.size,)), 0, 1)
    before, after = ([] if end is None else [as_dtype(as_node(end), x.dtype)] for end in (to_begin, to_end))
    parts = [reshape(part, (part.size,)) for part in (*before, middle, *after)]
    return concatenate_(parts, 0)


def gradient(f: ArrayLike, *varargs: Any, axis: Axis = None, edge_order: int = 1) -> Any:
    """np.gradient: central differences inside, one-sided ones at the ends; a distance or coordinates for each axis."""
    x = as_floats(as_node(f))
    axes = tuple(range(x.ndim)) if axis is None else normal_axes(axis, x.ndim)
    steps = [1.0] * len(axes) if not varargs else list(varargs) * (len(axes) if len(varargs) == 1 else 1)
    if len(steps) != len(axes):
        what = f"np.gradient along {len(axes)} axes got {len(varargs)} distances"
        raise ArgumentError(f"{location()}{what}, expected none, one, or one for each axis.")
    if edge_order not in (1, 2) or any(x.shape[k] < edge_order + 1 for k in axes):
        raise ShapeError(f"{location()}np.gradient(edge_order={edge_order}) of shape {x.shape} needs longer axes.")
    found = [_slope(x, k, as_node(step), edge_order) for k, step in zip(axes, steps, strict=True)]
    return found[0] if len(found) == 1 else tuple(found)


def _slope(x: Node, k: int, step: Node, edge_order: int) -> Node:
    """Differences along an axis, divided by a distance or by those of coordinates (Fornberg 1988)."""

    def at(first: int, last: int | None) -> Node:
        return getitem(x, (slice(None),) * k + (slice(first, last),))

    def along(h: Node) -> Node:
        return reshape(h, tuple(h.size if j == k else 1 for j in range(x.ndim)))

    n = x.shape[k]
    if step.ndim == 0:
        h = step * 1.0
        inner = (at(2, None) - at(0, -2)) / (2.0 * h)
        before = after = h
        gaps = [(h, h), (h, h)]
    else:
        if step.shape != (n,):
            raise ShapeError(
                f"{location()}np.gradient along an axis of size {n} got coordinates of shape {step.shape}."
            )
        widths = diff(as_floats(step))
        left, right = along(getitem(widths, slice(None, -1))), along(getitem(widths, slice(1, None)))
        whole_ = left + right
        low = -right / (left * whole_)
        mid = (right - left) / (left * right)
        high = left / (right * whole_)
        inner = _sum(low * at(0, -2), mid * at(1, -1), high * at(2, None))
        before, after = getitem(widths, 0), getitem(widths, -1)
        gaps = [(before, getitem(widths, min(1, n - 2))), (after, getitem(widths, max(-2, 1 - n)))]
    if edge_order == 1:
        first = (at(1, 2) - at(0, 1)) / before
        last = (at(n - 1, n) - at(n - 2, n - 1)) / after
    else:
        first = _one_sided([at(j, j + 1) for j in range(3)], *gaps[0])
        last = -_one_sided([at(n - 1 - j, n - j) for j in range(3)], *gaps[1])
    return concatenate_([first, inner, last], k)


def _one_sided(points: list[Node], near: Node | float, far: Node | float) -> Node:
    """The slope at the first of three points, at these distances, by the parabola through them."""
    both = near + far
    a = -(both + near) / (near * both)
    b = both / (near * far)
    c = -near / (far * both)
    return _sum(*(weight * point for weight, point in zip((a, b, c), points, strict=True)))


def _sum(first: Node, *rest: Node) -> Node:
    for term in rest:
        first = first + term
    return first


def select(condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0) -> Node:
    """np.select: of each element the first choice whose condition holds."""
    if len(condlist) != len(choicelist) or not condlist:
        what = f"np.select got {len(condlist)} conditions and {len(choicelist)} choices"
        raise ArgumentError(f"{location()}{what}, expected as many, and at least one.")
    result, *choices = promote([as_node(choice) for choice in (default, *choicelist)])
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = where(condition, choice, result)
    return result


def piecewise(
    x: ArrayLike, condlist: ArrayLike | Sequence[ArrayLike], funclist: Sequence[Any], *args: Any, **kw: Any
) -> Node:
    """np.piecewise: each function sees all elements, and is chosen where its condition holds; the last one wins."""
    a = as_node(x)
    if isinstance(condlist, Node) and condlist.ndim > a.ndim:
        condlist = [*condlist]
    single = not isinstance(condlist, (list, tuple)) or isinstance(cast("Any", condlist[0]), (bool, np.bool_))
    conditions = [as_node(c) for c in (cast("list[Any]", [condlist]) if single else cast("list[Any]", condlist))]
    functions = list(funclist)
    if len(functions) == len(conditions) + 1:
        any_ = conditions[0]
        for condition in conditions[1:]:
            any_ = any_ | condition
        conditions.append(~any_)
    if len(functions) != len(conditions):
        what = f"np.piecewise got {len(conditions)} conditions and {len(functions)} functions"
        raise ArgumentError(f"{location()}{what}, expected as many, or one function more.")
    result = constant(np.zeros(a.shape, a.dtype))
    for condition, function in zip(conditions, functions, strict=True):
        # A function gets 1 where it is not chosen: inf or nan there would enter the derivatives.
        value = function(where(condition, a, 1), *args, **kw) if callable(function) else function
        result = where(condition, as_dtype(as_node(value), a.dtype), result)
    return result


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> Node:
    """np.apply_along_axis: the function is traced once for each row, as NumPy calls it."""
    x = as_node(arr)
    k = normal_axis(axis, x.ndim)
    rows = moveaxis(x, k, -1)
    lead = rows.shape[:-1]
    if math.prod(lead) == 0 or math.prod(lead) > _ROWS:
        what = f"np.apply_along_axis over {math.prod(lead)} rows of a traced array"
        raise fault(what, "bl.vmap, which traces the function once")
    found = [as_node(func1d(getitem(rows, index), *args, **kwargs)) for index in np.ndindex(*lead)]
    values = stack(found, 0)
    values = reshape(values, (*lead, *found[0].shape))
    for j in range(found[0].ndim):
        values = moveaxis(values, len(lead) + j, k + j)
    return values


def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: Axis) -> Node:
    """np.apply_over_axes: a reduction over one axis after the other, each of which stays with size 1."""
    x = as_node(a)
    for axis in several(axes):
        k = normal_axis(axis, x.ndim)
        y = as_node(func(x, k))
        x = reshape(y, (*x.shape[:k], 1, *x.shape[k + 1 :])) if y.ndim < x.ndim else y
    return x


_ROWS = 4096

FUNCTIONS.update({
    np.linspace: linspace, np.logspace: logspace, np.geomspace: geomspace, np.vander: vander, np.meshgrid: meshgrid,
    np.kron: kron, np.cross: cross, np.diff: diff, np.ediff1d: ediff1d, np.gradient: gradient, np.select: select,
    np.piecewise: piecewise, np.apply_along_axis: apply_along_axis,
    np.apply_over_axes: apply_over_axes,
})  # fmt: skip
