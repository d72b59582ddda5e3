"""NumPy's functions that give an array another form: shape, order of axes, dtype, and arrays filled like another."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.errors import ShapeError
from burlab.graph import hooks
from burlab.graph.faults import fault, unsupported
from burlab.graph.linear_nodes import broadcast, reshape, transpose
from burlab.graph.node import FUNCTIONS, METHODS, UFUNCS, Node, as_node, constant
from burlab.graph.origin import location
from burlab.graph.rules import Rule
from burlab.graph.signatures import ALL
from burlab.runtime.checks.numbers import shown
from burlab.runtime.memory import check_fits, volume
from burlab.typing import ArrayLike, Axis, DTypeLike, ShapeLike

from .arguments import broadcast_shape, known_dtype, normal_axes, normal_axis, only_defaults, real, several, whole
from .elementwise import isnan, where
from .narrow import as_half
from .promotion import FLOAT64, as_dtype, as_floating, as_mask


def reshape_(a: ArrayLike, /, shape: ShapeLike | None = None, order: str = "C", **kwargs: Any) -> Node:
    """np.reshape in row-major order, or in the order of columns, "F"; one size may be -1."""
    x = as_node(a)
    only_defaults("np.reshape", kwargs)
    if order == "F":
        angle = several(kwargs.pop("newshape", shape))[::-1]
        return transpose_(reshape_(transpose_(x), angle))
    if order not in ("C", "A", "K"):
        raise fault(f"np.reshape(order={shown(order)})", "order 'C' or 'F'")
    sizes = [whole(d, "the shape of reshape") for d in several(kwargs.pop("newshape", shape))]
    if sizes.count(-1) > 1:
        raise ShapeError(f"{location()}reshape can infer one size only, got several -1.")
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


def ravel(a: ArrayLike, order: str = "C") -> Node:
    """np.ravel in row-major order, or in the order of columns, "F"."""
    return reshape_(a, -1, order) if as_node(a).size else reshape(as_node(a), (0,))


def transpose_(a: ArrayLike, axes: Sequence[int] | None = None) -> Node:
    """np.transpose."""
    x = as_node(a)
    if axes is None:
        return transpose(x, tuple(range(x.ndim))[::-1])
    permutation = tuple(normal_axis(k, x.ndim) for k in axes)
    if sorted(permutation) != list(range(x.ndim)):
        raise ShapeError(
            f"{location()}axes {tuple(axes)} are not a permutation of the {x.ndim} axes of shape {x.shape}."
        )
    return transpose(x, permutation)


def _transpose_method(x: Node, *axes: Any) -> Node:
    return transpose_(x, (axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes) or None)


def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> Node:
    """np.swapaxes."""
    x = as_node(a)
    order = list(range(x.ndim))
    i, j = normal_axis(axis1, x.ndim), normal_axis(axis2, x.ndim)
    order[i], order[j] = j, i
    return transpose(x, tuple(order))


def moveaxis(a: ArrayLike, source: ShapeLike, destination: ShapeLike) -> Node:
    """np.moveaxis."""
    x = as_node(a)
    places = (list(axes) if isinstance(axes, range) else several(axes) for axes in (source, destination))
    src, dst = ([normal_axis(k, x.ndim) for k in axes] for axes in places)
    order = [k for k in range(x.ndim) if k not in src]
    for d, s in sorted(zip(dst, src, strict=True)):
        order.insert(d, s)
    return transpose(x, tuple(order))


def expand_dims(a: ArrayLike, axis: ShapeLike) -> Node:
    """np.expand_dims."""
    x = as_node(a)
    ndim = x.ndim + len(several(axis))
    new = normal_axes(axis, ndim)
    sizes = iter(x.shape)
    return reshape(x, tuple(1 if k in new else next(sizes) for k in range(ndim)))


def squeeze(a: ArrayLike, axis: Axis = None) -> Node:
    """np.squeeze."""
    x = as_node(a)
    axes = tuple(k for k, d in enumerate(x.shape) if d == 1) if axis is None else normal_axes(axis, x.ndim)
    if any(x.shape[k] != 1 for k in axes):
        raise ShapeError(f"{location()}squeeze can drop axes of size 1 only; axis {axis} of shape {x.shape} is longer.")
    return reshape(x, tuple(d for k, d in enumerate(x.shape) if k not in axes))


def broadcast_to(array: ArrayLike, shape: ShapeLike | None, **_subok: Any) -> Node:
    """np.broadcast_to."""
    x = as_node(array)
    target = tuple(whole(d, "the shape of broadcast_to") for d in several(shape))
    if min(target, default=0) < 0 or broadcast_shape(x.shape, target) != target:
        raise ShapeError(f"an array of shape {x.shape} does not broadcast to {target}.")
    return broadcast(x, target)


def where_(condition: ArrayLike, x: ArrayLike | None = None, y: ArrayLike | None = None) -> Node:
    """np.where with three arguments."""
    if x is None or y is None:
        what = "np.where(condition) of a traced mask: the shape would depend on its values"
        raise fault(what, "np.where(condition, x, y)")
    return where(condition, x, y)


def tril(m: ArrayLike, k: int = 0) -> Node:
    """np.tril."""
    return _masked(m, np.tril(_square(m), _diagonal(k)))


def triu(m: ArrayLike, k: int = 0) -> Node:
    """np.triu."""
    return _masked(m, np.triu(_square(m), _diagonal(k)))


def _diagonal(k: object) -> Any:
    """The number of a diagonal. Raises DTypeError for what is no number. All beyond int32 are beyond any matrix."""
    return min(max(real(k, "k"), -(2.0**31)), 2.0**31 - 1)


def _square(m: ArrayLike) -> "np.ndarray[Any, Any]":
    """True for each entry of a matrix."""
    shape = as_node(m).shape[-2:]
    check_fits(volume(shape), f"{location()}a mask of shape {shape}")
    return np.ones(shape, bool)


def _masked(m: ArrayLike, mask: "np.ndarray[Any, Any]") -> Node:
    x = as_node(m)
    return where(constant(mask), x, constant(0, x.dtype))


def full_like(a: ArrayLike, fill_value: ArrayLike, dtype: DTypeLike = None, *_layout: Any,
              shape: ShapeLike | None = None, **_options: Any) -> Any:  # fmt: skip
    """np.full_like: an array, or a node where the fill is traced."""
    x = as_node(a)
    size = x.shape if shape is None else several(shape)
    kind = x.dtype if dtype is None else known_dtype(dtype)
    fill = as_dtype(as_node(fill_value), kind)
    if not fill.is_constant:
        return broadcast_to(fill, size)
    check_fits(volume(size) * kind.itemsize, f"{location()}a constant {kind}{list(size)}")
    return np.full(size, fill.params, kind)


def _like(number: int) -> Rule:
    def rule(
        a: ArrayLike, dtype: DTypeLike = None, *_layout: Any, shape: ShapeLike | None = None, **_options: Any
    ) -> Any:
        return full_like(a, number, dtype, shape=shape)

    return rule


def astype(x: ArrayLike, dtype: DTypeLike, /, **kwargs: Any) -> Node:
    """x.astype(dtype); to bool: what is not zero. float16: its numbers, in float32."""
    kwargs.pop("copy", None)
    only_defaults("astype", kwargs)
    node, target = as_node(x), known_dtype(dtype)
    if target.kind == "c":
        return hooks.complex_numbers().call_method("astype", node, target)
    if target.kind == "b":
        return as_mask(node)
    if target == np.float16:
        return as_half(node)
    if target not in ALL:
        has = "a graph has float32, float64, complex64, complex128, integers of up to 64 bits and bool"
        raise unsupported(f"astype({target})", f"{has}; convert arguments before the call, and results after it")
    return as_dtype(node, target)


def _item(x: Node, *_args: Any) -> Any:
    return float(x)  # raises: a traced value has no number


def copy(a: ArrayLike, *_layout: Any, **_options: Any) -> Node:
    """np.copy: the node itself, which nothing can change."""
    return as_node(a)


def shape(a: ArrayLike) -> tuple[int, ...]:
    """np.shape."""
    return as_node(a).shape


def ndim(a: ArrayLike) -> int:
    """np.ndim."""
    return as_node(a).ndim


def size(a: ArrayLike, axis: int | None = None) -> int:
    """np.size."""
    x = as_node(a)
    return x.size if axis is None else x.shape[normal_axis(axis, x.ndim)]


def result_type(*values: Any) -> "np.dtype[Any]":
    """np.result_type."""
    return np.result_type(*(x.dtype if isinstance(x, Node) else x for x in values))


def _always(answer: bool) -> Rule:
    def rule(_x: object) -> bool:
        return answer

    return rule


def _imaginary(val: ArrayLike) -> Node:
    x = as_node(val)
    return broadcast(constant(0, x.dtype), x.shape)


def angle(z: ArrayLike, deg: bool = False) -> Node:
    """np.angle of real numbers: 0, or pi where their sign is negative, that of -0.0 too."""
    x = as_node(z)
    x = as_dtype(x, FLOAT64) if x.dtype.kind == "b" else as_floating(x)
    half = constant(180.0 if deg else math.pi, x.dtype)
    angle = where(UFUNCS["signbit"](x), half, constant(0.0, x.dtype))
    return where(isnan(x), x, angle)


def _reality(otherwise: bool) -> Rule:
    """Return the mask of entries that are real, or complex."""

    def rule(x: ArrayLike) -> Node:
        return broadcast(constant(otherwise), as_node(x).shape)

    return rule


def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> Node:
    """np.array_equal: a traced mask; False where the shapes differ."""
    x, y = as_node(a1), as_node(a2)
    if x.shape != y.shape:
        return constant(False, bool)
    same = x == y
    if equal_nan and x.dtype.kind == y.dtype.kind == "f":
        same = same | isnan(x) & isnan(y)
    return FUNCTIONS[np.all](same)


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> Node:
    """np.array_equiv: whether one is the other, broadcast; False where their shapes do not fit."""
    x, y = as_node(a1), as_node(a2)
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return constant(False, bool)
    return FUNCTIONS[np.all](x == y)


FUNCTIONS.update({
    np.imag: _imaginary, np.angle: angle, np.isreal: _reality(True), np.iscomplex: _reality(False),
    np.real_if_close: as_node, np.array_equal: array_equal, np.array_equiv: array_equiv,
    np.reshape: reshape_, np.ravel: ravel, np.transpose: transpose_, np.swapaxes: swapaxes, np.moveaxis: moveaxis,
    np.expand_dims: expand_dims, np.squeeze: squeeze, np.broadcast_to: broadcast_to, np.where: where_, np.tril: tril,
    np.triu: triu, np.zeros_like: _like(0), np.ones_like: _like(1), np.full_like: full_like, np.empty_like: _like(0),
    np.copy: copy, np.astype: astype, np.shape: shape, np.ndim: ndim, np.size: size, np.result_type: result_type,
    np.isrealobj: _always(True), np.iscomplexobj: _always(False), np.real: as_node,
})  # fmt: skip
METHODS.update({
    "reshape": _reshape_method, "transpose": _transpose_method, "ravel": ravel, "flatten": ravel, "swapaxes": swapaxes,
    "squeeze": squeeze, "astype": astype, "copy": copy, "item": _item, "tolist": _item, "conj": as_node,
    "conjugate": as_node,
})  # fmt: skip
