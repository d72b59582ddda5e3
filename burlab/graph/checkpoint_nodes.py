"""Nodes of `bl.checkpoint`: results of a graph of which the reverse sweep keeps only the inputs, and `after`.

Before planning, the graph replaces its results (`rewrite/simplify.py`). Its reverse rule
(`autodiff/checkpoint_rules.py`) reads the inputs through `after`: so what is computed again is neither merged with the
forward pass nor computed before the cotangents are known, as by the optimization barriers of JAX's `checkpoint`.
"""
# ruff: noqa: D102 - Operation documents the methods

from collections.abc import Sequence
from typing import NamedTuple

from .control_nodes import is_result
from .graph import Graph, Region, Result
from .node import Node
from .operation import Batching, Linearity, Operation, Shares, Tangents, make_node, repeated, structural
from .signatures import Form, form_of, forms_of, require


@structural
class After(Operation):
    """The first input, for what is to be computed when the others are known."""

    name = "after"
    view = True
    moves_data = True
    linearity = Linearity.FIRST

    def form(self, _: None, inputs: Sequence[Node]) -> Form:
        require(len(inputs) > 1, "it needs a value and what comes before")
        return form_of(inputs[0])

    def forward(self, n: Node, tangents: Tangents) -> Node | None:
        x, *before = n.inputs
        return after(tangents[x], before) if x in tangents else None

    def reverse(self, n: Node, g: Node, active: set[Node]) -> Shares:
        return [(n.inputs[0], g)] if n.inputs[0] in active else []

    def batched(self, _n: Node, xs: Sequence[Node], _flags: Sequence[bool], _many: Batching) -> Node:
        return after(xs[0], xs[1:])

    def differentiable_inputs(self, _: Node) -> tuple[int, ...]:
        return (0,)


def after(x: Node, before: Sequence[Node]) -> Node:
    """A value for what is to be computed when other values are known; the value itself where these are none."""
    return make_node("after", None, x, *before, weak=x.weak) if before else x


class _Many(NamedTuple):
    """The results of a graph for many samples."""

    inputs: tuple[Node, ...]
    region: Region


class Checkpoint(Operation):
    """Base of operations that give one result of a graph. Their derivatives are rules in `autodiff`."""

    parameters = is_result

    def form(self, result: Result, inputs: Sequence[Node]) -> Form:
        region, item, batch = result
        require(len(region.graphs) == 1 and region.iterations is None and not batch, "it has not one graph")
        (graph,) = region.graphs
        require(forms_of(graph.inputs) == forms_of(inputs), "its graph has other inputs")
        require(item < len(graph.outputs), "it has no such result")
        return form_of(graph.outputs[item])

    def batched(self, n: Node, xs: Sequence[Node], flags: Sequence[bool], many: Batching) -> Node:
        """All results of an execution have the axis of samples."""
        key = (n.op, n.inputs, n.params.region)
        found = many.executions.get(key)
        if found is None:
            inputs, outputs, own = many.graph(n.params.region.graphs[0], list(flags), many.size)
            rows = (y if flag else repeated(y, many.size) for y, flag in zip(outputs, own, strict=True))
            found = many.executions[key] = _Many(tuple(xs), Region((Graph(inputs, tuple(rows)),)))
        return make_node(n.op, n.params._replace(region=found.region), *found.inputs)


@structural
class CheckpointInputs(Checkpoint):
    """The reverse sweep keeps only the inputs."""

    name = "checkpoint"


@structural
class CheckpointContractions(Checkpoint):
    """The reverse sweep keeps the inputs, and the results of matrix products."""

    name = "checkpoint_contractions"


def checkpoint_nodes(op: str, graph: Graph, inputs: Sequence[Node]) -> list[Node]:
    """The results of a graph. op: "checkpoint" or "checkpoint_contractions"."""
    region = Region((graph,))
    return [make_node(op, Result(region, k), *inputs, weak=y.weak) for k, y in enumerate(graph.outputs)]
