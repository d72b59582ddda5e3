"""The table of structural operations that are not linear, but for those with sub-graphs, queries and random numbers."""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from burlab.errors import GraphError
from burlab.runtime.checks.stored import optional, positive, size, text
from burlab.typing import Params

from . import parameters
from .linear_nodes import gather, scatter
from .linear_table import Sum
from .node import Node
from .operation import Ending, Operation, Shares, Tangents, Together, Unary, make_node, structural
from .signatures import DTYPES, FLOATS, WHOLE, Form, form_of, require
from .tally import Tally, fused, log2

Nodes = Sequence[Node]


@structural
class Input(Operation):
    """An argument; its parameter is its name, if it has one."""

    name = "input"
    leaf = True

    def verify(self, n: Node) -> None:
        require(not n.inputs and optional(text)(n.params), "an input has a name and no inputs")


@structural
class Constant(Operation):
    """A known array, which is its parameter."""

    name = "constant"
    leaf = True

    def verify(self, n: Node) -> None:
        array: Any = n.params
        fits = type(array) is np.ndarray and form_of(n) == (array.shape, array.dtype)
        require(not n.inputs and fits, "its array does not fit")


class _Identity(Together):
    """The value of the first input, with another derivative."""

    view = True
    moves_data = True
    identity = True


@structural
class StopGradient(_Identity):
    """Its derivative is zero."""

    name = "stop_gradient"
    constant = True

    def form(self, _: None, inputs: Nodes) -> Form:
        require(len(inputs) == 1, "it needs one input")
        return form_of(inputs[0])


@structural
class Surrogate(_Identity):
    """Its derivative is that of the second input."""

    name = "surrogate"

    def form(self, _: None, inputs: Nodes) -> Form:
        same = len(inputs) == 2 and form_of(inputs[0]) == form_of(inputs[1])
        require(same and inputs[0].dtype in FLOATS, "a value and what has its derivative are floats of one form")
        return form_of(inputs[0])

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        return tangents.get(n.inputs[1])

    def reverse(self, n: Node, g: Node, active: set[Node]) -> Shares:
        return [(n.inputs[1], g)] if n.inputs[1] in active else []

    def differentiable_inputs(self, _: Node) -> tuple[int, ...]:
        return (1,)


class _Extreme(Unary):
    """The largest or smallest value over axes, which are removed. Its derivative is that of a `surrogate` on it."""

    parameters = parameters.some_axes
    reduction = True
    constant = True

    def of(self, axes: tuple[int, ...], x: Node) -> Form:
        return _reduced(axes, x), x.dtype

    def tally(self, n: Node) -> Tally:
        return Tally(logic=n.inputs[0].size)

    def behind(self, axes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(a + 1 for a in axes)


@structural
class ReduceMax(_Extreme):
    """The largest value."""

    name = "reduce_max"
    largest = True


@structural
class ReduceMin(_Extreme):
    """The smallest value."""

    name = "reduce_min"


class _Position(Unary):
    """The first position of the largest or smallest value along an axis."""

    parameters = size

    def of(self, axis: int, x: Node) -> Form:
        return _reduced((axis,), x), DTYPES["int64"]

    def tally(self, n: Node) -> Tally:
        return Tally(logic=n.inputs[0].size)

    def behind(self, axis: int) -> int:
        return axis + 1


@structural
class Argmax(_Position):
    """The index of the largest value."""

    name = "argmax"
    largest = True


@structural
class Argmin(_Position):
    """The index of the smallest value."""

    name = "argmin"


class _Ordered(Unary):
    """Base of operations on the order of entries along the last axis."""

    dense_operands = True

    def of(self, _: None, x: Node) -> Form:
        require(x.ndim > 0, "it sorts one array, which has an axis")
        return form_of(x)

    def work(self, n: Node) -> int:
        return n.size * n.shape[-1].bit_length()

    def tally(self, n: Node) -> Tally:
        """Return the comparisons of a merge sort, at most."""
        return Tally(logic=n.size * log2(n.shape[-1]))


@structural
class Argsort(_Ordered):
    """The positions that put rows in order, NaNs last and of equal values the first one first."""

    name = "argsort"

    def of(self, _: None, x: Node) -> Form:
        return super().of(None, x)[0], DTYPES["int64"]


@structural
class Sort(_Ordered):
    """Rows in order, NaNs last. A derivative moves as the values do."""

    name = "sort"
    moves_data = True

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        (x,) = n.inputs
        return gather(tangents[x], make_node("argsort", None, x), x.ndim - 1)

    def reverse(self, n: Node, g: Node, _active: set[Node]) -> Shares:
        (x,) = n.inputs
        return [(x, scatter(g, make_node("argsort", None, x), x.ndim - 1, x.shape[-1]))]


class _Selected(Unary):
    """Base of operations that find places of rows in order without sorting them; their parameter is these places."""

    parameters = parameters.some_places
    dense_operands = True

    def of(self, places: tuple[int, ...], x: Node) -> Form:
        rise = all(a < b for a, b in pairwise(places))
        require(x.ndim > 0 and rise and places[-1] < x.shape[-1], "its places rise and lie within the last axis")
        return self.shape(places, x), x.dtype

    def shape(self, _places: tuple[int, ...], x: Node) -> tuple[int, ...]:
        """The shape of the value."""
        return x.shape

    def work(self, n: Node) -> int:
        return 4 * n.inputs[0].size * len(n.params)

    def tally(self, n: Node) -> Tally:
        """Return the comparisons of as many selections, by Hoare's algorithm about 4 of each entry."""
        return Tally(logic=self.work(n))


class _Reordering(_Selected):
    """Base of those that move entries. A derivative moves as the values do."""

    moves_data = True
    positions = ""

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        (x,) = n.inputs
        return gather(tangents[x], make_node(self.positions, n.params, x), x.ndim - 1)

    def reverse(self, n: Node, g: Node, _active: set[Node]) -> Shares:
        (x,) = n.inputs
        return [(x, scatter(g, make_node(self.positions, n.params, x), x.ndim - 1, x.shape[-1]))]


@structural
class Partition(_Reordering):
    """Rows in parts: for each place what is less than the entry that belongs there, then all that equal it.

    Each part keeps its order. NaNs are the largest.
    """

    name = "partition"
    positions = "argpartition"


@structural
class Argpartition(_Selected):
    """The positions of the entries of `partition`."""

    name = "argpartition"

    def of(self, places: tuple[int, ...], x: Node) -> Form:
        return super().of(places, x)[0], DTYPES["int64"]


@structural
class Kth(_Reordering):
    """Entries at some places of rows in order, as `sort` gives them."""

    name = "kth"
    positions = "argkth"

    def shape(self, places: tuple[int, ...], x: Node) -> tuple[int, ...]:
        return (*x.shape[:-1], len(places))


@structural
class Argkth(_Selected):
    """The positions of the entries of `kth`, as `argsort` gives them."""

    name = "argkth"

    def of(self, places: tuple[int, ...], x: Node) -> Form:
        return super().of(places, x)[0], DTYPES["int64"]

    def shape(self, places: tuple[int, ...], x: Node) -> tuple[int, ...]:
        return (*x.shape[:-1], len(places))


@structural
class Argtop(Unary):
    """The positions of the largest entries of rows, the largest first, of equal ones the first one first.

    Its parameter is how many. NaNs are the largest.
    """

    name = "argtop"
    parameters = size
    dense_operands = True

    def of(self, count: int, x: Node) -> Form:
        require(x.ndim > 0 and count <= x.shape[-1], "it takes no more than the last axis has")
        return (*x.shape[:-1], count), DTYPES["int64"]

    def work(self, n: Node) -> int:
        return 4 * n.inputs[0].size + n.size * n.params.bit_length()

    def tally(self, n: Node) -> Tally:
        """Return the comparisons of a selection, and of sorting what it gives."""
        return Tally(logic=self.work(n))


@structural
class Exponents(Unary):
    """Integers, none of which may be negative: the powers of integers that integers are raised to."""

    name = "exponents"
    dense_operands = True
    moves_data = True
    constant = True

    def of(self, _: None, x: Node) -> Form:
        require(x.dtype in WHOLE, "exponents of integers are integers")
        return form_of(x)


@structural
class Squares(Unary):
    """The squares of all elements added up in float64. It stands in no graph that is derived or batched."""

    name = "squares"
    dense_operands = True
    epilogue = Ending.SQUARES

    def of(self, _: None, x: Node) -> Form:
        require(x.dtype in FLOATS, "squares of floats add up to one float64")
        return (), DTYPES["float64"]

    def tally(self, n: Node) -> Tally:
        return fused(n.inputs[0].size)


@structural
class Norm(Together):
    """Roots of mean squares along an axis; the numbers are read where a mean is inf, nan or nearly 0.

    Inputs: these means, of some shape; the numbers, with this axis the second last of three or more; nothing, or what
    is subtracted from them first, a number for as many rows each. Parameter: what sums of squares were divided by.
    """

    name = "norm"
    parameters = positive
    dense_operands = True
    constant = True

    def form(self, _: float, inputs: Nodes) -> Form:
        require(len(inputs) in (2, 3), "it needs means and numbers")
        total, x, *center = inputs
        one = total.dtype in FLOATS and all(n.dtype == total.dtype for n in inputs)
        require(one, "its means and numbers are floats of one dtype")
        require(all(total.size % max(n.size, 1) == 0 for n in center), "it subtracts a number in as many rows each")
        require(x.ndim > 2 and total.size * x.shape[-2] == x.size, "it needs one mean for each row of numbers")
        return form_of(total)

    def tally(self, n: Node) -> Tally:
        """Return a root for each mean: what is read besides is so for few numbers."""
        return Tally(transcendental=n.size)


@structural
class Matvec(Operation):
    """A product of a matrix and a repeated vector, with its sums along rows: made while planning, and in no file."""

    name = "matvec"
    epilogue = Ending.ROWS

    def form(self, _: Params, _inputs: Nodes) -> Form:
        raise GraphError(f"{self.name!r} is an operation of plans, expected one of graphs.")


@structural
class MultiplyAdd(Operation):
    """a * b + c, rounded once if the processor can: built while planning, and never in a file."""

    name = "multiply_add"
    elementwise = True

    def form(self, _: Params, _inputs: Nodes) -> Form:
        raise GraphError(f"{self.name!r} is an operation of plans, expected one of graphs.")


def _reduced(axes: tuple[int, ...], x: Node) -> tuple[int, ...]:
    """The shape without some axes, along which there is something."""
    shape = Sum().shape(axes, [x.shape])
    require(all(x.shape[a] > 0 for a in axes), "an axis of size 0 has no extreme value")
    return shape
