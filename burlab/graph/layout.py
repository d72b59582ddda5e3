"""NumPy's functions that move elements without computing: reshaping, permuting, joining, splitting, filling."""

import math
import operator
from typing import Any

import numpy as np

from burlab.errors import ShapeError

from .elementwise import apply, as_dtype, as_mask, clip, only_defaults, promote
from .indexing import getitem, take_at
from .linear import broadcast, concatenate, reshape, slice_, transpose
from .node import FUNCTIONS, METHODS, Node, as_node, constant, fault, normal_axes, normal_axis, unsupported

_GIVEN = np._NoValue  # pyright: ignore  # noqa: SLF001, PGH003 - what NumPy passes for "not given"


def reshape_(a: Any, /, shape: Any = None, order: str = "C", *, copy: Any = None, **kwargs: Any) -> Node:
    """np.reshape in row-major order; one size may be -1."""
    x = as_node(a)
    shape = kwargs.pop("newshape", shape)
    only_defaults("np.reshape", kwargs)
    if order != "C":
        raise fault(f"np.reshape(order={order!r})", "row-major order, or a transpose before it")
    sizes = [operator.index(d) for d in (shape if isinstance(shape, (tuple, list)) else (shape,))]
    if sizes.count(-1) > 1:
        raise ValueError("reshape can infer one size only, got several -1.")
    if -1 in sizes:
        known = -math.prod(sizes)
        if known == 0 or x.size % known:
            raise ShapeError(f"cannot reshape {x.size} elements of shape {x.shape} into {tuple(sizes)}.")
        sizes[sizes.index(-1)] = x.size // known
    if math.prod(sizes) != x.size:
        raise ShapeError(f"cannot reshape {x.size} elements of shape {x.shape} into {tuple(sizes)}.")
    return reshape(x, tuple(sizes))


def _reshape_method(x: Node, *shape: Any, order: str = "C") -> Node:
    return reshape_(x, shape[0] if len(shape) == 1 else shape, order)


def ravel(a: Any, order: str = "C") -> Node:
    """np.ravel in row-major order."""
    return reshape_(a, -1, order) if as_node(a).size else reshape(as_node(a), (0,))


def transpose_(a: Any, axes: Any = None) -> Node:
    """np.transpose."""
    x = as_node(a)
    if axes is None:
        return transpose(x, tuple(range(x.ndim))[::-1])
    permutation = tuple(normal_axis(k, x.ndim) for k in axes)
    if sorted(permutation) != list(range(x.ndim)):
        raise ValueError(f"axes {tuple(axes)} are not a permutation of the {x.ndim} axes of shape {x.shape}.")
    return transpose(x, permutation)


def _transpose_method(x: Node, *axes: Any) -> Node:
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
        axes = axes[0]
    return transpose_(x, axes or None)


def swapaxes(a: Any, axis1: int, axis2: int) -> Node:
    """np.swapaxes."""
    x = as_node(a)
    order = list(range(x.ndim))
    i, j = normal_axis(axis1, x.ndim), normal_axis(axis2, x.ndim)
    order[i], order[j] = j, i
    return transpose(x, tuple(order))


def moveaxis(a: Any, source: Any, destination: Any) -> Node:
    """np.moveaxis."""
    x = as_node(a)
    src = [normal_axis(k, x.ndim) for k in (source if isinstance(source, (tuple, list)) else (source,))]
    dst = [normal_axis(k, x.ndim) for k in (destination if isinstance(destination, (tuple, list)) else (destination,))]
    order = [k for k in range(x.ndim) if k not in src]
    for d, s in sorted(zip(dst, src, strict=True)):
        order.insert(d, s)
    return transpose(x, tuple(order))


def expand_dims(a: Any, axis: Any) -> Node:
    """np.expand_dims."""
    x = as_node(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = x.ndim + len(axes)
    new = normal_axes(tuple(axes), ndim)
    sizes = iter(x.shape)
    return reshape(x, tuple(1 if k in new else next(sizes) for k in range(ndim)))


def squeeze(a: Any, axis: Any = None) -> Node:
    """np.squeeze."""
    x = as_node(a)
    axes = tuple(k for k, d in enumerate(x.shape) if d == 1) if axis is None else normal_axes(axis, x.ndim)
    if any(x.shape[k] != 1 for k in axes):
        raise ValueError(f"squeeze can drop axes of size 1 only; axis {axis} of shape {x.shape} is longer.")
    return reshape(x, tuple(d for k, d in enumerate(x.shape) if k not in axes))


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Node:
    """np.broadcast_to."""
    x = as_node(array)
    target = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if np.broadcast_shapes(x.shape, target) != target:
        raise ShapeError(f"an array of shape {x.shape} does not broadcast to {target}.")
    return broadcast(x, target)


def concatenate_(arrays: Any, axis: Any = 0, out: None = None, **kwargs: Any) -> Node:
    """np.concatenate."""
    only_defaults("np.concatenate", {"out": out, **{k: v for k, v in kwargs.items() if k != "casting"}})
    xs = promote([as_node(x) for x in arrays])
    if axis is None:
        xs, axis = [reshape(x, (x.size,)) for x in xs], 0
    if not xs or not xs[0].shape:
        raise ShapeError("concatenate needs arrays with at least one axis, got scalars. Use np.stack.")
    k = normal_axis(axis, xs[0].ndim)
    other = [x.shape[:k] + x.shape[k + 1 :] for x in xs]
    if any(x.ndim != xs[0].ndim for x in xs) or any(s != other[0] for s in other):
        raise ShapeError(f"concatenate along axis {axis} needs equal other axes, got {[x.shape for x in xs]}.")
    return concatenate(xs, k)


def stack(arrays: Any, axis: int = 0, out: None = None, **kwargs: Any) -> Node:
    """np.stack."""
    only_defaults("np.stack", {"out": out, **{k: v for k, v in kwargs.items() if k != "casting"}})
    xs = [as_node(x) for x in arrays]
    if any(x.shape != xs[0].shape for x in xs):
        raise ShapeError(f"stack needs equal shapes, got {[x.shape for x in xs]}.")
    return concatenate_([expand_dims(x, normal_axis(axis, x.ndim + 1)) for x in xs], normal_axis(axis, xs[0].ndim + 1))


def _at_least(ndim: int, x: Node) -> Node:
    return reshape(x, (1,) * (ndim - x.ndim) + x.shape) if x.ndim < ndim else x


def vstack(tup: Any, **kwargs: Any) -> Node:
    """np.vstack."""
    return concatenate_([_at_least(2, as_node(x)) for x in tup], 0, **kwargs)


def hstack(tup: Any, **kwargs: Any) -> Node:
    """np.hstack."""
    xs = [_at_least(1, as_node(x)) for x in tup]
    return concatenate_(xs, 0 if xs[0].ndim == 1 else 1, **kwargs)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Node]:
    """np.split into equal parts, or at indices."""
    x = as_node(ary)
    size = x.shape[normal_axis(axis, x.ndim)]
    if isinstance(indices_or_sections, (int, np.integer)) and size % int(indices_or_sections):
        raise ValueError(f"an axis of size {size} does not split into {indices_or_sections} equal parts.")
    return array_split(x, indices_or_sections, axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Node]:
    """np.array_split: parts that differ by one at most, or at indices."""
    x = as_node(ary)
    k = normal_axis(axis, x.ndim)
    parts = np.array_split(np.arange(x.shape[k]), indices_or_sections)
    edges = np.cumsum([0, *(len(part) for part in parts)]) if isinstance(indices_or_sections, (int, np.integer)) else None
    result = []
    bounds = list(indices_or_sections) if edges is None else list(edges[1:-1])
    for first, last in zip([0, *bounds], [*bounds, x.shape[k]], strict=True):
        result.append(getitem(x, (slice(None),) * k + (slice(int(first), int(last)),)))
    return result


def where(condition: Any, x: Any = None, y: Any = None) -> Node:
    """np.where with three arguments."""
    if x is None or y is None:
        raise fault("np.where(condition) of a traced mask: the shape would depend on its values", "np.where(condition, x, y)")
    return apply("where", condition, x, y)


def _triangle(name: str, m: Any, k: int) -> Node:
    x = as_node(m)
    keep = getattr(np, name)(np.ones(x.shape[-2:], dtype=bool), k)
    return apply("where", constant(keep), x, constant(np.zeros((), x.dtype), x.dtype))


def _filled(value: Any) -> Any:
    def rule(a: Any, *args: Any, dtype: Any = None, order: Any = None, subok: bool = True, shape: Any = None,
             device: Any = None) -> Any:  # fmt: skip
        x = as_node(a)
        fill, dtype = (args[0], *args[1:], dtype)[:2] if value is None else (value, args[0] if args else dtype)
        shape = x.shape if shape is None else shape
        dtype = x.dtype if dtype is None else np.dtype(dtype)
        if isinstance(fill, Node):
            return broadcast(as_dtype(fill, dtype), tuple(shape))
        return np.full(shape, fill, dtype)

    return rule


def flip(m: Any, axis: Any = None) -> Node:
    """np.flip."""
    x = as_node(m)
    axes = normal_axes(axis, x.ndim)
    return getitem(x, tuple(slice(None, None, -1 if k in axes else None) for k in range(x.ndim)))


def roll(a: Any, shift: Any, axis: Any = None) -> Node:
    """np.roll along one axis, or of the ravelled array."""
    x = as_node(a)
    if axis is None:
        return reshape(roll(reshape(x, (x.size,)), shift, 0), x.shape)
    if not isinstance(shift, (int, np.integer)) or not isinstance(axis, (int, np.integer)):
        raise fault("np.roll along several axes", "one np.roll after the other")
    k = normal_axis(axis, x.ndim)
    return take_at(x, {k: (np.arange(x.shape[k]) - shift) % max(x.shape[k], 1)})


def repeat(a: Any, repeats: Any, axis: Any = None) -> Node:
    """np.repeat with known counts."""
    x = as_node(a)
    if axis is None:
        x, axis = reshape(x, (x.size,)), 0
    k = normal_axis(axis, x.ndim)
    return take_at(x, {k: np.repeat(np.arange(x.shape[k]), repeats)})


def tile(A: Any, reps: Any) -> Node:
    """np.tile."""
    x = as_node(A)
    counts = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    ndim = max(x.ndim, len(counts))
    x, counts = _at_least(ndim, x), (1,) * (ndim - len(counts)) + counts
    both = tuple(d for pair in zip(counts, x.shape, strict=True) for d in pair)
    spread = broadcast(x, both, tuple(range(1, 2 * ndim, 2)))
    return reshape(spread, tuple(c * d for c, d in zip(counts, x.shape, strict=True)))


def pad_(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> Node:
    """np.pad with a constant (zero unless given)."""
    value = kwargs.pop("constant_values", 0)
    if mode != "constant" or kwargs or not np.isscalar(value):
        raise fault(f"np.pad(mode={mode!r}) of a traced array", "np.pad with one constant, or np.concatenate")
    x = as_node(array)
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)).tolist()
    for k, (before, after) in enumerate(widths):
        ends = [(*x.shape[:k], w, *x.shape[k + 1 :]) for w in (before, after)]
        x = concatenate_([np.full(ends[0], value, x.dtype), x, np.full(ends[1], value, x.dtype)], k)
    return x


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = _GIVEN, append: Any = _GIVEN) -> Node:
    """np.diff, n times."""
    if prepend is not _GIVEN or append is not _GIVEN:
        raise fault("np.diff(prepend=..., append=...)", "np.concatenate before it")
    x = as_node(a)
    k = normal_axis(axis, x.ndim)
    for _ in range(n):
        size = max(x.shape[k] - 1, 0)
        unit = (1,) * x.ndim
        shape = (*x.shape[:k], size, *x.shape[k + 1 :])
        later = slice_(x, tuple(int(i == k and size > 0) for i in range(x.ndim)), unit, shape)
        x = apply("sub", later, slice_(x, (0,) * x.ndim, unit, shape))
    return x


def astype(x: Any, dtype: Any, /, **kwargs: Any) -> Node:
    """x.astype(dtype); to bool: what is not zero."""
    kwargs.pop("copy", None)
    only_defaults("astype", kwargs)
    node, target = as_node(x), np.dtype(dtype)
    if target.kind == "b":
        return as_mask(node)
    if target.name not in ("float32", "float64", "int32", "int64"):
        raise unsupported(f"astype({target})", "float32, float64, int32, int64 and bool can")
    return as_dtype(node, target)


def _item(x: Node, *args: Any) -> Any:
    return x.__float__()


FUNCTIONS |= {
    np.reshape: reshape_, np.ravel: ravel, np.transpose: transpose_, np.swapaxes: swapaxes, np.moveaxis: moveaxis,
    np.expand_dims: expand_dims, np.squeeze: squeeze, np.broadcast_to: broadcast_to, np.concatenate: concatenate_,
    np.stack: stack, np.vstack: vstack, np.hstack: hstack, np.split: split, np.array_split: array_split, np.where: where,
    np.tril: lambda m, k=0: _triangle("tril", m, k), np.triu: lambda m, k=0: _triangle("triu", m, k),
    np.zeros_like: _filled(0), np.ones_like: _filled(1), np.full_like: _filled(None), np.empty_like: _filled(0),
    np.flip: flip, np.roll: roll, np.repeat: repeat, np.tile: tile, np.pad: pad_, np.diff: diff, np.clip: clip,
    np.shape: lambda a: as_node(a).shape, np.ndim: lambda a: as_node(a).ndim,
    np.size: lambda a, axis=None: as_node(a).size if axis is None else as_node(a).shape[axis],
    np.copy: lambda a, *args, **kw: as_node(a), np.astype: astype,
    np.atleast_1d: lambda *a: _at_least(1, as_node(a[0])) if len(a) == 1 else [_at_least(1, as_node(x)) for x in a],
    np.isrealobj: lambda x: True, np.iscomplexobj: lambda x: False, np.real: as_node,
    np.result_type: lambda *a: np.result_type(*(x.dtype if isinstance(x, Node) else x for x in a)),
}  # fmt: skip
METHODS |= {
    "reshape": _reshape_method, "transpose": _transpose_method, "ravel": ravel, "flatten": ravel, "swapaxes": swapaxes,
    "squeeze": squeeze, "astype": astype, "copy": lambda x, *a: x, "clip": clip, "item": _item, "tolist": _item,
    "repeat": repeat, "dot": lambda a, b: FUNCTIONS[np.dot](a, b), "diagonal": lambda a, *k: FUNCTIONS[np.diagonal](a, *k),
    "trace": lambda a, *k: FUNCTIONS[np.trace](a, *k),
}  # fmt: skip
