"""Derivatives of `cond`, and which results of `while` a derivative would reach.

A derivative of a choice is the choice of the derivatives: the sweeps go into both sub-graphs and give another `cond`.
Reverse mode has a second one: the choice itself, which gives the residuals of both branches too.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from burlab.graph.control_nodes import chosen_inputs
from burlab.graph.graph import Graph, Region, Result
from burlab.graph.linear_nodes import sum_over
from burlab.graph.node import Node
from burlab.graph.numpy_api.promotion import node
from burlab.graph.operation import Shares, Tangents, make_node

from .cond_reverse import pulled_back
from .sweep import RULES, Executions, SweepRule, between, jvp


def _passes(n: Node, reached: set[Node]) -> bool:
    """Return True if this result depends on the reached inputs."""
    outside = chosen_inputs(n)
    return any(graph.outputs[n.params.item] in _reached(graph, outside, reached) for graph in n.params.region.graphs)


def _loop_passes(n: Node, reached: set[Node]) -> bool:
    """Return True if this result of a loop depends on the reached inputs, in however many iterations."""
    body = n.params.region.graphs[1]
    varying = {x for x, given in zip(body.inputs, n.inputs, strict=True) if given in reached}
    while True:
        active = set(between([*varying], body.outputs))
        new = {x for x, y in zip(body.inputs, body.outputs, strict=False) if y in active} - varying
        if not new:
            return body.inputs[n.params.item] in varying
        varying |= new


def _reached(graph: Graph, outside: tuple[Node, ...], reached: set[Node]) -> set[Node]:
    inputs = [x for x, given in zip(graph.inputs, outside, strict=True) if given in reached]
    return set(between(inputs, graph.outputs))


def _forward(n: Node, tangents: Tangents, _executions: Executions) -> Node:
    """The tangent of a result of `cond`."""
    varying = tuple(k for k, x in enumerate(chosen_inputs(n)) if x in tangents)
    inputs = (*n.inputs, *(tangents[chosen_inputs(n)[k]] for k in varying))
    return make_node("cond", n.params._replace(region=_pushed(n.params.region, varying)), *inputs)


@lru_cache(maxsize=256)
def _pushed(region: Region, varying: tuple[int, ...]) -> Region:
    """The tangents of all results, from the inputs and the tangents of those that move."""

    def push(graph: Graph) -> Graph:
        along = [graph.inputs[k] for k in varying]
        tangents = [Node("input", (), None, x.shape, x.dtype) for x in along]
        return Graph((*graph.inputs, *tangents), tuple(jvp(graph.outputs, along, tangents)))

    return Region(tuple(map(push, region.graphs)))


def _reverse(given: Sequence[tuple[Node, Node]], active: set[Node]) -> Shares:
    """The inputs of `cond` that matter, each with its share of the cotangents of the results of one execution."""
    n = given[0][0]
    region, _, batch = n.params
    outside = chosen_inputs(n)
    cotangents: dict[int, Node] = {}
    for y, g in given:  # a result may stand in the graph as several nodes
        known = cotangents.get(y.params.item)
        cotangents[y.params.item] = g if known is None else node("add", known, g)
    wanted = tuple(k for k, x in enumerate(outside) if x in active)
    pulled = pulled_back(region, tuple(cotangents), wanted)
    residuals = (make_node("cond", Result(pulled.forward, item, batch), *n.inputs) for item in pulled.residuals)
    inputs = (n.inputs[0], *(outside[k] for k in pulled.read), *residuals, *cotangents.values())
    shares: Shares = []
    for j, k in enumerate(wanted):
        x = outside[k]
        share = make_node("cond", Result(pulled.region, j, batch), *inputs)
        shares.append((x, share if share.shape == x.shape else sum_over(share, range(len(batch)))))  # all rows share x
    return shares


def _execution(n: Node) -> Any:
    return n.op, n.inputs, n.params.region, n.params.batch


def _loop_forward(n: Node, tangents: Tangents, _executions: Executions) -> Node | None:
    return n.row.forward(n, tangents)


def _loop_reverse(given: Sequence[tuple[Node, Node]], active: set[Node]) -> Shares:
    return given[0][0].row.reverse(*given[0], active)


RULES["cond"] = SweepRule(_passes, _forward, _reverse, _execution)
RULES["while"] = SweepRule(_loop_passes, _loop_forward, _loop_reverse)
