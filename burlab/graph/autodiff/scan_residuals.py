"""The residuals of a scan: values of its iterations that are stacked for reverse mode, not computed there again."""

from collections.abc import Sequence

from burlab.graph.graph import Graph
from burlab.graph.node import Node
from burlab.graph.operation import operation
from burlab.graph.order import topological


def chosen_residuals(body: Graph, moving: int, outputs: Sequence[Node]) -> list[Node]:
    """Values of a body to be stacked, so that its reverse sweep, which gives `outputs`, needs no product of matrices.

    moving: how many of the body's first inputs differ from iteration to iteration. What is cheap is computed again,
    unless it is no larger than what it is computed of; and so is everything where there is no such product, as in
    recurrences of a few numbers, for which the trails of the carries are enough.
    """
    forward = topological(body.outputs)
    within = set(forward)
    again = topological(outputs)
    if not any(operation(n).multiplies and n in within for n in again):
        return []
    stacks = _stacks(body, moving, forward)
    read = [x for n in again if n not in within for x in n.inputs if x in within]
    chosen = {n for x in (*read, *(y for y in outputs if y in within)) for n in stacks[x]}
    return [n for n in forward if n in chosen]


def _stacks(body: Graph, moving: int, forward: Sequence[Node]) -> dict[Node, frozenset[Node]]:
    """For each value what has to be stacked so that it is there, or cheap to compute."""
    nothing = frozenset[Node]()
    differs = set(body.inputs[:moving])
    stacks: dict[Node, frozenset[Node]] = {}
    for n in forward:
        stacks[n] = nothing.union(*(stacks[x] for x in n.inputs))
        if n.inputs and not differs.isdisjoint(n.inputs):
            differs.add(n)
        elif n not in differs:
            stacks[n] = nothing  # the same in every iteration
            continue
        row = operation(n)
        if not n.inputs or row.view:
            continue
        if not row.cheap or 0 < n.nbytes <= sum(x.nbytes for x in stacks[n]):
            stacks[n] = frozenset([n])
    return stacks
