"""Derivatives of control flow: which results a derivative reaches, and both sweeps of `cond`.

A derivative of a choice is the choice of the derivatives: the sweeps go into both sub-graphs and give another `cond`.
"""

from functools import lru_cache

from burlab.graph.control import chosen_inputs
from burlab.graph.graph import Graph, Region, Result
from burlab.graph.linear import sum_over
from burlab.graph.node import Node
from burlab.graph.signatures import made


def flows(n: Node, reached: set[Node]) -> bool:
    """Whether a derivative by what is reached passes to this result."""
    graphs = n.params.region.graphs
    outside = chosen_inputs(n)
    if n.op == "cond":
        return any(graph.outputs[n.params.item] in _reached(graph, outside, reached) for graph in graphs)
    body = graphs[1]
    moving = {x for x, given in zip(body.inputs, outside, strict=True) if given in reached}
    while True:  # by way of the state, in however many turns
        active = set(_between(moving, body))
        new = {x for x, y in zip(body.inputs, body.outputs, strict=False) if y in active} - moving
        if not new:
            return body.inputs[n.params.item] in moving
        moving |= new


def _reached(graph: Graph, outside: tuple[Node, ...], reached: set[Node]) -> set[Node]:
    return _between({x for x, given in zip(graph.inputs, outside, strict=True) if given in reached}, graph)


def _between(inputs: set[Node], graph: Graph) -> set[Node]:
    from .sweep import between

    return set(between([*inputs], graph.outputs))


def forward(n: Node, tangents: dict[Node, Node]) -> Node:
    """The tangent of a result of `cond`."""
    moving = tuple(k for k, x in enumerate(chosen_inputs(n)) if x in tangents)
    inputs = (*n.inputs, *(tangents[chosen_inputs(n)[k]] for k in moving))
    return made("cond", n.params._replace(region=_pushed(n.params.region, moving)), *inputs)


@lru_cache(maxsize=256)
def _pushed(region: Region, moving: tuple[int, ...]) -> Region:
    """The tangents of all results, from the inputs and the tangents of those that move."""
    from .sweep import jvp

    def push(graph: Graph) -> Graph:
        along = [graph.inputs[k] for k in moving]
        tangents = [Node("input", (), None, x.shape, x.dtype) for x in along]
        return Graph((*graph.inputs, *tangents), tuple(jvp(graph.outputs, along, tangents)))

    return Region(tuple(map(push, region.graphs)))


def backward(n: Node, g: Node, active: set[Node]) -> list[tuple[Node, Node]]:
    """The inputs of `cond` that matter, each with its share of the cotangent of one result."""
    region, item, batch = n.params
    outside = chosen_inputs(n)
    wanted = tuple(k for k, x in enumerate(outside) if x in active)
    pulled = _pulled(region, item, wanted)
    shares: list[tuple[Node, Node]] = []
    for j, k in enumerate(wanted):
        x = outside[k]
        share = made("cond", Result(pulled, j, batch), *n.inputs, g)
        shares.append((x, share if share.shape == x.shape else sum_over(share, range(len(batch)))))  # all rows share x
    return shares


@lru_cache(maxsize=256)
def _pulled(region: Region, item: int, wanted: tuple[int, ...]) -> Region:
    """The cotangents of some inputs, from the inputs and the cotangent of one result."""
    from .sweep import vjp

    def pull(graph: Graph) -> Graph:
        y = graph.outputs[item]
        g = Node("input", (), None, y.shape, y.dtype)
        return Graph((*graph.inputs, g), tuple(vjp([y], [graph.inputs[k] for k in wanted], [g])))

    return Region(tuple(map(pull, region.graphs)))
