"""Calls in a graph: nodes that stand for a sub-graph with one output, perhaps with a reverse rule of its own."""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence

from burlab.typing import Params

from .graph import Call, Graph, Later
from .node import Node
from .operation import Batching, Operation, repeated, structural, together
from .signatures import FLOATS, Form, form_of, forms_of, require


def graphs_of(call: Call) -> list[Graph]:
    """The sub-graphs: the called graph, then its reverse rule, unless that is built later."""
    return [call.graph, call.backward] if isinstance(call.backward, Graph) else [call.graph]


def reverse_rule(call: Call) -> Graph | None:
    """The graph of its reverse rule, if it has one."""
    return call.backward.graph if isinstance(call.backward, Later) else call.backward


def _is_call(params: Params) -> bool:
    return isinstance(params, Call)


@structural
class CallOperation(Operation):
    """The one output of a sub-graph. Before planning, the called graph replaces it."""

    name = "call"
    parameters = _is_call

    def form(self, call: Call, inputs: Sequence[Node]) -> Form:
        require(len(call.graph.outputs) == 1, "what it calls has not one output")
        (y,) = call.graph.outputs
        require(forms_of(call.graph.inputs) == forms_of(inputs), "what it calls has other inputs")
        if isinstance(call.backward, Graph):
            require(forms_of(call.backward.inputs) == forms_of([*inputs, y, y]), "its reverse rule has other inputs")
            floats = [x for x in inputs if x.dtype in FLOATS]
            require(forms_of(call.backward.outputs) == forms_of(floats), "its reverse rule has other outputs")
        return form_of(y)

    def batched(self, n: Node, xs: Sequence[Node], flags: Sequence[bool], many: Batching) -> Node:
        """Its reverse rule stays one for many samples."""

        def batch(graph: Graph) -> Graph:
            inputs, outputs, found = many.graph(graph, [True] * len(graph.inputs), many.size)
            rows = (y if flag else repeated(y, many.size) for y, flag in zip(outputs, found, strict=True))
            return Graph(inputs, tuple(rows))

        call: Call = n.params
        rule = call.backward
        later = Later(lambda: batch(rule.graph)) if isinstance(rule, Later) else rule and batch(rule)
        return together(n, xs, flags, many.size, Call(call.name, batch(call.graph), later))
