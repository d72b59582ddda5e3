"""Nodes of `bl.custom_vjp` in two halves: the value of a function, and what its forward half gives the backward half.

Before planning, graphs replace them (`rewrite/simplify.py`): where a node needs a residual, the forward half gives the
value as well, else the function does.
"""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence

from .control_nodes import is_result
from .graph import Graph, Region, Result
from .node import Node
from .operation import Batching, Operation, make_node, repeated, structural, together
from .signatures import FLOATS, Form, form_of, forms_of, require


@structural
class Halves(Operation):
    """Result 0 is the value, result k > 0 residual k - 1.

    Its region holds the function, the forward half, from the same inputs to value and residuals, and the backward half,
    from residuals and cotangent to the cotangents of the floating inputs. Derivatives are rules in `autodiff`.
    """

    name = "halves"
    parameters = is_result

    def form(self, result: Result, inputs: Sequence[Node]) -> Form:
        region, item, batch = result
        require(len(region.graphs) == 3 and region.iterations is None and not batch, "it has not three graphs")
        function, forward, backward = region.graphs
        require(len(function.outputs) == 1 and len(forward.outputs) > item, "it has no such result")
        y, given = function.outputs[0], forms_of(inputs)
        fits = forms_of(function.inputs) == given == forms_of(forward.inputs)
        require(fits and form_of(forward.outputs[0]) == form_of(y), "its halves are not those of its function")
        require(forms_of(backward.inputs) == forms_of([*forward.outputs[1:], y]), "its backward half has other inputs")
        floats = [x for x in inputs if x.dtype in FLOATS]
        require(forms_of(backward.outputs) == forms_of(floats), "its backward half has other outputs")
        return form_of(forward.outputs[item])

    def batched(self, n: Node, xs: Sequence[Node], flags: Sequence[bool], many: Batching) -> Node:
        """The backward half stays one for many samples."""

        def batch(graph: Graph) -> Graph:
            inputs, outputs, found = many.graph(graph, [True] * len(graph.inputs), many.size)
            rows = (y if flag else repeated(y, many.size) for y, flag in zip(outputs, found, strict=True))
            return Graph(inputs, tuple(rows))

        key = (n.op, n.params.region)
        region = many.executions.get(key) or Region(tuple(map(batch, n.params.region.graphs)))
        many.executions[key] = region
        return together(n, xs, flags, many.size, n.params._replace(region=region))


def halves(region: Region, inputs: Sequence[Node], item: int = 0) -> Node:
    """One result of a region. A residual that is an input, or the value, is no result of its own."""
    forward = region.graphs[1]
    y = forward.outputs[item]
    given = next((x for own, x in zip(forward.inputs, inputs, strict=True) if own is y), None)
    if item and given is not None:
        return given
    return make_node("halves", Result(region, 0 if y is forward.outputs[0] else item), *inputs)
