"""The table of operations: one row for each, with all that sweeps, batching, tiling and planning need to know.

A structural operation is a class derived from `Operation` whose columns are class attributes and methods: linear ones
in `linear_table.py`, the others beside the functions that make their nodes. Scalar operations are rows of the C++ table
(`scalar.py`); to this module they are all a `ScalarOperation`. Derivatives of what holds sub-graphs are in `autodiff`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from burlab.runtime.checks.stored import Check, nothing
from burlab.typing import Params

from . import hooks
from .node import Node
from .scalar import arity, parsed, row_of
from .scalar_row import NOT_SCALAR, ScalarOp
from .scalar_tally import scalar_tally
from .signatures import ALL, BOOL, FLOATS, NUMBERS, WHOLE, Form, form_of, require
from .tally import NOTHING, Tally

Tangents = dict[Node, Node]
Shares = list[tuple[Node, Node]]
"""Inputs of a node, each with its share of the node's cotangent."""


class Linearity(Enum):
    """The inputs in which an operation is linear: none, the first alone, each by itself, or all of them together."""

    NONE, FIRST, EACH, ALL = range(4)


class Ending(Enum):
    """Reductions that may end the loop of their input: the sum of all of it, of its squares, of products of a row."""

    SUM, SQUARES, ROWS = range(3)


class Batching(NamedTuple):
    """Arguments of a batching rule: the number of samples, a batching of graphs, and what executions became.

    graph(graph, flags, size): its inputs and outputs for many samples, and which outputs differ from sample to sample.
    """

    size: int
    graph: Callable[[Any, Sequence[bool], int], tuple[tuple[Node, ...], list[Node], list[bool]]]
    executions: dict[Any, Any]


class Operation(ABC):
    """One row: columns, which say no unless a row says yes, and rules.

    parameters: what its parameters are made of. leaf: it has no inputs. elementwise: element i of the value depends
    on elements i of the inputs only. view: its value is that of its first input, read through other strides.
    moves_data: its numbers are all those of its inputs, or zeros. identity: its value is that of its first input.
    joins: its value is its inputs, side by side. windowed: a loop may read it as its input, with zeros around.
    selects: of its first input it reads no more than its value holds. indexed: an integer index is its last input.
    dense_operands: its kernel knows no strides. unbounded: what it costs is not known, so it is never computed twice.
    adds_up: it adds up products or elements, and a sum over samples, or over iterations, can be taken along.
    multiplies: what it adds up are products of two arrays, which costs more than reading them.
    reduction: a loop over rows may take it along. epilogue: how it may end the loop that makes its input.
    largest: it takes the largest value, not the smallest.
    cheap: computing it again costs less than keeping it. shrinks: its value is smaller than its input.
    linearity: see `Linearity`. follows_sums: where it is linear, it may be done once with a sum, not with each addend.
    constant: no derivative passes. parts: names of the sub-graphs that it executes. endless: it may never end.
    differentiable: scalar, with partial derivatives. chooses: between two values, and never computes with the other.
    scalar: the facts of the scalar operation of which it is the partial derivative of an order, itself for 0.
    """

    name: ClassVar[str]
    parameters: ClassVar[Check] = nothing
    leaf: ClassVar[bool] = False
    elementwise: ClassVar[bool] = False
    view: ClassVar[bool] = False
    moves_data: ClassVar[bool] = False
    identity: ClassVar[bool] = False
    dense_operands: ClassVar[bool] = False
    unbounded: ClassVar[bool] = False
    adds_up: ClassVar[bool] = False
    reduction: ClassVar[bool] = False
    epilogue: ClassVar[Ending | None] = None
    largest: ClassVar[bool] = False
    joins: ClassVar[bool] = False
    multiplies: ClassVar[bool] = False
    windowed: ClassVar[bool] = False
    selects: ClassVar[bool] = False
    indexed: ClassVar[bool] = False
    cheap: bool = False
    shrinks: ClassVar[bool] = False
    linearity: Linearity = Linearity.NONE
    follows_sums: bool = False
    constant: ClassVar[bool] = False
    parts: ClassVar[tuple[str, ...]] = ()
    endless: ClassVar[bool] = False
    differentiable: bool = False
    chooses: bool = False
    scalar: ScalarOp = NOT_SCALAR
    order: int = 0

    def form(self, _params: Params, _inputs: Sequence[Node], /) -> Form:
        """Return shape and dtype of the value. Raises GraphError if parameters and inputs do not fit."""
        raise AssertionError(f"the operation {self.name} has no rule for its form")

    def checked(self, params: Params, inputs: Sequence[Node], /) -> Form:
        """Return the form for inputs that may be anything."""
        return self.form(params, inputs)

    def verify(self, n: Node) -> None:
        """Raise GraphError unless a node matches the operation and its inputs. Sub-graphs are not checked."""
        fits = type(self).parameters(n.params)
        require(fits, "its parameters are of other types than it takes, or out of their range")
        require(self.checked(n.params, n.inputs) == form_of(n), "its shape or dtype is not what its inputs give")

    def forward(self, n: Node, _tangents: Tangents, /) -> Node | None:
        """The tangent of the value, from those of the inputs that move; None if it is zero."""
        raise AssertionError(f"the operation {n.op} has no forward rule")  # a row without a rule is a defect of ours

    def reverse(self, n: Node, _g: Node, _active: set[Node], /) -> Shares:
        """The active inputs, each with its share of the node's cotangent."""
        raise AssertionError(f"the operation {n.op} has no reverse rule")

    def batched(self, n: Node, _xs: Sequence[Node], _flags: Sequence[bool], _many: Batching, /) -> Node:
        """The node for many samples: the inputs that are flagged have them as axis 0, and so has the value."""
        raise AssertionError(f"the operation {n.op} has no batching rule")

    def sums_along(self, _n: Node, /) -> bool:
        """Return True if a sum over samples or iterations can be taken along with the node's own: see `summed`."""
        return self.adds_up

    def summed_inputs(self, n: Node) -> Sequence[Node]:
        """Return the inputs that `summed` takes; the others are the same for all samples."""
        return n.inputs

    def summed(self, n: Node, _xs: Sequence[Node], /) -> Node:
        """The sum of the node's values over many samples, which the inputs have as axis 0."""
        raise AssertionError(f"the operation {n.op} adds up nothing")

    def work(self, n: Node) -> int:
        """Return roughly how many elements are read or written, or numbers added."""
        return 0 if self.leaf or self.view else max([n.size, *(x.size for x in n.inputs)])

    def tally(self, n: Node) -> Tally:
        """Return its elementary operations, without bytes."""
        if self.leaf or self.view:
            return NOTHING
        assert self.moves_data, f"the operation {n.op} does not state its elementary operations"
        return Tally(copies=n.size)

    def touched(self, _n: Node, /) -> int | None:
        """Return the bytes that it reads and writes, about; None: those of its inputs and its value."""
        return None

    def differentiable_inputs(self, n: Node, /) -> tuple[int, ...]:
        """Return the numbers of the inputs by which it has derivatives, if it is not constant."""
        return tuple(range(len(n.inputs)))

    def is_linear(self, n: Node, varying: Sequence[Node]) -> bool:
        """Return True if the value is linear in those of the inputs that vary."""
        if self.linearity is Linearity.FIRST:
            return not set(n.inputs[1:]).intersection(varying)
        if self.linearity is Linearity.EACH:
            return len(varying) == 1 and n.inputs[0] is not n.inputs[1]
        return self.linearity is Linearity.ALL


class Together(Operation):
    """Base of operations that compute many samples as one: all inputs get their axis."""

    def batched(self, n: Node, xs: Sequence[Node], flags: Sequence[bool], many: Batching) -> Node:
        """The same operation."""
        return together(n, xs, flags, many.size)


class Unary(Operation):
    """Base of operations on one input: the axis of samples comes before its own."""

    @abstractmethod
    def of(self, params: Params, x: Node, /) -> Form:
        """Shape and dtype of the value for this input. Raises GraphError where it does not fit the parameters."""

    def behind(self, params: Params, /) -> Any:
        """The parameters for inputs with another axis in front."""
        return params

    def form(self, params: Params, inputs: Sequence[Node]) -> Form:
        """Return the form for the input."""
        require(len(inputs) == 1, "it needs one input")
        return self.of(params, inputs[0])

    def batched(self, n: Node, xs: Sequence[Node], _flags: Sequence[bool], _many: Batching) -> Node:
        """The same operation, along the same axes."""
        return make_node(n.op, self.behind(n.params), *xs)


class ScalarOperation(Together):
    """A row of the C++ table, or a partial of one: its derivatives, which its struct states, are taken in the sweep."""

    elementwise = True

    def __init__(self, op: str) -> None:
        self.op = op
        base, *by = op.split("'")
        self.order = len(by)
        self.scalar = row = row_of(base) or NOT_SCALAR
        self.cheap = row.cheap and not by
        self.linearity = Linearity["NONE" if by or not row.linear_in else row.linear_in.upper()]
        self.follows_sums = self.linearity is not Linearity.NONE
        self.differentiable, self.chooses, self._is_mask = row.differentiable, row.chooses, row.is_mask

    def tally(self, n: Node) -> Tally:  # noqa: D102
        return scalar_tally(self.op).times(n.size)

    def form(self, _: None, inputs: Sequence[Node]) -> Form:  # noqa: D102
        last = inputs[-1] if self.chooses else inputs[0]
        return last.shape, BOOL if self._is_mask else last.dtype

    def checked(self, _: None, inputs: Sequence[Node]) -> Form:
        """Return the form for inputs that may be anything."""
        dtypes, count, chooses = self.dtypes, arity(self.op), self.chooses
        require(len(inputs) == count, f"it needs {count} inputs")
        require(len({x.shape for x in inputs}) == 1, "its inputs differ in shape")
        require(not chooses or inputs[0].dtype == BOOL, "its condition is not a mask")
        values = inputs[chooses:]
        require(len({x.dtype for x in values}) == 1, "its inputs differ in dtype")
        require(values[0].dtype in dtypes, f"it is not defined for {values[0].dtype}")
        return self.form(None, inputs)

    @property
    def dtypes(self) -> "frozenset[np.dtype[Any]]":
        """The dtypes that it is defined for; of `where`, of what it chooses from.

        Arithmetic on masks is logic, and comparisons of masks go through int64: see `promotion.apply`.
        """
        row, by = parsed(self.op)
        if by or row.of_floats:
            return FLOATS
        if row.of_integers:
            return WHOLE
        if row.of_masks:
            return frozenset({BOOL})
        return ALL if self.chooses else NUMBERS


STRUCTURAL: dict[str, Operation] = {}
"""The rows of all operations that are not scalar, by name."""
_Row = TypeVar("_Row", bound=Operation)


def structural(row: type[_Row]) -> type[_Row]:
    """Put an operation into the table; decorates its class."""
    STRUCTURAL[row.name] = row()
    return row


class _Rows(dict[str, Operation]):
    """The rows used so far, scalar ones too: one lookup in one table."""

    def __missing__(self, op: str) -> Operation:
        if op not in STRUCTURAL and row_of(op.partition("'")[0]) is None:
            hooks.import_rare()
        row = STRUCTURAL.get(op) or ScalarOperation(op)
        if op in STRUCTURAL or row.scalar.name:  # else a user may register it, with other facts
            self[op] = row
        return row


ROWS = _Rows()
"""The rows of all operations, by name.

>>> ROWS["reshape"].view, ROWS["tanh'0"].elementwise
(True, True)
"""


def make_node(op: str, params: Params, *inputs: Node, weak: bool = False) -> Node:
    """Return a node of any operation."""
    return Node(op, inputs, params, *ROWS[op].form(params, inputs), weak)


def together(n: Node, xs: Sequence[Node], flags: Sequence[bool], size: int, params: Params = None) -> Node:
    """Return the same operation with the axis of samples on all of its inputs."""
    inputs = tuple([x if f else repeated(x, size) for x, f in zip(xs, flags, strict=True)])
    return Node(n.op, inputs, n.params if params is None else params, (size, *n.shape), n.dtype)


def repeated(x: Node, size: int) -> Node:
    """Return a value, repeated along a new leading axis."""
    return make_node("broadcast", ((size, *x.shape), tuple(range(1, x.ndim + 1))), x)


def total(terms: Iterable[Node]) -> Node | None:
    """Return the sum of terms of one form; None if there are none."""
    result = None
    for term in terms:
        result = term if result is None else make_node("add", None, result, term)
    return result
