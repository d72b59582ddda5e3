"""The table of linear tensor operations: one class each, with its columns, shape rule, transpose and batching rule."""
# ruff: noqa: D102 - LinearOp documents the methods

import math
import string
from collections.abc import Sequence

import numpy as np

from burlab.errors import GraphError
from burlab.runtime.checks.stored import Check, flag, matching, one_of, record, size
from burlab.runtime.dtypes import STORED, dtype_of, is_narrow_float

from .linear_nodes import (
    TOTALS,
    LinearOp,
    Shape,
    broadcast,
    concatenate,
    contract,
    convert,
    cumsum,
    pad,
    reshape,
    slice_,
    sum_over,
    transpose,
)
from .node import Node
from .operation import Ending, Linearity, repeated, structural
from .parameters import axes, integers, shape, some_axes
from .signatures import DTYPES, NUMBERS, Form, letter_sizes, letters_of, require
from .tally import Tally, fused

Flags = Sequence[bool]
Nodes = Sequence[Node]
Shapes = Sequence[Shape]
Region = tuple[Shape, Shape, Shape]  # start, step, shape
_REGION: Check = record(integers, integers, shape)


@structural
class Sum(LinearOp):
    """Over `axes`, which are removed."""

    name = "sum"
    adds_up = True
    reduction = True
    epilogue = Ending.SUM
    shrinks = True
    parameters = some_axes
    dtypes = TOTALS

    def shape(self, axes: Shape, shapes: Shapes) -> Shape:
        (x,) = shapes
        need(_increasing(axes, len(x)), "axes that increase", axes)
        return tuple(d for i, d in enumerate(x) if i not in axes)

    def tally(self, n: Node) -> Tally:
        return Tally(additions=n.inputs[0].size) if n.params else Tally(copies=n.size)

    def transpose(self, g: Node, node: Node, _k: int) -> Node:
        shape = node.inputs[0].shape
        return broadcast(g, shape, tuple(i for i in range(len(shape)) if i not in node.params))

    def batch(self, axes: Shape, xs: Nodes, _batched: Flags) -> Node:
        return sum_over(xs[0], _later(axes))

    def summed(self, n: Node, xs: Nodes) -> Node:
        return sum_over(xs[0], (0, *_later(n.params)))


@structural
class Broadcast(LinearOp):
    """(shape, axes): input axis i becomes output axis axes[i], all other axes repeat."""

    name = "broadcast"
    view = True
    moves_data = True
    parameters = record(shape, axes)

    def shape(self, params: tuple[Shape, Shape], shapes: Shapes) -> Shape:
        shape, axes = params
        (x,) = shapes
        need(_increasing(axes, len(shape)) and x == tuple(shape[a] for a in axes), f"the sizes {x}", params)
        return shape

    def transpose(self, g: Node, node: Node, _k: int) -> Node:
        return sum_over(g, tuple(i for i in range(g.ndim) if i not in node.params[1]))

    def batch(self, params: tuple[Shape, Shape], xs: Nodes, _batched: Flags) -> Node:
        shape, axes = params
        return broadcast(xs[0], (xs[0].shape[0], *shape), (0, *_later(axes)))


@structural
class Reshape(LinearOp):
    """The same elements in row-major order under another shape."""

    name = "reshape"
    view = True
    moves_data = True
    parameters = shape

    def shape(self, shape: Shape, shapes: Shapes) -> Shape:
        (x,) = shapes
        need(math.prod(shape) == math.prod(x), f"as many elements as {x}", shape)
        return shape

    def transpose(self, g: Node, node: Node, _k: int) -> Node:
        return reshape(g, node.inputs[0].shape)

    def batch(self, shape: Shape, xs: Nodes, _batched: Flags) -> Node:
        return reshape(xs[0], (xs[0].shape[0], *shape))


@structural
class Transpose(LinearOp):
    """Output axis i is input axis permutation[i]."""

    name = "transpose"
    view = True
    moves_data = True
    parameters = axes

    def shape(self, permutation: Shape, shapes: Shapes) -> Shape:
        (x,) = shapes
        need(sorted(permutation) == list(range(len(x))), f"a permutation of {len(x)} axes", permutation)
        return tuple(x[a] for a in permutation)

    def transpose(self, g: Node, node: Node, _k: int) -> Node:
        return transpose(g, tuple(int(i) for i in np.argsort(node.params)))

    def batch(self, permutation: Shape, xs: Nodes, _batched: Flags) -> Node:
        return transpose(xs[0], (0, *_later(permutation)))


@structural
class Slice(LinearOp):
    """out[i] = x[start + step * i] along every axis."""

    name = "slice"
    shrinks = True
    view = True
    moves_data = True
    parameters = _REGION

    def shape(self, region: Region, shapes: Shapes) -> Shape:
        (x,) = shapes
        start, step, shape = region
        need(_inside(start, step, shape, x), f"a region of shape {x}", region)
        return shape

    def transpose(self, g: Node, node: Node, _k: int) -> Node:
        start, step, _ = node.params
        return pad(g, start, step, node.inputs[0].shape)

    def batch(self, region: Region, xs: Nodes, _batched: Flags) -> Node:
        start, step, shape = region
        return slice_(xs[0], (0, *start), (1, *step), (xs[0].shape[0], *shape))


@structural
class Pad(LinearOp):
    """Zeros of a shape with out[start + step * i] = x[i]: the transpose of a slice."""

    name = "pad"
    windowed = True
    cheap = True
    moves_data = True
    parameters = _REGION

    def shape(self, region: Region, shapes: Shapes) -> Shape:
        (x,) = shapes
        start, step, shape = region
        need(_inside(start, step, x, shape), f"a place for shape {x}", region)
        return shape

    def transpose(self, g: Node, node: Node, _k: int) -> Node:
        start, step, _ = node.params
        return slice_(g, start, step, node.inputs[0].shape)

    def batch(self, region: Region, xs: Nodes, _batched: Flags) -> Node:
        start, step, shape = region
        return pad(xs[0], (0, *start), (1, *step), (xs[0].shape[0], *shape))


@structural
class Concatenate(LinearOp):
    """Any number of inputs, joined along an axis."""

    name = "concatenate"
    joins = True
    cheap = True
    moves_data = True
    parameters = size
    linearity = Linearity.ALL

    def shape(self, axis: int, shapes: Shapes) -> Shape:
        first = shapes[0]
        around = {(len(s), s[:axis], s[axis + 1 :]) for s in shapes}
        need(len(around) == 1 and 0 <= axis < len(first), f"an axis of shapes {shapes}", axis)
        return (*first[:axis], sum(s[axis] for s in shapes), *first[axis + 1 :])

    def transpose(self, g: Node, node: Node, k: int) -> Node:
        axis: int = node.params
        start = [0] * g.ndim
        start[axis] = sum(x.shape[axis] for x in node.inputs[:k])
        return slice_(g, tuple(start), (1,) * g.ndim, node.inputs[k].shape)

    def batch(self, axis: int, xs: Nodes, batched: Flags) -> Node:
        return concatenate(all_batched(xs, batched), axis + 1)


@structural
class Cumsum(LinearOp):
    """(axis, reverse): running sums, from the end if reverse."""

    name = "cumsum"
    follows_sums = False
    parameters = record(size, flag)
    dtypes = TOTALS

    def shape(self, params: tuple[int, bool], shapes: Shapes) -> Shape:
        (x,) = shapes
        need(0 <= params[0] < len(x), f"an axis of shape {x}", params)
        return x

    def tally(self, n: Node) -> Tally:
        return Tally(additions=n.size)

    def transpose(self, g: Node, node: Node, _k: int) -> Node:
        axis, reverse = node.params
        return cumsum(g, axis, not reverse)

    def batch(self, params: tuple[int, bool], xs: Nodes, _batched: Flags) -> Node:
        axis, reverse = params
        return cumsum(xs[0], axis + 1, reverse)


@structural
class Convert(LinearOp):
    """The same values in another dtype. A narrow float comes from float32, for an output alone."""

    name = "convert"
    elementwise = True
    cheap = True
    follows_sums = False
    parameters = one_of(STORED)

    def shape(self, _dtype: str, shapes: Shapes) -> Shape:
        (x,) = shapes
        return x

    def form(self, params: str, inputs: Nodes) -> Form:
        return inputs[0].shape, dtype_of(params)

    def checked(self, params: str, inputs: Nodes) -> Form:
        narrow = len(inputs) == 1 and is_narrow_float(inputs[0].dtype)
        require(not narrow or params == "float32", "it converts a narrow float to another dtype than float32")
        single = len(inputs) == 1 and inputs[0].dtype == DTYPES["float32"]
        require(params in DTYPES or single, "it rounds another dtype than float32 to a narrow float")
        return self.form(params, inputs) if narrow else super().checked(params, inputs)

    def tally(self, n: Node) -> Tally:
        return Tally(copies=n.size)

    def transpose(self, g: Node, node: Node, _k: int) -> Node:
        return convert(g, node.inputs[0].dtype)

    def batch(self, dtype: str, xs: Nodes, _batched: Flags) -> Node:
        return convert(xs[0], np.dtype(dtype))


@structural
class Contract(LinearOp):
    """Sums of products by an Einstein specification, `ab,bc->ac`. Linear in either input."""

    name = "contract"
    multiplies = True
    linearity = Linearity.EACH
    adds_up = True
    parameters = matching("[A-Za-z]*,[A-Za-z]*->[A-Za-z]*")
    dtypes = frozenset(dtype for dtype in NUMBERS if dtype.itemsize >= 4)

    def shape(self, spec: str, shapes: Shapes) -> Shape:
        left, right, out = letters_of(spec)
        x, y = shapes
        once = all(len(set(term)) == len(term) for term in (left, right, out))
        need(once and (len(left), len(right)) == (len(x), len(y)), f"letters of {x} and {y}", spec)
        sizes = dict(zip(left + right, (*x, *y), strict=True))
        fits = all(sizes[c] == d for c, d in zip(left, x, strict=True)) and sizes.keys() >= set(out)
        need(fits and all(c in out or (c in left and c in right) for c in sizes), f"letters of {x} and {y}", spec)
        return tuple(sizes[c] for c in out)

    def work(self, n: Node) -> int:
        """Return the number of products that are added up."""
        return math.prod(letter_sizes(n).values())

    def tally(self, n: Node) -> Tally:
        """Return a fused multiply-add for each product; products alone where nothing is summed."""
        sums = letter_sizes(n).keys() > set(letters_of(n.params)[2])
        return fused(self.work(n)) if sums else Tally(self.work(n))

    def transpose(self, g: Node, node: Node, k: int) -> Node:
        left, right, out = letters_of(node.params)
        x, y = node.inputs
        return contract(f"{out},{right}->{left}", g, y) if k == 0 else contract(f"{left},{out}->{right}", x, g)

    def batch(self, spec: str, xs: Nodes, batched: Flags) -> Node:
        return contract(_with_samples(spec, (*batched, True)), *xs)

    def summed(self, n: Node, xs: Nodes) -> Node:
        return contract(_with_samples(n.params, (True, True, False)), *xs)


def _with_samples(spec: str, where: Flags) -> str:
    """A specification with a new letter before the terms of the operands, or of the result, where there are samples."""
    letter = next(c for c in string.ascii_letters if c not in spec)
    left, right, out = (letter * b + term for b, term in zip(where, letters_of(spec), strict=True))
    return f"{left},{right}->{out}"


def need(fits: bool, expected: str, params: object) -> None:
    """Raise GraphError if parameters do not fit."""
    if not fits:
        raise GraphError(f"a linear operation needs {expected}, got the parameters {params}.")


def _increasing(axes: Shape, ndim: int) -> bool:
    return all(a < b for a, b in zip((-1, *axes), (*axes, ndim), strict=True))


def _inside(start: Shape, step: Shape, part: Shape, whole: Shape) -> bool:
    """Return True if start + step * i, i < part, stays inside of every axis."""
    return len(start) == len(step) == len(part) == len(whole) and all(
        d == 0 or (s != 0 and 0 <= a < n and 0 <= a + s * (d - 1) < n)
        for a, s, d, n in zip(start, step, part, whole, strict=True)
    )


def _later(axes: Shape) -> Shape:
    return tuple(a + 1 for a in axes)


def all_batched(xs: Nodes, batched: Flags) -> list[Node]:
    """The inputs, each with the samples as axis 0."""
    size = next(x.shape[0] for x, b in zip(xs, batched, strict=True) if b)
    return [x if b else repeated(x, size) for x, b in zip(xs, batched, strict=True)]
