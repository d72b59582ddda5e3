"""Derivatives of calls: by their own rule if they have one, else through their sub-graph."""

from collections.abc import Sequence

from burlab.graph.calls import reverse_rule
from burlab.graph.linear_nodes import zeros
from burlab.graph.node import Node
from burlab.graph.operation import Shares, Tangents
from burlab.graph.substitute import inline

from .sweep import RULES, Executions, SweepRule, jvp, vjp


def _passes(_n: Node, _reached: set[Node]) -> bool:
    return True


def _reverse(given: Sequence[tuple[Node, Node]], active: set[Node]) -> Shares:
    ((n, g),) = given
    rule = reverse_rule(n.params)
    if rule is None:
        (body,) = inline(n.params.graph, n.inputs)
        floats = [x for x in dict.fromkeys(n.inputs) if x in active]
        return list(zip(floats, vjp([body], floats, [g]), strict=True))
    shares = inline(rule, (*n.inputs, n, g))
    floats = [x for x in n.inputs if x.dtype.kind == "f"]
    # Nothing needs to receive the zeros that a rule states explicitly.
    return [(x, share) for x, share in zip(floats, shares, strict=True) if x in active and not share.is_zero]


def _forward(n: Node, known: Tangents, _executions: Executions) -> Node | None:
    varying = [x for x in dict.fromkeys(n.inputs) if x in known]
    if not varying:
        return None
    rule = reverse_rule(n.params)
    if rule is None:
        (body,) = inline(n.params.graph, n.inputs)
        return jvp([body], varying, [known[x] for x in varying])[0]
    # The rule g -> J'g is linear in g, so its own reverse sweep by g gives J v.
    g = zeros(n.shape, n.dtype)
    shares = inline(rule, (*n.inputs, n, g))
    floats = [x for x in n.inputs if x.dtype.kind == "f"]
    pairs = [(share, known[x]) for x, share in zip(floats, shares, strict=True) if x in known]
    return vjp([s for s, _ in pairs], [g], [v for _, v in pairs])[0]


RULES["call"] = SweepRule(_passes, _forward, _reverse)
