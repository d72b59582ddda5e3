"""Topological order, without recursion: a chain of a million nodes is fine."""

from collections.abc import Sequence

from .node import Node


def topological(outputs: Sequence[Node]) -> list[Node]:
    """All nodes that the outputs depend on, each after its inputs; deterministic."""
    order: list[Node] = []
    seen: set[Node] = set()
    for output in outputs:
        if output in seen:
            continue
        seen.add(output)
        path = [(output, iter(output.inputs))]
        while path:
            node, rest = path[-1]
            for x in rest:
                if x not in seen:
                    seen.add(x)
                    path.append((x, iter(x.inputs)))
                    break
            else:
                order.append(node)
                path.pop()
    return order
