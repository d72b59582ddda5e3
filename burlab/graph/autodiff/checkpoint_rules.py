"""Derivatives of `checkpoint`: the sweep of the graph is a checkpoint itself, and computes it again.

Chen et al. 2016, "Training deep nets with sublinear memory cost", arXiv:1604.06174, with regions that the user names.
"""

from collections.abc import Sequence
from functools import lru_cache

from burlab.graph.checkpoint_nodes import after
from burlab.graph.graph import Graph, Region, Result, topological
from burlab.graph.node import Node
from burlab.graph.operation import Shares, Tangents, make_node
from burlab.graph.substitute import keep, rebuild

from .sweep import RULES, Executions, SweepRule, between, jvp, vjp


def _execution(n: Node) -> tuple[tuple[Node, ...], Region]:
    return n.inputs, n.params.region


def _passes(n: Node, reached: set[Node]) -> bool:
    """Return True if this result depends on the reached inputs."""
    (graph,) = n.params.region.graphs
    varying = [x for x, given in zip(graph.inputs, n.inputs, strict=True) if given in reached]
    return graph.outputs[n.params.item] in set(between(varying, graph.outputs))


def _forward(n: Node, tangents: Tangents, _executions: Executions) -> Node:
    varying = tuple(k for k, x in enumerate(n.inputs) if x in tangents)
    pushed = _pushed(n.params.region, varying)
    return make_node(n.op, Result(pushed, n.params.item), *n.inputs, *(tangents[n.inputs[k]] for k in varying))


@lru_cache(maxsize=256)
def _pushed(region: Region, varying: tuple[int, ...]) -> Region:
    """The tangents of all results, from the inputs and the tangents of those that vary."""
    (graph,) = region.graphs
    along = [graph.inputs[k] for k in varying]
    tangents = [_like(x) for x in along]
    return Region((Graph((*graph.inputs, *tangents), tuple(jvp(graph.outputs, along, tangents))),))


def _reverse(given: Sequence[tuple[Node, Node]], active: set[Node]) -> Shares:
    n = given[0][0]
    cotangents: dict[int, Node] = {}
    for y, g in given:  # a result may stand in the graph as several nodes
        item = y.params.item
        cotangents[item] = make_node("add", None, cotangents[item], g) if item in cotangents else g
    wanted = tuple(k for k, x in enumerate(n.inputs) if x in active)
    pulled, more = _pulled(n.op, n.params.region, tuple(cotangents), wanted)
    first = len(n.params.region.graphs[0].outputs)
    kept = [*n.inputs, *(make_node(n.op, Result(more, first + k), *n.inputs) for k in range(_count(more) - first))]
    before = [*cotangents.values()]
    inputs = (*(after(x, before) for x in kept), *before)
    return [(n.inputs[k], make_node(n.op, Result(pulled, j), *inputs)) for j, k in enumerate(wanted)]


def _count(region: Region) -> int:
    return len(region.graphs[0].outputs)


@lru_cache(maxsize=256)
def _pulled(op: str, region: Region, items: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[Region, Region]:
    """The cotangents of some inputs, from the inputs, what is kept besides, and the cotangents of some results.

    Then the region with what is kept besides as further results.
    """
    (graph,) = region.graphs
    outputs = [graph.outputs[k] for k in items]
    cotangents = [_like(y) for y in outputs]
    shares = vjp(outputs, [graph.inputs[k] for k in wanted], cotangents)
    kept = _contractions(graph, shares) if op == "checkpoint_contractions" else []
    known = dict(zip(kept, map(_like, kept), strict=True))
    given = (*graph.inputs, *known.values(), *cotangents)
    backward = Graph(given, tuple(rebuild(shares, dict(known), keep)))
    return Region((backward,)), Region((Graph(graph.inputs, (*graph.outputs, *kept)),)) if kept else region


def _contractions(graph: Graph, shares: Sequence[Node]) -> list[Node]:
    """The products of matrices in a graph that its reverse sweep reads, or would compute again."""
    needed = set(topological(shares))
    return [n for n in graph.nodes if n.row.multiplies and n in needed]


def _like(x: Node) -> Node:
    return Node("input", (), None, x.shape, x.dtype)


for _op in ("checkpoint", "checkpoint_contractions"):
    RULES[_op] = SweepRule(_passes, _forward, _reverse, _execution)
