"""NumPy's functions that put arrays together, take them apart, and move their elements."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.graph.linear_nodes import broadcast, concatenate, reshape
from burlab.graph.node import FUNCTIONS, METHODS, Node, as_node
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import shown
from burlab.runtime.memory import check_fits
from burlab.runtime.plain import as_array
from burlab.typing import ArrayLike, Axis, DTypeLike, ShapeLike

from .arguments import known_dtype, normal_axes, normal_axis, only_defaults, several, whole
from .indexing import getitem, take_at
from .promotion import as_dtype, common_shape, promote, strong
from .shapes import expand_dims


def concatenate_(
    arrays: Sequence[ArrayLike], axis: int | None = 0, out: None = None, *, dtype: DTypeLike = None, **kwargs: Any
) -> Node:
    """np.concatenate."""
    only_defaults("np.concatenate", {"out": out, **{k: v for k, v in kwargs.items() if k != "casting"}})
    xs = promote([as_node(x) for x in arrays])
    xs = xs if dtype is None else [as_dtype(x, known_dtype(dtype)) for x in xs]
    if axis is None:
        xs, axis = [reshape(x, (x.size,)) for x in xs], 0
    if not xs or not xs[0].shape:
        raise ShapeError("concatenate needs arrays with at least one axis, got scalars. Use np.stack.")
    k = normal_axis(axis, xs[0].ndim)
    other = [x.shape[:k] + x.shape[k + 1 :] for x in xs]
    if any(x.ndim != xs[0].ndim for x in xs) or any(s != other[0] for s in other):
        raise ShapeError(f"concatenate along axis {axis} needs equal other axes, got {[x.shape for x in xs]}.")
    return concatenate(xs, k)


def stack(
    arrays: Sequence[ArrayLike], axis: int = 0, out: None = None, *, dtype: DTypeLike = None, **kwargs: Any
) -> Node:
    """np.stack."""
    only_defaults("np.stack", {"out": out, **{k: v for k, v in kwargs.items() if k != "casting"}})
    xs = [as_node(x) for x in arrays]
    if any(x.shape != xs[0].shape for x in xs):
        raise ShapeError(f"stack needs equal shapes, got {[x.shape for x in xs]}.")
    k = normal_axis(axis, xs[0].ndim + 1)
    return concatenate_([expand_dims(x, k) for x in xs], k, dtype=dtype)


def column_stack(tup: Sequence[ArrayLike]) -> Node:
    """np.column_stack."""
    xs = [as_node(x) for x in tup]
    return concatenate_([reshape(x, (x.size, 1)) if x.ndim < 2 else x for x in xs], 1)


def broadcast_arrays(*args: Any, **_subok: Any) -> tuple[Node, ...]:
    """np.broadcast_arrays."""
    xs = [as_node(x) for x in args]
    shape = common_shape("broadcast_arrays", xs)
    return tuple(broadcast(x, shape) for x in xs)


def atleast_1d(*arrays: Any) -> Any:
    """np.atleast_1d."""
    nodes = [_at_least(1, as_node(a)) for a in arrays]
    return nodes[0] if len(nodes) == 1 else nodes


def atleast_2d(*arrays: Any) -> Any:
    """np.atleast_2d."""
    nodes = [_at_least(2, as_node(a)) for a in arrays]
    return nodes[0] if len(nodes) == 1 else nodes


def atleast_3d(*arrays: Any) -> Any:
    """np.atleast_3d."""
    nodes = [_three_axes(as_node(a)) for a in arrays]
    return nodes[0] if len(nodes) == 1 else nodes


def _three_axes(x: Node) -> Node:
    """A vector is a row of such an array, a matrix its first layer."""
    return reshape(x, (1, *x.shape, 1)) if x.ndim == 1 else reshape(x, (*x.shape, *(1,) * (3 - x.ndim)))


def _at_least(ndim: int, x: Node) -> Node:
    return reshape(x, (1,) * (ndim - x.ndim) + x.shape) if x.ndim < ndim else x


def vstack(tup: Sequence[ArrayLike], **kwargs: Any) -> Node:
    """np.vstack."""
    return concatenate_([_at_least(2, as_node(x)) for x in tup], 0, **kwargs)


def hstack(tup: Sequence[ArrayLike], **kwargs: Any) -> Node:
    """np.hstack."""
    xs = [_at_least(1, as_node(x)) for x in tup]
    return concatenate_(xs, 0 if xs[0].ndim == 1 else 1, **kwargs)


def dstack(tup: Sequence[ArrayLike]) -> Node:
    """np.dstack."""
    return concatenate_([_three_axes(as_node(x)) for x in tup], 2)


def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Node:
    """np.append."""
    return concatenate_([strong(as_node(arr)), strong(as_node(values))], axis)


def split(ary: ArrayLike, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Node]:
    """np.split into equal parts, or at indices."""
    x = as_node(ary)
    size = x.shape[normal_axis(axis, x.ndim)]
    if np.ndim(indices_or_sections) == 0 and size % _parts(indices_or_sections):
        raise ShapeError(f"{location()}an axis of size {size} does not split into {indices_or_sections} equal parts.")
    return array_split(x, indices_or_sections, axis)


def _parts(count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
        raise ArgumentError(
            f"{location()}an array splits into a whole number of parts, at least 1, got {shown(count)}."
        )
    return int(cast("int", count))


def array_split(ary: ArrayLike, indices_or_sections: int | Sequence[int], axis: int = 0) -> list[Node]:
    """np.array_split: parts that differ by one at most, or at indices."""
    x = as_node(ary)
    k = normal_axis(axis, x.ndim)
    if np.ndim(indices_or_sections) == 0:
        _parts(indices_or_sections)
    parts = np.array_split(np.arange(x.shape[k]), indices_or_sections)
    spans = [slice(int(part[0]), int(part[-1]) + 1) if part.size else slice(0, 0) for part in parts]
    return [getitem(x, (slice(None),) * k + (span,)) for span in spans]


def flip(m: ArrayLike, axis: Axis = None) -> Node:
    """np.flip."""
    x = as_node(m)
    axes = normal_axes(axis, x.ndim)
    return getitem(x, tuple(slice(None, None, -1 if k in axes else None) for k in range(x.ndim)))


_COPIES = 8  # up to which slices and sums of them take less than a gather and a scatter


def repeat(a: ArrayLike, repeats: ArrayLike, axis: int | None = None) -> Node:
    """np.repeat with known counts."""
    x = as_node(a)
    if axis is None:
        x, axis = reshape(x, (x.size,)), 0
    k = normal_axis(axis, x.ndim)
    counts = as_array(repeats, f"{location()}repeats")
    if counts.dtype.kind not in "iu" or counts.shape not in ((), (1,), (x.shape[k],)) or (counts < 0).any():
        what = f"np.repeat of an axis of size {x.shape[k]} got repeats={shown(repeats)}"
        raise ArgumentError(f"{location()}{what}, expected integers of at least 0, one, or one for each element.")
    size = int(np.sum(np.broadcast_to(counts, x.shape[k]), dtype=np.float64))  # in integers it could go round
    check_fits(8 * size, f"{location()}np.repeat to an axis of size {size}")
    if counts.size == 1:
        each = int(counts.flat[0])
        if 0 < each <= _COPIES:
            spread = concatenate([expand_dims(x, k + 1)] * each, k + 1)
            return reshape(spread, (*x.shape[:k], size, *x.shape[k + 1 :]))
    return take_at(x, {k: np.repeat(np.arange(x.shape[k]), counts)})


def tile(A: ArrayLike, reps: ShapeLike) -> Node:
    """np.tile."""
    x = as_node(A)
    counts = tuple(whole(count, "reps of np.tile") for count in several(reps))
    if min(counts, default=0) < 0:
        raise ArgumentError(f"{location()}np.tile got reps={shown(reps)}, expected integers of at least 0.")
    ndim = max(x.ndim, len(counts))
    x, counts = _at_least(ndim, x), (1,) * (ndim - len(counts)) + counts
    both = tuple(d for pair in zip(counts, x.shape, strict=True) for d in pair)
    spread = broadcast(x, both, tuple(range(1, 2 * ndim, 2)))
    return reshape(spread, tuple(c * d for c, d in zip(counts, x.shape, strict=True)))


FUNCTIONS.update({
    np.concatenate: concatenate_, np.stack: stack, np.vstack: vstack, np.hstack: hstack, np.split: split,
    np.array_split: array_split, np.flip: flip, np.repeat: repeat, np.tile: tile,
    np.atleast_1d: atleast_1d, np.atleast_2d: atleast_2d, np.atleast_3d: atleast_3d, np.column_stack: column_stack,
    np.dstack: dstack, np.append: append, np.broadcast_arrays: broadcast_arrays,
})  # fmt: skip
METHODS["repeat"] = repeat
