"""The table of linear tensor operations: one row each, with its shape rule, transpose, batching rule and kernel.

Forward mode of a linear operation is the operation itself; reverse mode is its transpose; so nothing else is stated here.
`contract` is linear in either of its two inputs. The second input of `gather` and `scatter` is an integer index.
"""

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .node import Node

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LinearOp:
    """One row.

    shape: (params, *input shapes) -> shape of the value.
    transpose: (cotangent, node, k) -> cotangent of input k.
    batch: (params, inputs, batched) -> node; a batched input has the batch as its axis 0, and so has the result.
    kernel: what computes it: a `view` reads its input through other strides, a `place` writes into a part of zeros, the
    others are the C++ kernels of that name in `cpp/burlab/kernels`.
    """

    name: str
    shape: Callable[..., Shape]
    transpose: Callable[[Node, Node, int], Node]
    batch: Callable[[Any, list[Node], list[bool]], Node]
    kernel: str
    linear_inputs: int | None = 1  # None: all of them


LINEAR: dict[str, LinearOp] = {}


def _row(*args: Any, **kwargs: Any) -> None:
    row = LinearOp(*args, **kwargs)
    LINEAR[row.name] = row


def linear(name: str, params: Any, *inputs: Node, dtype: "np.dtype[Any] | None" = None) -> Node:
    """A node of the table."""
    first = inputs[0]
    shape = LINEAR[name].shape(params, *(x.shape for x in inputs))
    return Node(name, inputs, params, shape, dtype or first.dtype, first.weak and not shape)


# Builders: what the rest of the package calls. Each returns its input where there is nothing to do.


def sum_over(x: Node, axes: Sequence[int]) -> Node:
    """Sum over axes, which are removed. Integers sum in int64."""
    if not axes:
        return x
    if x.dtype.kind in "ib":
        x = convert(x, np.dtype(np.int64))
    return linear("sum", tuple(axes), x)


def broadcast(x: Node, shape: Shape, axes: Shape | None = None) -> Node:
    """Put input axis i at output axis axes[i] and repeat along all others; without axes: NumPy's broadcasting."""
    if axes is None:
        if x.shape == shape:
            return x
        lead = len(shape) - x.ndim
        kept = [i for i, d in enumerate(x.shape) if d != 1 or shape[i + lead] == 1]
        x = reshape(x, tuple(x.shape[i] for i in kept))
        axes = tuple(i + lead for i in kept)
    return x if x.shape == shape else linear("broadcast", (shape, axes), x)


def reshape(x: Node, shape: Shape) -> Node:
    """The same elements in row-major order under another shape."""
    return x if x.shape == shape else linear("reshape", shape, x)


def transpose(x: Node, permutation: Shape) -> Node:
    """Output axis i is input axis permutation[i]."""
    return x if permutation == tuple(range(x.ndim)) else linear("transpose", permutation, x)


def slice_(x: Node, start: Shape, step: Shape, shape: Shape) -> Node:
    """out[i] = x[start + step * i] along every axis; a step may be negative."""
    if shape == x.shape and not any(start) and all(s == 1 for s in step):
        return x
    return linear("slice", (start, step, shape), x)


def pad(x: Node, start: Shape, step: Shape, shape: Shape) -> Node:
    """The transpose of `slice_`: zeros of the shape, with out[start + step * i] = x[i]."""
    return linear("pad", (start, step, shape), x)


def concatenate(xs: Sequence[Node], axis: int) -> Node:
    """Join along an axis; all of one dtype."""
    return xs[0] if len(xs) == 1 else linear("concatenate", axis, *xs)


def gather(x: Node, index: Node, batch: int = 0) -> Node:
    """out[b, i, r] = x[b, index[b, i], r], with `batch` leading axes b shared by x and index."""
    return linear("gather", batch, x, index)


def scatter(y: Node, index: Node, batch: int, size: int) -> Node:
    """The transpose of `gather`: zeros of shape (b, size, r), with out[b, index[b, i], r] += y[b, i, r]."""
    return linear("scatter", (batch, size), y, index)


def cumsum(x: Node, axis: int, reverse: bool = False) -> Node:
    """Running sums along an axis, from its end if `reverse`."""
    return linear("cumsum", (axis, reverse), x)


def convert(x: Node, dtype: "np.dtype[Any]") -> Node:
    """The same values in another dtype."""
    if x.dtype == dtype:
        return x
    return linear("convert", dtype.name, x, dtype=dtype)


def contract(spec: str, a: Node, b: Node) -> Node:
    """Sum of products by an Einstein specification `ab,bc->ac`; letters in one operand only are summed out before."""
    ins, out = spec.split("->")
    left, right = ins.split(",")
    a, left = _sum_lonely(a, left, right + out)
    b, right = _sum_lonely(b, right, left + out)
    return linear("contract", f"{left},{right}->{out}", a, b)


def _sum_lonely(x: Node, letters: str, others: str) -> tuple[Node, str]:
    lonely = tuple(i for i, c in enumerate(letters) if c not in others)
    return sum_over(x, lonely), "".join(c for c in letters if c in others)


# Shape rules.


def _broadcast_shape(params: Any, shape: Shape) -> Shape:
    return params[0]


def _gather_shape(batch: int, x: Shape, index: Shape) -> Shape:
    return index + x[batch + 1 :]


def _scatter_shape(params: tuple[int, int], y: Shape, index: Shape) -> Shape:
    batch, size = params
    return (*y[:batch], size, *y[len(index) :])


def _concatenate_shape(axis: int, *shapes: Shape) -> Shape:
    first = shapes[0]
    return (*first[:axis], sum(s[axis] for s in shapes), *first[axis + 1 :])


def _contract_shape(spec: str, a: Shape, b: Shape) -> Shape:
    ins, out = spec.split("->")
    sizes = dict(zip(ins.replace(",", ""), a + b, strict=True))
    return tuple(sizes[c] for c in out)


# Transposes.


def _inverse(permutation: Shape) -> Shape:
    return tuple(int(i) for i in np.argsort(permutation))


def _sum_transpose(g: Node, node: Node, _k: int) -> Node:
    shape = node.inputs[0].shape
    return broadcast(g, shape, tuple(i for i in range(len(shape)) if i not in node.params))


def _broadcast_transpose(g: Node, node: Node, _k: int) -> Node:
    return sum_over(g, tuple(i for i in range(g.ndim) if i not in node.params[1]))


def _concatenate_transpose(g: Node, node: Node, k: int) -> Node:
    axis = node.params
    start = [0] * g.ndim
    start[axis] = sum(x.shape[axis] for x in node.inputs[:k])
    return slice_(g, tuple(start), (1,) * g.ndim, node.inputs[k].shape)


def _contract_transpose(g: Node, node: Node, k: int) -> Node:
    ins, out = node.params.split("->")
    letters = ins.split(",")
    spec = f"{out},{letters[1]}->{letters[0]}" if k == 0 else f"{letters[0]},{out}->{letters[1]}"
    return contract(spec, g, node.inputs[1]) if k == 0 else contract(spec, node.inputs[0], g)


# Batching rules.


def spread(x: Node, size: int) -> Node:
    """The same value for every element of a new leading axis."""
    return broadcast(x, (size, *x.shape), tuple(range(1, x.ndim + 1)))


def _size(xs: list[Node], batched: list[bool]) -> int:
    return next(x.shape[0] for x, b in zip(xs, batched, strict=True) if b)


def _all_batched(xs: list[Node], batched: list[bool]) -> list[Node]:
    size = _size(xs, batched)
    return [x if b else spread(x, size) for x, b in zip(xs, batched, strict=True)]


def _later(axes: Shape) -> Shape:
    return tuple(a + 1 for a in axes)


def _broadcast_batch(params: Any, xs: list[Node], _b: list[bool]) -> Node:
    shape, axes = params
    return broadcast(xs[0], (xs[0].shape[0], *shape), (0, *_later(axes)))


def _slice_batch(params: Any, xs: list[Node], _b: list[bool]) -> Node:
    start, step, shape = params
    return slice_(xs[0], (0, *start), (1, *step), (xs[0].shape[0], *shape))


def _pad_batch(params: Any, xs: list[Node], _b: list[bool]) -> Node:
    start, step, shape = params
    return pad(xs[0], (0, *start), (1, *step), (xs[0].shape[0], *shape))


def _gather_batch(batch: int, xs: list[Node], batched: list[bool]) -> Node:
    if batch == 0 and not batched[0]:
        return gather(xs[0], xs[1], 0)  # one table, many indices
    x, index = _all_batched(xs, batched)
    return gather(x, index, batch + 1)


def _scatter_batch(params: tuple[int, int], xs: list[Node], batched: list[bool]) -> Node:
    y, index = _all_batched(xs, batched)
    return scatter(y, index, params[0] + 1, params[1])


def _contract_batch(spec: str, xs: list[Node], batched: list[bool]) -> Node:
    letter = next(c for c in string.ascii_letters if c not in spec)
    ins, out = spec.split("->")
    left, right = (letter * b + s for b, s in zip(batched, ins.split(","), strict=True))
    return contract(f"{left},{right}->{letter}{out}", *xs)


_row(
    "sum",
    lambda axes, x: tuple(d for i, d in enumerate(x) if i not in axes),
    _sum_transpose,
    lambda axes, xs, _b: sum_over(xs[0], _later(axes)),
    "sum",
)
_row("broadcast", _broadcast_shape, _broadcast_transpose, _broadcast_batch, "view")
_row(
    "reshape",
    lambda shape, _x: shape,
    lambda g, node, _k: reshape(g, node.inputs[0].shape),
    lambda shape, xs, _b: reshape(xs[0], (xs[0].shape[0], *shape)),
    "view",
)
_row(
    "transpose",
    lambda permutation, x: tuple(x[a] for a in permutation),
    lambda g, node, _k: transpose(g, _inverse(node.params)),
    lambda permutation, xs, _b: transpose(xs[0], (0, *_later(permutation))),
    "view",
)
_row(
    "slice",
    lambda params, _x: params[2],
    lambda g, node, _k: pad(g, node.params[0], node.params[1], node.inputs[0].shape),
    _slice_batch,
    "view",
)
_row(
    "pad",
    lambda params, _x: params[2],
    lambda g, node, _k: slice_(g, node.params[0], node.params[1], node.inputs[0].shape),
    _pad_batch,
    "place",
)
_row(
    "concatenate",
    _concatenate_shape,
    _concatenate_transpose,
    lambda axis, xs, batched: concatenate(_all_batched(xs, batched), axis + 1),
    "place",
    linear_inputs=None,
)
_row(
    "gather",
    _gather_shape,
    lambda g, node, _k: scatter(g, node.inputs[1], node.params, node.inputs[0].shape[node.params]),
    _gather_batch,
    "gather",
)
_row(
    "scatter",
    _scatter_shape,
    lambda g, node, _k: gather(g, node.inputs[1], node.params[0]),
    _scatter_batch,
    "scatter",
)
_row(
    "cumsum",
    lambda _params, x: x,
    lambda g, node, _k: cumsum(g, node.params[0], not node.params[1]),
    lambda params, xs, _b: cumsum(xs[0], params[0] + 1, params[1]),
    "cumsum",
)
_row(
    "convert",
    lambda _dtype, x: x,
    lambda g, node, _k: convert(g, node.inputs[0].dtype),
    lambda dtype, xs, _b: convert(xs[0], np.dtype(dtype)),
    "convert",
)
_row("contract", _contract_shape, _contract_transpose, _contract_batch, "contract", linear_inputs=2)
