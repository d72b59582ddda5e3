"""Derivatives of `cond`, and which results of `while` a derivative would reach.

A derivative of a choice is the choice of the derivatives: the sweeps go into both sub-graphs and give another `cond`.
"""

from collections.abc import Sequence
from functools import lru_cache

from burlab.graph.control_nodes import chosen_inputs
from burlab.graph.graph import Graph, Region, Result
from burlab.graph.linear_nodes import sum_over
from burlab.graph.node import Node
from burlab.graph.operation import Shares, Tangents, make_node

from .sweep import RULES, Executions, SweepRule, between, jvp, vjp


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
    """The inputs of `cond` that matter, each with its share of the cotangent of one result."""
    ((n, g),) = given
    region, item, batch = n.params
    outside = chosen_inputs(n)
    wanted = tuple(k for k, x in enumerate(outside) if x in active)
    pulled = _pulled(region, item, wanted)
    shares: Shares = []
    for j, k in enumerate(wanted):
        x = outside[k]
        share = make_node("cond", Result(pulled, j, batch), *n.inputs, g)
        shares.append((x, share if share.shape == x.shape else sum_over(share, range(len(batch)))))  # all rows share x
    return shares


@lru_cache(maxsize=256)
def _pulled(region: Region, item: int, wanted: tuple[int, ...]) -> Region:
    """The cotangents of some inputs, from the inputs and the cotangent of one result."""

    def pull(graph: Graph) -> Graph:
        y = graph.outputs[item]
        g = Node("input", (), None, y.shape, y.dtype)
        return Graph((*graph.inputs, g), tuple(vjp([y], [graph.inputs[k] for k in wanted], [g])))

    return Region(tuple(map(pull, region.graphs)))


def _loop_forward(n: Node, tangents: Tangents, _executions: Executions) -> Node | None:
    return n.row.forward(n, tangents)


def _loop_reverse(given: Sequence[tuple[Node, Node]], active: set[Node]) -> Shares:
    return given[0][0].row.reverse(*given[0], active)


RULES["cond"] = SweepRule(_passes, _forward, _reverse)
RULES["while"] = SweepRule(_loop_passes, _loop_forward, _loop_reverse)
