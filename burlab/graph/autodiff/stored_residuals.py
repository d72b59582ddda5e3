"""Values of a sub-graph that its reverse sweep reads, and which of them are stored for it."""

from collections.abc import Iterable, Sequence

from burlab.graph.graph import Graph, topological
from burlab.graph.node import Node


def residuals(body: Graph, varying: int, outputs: Sequence[Node], cotangents: Iterable[Node]) -> list[Node]:
    """Return the values to store so that a reverse sweep computes nothing again but what is cheap.

    Args:
        body: a sub-graph.
        varying: how many of its first inputs differ from one execution to the next.
        outputs: what the reverse sweep gives, as nodes on those of the body.
        cotangents: what it starts from.
    """
    forward = topological((*body.outputs, *executed(outputs, cotangents)))
    within = set(forward)
    stacks = _stacks(body, varying, forward)
    read = [x for n in topological(outputs) if n not in within for x in n.inputs if x in within]
    chosen = {n for x in (*read, *(y for y in outputs if y in within)) for n in stacks[x]}
    return [n for n in forward if n in chosen]


def executed(outputs: Sequence[Node], cotangents: Iterable[Node]) -> list[Node]:
    """Return the results of control flow that a sweep reads and no cotangent enters: residuals of inner branches."""
    later = set(cotangents)
    found: list[Node] = []
    for n in topological(outputs):
        if not later.isdisjoint(n.inputs):
            later.add(n)
        elif n.row.parts:
            found.append(n)
    return found


def _stacks(body: Graph, varying: int, forward: Sequence[Node]) -> dict[Node, frozenset[Node]]:
    """For each value the values to store so that it is available, or cheap to compute."""
    nothing = frozenset[Node]()
    differs = set(body.inputs[:varying])
    stacks: dict[Node, frozenset[Node]] = {}
    for n in forward:
        stacks[n] = nothing.union(*(stacks[x] for x in n.inputs))
        if n.inputs and not differs.isdisjoint(n.inputs):
            differs.add(n)
        elif n not in differs:
            stacks[n] = nothing  # the same in every execution
            continue
        row = n.row
        if not n.inputs or row.view:
            continue
        if not row.cheap or 0 < n.nbytes <= sum(x.nbytes for x in stacks[n]):
            stacks[n] = frozenset([n])
    return stacks
