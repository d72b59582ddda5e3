"""Control flow in a graph: nodes that execute sub-graphs.

`while`: inputs are the state's leaves at the start, then values that the sub-graphs read from around them. Its region
holds the condition (one bool) and the body (the state's leaves); both take all inputs. Result k is leaf k at the end.

`cond`: inputs are a bool, then the inputs of the two sub-graphs, of which one is executed. Where all samples share the
bool, one execution computes all samples.

`scan`: see `scan.py`.

A node has one value, so an execution with several results is several nodes with the same inputs and the same `Region`;
the plan makes one step of them (`executions.py`). Such nodes are made in `regions.py`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from burlab.runtime.checks.stored import size
from burlab.typing import Params

from . import parameters
from .faults import no_derivative
from .graph import Graph, Region, Result, topological
from .linear_nodes import broadcast, transpose
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
    follows_sums = True

    def form(self, result: Result, inputs: Sequence[Node]) -> Form:
        """Return the form of a result."""
        require(len(result.region.graphs) == 2, "it has no two sides")
        true, false = result.region.graphs
        fits = len(inputs) > 0 and inputs[0].dtype == BOOL and inputs[0].shape in ((), result.batch)
        require(fits, "it is not chosen by a bool")
        _check_inputs(result, inputs[1:])
        require(forms_of(true.outputs) == forms_of(false.outputs), "its sub-graphs give different results")
        return _form(result, true)

    def batched(self, n: Node, xs: Sequence[Node], flags: Sequence[bool], many: Batching) -> Node:
        """One choice for all samples if they share it; all of its results are computed by one execution."""
        if flags[0]:
            return super().batched(n, xs, flags, many)
        key = (n.inputs, n.params.region, n.params.batch)
        found = many.executions.get(key) or many.executions.setdefault(key, _one_choice(n, xs, flags, many))
        return found.result(n.params.item)

    def is_linear(self, n: Node, varying: Sequence[Node]) -> bool:
        """Return True if both sides are linear in those of the inputs that vary, and the choice does not."""
        outside, known = chosen_inputs(n), set(varying)
        if n.params.batch or n.inputs[0] in known:
            return False
        return all(
            _is_linear(
                graph.outputs[n.params.item], {x for x, y in zip(graph.inputs, outside, strict=True) if y in known}
            )
            for graph in n.params.region.graphs
        )


class _OneChoice(NamedTuple):
    """A `cond` whose sub-graphs compute all samples. flags: which results have the axis of samples."""

    inputs: tuple[Node, ...]
    region: Region
    batch: tuple[int, ...]
    flags: tuple[bool, ...]

    def result(self, item: int) -> Node:
        """A result with the axis of samples in front, or without one."""
        n = make_node("cond", Result(self.region, item, self.batch), *self.inputs)
        return _with_axis_at(n, len(self.batch), 0) if self.flags[item] else n


def _one_choice(n: Node, xs: Sequence[Node], flags: Sequence[bool], many: Batching) -> _OneChoice:
    """A choice that all samples share. In a batch, the axis of samples moves behind its axes."""
    region, _, batch = n.params
    inside, ranks = flags[1:], inner_ranks(n)[1:]
    sides = [many.graph(graph, inside, many.size) for graph in region.graphs]
    found = tuple(map(any, zip(*(differs for *_, differs in sides), strict=True)))
    graphs = (
        Graph(
            inputs, tuple(repeated(y, many.size) if a and not b else y for y, a, b in zip(ys, found, own, strict=True))
        )
        for inputs, ys, own in sides
    )
    outer = (
        _with_axis_at(x, 0, len(batch)) if flag and x.ndim > 1 + rank else x
        for x, flag, rank in zip(xs[1:], inside, ranks, strict=True)
    )
    return _OneChoice((xs[0], *outer), Region(tuple(graphs)), batch, found)


def _with_axis_at(x: Node, axis: int, to: int) -> Node:
    """The node with an axis in another place."""
    order = [k for k in range(x.ndim) if k != axis]
    order.insert(to, axis)
    return x if axis == to else transpose(x, tuple(order))


def _is_linear(y: Node, varying: set[Node]) -> bool:
    """Return True if a value is linear in the inputs that vary, and of their dtype."""
    for n in topological([y], varying):
        ours = [x for x in n.inputs if x in varying]
        if not ours:
            continue
        if any(x.dtype != n.dtype for x in ours) or not (n.row.follows_sums and n.row.is_linear(n, ours)):
            return False
        varying.add(n)
    return True


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


def item_of(n: Node) -> int:
    """The number of the result of its region that a node is."""
    item: int = n.params.item
    return item


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
