"""Derivatives of `halves`: the value has those of its backward half, residuals those of what they are composed of."""

from collections.abc import Sequence

from burlab.graph.graph import Graph
from burlab.graph.halves_nodes import halves
from burlab.graph.linear_nodes import zeros
from burlab.graph.node import Node
from burlab.graph.operation import Shares, Tangents
from burlab.graph.substitute import inline

from .sweep import RULES, Executions, SweepRule, between, jvp, vjp


def _passes(n: Node, reached: set[Node]) -> bool:
    """Return True if the derivative reaches a result: the value has one by each floating input."""
    if not n.params.item:
        return True
    forward = n.params.region.graphs[1]
    varying = [x for x, given in zip(forward.inputs, n.inputs, strict=True) if given in reached]
    return forward.outputs[n.params.item] in set(between(varying, forward.outputs))


def _residual(n: Node) -> Node:
    """A residual, composed of the inputs."""
    forward = n.params.region.graphs[1]
    return inline(Graph(forward.inputs, (forward.outputs[n.params.item],)), n.inputs)[0]


def _cotangents(n: Node, g: Node) -> list[tuple[Node, Node]]:
    """The floating inputs, each with what the backward half gives it."""
    region = n.params.region
    count = len(region.graphs[1].outputs)
    shares = inline(region.graphs[2], (*(halves(region, n.inputs, k) for k in range(1, count)), g))
    return list(zip((x for x in n.inputs if x.dtype.kind == "f"), shares, strict=True))


def _reverse(given: Sequence[tuple[Node, Node]], active: set[Node]) -> Shares:
    ((n, g),) = given
    if n.params.item:
        floats = [x for x in dict.fromkeys(n.inputs) if x in active]
        return list(zip(floats, vjp([_residual(n)], floats, [g]), strict=True))
    return [(x, share) for x, share in _cotangents(n, g) if x in active and not share.is_zero]


def _forward(n: Node, known: Tangents, _executions: Executions) -> Node | None:
    varying = [x for x in dict.fromkeys(n.inputs) if x in known]
    if not varying:
        return None
    if n.params.item:
        return jvp([_residual(n)], varying, [known[x] for x in varying])[0]
    # The backward half g -> J'g is linear in g, so its own reverse sweep by g gives J v.
    g = zeros(n.shape, n.dtype)
    pairs = [(share, known[x]) for x, share in _cotangents(n, g) if x in known]
    return vjp([share for share, _ in pairs], [g], [v for _, v in pairs])[0]


RULES["halves"] = SweepRule(_passes, _forward, _reverse)
