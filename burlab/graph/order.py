"""Topological order, without recursion: a chain of a million nodes is fine."""

from collections.abc import Iterable, Sequence

from .node import Node


def topological(outputs: Sequence[Node], known: Iterable[Node] = ()) -> list[Node]:
    """All nodes that the outputs depend on, each after its inputs; deterministic. It does not look behind `known`."""
    order: list[Node] = []
    seen = set(known)
    stack: list[Node | None] = [*reversed(outputs)]
    while stack:
        n = stack.pop()
        if n is None:  # the node below is done: all its inputs came before
            order.append(stack.pop())  # pyright: ignore[reportArgumentType] - a mark lies on its node
        elif n not in seen:
            seen.add(n)
            if n.inputs:
                stack += (n, None, *[x for x in reversed(n.inputs) if x not in seen])
            else:
                order.append(n)
    return order
