"""Linear tensor operations: how nodes of them are made. Their rules are in `linear_table.py` and `indexed_table.py`.

The rest of the package calls these functions; each returns its input if there is nothing to do.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from burlab.errors import GraphError
from burlab.runtime.dtypes import is_narrow_float
from burlab.typing import DTypeLike, Params

from .node import Node, constant
from .operation import STRUCTURAL, Batching, Linearity, Operation, Shares, Tangents, total
from .signatures import ALL, DTYPES, NUMBERS, Form, letters_of, require

Shape = tuple[int, ...]
TOTALS = frozenset(dtype for dtype in NUMBERS if dtype.kind == "f" or dtype.itemsize == 8)  # dtypes of sums


class LinearOp(Operation):
    """A row of the linear table. Forward mode is the operation itself, reverse mode its transpose.

    Where it is indexed, the index follows the inputs that it is linear in. dtypes: what these may be, all of one.
    """

    linearity = Linearity.FIRST
    follows_sums = True
    dtypes: ClassVar[frozenset["np.dtype[Any]"]] = ALL

    def form(self, params: Params, inputs: Sequence[Node]) -> Form:
        """Shape and dtype of the value, for inputs that it is defined for."""
        try:
            return self.shape(params, [x.shape for x in inputs]), inputs[0].dtype
        except GraphError as error:
            raise GraphError(f"{self.name}: {error}") from None

    def checked(self, params: Params, inputs: Sequence[Node]) -> Form:
        """Return the form for any inputs. Raises GraphError if they do not fit."""
        count = len(inputs) - self.indexed
        values, index = inputs[:count], inputs[count:]
        needed = {Linearity.FIRST: 1, Linearity.EACH: 2}.get(self.linearity, count)
        require(0 < count == needed, "it has too many inputs or too few")
        require(all(x.dtype.kind == "i" for x in index), "its index is not of integers")
        require(len({x.dtype for x in values}) == 1, "its inputs differ in dtype")
        known = values[0].dtype in self.dtypes or (self.moves_data and is_narrow_float(values[0].dtype))
        require(known, f"it is not defined for {values[0].dtype}")
        return self.form(params, inputs)

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        """The operation on tangents: in the place of each input by itself, or of all that it is linear in at once."""

        def along(inputs: Sequence[Node]) -> Node:
            return Node(n.op, tuple(inputs), n.params, n.shape, n.dtype)

        if self.linearity is Linearity.EACH:
            varying = [(k, tangents[x]) for k, x in enumerate(n.inputs) if x in tangents]
            return total(along((*n.inputs[:k], tangent, *n.inputs[k + 1 :])) for k, tangent in varying)
        if self.linearity is Linearity.ALL:
            return along([tangents[x] if x in tangents else zeros(x.shape, x.dtype) for x in n.inputs])
        return along([tangents[n.inputs[0]], *n.inputs[1:]]) if n.inputs[0] in tangents else None

    def reverse(self, n: Node, g: Node, active: set[Node]) -> Shares:
        """The transpose with respect to each active input."""
        inputs = n.inputs[:1] if self.linearity is Linearity.FIRST else n.inputs
        return [(x, self.transpose(g, n, k)) for k, x in enumerate(inputs) if x in active]

    def batched(self, n: Node, xs: Sequence[Node], flags: Sequence[bool], _many: Batching) -> Node:
        """Return the node for many samples, by the rule of the row."""
        return self.batch(n.params, xs, flags)

    @abstractmethod
    def shape(self, params: Params, shapes: Sequence[Shape], /) -> Shape:
        """The shape of the value, from the shapes of the inputs. Raises GraphError if they do not fit the params."""

    @abstractmethod
    def transpose(self, g: Node, node: Node, k: int, /) -> Node:
        """The cotangent of input k, from the cotangent of the node."""

    @abstractmethod
    def batch(self, params: Params, xs: Sequence[Node], batched: Sequence[bool], /) -> Node:
        """The operation on many samples: a batched input has the batch as its axis 0, and so has the result."""


def linear(name: str, params: Params, *inputs: Node) -> Node:
    """A node of the table."""
    shape, dtype = STRUCTURAL[name].form(params, inputs)
    return Node(name, inputs, params, shape, dtype, inputs[0].weak and not shape)


def sum_over(x: Node, axes: Sequence[int]) -> Node:
    """Sum over axes, which are removed. Integers sum in 64 bits."""
    return linear("sum", tuple(axes), as_total(x)) if axes else x


def as_total(x: Node) -> Node:
    """x in the dtype that NumPy adds and multiplies it up in: masks and integers in int64, unsigned ones in uint64."""
    return x if x.dtype in TOTALS else convert(x, DTYPES["uint64" if x.dtype.kind == "u" else "int64"])


def broadcast(x: Node, shape: Shape, axes: Shape | None = None) -> Node:
    """Put input axis i at output axis axes[i] and repeat along all others; without axes: NumPy's broadcasting."""
    if axes is None:
        if x.shape == shape:
            return x
        lead = len(shape) - x.ndim
        remaining = [i for i, d in enumerate(x.shape) if d != 1 or shape[i + lead] == 1]
        x = reshape(x, tuple(x.shape[i] for i in remaining))
        axes = tuple(i + lead for i in remaining)
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


def put(x: Node, rows: Node, index: Node, batch: int = 0, adds: bool = False) -> Node:
    """x with out[b, index[b, i], r] = rows[b, i, r], the last i where an index comes twice; `adds`: += each."""
    return linear("put", (batch, adds), x, rows, index)


def cumsum(x: Node, axis: int, reverse: bool = False) -> Node:
    """Running sums along an axis, from its end if `reverse`."""
    return linear("cumsum", (axis, reverse), x)


def convert(x: Node, dtype: "np.dtype[Any]") -> Node:
    """The same values in another dtype."""
    if x.dtype == dtype:
        return x
    return linear("convert", dtype.name, x)


def contract(spec: str, a: Node, b: Node) -> Node:
    """Sum of products by an Einstein specification `ab,bc->ac`; letters in one operand only are summed out before."""
    left, right, out = letters_of(spec)
    if a.dtype in NUMBERS and a.itemsize < 4:  # no kernel multiplies them
        wide = DTYPES["int32" if a.dtype.kind == "i" else "uint32"]
        return convert(contract(spec, convert(a, wide), convert(b, wide)), a.dtype)
    a, left = _sum_lonely(a, left, right + out)
    b, right = _sum_lonely(b, right, left + out)
    return linear("contract", f"{left},{right}->{out}", a, b)


def _sum_lonely(x: Node, letters: str, others: str) -> tuple[Node, str]:
    lonely = tuple(i for i, c in enumerate(letters) if c not in others)
    return convert(sum_over(x, lonely), x.dtype), "".join(c for c in letters if c in others)


def zeros(shape: Shape, dtype: DTypeLike) -> Node:
    """A node of zeros that takes no memory in the graph."""
    return broadcast(constant(0, dtype), shape)
