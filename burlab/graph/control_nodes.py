"""Control flow in a graph: nodes that execute sub-graphs.

`while`: inputs are the state's leaves at the start, then values that the sub-graphs read from around them. Its region
holds the condition (one bool) and the body (the state's leaves); both take all inputs. Result k is leaf k at the end.

`cond`: inputs are a bool, then the inputs of the two sub-graphs, of which one is executed.

`scan`: see `scan.py`.

A node has one value, so an execution with several results is several nodes with the same inputs and the same `Region`;
the plan makes one step of them (`executions.py`). Such nodes are made in `regions.py`.
"""

from collections.abc import Sequence

from burlab.runtime.checks.stored import size
from burlab.typing import Params

from . import parameters
from .faults import no_derivative
from .graph import Graph, Region, Result
from .linear_nodes import broadcast
from .node import Node
from .operation import Batching, Operation, Shares, Tangents, make_node, repeated, structural
from .signatures import BOOL, Form, forms_of, require

_LOOP_REMEDY = (
    "bl.stop_gradient on what it is given, bl.custom_vjp(..., surrogate=True) for a rule of your own, or a Python for "
    "loop of fixed length"
)


def is_result(params: Params) -> bool:
    """Return True if parameters are those of control flow."""
    return type(params) is Result and size(params.item) and parameters.axes(params.batch)


class ControlOperation(Operation):
    """An execution of sub-graphs. Its derivatives, which need the sweep, are rules in `autodiff`.

    before: how many inputs come before those that the sub-graphs take.
    """

    parameters = is_result
    dense_operands = True
    unbounded = True
    before = 0

    def batched(self, n: Node, xs: Sequence[Node], flags: Sequence[bool], many: Batching) -> Node:
        """The node executed for every sample by itself: no sample waits for the longest loop."""
        rows: Result = n.params
        inputs = (_with_rows(*x, rows.batch, many.size) for x in zip(xs, flags, inner_ranks(n), strict=True))
        return make_node(n.op, rows._replace(batch=(many.size, *rows.batch)), *inputs)


@structural
class While(ControlOperation):
    """A loop, of which no derivative exists."""

    name = "while"
    parts = ("condition", "body")
    endless = True

    def form(self, result: Result, inputs: Sequence[Node]) -> Form:
        """Return the form of a result."""
        require(len(result.region.graphs) == 2, "it has no condition and body")
        condition, body = result.region.graphs
        _check_inputs(result, inputs)
        require(forms_of(condition.outputs) == [((), BOOL)], "its condition is not one bool")
        count = len(body.outputs)
        require(forms_of(body.inputs[:count]) == forms_of(body.outputs), "its body changes the form of the state")
        return _form(result, body)

    def forward(self, n: Node, _tangents: Tangents) -> Node | None:
        """Raises TraceError."""
        raise no_derivative(n.origin, "bl.while_loop", _LOOP_REMEDY)

    def reverse(self, n: Node, _g: Node, _active: set[Node]) -> Shares:
        """Raises TraceError."""
        raise no_derivative(n.origin, "bl.while_loop", _LOOP_REMEDY)


@structural
class Cond(ControlOperation):
    """A choice of one of two sub-graphs."""

    name = "cond"
    parts = ("true", "false")
    before = 1

    def form(self, result: Result, inputs: Sequence[Node]) -> Form:
        """Return the form of a result."""
        require(len(result.region.graphs) == 2, "it has no two sides")
        true, false = result.region.graphs
        fits = len(inputs) > 0 and inputs[0].dtype == BOOL and inputs[0].shape in ((), result.batch)
        require(fits, "it is not chosen by a bool")
        _check_inputs(result, inputs[1:])
        require(forms_of(true.outputs) == forms_of(false.outputs), "its sub-graphs give different results")
        return _form(result, true)


def _check_inputs(result: Result, outside: Sequence[Node]) -> None:
    """Sub-graphs take the same inputs: those from outside, or one row of each that has the batch's axes."""
    first, second = (forms_of(graph.inputs) for graph in result.region.graphs)
    fits = len(first) == len(outside) and all(
        y.shape in (shape, (*result.batch, *shape)) and y.dtype == dtype
        for (shape, dtype), y in zip(first, outside, strict=True)
    )
    require(first == second and fits, "what it executes has other inputs")
    require(result.region.iterations is None, "it says how often it repeats")


def _form(result: Result, graph: Graph) -> Form:
    require(result.item < len(graph.outputs), "it has no such result")
    y = graph.outputs[result.item]
    return (*result.batch, *y.shape), y.dtype


def chosen_inputs(n: Node) -> tuple[Node, ...]:
    """The inputs of a node that its sub-graphs take: all but the bool of a `cond`."""
    return n.inputs[_before(n) :]


def inner_ranks(n: Node) -> list[int]:
    """The number of axes that each input has in one row of a batch."""
    return [0] * _before(n) + [x.ndim for x in n.params.region.graphs[0].inputs]


def _before(n: Node) -> int:
    row = n.row
    assert isinstance(row, ControlOperation)
    return row.before


def with_graphs(n: Node, region: Region) -> Node:
    """The node with another region for its own."""
    with_it = Node(n.op, n.inputs, n.params._replace(region=region), n.shape, n.dtype, n.weak)
    with_it.origin, with_it.scope = n.origin, n.scope
    return with_it


def _with_rows(x: Node, flag: bool, rank: int, batch: tuple[int, ...], size: int) -> Node:
    """An input with all batch axes, or without any."""
    if flag and batch and x.ndim == 1 + rank:  # it has the new axis only
        return broadcast(x, (size, *batch, *x.shape[1:]), (0, *range(1 + len(batch), 1 + len(batch) + rank)))
    return repeated(x, size) if not flag and x.ndim > rank else x
