"""np.pad in all of its modes: some only repeat elements, the others put numbers at the ends of each axis."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, BurlabError
from burlab.graph.faults import fault
from burlab.graph.linear_nodes import broadcast, pad, reshape
from burlab.graph.node import FUNCTIONS, Node, as_node, constant
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.runtime.memory import check_fits, volume
from burlab.runtime.plain import as_array
from burlab.typing import ArrayLike

from .arguments import normal_axis
from .extremes import extreme
from .indexing import getitem
from .joining import concatenate_
from .moving import rearranged
from .ordering import median
from .promotion import as_dtype
from .reduction import mean_

Ends = tuple[Any, Any]
_MOVES = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS: dict[str, Callable[[Node, int], Node]] = {
    "mean": lambda x, k: as_dtype(mean_(x, k, keepdims=True), x.dtype),
    "maximum": lambda x, k: extreme("reduce_max", x, k, keepdims=True),
    "minimum": lambda x, k: extreme("reduce_min", x, k, keepdims=True),
    "median": lambda x, k: as_dtype(median(x, k, keepdims=True), x.dtype),
}


def pad_(array: ArrayLike, pad_width: ArrayLike | dict[int, Any], mode: Any = "constant", **kwargs: Any) -> Node:
    """np.pad in its modes; empty: zeros."""
    x = as_node(array)
    widths = _widths(pad_width, x.ndim)
    wide = tuple(size + before + after for size, (before, after) in zip(x.shape, widths, strict=True))
    check_fits(volume(wide) * x.itemsize, f"{location()}np.pad to {x.dtype}{list(wide)}")
    if mode in _MOVES:
        if kwargs.get("reflect_type", "even") == "odd" and mode in ("reflect", "symmetric"):
            for k, width in enumerate(widths):
                x = _odd(x, k, width, mode)
            return x
        return rearranged("np.pad", lambda p: np.pad(p[0], widths, cast("Any", mode), **kwargs), x)
    ends = _ends(mode, kwargs, x)
    fill = kwargs.get("constant_values", 0)
    if mode in ("constant", "empty") and isinstance(fill, int) and fill == 0:
        return pad(x, tuple(before for before, _ in widths), (1,) * x.ndim, wide) if wide != x.shape else x
    for k, width in enumerate(widths):
        before, after = ends(x, k, width)
        x = concatenate_([before, x, after], k)
    return x


def _ends(mode: Any, kwargs: dict[str, Any], x: Node) -> Callable[[Node, int, list[int]], Ends]:
    """Return the function (array, axis, widths) that computes both ends of an axis in a mode."""
    if mode in ("constant", "empty") and not kwargs.keys() - {"constant_values"}:
        fills = _pairs(kwargs.get("constant_values", 0), x)
        return lambda x, k, width: _both(width, lambda side, w: _filled(x, k, w, fills[k][side]))
    if mode == "linear_ramp" and not kwargs.keys() - {"end_values"}:
        ends = _pairs(kwargs.get("end_values", 0), x)
        return lambda x, k, width: _both(width, lambda side, w: _ramp(x, k, w, side, ends[k][side]))
    if mode in _STATISTICS and not kwargs.keys() - {"stat_length"}:
        number, lengths = _STATISTICS[mode], kwargs.get("stat_length")
        counts = _widths(x.size if lengths is None else lengths, x.ndim, "stat_length")
        return lambda x, k, width: _both(
            width, lambda side, w: broadcast(number(_outer(x, k, side, counts[k][side]), k), _sized(x, k, w))
        )
    options = "".join(f", {name}={shown(value)}" for name, value in kwargs.items())
    raise fault(f"np.pad(mode={shown(mode)}{options}) of a traced array", "np.concatenate of what stands at the ends")


def _both(width: list[int], end: Callable[[int, int], Node]) -> Ends:
    return end(0, width[0]), end(1, width[1])


def _filled(x: Node, k: int, width: int, value: ArrayLike) -> Node:
    return broadcast(as_dtype(as_node(value), x.dtype), _sized(x, k, width))


def _outer(x: Node, k: int, side: int, count: int) -> Node:
    """This many entries at one end of an axis, all of them if it has fewer."""
    count = min(count, x.shape[k])
    return getitem(x, (slice(None),) * k + (slice(x.shape[k] - count, None) if side else slice(0, count),))


def _odd(x: Node, k: int, width: list[int], mode: str) -> Node:
    """An axis continued so that each end is the middle of what lies on both sides of it: twice the end, less that."""
    n = x.shape[k]
    period_half = n - 1 if mode == "reflect" else n  # from one end to the other
    if not any(width) or n == 1:
        return rearranged(
            "np.pad", lambda p: np.pad(p[0], [width if j == k else [0, 0] for j in range(x.ndim)], "edge"), x
        )
    rounds, place = np.divmod(np.arange(-width[0], n + width[1]), 2 * period_half)
    back = place >= n
    place = np.where(back, 2 * period_half - (mode == "symmetric") - place, place)
    shape = tuple(place.size if j == k else 1 for j in range(x.ndim))
    sign, first, last = (
        as_dtype(constant(c.reshape(shape)), x.dtype) for c in (1 - 2 * back, -2 * rounds, 2 * (rounds + back))
    )
    ends = _outer(x, k, 0, 1) * first + _outer(x, k, 1, 1) * last
    return getitem(x, (slice(None),) * k + (place,)) * sign + ends


def _ramp(x: Node, k: int, width: int, side: int, end: Node | float) -> Node:
    """Equal steps from a number to the edge, which is not among them."""
    edge = getitem(x, (slice(None),) * k + (slice(-1, None) if side else slice(0, 1),))
    share = np.arange(width) / max(width, 1)
    steps = constant(share[::-1] if side else share, x.dtype if x.dtype.kind == "f" else np.dtype(float))
    along = reshape(steps, tuple(width if j == k else 1 for j in range(x.ndim)))
    values = (edge - end) * along + end
    return as_dtype(values, x.dtype)


def _sized(x: Node, k: int, width: int) -> tuple[int, ...]:
    return (*x.shape[:k], width, *x.shape[k + 1 :])


def _pairs(values: ArrayLike, x: Node) -> list[list[Any]]:
    """A number before and one after for each axis. A traced one is used for all."""
    if isinstance(values, Node) and values.shape == ():
        return [[values, values]] * x.ndim
    try:
        return np.broadcast_to(as_array(values, "what np.pad fills with"), (x.ndim, 2)).tolist()
    except ValueError:
        what = f"np.pad of {x.ndim} axes got {shown(values)} to fill with"
        raise ArgumentError(f"{location()}{what}, expected a number, or a pair for each axis.") from None


def _widths(pad_width: ArrayLike | dict[int, Any], ndim: int, name: str = "pad_width") -> list[list[int]]:
    """Return how far each axis grows before and after. Raises ArgumentError for widths of another form."""
    try:
        if isinstance(pad_width, dict):  # by axis
            given = {normal_axis(axis, ndim): pair for axis, pair in cast("dict[Any, Any]", pad_width).items()}
            pad_width = [np.broadcast_to(given.get(k, 0), 2) for k in range(ndim)]
        widths: list[list[Any]] = np.broadcast_to(as_array(pad_width, "pad_width"), (ndim, 2)).tolist()
    except (BurlabError, ValueError):
        widths = [[None]]
    if not all(type(width) is int and width >= 0 for pair in widths for width in pair):
        what = f"np.pad({name}={shown(pad_width)}) of {ndim} axes"
        raise ArgumentError(f"{location()}{what}: expected integers of at least 0, one, or a pair for each axis.")
    return widths


FUNCTIONS[np.pad] = pad_
