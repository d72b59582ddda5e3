"""The table of structural operations that are not linear, but for those with sub-graphs, queries and random numbers."""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence
from typing import Any

import numpy as np

from burlab.errors import GraphError
from burlab.runtime.checks import optional, size, text

from . import parameters
from .linear import gather, scatter
from .linear_table import Sum
from .node import Node
from .operation import Batching, Operation, Shares, Tangents, made, structural, together
from .signatures import DTYPES, FLOATS, Form, form_of, require

Nodes = Sequence[Node]
Flags = Sequence[bool]


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


@structural
class StopGradient(Operation):
    """The value, with derivative zero."""

    name = "stop_gradient"
    view = True
    moves = True
    constant = True

    def form(self, _: None, inputs: Nodes) -> Form:
        require(len(inputs) == 1, "it needs one input")
        return form_of(inputs[0])

    def batched(self, n: Node, xs: Nodes, flags: Flags, many: Batching) -> Node:
        return together(n, xs, flags, many.size)


@structural
class Surrogate(Operation):
    """The value of the first input with the derivative of the second."""

    name = "surrogate"
    view = True
    moves = True

    def form(self, _: None, inputs: Nodes) -> Form:
        same = len(inputs) == 2 and form_of(inputs[0]) == form_of(inputs[1])
        require(same and inputs[0].dtype in FLOATS, "a value and what has its derivative are floats of one form")
        return form_of(inputs[0])

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        return tangents.get(n.inputs[1])

    def reverse(self, n: Node, g: Node, active: set[Node]) -> Shares:
        return [(n.inputs[1], g)] if n.inputs[1] in active else []

    def batched(self, n: Node, xs: Nodes, flags: Flags, many: Batching) -> Node:
        return together(n, xs, flags, many.size)


class _Extreme(Operation):
    """The largest or smallest value over axes, which are removed. Its derivative is that of a `surrogate` on it."""

    parameters = parameters.some_axes
    reduction = True
    constant = True

    def form(self, axes: tuple[int, ...], inputs: Nodes) -> Form:
        return _reduced(axes, inputs), inputs[0].dtype

    def batched(self, n: Node, xs: Nodes, _flags: Flags, _many: Batching) -> Node:
        return made(n.op, tuple(a + 1 for a in n.params), *xs)


@structural
class ReduceMax(_Extreme):
    """The largest value."""

    name = "reduce_max"


@structural
class ReduceMin(_Extreme):
    """The smallest value."""

    name = "reduce_min"


class _Position(Operation):
    """The first position of the largest or smallest value along an axis."""

    parameters = size

    def form(self, axis: int, inputs: Nodes) -> Form:
        return _reduced((axis,), inputs), DTYPES["int64"]

    def batched(self, n: Node, xs: Nodes, _flags: Flags, _many: Batching) -> Node:
        return made(n.op, n.params + 1, *xs)


@structural
class Argmax(_Position):
    """Of the largest value."""

    name = "argmax"


@structural
class Argmin(_Position):
    """Of the smallest value."""

    name = "argmin"


class _Ordered(Operation):
    """What is made of the order of rows: along the last axis."""

    dense_operands = True

    def form(self, _: None, inputs: Nodes) -> Form:
        require(len(inputs) == 1 and inputs[0].ndim > 0, "it sorts one array, which has an axis")
        return form_of(inputs[0])

    def batched(self, n: Node, xs: Nodes, _flags: Flags, _many: Batching) -> Node:
        return made(n.op, None, *xs)

    def work(self, n: Node) -> int:
        return n.size * n.shape[-1].bit_length()


@structural
class Argsort(_Ordered):
    """The positions that put rows in order, NaNs last and of equal values the first one first."""

    name = "argsort"

    def form(self, _: None, inputs: Nodes) -> Form:
        return super().form(None, inputs)[0], DTYPES["int64"]


@structural
class Sort(_Ordered):
    """Rows in order, NaNs last. A derivative moves as the values do."""

    name = "sort"
    moves = True

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        (x,) = n.inputs
        return gather(tangents[x], made("argsort", None, x), x.ndim - 1)

    def reverse(self, n: Node, g: Node, _active: set[Node]) -> Shares:
        (x,) = n.inputs
        return [(x, scatter(g, made("argsort", None, x), x.ndim - 1, x.shape[-1]))]


@structural
class Squares(Operation):
    """The squares of all elements added up in float64. It stands in no graph that is derived or batched."""

    name = "squares"
    dense_operands = True
    epilogue = True

    def form(self, _: None, inputs: Nodes) -> Form:
        require(len(inputs) == 1 and inputs[0].dtype in FLOATS, "squares of floats add up to one float64")
        return (), DTYPES["float64"]


@structural
class Matvec(Operation):
    """A product of a matrix and a repeated vector, with its sums along rows: made while planning, and in no file."""

    name = "matvec"
    epilogue = True

    def form(self, _: Any, _inputs: Nodes) -> Form:
        raise GraphError(f"{self.name!r} is no operation that this burlab has.")


def _reduced(axes: tuple[int, ...], inputs: Nodes) -> tuple[int, ...]:
    """The shape without some axes, along which there is something."""
    require(len(inputs) == 1, "it reduces one array")
    shape = Sum().shape(axes, [inputs[0].shape])
    require(all(inputs[0].shape[a] > 0 for a in axes), "an axis of size 0 has no extreme value")
    return shape
