"""Building a graph again with some nodes replaced: how sub-graphs are inlined and rewrites are made."""

from collections.abc import Callable, Sequence

from .graph import Graph, topological
from .node import Node
from .origin import record_node


def rebuild(
    outputs: Sequence[Node], known: dict[Node, Node], rule: Callable[[Node, tuple[Node, ...]], Node]
) -> list[Node]:
    """The outputs made anew from `known` replacements; `rule(node, new inputs)` makes each other node."""
    for n in topological(outputs, known):
        known[n] = rule(n, tuple([known[x] for x in n.inputs]))
    return [known[y] for y in outputs]


def keep(n: Node, inputs: tuple[Node, ...]) -> Node:
    """The node itself if its inputs are unchanged, else the same operation on the new ones."""
    for a, b in zip(inputs, n.inputs, strict=True):
        if a is not b:
            return copy(n, inputs)
    return n


def copy(n: Node, inputs: tuple[Node, ...]) -> Node:
    """Return the same operation on other inputs, with the same line of the user's code."""
    new = Node.__new__(Node)
    new.op, new.row, new.inputs, new.params = n.op, n.row, inputs, n.params
    new.shape, new.dtype, new.weak, new.origin, new.scope = n.shape, n.dtype, n.weak, n.origin, n.scope
    record_node(new)
    return new


def inline(graph: Graph, arguments: Sequence[Node]) -> list[Node]:
    """The outputs of a graph with its inputs replaced by nodes of another."""
    return rebuild(graph.outputs, dict(zip(graph.inputs, arguments, strict=True)), keep)
