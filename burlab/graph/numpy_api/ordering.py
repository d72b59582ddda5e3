"""NumPy's functions of order: sorting, order statistics, searching and counting.

Entries that tie keep their order, and so do their derivatives; NaNs come last, as in NumPy. Few places of long rows are
found without sorting these.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.faults import fault
from burlab.graph.linear_nodes import broadcast, reshape, transpose
from burlab.graph.node import FUNCTIONS, METHODS, UFUNCS, Node, as_node, constant
from burlab.graph.operation import make_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.typing import ArrayLike, Axis, Params

from .arguments import normal_axes, normal_axis, only_defaults
from .elementwise import isnan, maximum, minimum, where
from .indexing import getitem, take_along_axis, take_at
from .joining import stack
from .promotion import FLOAT64, INT64, as_dtype, promote
from .reduction import as_floats, sum_

MIN_SELECTED = 256  # entries of an axis, from which on some are found faster than all are sorted
MAX_SELECTED = 8  # places that are found one after another

_METHODS: dict[str, tuple[float, float]] = {  # Hyndman and Fan 1996: alpha and beta of the continuous estimators 4 to 9
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
# The first three of Hyndman and Fan, which step from one entry to another: what is taken off n q, and how much of the
# next entry there is, by the fraction and the whole part of that place.
_STEPS: dict[str, tuple[float, Callable[[Node, Node], Any]]] = {
    "inverted_cdf": (1.0, lambda fraction, _: _of_next(fraction, 1.0, 0.0)),
    "averaged_inverted_cdf": (1.0, lambda fraction, _: _of_next(fraction, 1.0, 0.5)),
    "closest_observation": (1.5, lambda fraction, low: _of_next(fraction, 1.0, where(_is_odd(low), 0.0, 1.0))),
}
# Whether the next entry is taken, for the fraction and the whole part of the position that "linear" has.
_NEAREST: dict[str, Callable[[Node, Node], Node]] = {
    "lower": lambda fraction, _: fraction < 0.0,
    "higher": lambda fraction, _: fraction > 0.0,
    "nearest": lambda fraction, low: fraction + _odd(low) > 0.5,
}


def _by_rows(op: str, a: ArrayLike, axis: int | None, params: Params = None) -> Node:
    """An operation on rows, done along any axis, or on all elements."""
    x = as_node(a)
    if axis is None:
        x, axis = reshape(x, (x.size,)), 0
    k = normal_axis(axis, x.ndim)
    last = [*range(x.ndim)]
    last[k], last[-1] = last[-1], last[k]  # which exchanges them back as well
    return transpose(make_node(op, params, transpose(x, tuple(last))), tuple(last))


def sort(a: ArrayLike, axis: int | None = -1, kind: str | None = None, order: None = None, *,  # noqa: ARG001
         stable: bool | None = None) -> Node:  # fmt: skip  # noqa: ARG001
    """np.sort, stable whatever its kind: NaNs last; entries that tie keep their order, and so do their derivatives."""
    only_defaults("np.sort", {"order": order})
    return _by_rows("sort", a, axis)


def argsort(a: ArrayLike, axis: int | None = -1, kind: str | None = None, order: None = None, *,  # noqa: ARG001
            stable: bool | None = None) -> Node:  # fmt: skip  # noqa: ARG001
    """np.argsort, stable whatever its kind, int64."""
    only_defaults("np.argsort", {"order": order})
    return _by_rows("argsort", a, axis)


def partition(a: ArrayLike, kth: int | Sequence[int], axis: int | None = -1, kind: str | None = None,  # noqa: ARG001
              order: None = None) -> Node:  # fmt: skip
    """np.partition: parts in their own order, a short axis all in order, which are of the orders that NumPy allows."""
    only_defaults("np.partition", {"order": order})
    places = _places(a, kth, axis)
    return _by_rows("partition" if places else "sort", a, axis, places)


def argpartition(a: ArrayLike, kth: int | Sequence[int], axis: int | None = -1, kind: str | None = None,  # noqa: ARG001
                 order: None = None) -> Node:  # fmt: skip
    """np.argpartition: the positions of the entries that `partition` gives."""
    only_defaults("np.argpartition", {"order": order})
    places = _places(a, kth, axis)
    return _by_rows("argpartition" if places else "argsort", a, axis, places)


def _places(a: ArrayLike, kth: int | Sequence[int], axis: int | None) -> tuple[int, ...] | None:
    """Return places at which rows are parted, in order; None where sorting is as fast."""
    x = as_node(a)
    size = x.size if axis is None else x.shape[normal_axis(axis, x.ndim)]
    try:
        np.partition(np.zeros(size), kth)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{location()}np.partition of an axis of size {size}: {error}.") from None
    return selected({int(k) % size for k in np.ravel(kth)}, size) if size else None


def selected(places: Collection[int], size: int) -> tuple[int, ...] | None:
    """Return places of a row in order, if finding them is faster than sorting the row, else None."""
    return tuple(sorted(places)) if size >= MIN_SELECTED and 0 < len(places) <= MAX_SELECTED else None


def lexsort(keys: Node | Sequence[ArrayLike], axis: int | None = -1) -> Node:
    """np.lexsort: by the last key first."""
    rows = [*as_node(keys)] if isinstance(keys, Node) else [as_node(key) for key in keys]
    if not rows or any(row.shape != rows[0].shape for row in rows):
        raise ShapeError(f"{location()}lexsort needs keys of one shape, got {[row.shape for row in rows]}.")
    order = argsort(rows[0], axis)
    for row in rows[1:]:
        order = take_along_axis(order, argsort(take_along_axis(row, order, axis), axis), axis)
    return order


def quantile(a: ArrayLike, q: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: bool = False,  # noqa: ARG001
             method: str = "linear", keepdims: bool = False, **kwargs: Any) -> Node:  # fmt: skip
    """np.quantile of shares q, by the continuous estimators, or lower, higher, midpoint and nearest.

    NaN where there is one, and where a traced share is none (a known one is refused). The derivative is shared by the
    two entries between which it lies.
    """
    only_defaults("np.quantile", {"out": out, **kwargs})
    return _quantile(a, q, axis, method, keepdims, ignores_nan=False)


def percentile(a: ArrayLike, q: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: bool = False,
               method: str = "linear", keepdims: bool = False, **kwargs: Any) -> Node:  # fmt: skip
    """np.percentile: `quantile` of q / 100."""
    return quantile(a, _shares(q), axis, out, overwrite_input, method, keepdims, **kwargs)


def _shares(q: ArrayLike) -> Node:
    """The shares of percentages, known if these are."""
    percent = as_node(q)
    if not percent.is_constant:
        return percent / 100.0
    return as_node(float(percent.params) / 100.0 if percent.weak else percent.params / 100.0)


def median(a: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: bool = False,  # noqa: ARG001
           keepdims: bool = False) -> Node:  # fmt: skip
    """np.median: of an even number of entries, the mean of the two in the middle."""
    only_defaults("np.median", {"out": out})
    return _quantile(a, 0.5, axis, "linear", keepdims, ignores_nan=False)


def nanquantile(a: ArrayLike, q: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: bool = False,  # noqa: ARG001
                method: str = "linear", keepdims: bool = False, **kwargs: Any) -> Node:  # fmt: skip
    """np.nanquantile: of the entries that are not NaN."""
    only_defaults("np.nanquantile", {"out": out, **kwargs})
    return _quantile(a, q, axis, method, keepdims, ignores_nan=True)


def nanpercentile(a: ArrayLike, q: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: bool = False,
                  method: str = "linear", keepdims: bool = False, **kwargs: Any) -> Node:  # fmt: skip
    """np.nanpercentile."""
    return nanquantile(a, _shares(q), axis, out, overwrite_input, method, keepdims, **kwargs)


def nanmedian(a: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: bool = False,  # noqa: ARG001
              keepdims: bool = False) -> Node:  # fmt: skip
    """np.nanmedian."""
    only_defaults("np.nanmedian", {"out": out})
    return _quantile(a, 0.5, axis, "linear", keepdims, ignores_nan=True)


def _quantile(a: ArrayLike, q: ArrayLike, axis: Axis, method: str, keepdims: bool, ignores_nan: bool) -> Node:
    x, shares = as_floats(as_node(a)), as_node(q)
    shares = as_dtype(shares, x.dtype) if shares.dtype.kind != "f" or shares.weak else shares
    if shares.ndim > 1:
        raise ShapeError(f"{location()}q of np.quantile is a number or a vector here, got shape {shares.shape}.")
    if shares.is_constant and not ((shares.params >= 0) & (shares.params <= 1)).all():
        what = f"np.quantile got q={shown(q)}"
        raise ArgumentError(f"{location()}{what}, expected shares between 0 and 1 (of np.percentile, 0 and 100).")
    axes = normal_axes(axis, x.ndim)
    rest = tuple(k for k in range(x.ndim) if k not in axes)
    if (count := _size(x, axes)) == 0:
        raise ArgumentError(f"{location()}the quantile of no entries (shape {x.shape}, axis {axis}) does not exist.")
    rows = reshape(transpose(x, rest + axes), (*(x.shape[k] for k in rest), count))
    found = None if ignores_nan else _of_places(rows, shares, method)
    if found is None:
        rows, flat = make_node("sort", None, rows), reshape(shares, (shares.size,))
        found = [_between(rows, getitem(flat, i), method, ignores_nan) for i in range(shares.size)]
    if keepdims is True:
        found = [reshape(y, tuple(1 if k in axes else d for k, d in enumerate(x.shape))) for y in found]
    return found[0] if shares.ndim == 0 else stack(found)


def _of_places(rows: Node, shares: Node, method: str) -> list[Node] | None:
    """The quantiles of known shares, which are between known places of rows; None where sorting is as fast."""
    if not shares.is_constant or method not in _METHODS:
        return None
    n = rows.shape[-1]
    alpha, beta = _METHODS[method]
    given = np.ravel(shares.params).astype(np.float64)
    found = np.clip(given * (n - (alpha + beta) + 1.0) + alpha - 1.0, 0.0, n - 1.0)
    lows = [int(place) for place in found]
    places = selected({n - 1, *lows, *(min(low + 1, n - 1) for low in lows)}, n)
    if places is None:
        return None
    chosen = make_node("kth", places, rows)
    at = {place: getitem(chosen, (..., k)) for k, place in enumerate(places)}
    values: list[Node] = []
    for place, low in zip(found, lows, strict=True):
        fraction = as_dtype(constant(float(place) - low), rows.dtype)
        value = _interpolated(at[low], at[min(low + 1, n - 1)], fraction)
        values.append(where(isnan(at[n - 1]), at[n - 1], value))
    return values


def _size(x: Node, axes: tuple[int, ...]) -> int:
    return int(np.prod([x.shape[k] for k in axes], dtype=np.int64))


def _between(rows: Node, share: Node, method: str, ignores_nan: bool) -> Node:
    """The quantile of sorted rows, of which NaNs stand at the end."""
    n = rows.shape[-1]
    last = getitem(rows, (..., -1))
    is_share = (share >= 0.0) & (share <= 1.0)
    if not share.is_constant:
        share = where(is_share, share, constant(0.0, share.dtype))
    if ignores_nan:
        count = sum_(~isnan(rows), -1)
        count = as_dtype(count, FLOAT64)
    else:
        count = constant(float(n))
    place = _place(as_dtype(share, FLOAT64), count, method)
    place = minimum(maximum(place, 0.0), maximum(count - 1.0, 0.0))
    low = as_dtype(place, INT64)  # which cuts the fraction off
    fraction = as_dtype(place - as_dtype(low, FLOAT64), rows.dtype)
    below, above = (_entry(rows, minimum(low + k, n - 1)) for k in (0, 1))
    if method == "midpoint":
        fraction = where(fraction > 0.0, as_dtype(constant(0.5), rows.dtype), fraction)
    value = _interpolated(below, above, fraction)
    if not share.is_constant:
        value = where(is_share, value, np.nan)
    if ignores_nan:
        return where(count == 0.0, np.nan, value)
    return where(isnan(last), last, value)


def _interpolated(below: Node, above: Node, fraction: Node) -> Node:
    """As NumPy's: from the nearer end, so that equal or infinite neighbours give themselves."""
    step = above - below
    near = below + step * fraction
    far = above - step * (1.0 - fraction)
    value = where(fraction >= 0.5, far, near)
    return where(fraction == 0.0, below, value)


def _entry(rows: Node, place: Node) -> Node:
    """The entry of each row at a place: of all rows the same one, or one of its own."""
    if place.shape == ():
        return take_at(rows, {rows.ndim - 1: place})
    found = take_along_axis(rows, reshape(place, (*place.shape, 1)), -1)
    return reshape(found, rows.shape[:-1])


def _place(share: Node, count: Node, method: str) -> Node:
    """Return the position of a quantile among sorted entries, the first of which is at 0."""
    if method in _METHODS:
        alpha, beta = _METHODS[method]
        within = count - (alpha + beta) + 1.0
        return share * within + alpha - 1.0
    if method in _STEPS:
        less, step = _STEPS[method]
        place = share * count - less
        low = UFUNCS["floor"](place)
        return low + step(place - low, low)
    place = share * (count - 1.0)
    if method == "midpoint":
        return place
    if method in _NEAREST:
        low = as_dtype(as_dtype(place, INT64), FLOAT64)
        return low + as_dtype(_NEAREST[method](place - low, low), FLOAT64)
    known = ", ".join([*_METHODS, *_STEPS, "midpoint", *_NEAREST])
    raise fault(f"np.quantile(method={shown(method)}) of a traced array", f"one of {known}")


def _odd(whole: Node) -> Node:
    """The least number for odd integers, else 0: a half goes to the even one."""
    return where(_is_odd(whole), np.finfo(float).eps, 0.0)


def _is_odd(whole: Node) -> Node:
    half = whole * 0.5
    return half - UFUNCS["floor"](half) > 0.0


def _of_next(fraction: Node, between: float, at_entry: Node | float) -> Node:
    """Return the weights of the next entry: between two entries, and at one."""
    return where(fraction > 0.0, between, at_entry)


def searchsorted(a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None) -> Node:
    """np.searchsorted by halving: int64, no derivative. NaNs are larger than all."""
    if side not in ("left", "right"):
        raise ArgumentError(f"{location()}side of np.searchsorted is 'left' or 'right', got {shown(side)}.")
    table = as_node(a)
    if table.ndim != 1:
        raise ShapeError(f"{location()}np.searchsorted looks into a vector, got shape {table.shape}.")
    table = table if sorter is None else take_at(table, {0: sorter})
    table, wanted = promote([table, as_node(v)])
    low = broadcast(constant(0, INT64), wanted.shape)
    high = broadcast(constant(table.size, INT64), wanted.shape)
    for _ in range(table.size.bit_length()):
        half = _half(low + high)
        entry = take_at(table, {0: minimum(half, table.size - 1)})
        later = _before(entry, wanted) if side == "left" else ~_before(wanted, entry)
        goes_on = later & (low < high)
        high = where(later, high, half)
        low = where(goes_on, half + 1, low)
    return low


def _half(x: Node) -> Node:
    """Half of integers that are not negative, rounded down."""
    return as_dtype(as_dtype(x, FLOAT64) * 0.5, INT64)


def _before(x: Node, y: Node) -> Node:
    """x < y, where NaN is larger than all."""
    less = x < y
    if x.dtype.kind != "f":
        return less
    return less | isnan(y) & ~isnan(x)


def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> Node:
    """np.digitize into known bins, which rise or fall."""
    edges = as_node(bins)
    if not edges.is_constant:
        raise fault("np.digitize with traced bins: whether they rise is not known", "np.searchsorted(bins, x)")
    known = edges.params
    if known.ndim != 1 or not ((np.diff(known) >= 0).all() or (np.diff(known) <= 0).all()):
        raise ArgumentError(f"{location()}bins of np.digitize are a vector that rises or falls, got {shown(bins)}.")
    if known.size and known[0] > known[-1]:
        return known.size - searchsorted(known[::-1].copy(), x, "left" if right else "right")
    return searchsorted(known, x, "left" if right else "right")


FUNCTIONS.update({
    np.sort: sort, np.argsort: argsort, np.partition: partition, np.argpartition: argpartition, np.lexsort: lexsort,
    np.quantile: quantile, np.percentile: percentile, np.median: median, np.nanquantile: nanquantile,
    np.nanpercentile: nanpercentile, np.nanmedian: nanmedian, np.searchsorted: searchsorted, np.digitize: digitize,
})  # fmt: skip
METHODS.update({"argsort": argsort, "argpartition": argpartition, "searchsorted": searchsorted})
