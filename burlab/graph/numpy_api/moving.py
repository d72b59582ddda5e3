"""NumPy's functions that only move elements: NumPy itself moves their positions, and one gather follows.

So all their arguments have NumPy's meaning. Places without an element are filled with zeros.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, cast

import numpy as np

from burlab.errors import BurlabError, IndexRangeError, ShapeError
from burlab.graph.faults import fault
from burlab.graph.linear_nodes import concatenate, gather, reshape, slice_, transpose
from burlab.graph.node import FUNCTIONS, METHODS, Node, as_node, constant, holds_node
from burlab.graph.origin import location
from burlab.runtime.memory import check_fits
from burlab.typing import Array, ArrayLike, Tree

from .elementwise import where
from .products import diagonal
from .promotion import BOOL, INT64, as_dtype, as_mask, promote

MAX_COPIED_PIECES = 4  # pieces that are copied one by one, for less than a gather takes


def rearranged(name: str, rearrange: Callable[[list[Any]], Any], *arrays: Any, fills: bool = False) -> Any:
    """Apply `rearrange` to the positions of the arrays' entries, and return a node, or a list or tuple of nodes.

    fills: whether it puts zeros into places; position 0 is theirs. Raises what NumPy raises, with the user's line.
    """
    xs = promote([as_node(a) for a in arrays])
    first = int(fills)
    positions: list[Any] = []
    for x in xs:
        check_fits(8 * x.size, f"{location()}the positions of {x.dtype}{list(x.shape)}")
        positions.append(np.arange(first, first + x.size).reshape(x.shape))
        first += x.size
    try:
        found = rearrange(positions)
    except BurlabError:
        raise
    except IndexError as error:
        raise IndexRangeError(f"{location()}{name}: {error}.") from None
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{location()}{name} of shape {xs[0].shape}: {str(error).rstrip('.')}.") from None
    if isinstance(found, (list, tuple)):
        return type(cast("list[Any]", found))(_picked(xs, p, fills) for p in cast("list[Any]", found))
    return _picked(xs, found, fills)


def _picked(xs: list[Node], positions: Array, fills: bool) -> Node:
    """The elements at positions of all arrays, ravelled and joined."""
    if fills and positions.all():
        positions, fills = positions - 1, False
    if not fills and len(xs) == 1:
        region = _region(positions, xs[0].shape) or _pieces(positions, xs[0].shape)
        if region is not None:
            return region(xs[0])
    flat = concatenate([reshape(x, (x.size,)) for x in xs], 0)
    if not fills:
        return gather(flat, constant(positions, INT64))
    taken = positions > 0
    y = gather(flat, constant(np.where(taken, positions - 1, 0), INT64)) if flat.size else constant(0, flat.dtype)
    return where(constant(taken), y, constant(0, flat.dtype))


def _region(positions: Array, shape: tuple[int, ...]) -> "Callable[[Node], Node] | None":
    """A transpose and a slice that select these positions of an array, if one of each is enough."""
    if positions.ndim != len(shape) or positions.size == 0 or not shape:
        return None
    corner = np.array(np.unravel_index(int(positions.flat[0]), shape))
    ends = [positions[tuple(int(j == k) for j in range(len(shape)))] if positions.shape[k] > 1 else None
            for k in range(len(shape))]  # fmt: skip
    steps = [None if end is None else np.array(np.unravel_index(int(end), shape)) - corner for end in ends]
    order: list[int] = []
    for k, step in enumerate(steps):
        axes = [] if step is None else np.flatnonzero(step).tolist()
        if step is not None and len(axes) != 1:  # the same element again, or one on another axis too
            return None
        order.append(axes[0] if axes else -1 - k)
    free = [a for a in range(len(shape)) if a not in order]
    order = [free.pop(0) if a < 0 else a for a in order]
    if sorted(order) != list(range(len(shape))):
        return None
    start = tuple(int(corner[a]) for a in order)
    step = tuple(1 if s is None else int(s[a]) for a, s in zip(order, steps, strict=True))
    grid: list[Any] = [a + s * np.arange(n) for a, s, n in zip(start, step, positions.shape, strict=True)]
    strides = np.cumprod([1, *shape[:0:-1]])[::-1]
    wanted = sum(g.reshape([-1 if j == k else 1 for j in range(len(order))]) * strides[order[k]]
                 for k, g in enumerate(grid))  # fmt: skip
    if not np.array_equal(wanted, positions):
        return None
    return lambda x: slice_(transpose(x, tuple(order)), start, step, positions.shape)


def _pieces(positions: Array, shape: tuple[int, ...]) -> "Callable[[Node], Node] | None":
    """A few of these, joined: of the ravelled array, or along one axis."""
    if positions.size == 0:
        return None
    flat = positions.ravel()
    cuts = np.flatnonzero(np.diff(flat) != 1) + 1
    if cuts.size < MAX_COPIED_PIECES:
        spans = [(int(part[0]), part.size) for part in np.split(flat, cuts)]
        return lambda x: reshape(_spans(reshape(x, (x.size,)), spans), positions.shape)
    for k in (k for k, size in enumerate(positions.shape) if size > 1 and positions.ndim == len(shape)):
        steps = np.moveaxis(np.diff(positions, axis=k), k, 0).reshape(positions.shape[k] - 1, -1)
        if (steps != steps[:, :1]).any():
            continue
        cuts = np.flatnonzero(steps[:, 0] != np.median(steps[:, 0])) + 1
        if cuts.size < MAX_COPIED_PIECES:
            regions = [_region(part, shape) for part in np.split(positions, cuts, axis=k)]
            if all(regions):
                return lambda x: concatenate([region(x) for region in regions if region], k)
    return None


def _spans(x: Node, spans: list[tuple[int, int]]) -> Node:
    return concatenate([slice_(x, (start,), (1,), (size,)) for start, size in spans], 0)


def _rearranges(function: Callable[..., Any], fills: bool = False) -> Callable[..., Any]:
    """A function of NumPy's that moves the elements of its first argument."""

    @wraps(function)
    def rule(a: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        _check_known(function.__name__, args, kwargs)
        return rearranged(f"np.{function.__name__}", lambda p: function(p[0], *args, **kwargs), a, fills=fills)

    return rule


def _check_known(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse traced arguments that determine positions."""
    if holds_node([*args, *kwargs.values()]):
        what = f"np.{name} with a traced argument beside the array: where its elements go would depend on numbers"
        raise fault(what, "known ints there")


def insert(arr: ArrayLike, obj: Any, values: ArrayLike, axis: Any = None) -> Node:
    """np.insert at known places."""
    _check_known("insert", (obj, axis), {})
    x = as_node(arr)
    value = as_node(values)
    values = as_mask(value) if x.dtype == BOOL else as_dtype(value, x.dtype)
    return rearranged("np.insert", lambda p: np.insert(p[0], obj, p[1], axis), x, values)


def block(arrays: Tree) -> Node:
    """np.block of nested lists."""
    leaves: list[Any] = []

    def numbered(part: Tree) -> Any:
        if isinstance(part, list):
            return [numbered(item) for item in cast("list[Any]", part)]
        leaves.append(part)
        return len(leaves) - 1

    nested = numbered(arrays)

    def rearrange(positions: list[Any]) -> Any:
        def filled(part: Tree) -> Any:
            return [filled(item) for item in cast("list[Any]", part)] if isinstance(part, list) else positions[part]

        return np.block(filled(nested))

    return rearranged("np.block", rearrange, *leaves)


def compress(condition: Any, a: ArrayLike, axis: int | None = None, out: None = None) -> Node:
    """np.compress with a known condition."""
    _check_known("compress", (condition, axis, out), {})
    return rearranged("np.compress", lambda p: np.compress(condition, p[0], axis), a)


def _compress_method(x: Node, condition: ArrayLike, axis: int | None = None, out: None = None) -> Node:
    return compress(condition, x, axis, out)


def extract(condition: ArrayLike, arr: ArrayLike) -> Node:
    """np.extract with a known condition."""
    _check_known("extract", (condition,), {})
    return rearranged("np.extract", lambda p: np.extract(condition, p[0]), arr)


def choose(a: ArrayLike, choices: Sequence[ArrayLike], out: None = None, mode: str = "raise") -> Node:
    """np.choose, from one array or the other by number."""
    index = as_node(a)
    if out is not None or (mode != "raise" and not index.is_constant):
        raise fault("np.choose(out=..., mode=...) of a traced array", "numbers of choices that are in range")
    if index.is_constant:
        return rearranged("np.choose", lambda p: np.choose(index.params, p, mode=cast("Any", mode)), *choices)
    nodes = [as_node(choice) for choice in choices]
    result = nodes[-1]
    for k in range(len(nodes) - 2, -1, -1):
        result = where(index == k, nodes[k], result)
    return result


_on_a_diagonal = _rearranges(np.diag, fills=True)


def diag(v: ArrayLike, k: int = 0) -> Node:
    """np.diag: a diagonal of a matrix, or the matrix that has a vector on one."""
    _check_known("diag", (k,), {})
    x = as_node(v)
    return diagonal(x, k) if x.ndim == 2 else _on_a_diagonal(x, k)


def _indices(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's that needs only the shape."""

    @wraps(function)
    def rule(arr: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        return function(np.broadcast_to(False, as_node(arr).shape), *args, **kwargs)

    return rule


_REARRANGING = "delete flipud fliplr rot90 roll resize rollaxis hsplit vsplit dsplit unstack"
_INDICES = "diag_indices_from tril_indices_from triu_indices_from"
FUNCTIONS.update(
    {getattr(np, name): _rearranges(getattr(np, name)) for name in _REARRANGING.split() if hasattr(np, name)}
)
FUNCTIONS.update({getattr(np, name): _indices(getattr(np, name)) for name in _INDICES.split()})
_windows = np.lib.stride_tricks.sliding_window_view
FUNCTIONS[_windows] = _rearranges(_windows)
FUNCTIONS.update({
    np.insert: insert, np.block: block, np.compress: compress, np.extract: extract, np.choose: choose,
    np.diag: diag, np.diagflat: _rearranges(np.diagflat, fills=True),
    np.fft.fftshift: _rearranges(np.fft.fftshift), np.fft.ifftshift: _rearranges(np.fft.ifftshift),
})  # fmt: skip
METHODS["compress"] = _compress_method
