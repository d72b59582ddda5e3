"""Arrays of the caller that a kernel updates in place: an input and an output share the memory.

Such an output is a `put` into the input. Everything else that reads the input has to come before it.
"""

from collections.abc import Iterable
from dataclasses import replace

from burlab.graph import Graph, Node

from .locate import Located


def put_of(graph: Graph, source: int, target: int) -> Node | None:
    """The `put` by which an output is an input with other rows, if the two can be the same memory; else None."""
    x, n = graph.inputs[source], _root(graph.outputs[target], reshapes_only=True)
    if n.op != "put" or n.params[0] or _root(n.inputs[0], reshapes_only=True) is not x:
        return None
    others = (y for k, y in enumerate(graph.outputs) if k != target)
    if not {x, n}.isdisjoint(_root(y) for y in (*others, *n.inputs[1:])):
        return None
    return n if _below(graph, n).isdisjoint(_readers(graph, x)) else None


def order_updates(located: Located) -> Located:
    """Make each `put` into an input wait for all others that read the input."""
    graph = located.graph
    found = dict(located.after)
    for source, target in located.options.in_place:
        n = put_of(graph, source, target)
        assert n is not None, "an output that is not a `put` into its input cannot have the memory of it"
        found[n] = tuple(reader for reader in _readers(graph, graph.inputs[source]) if reader is not n)
    return replace(located, after=found)


def _root(n: Node, reshapes_only: bool = False) -> Node:
    """Return the node that a view is a view of."""
    while n.op == "reshape" or (n.row.view and not reshapes_only):
        n = n.inputs[0]
    return n


def _readers(graph: Graph, x: Node) -> Iterable[Node]:
    """The nodes that read an input, or a view of it."""
    return [n for n in graph.nodes if any(_root(i) is x for i in n.inputs)]


def _below(graph: Graph, top: Node) -> set[Node]:
    """The nodes that need a node."""
    found = {top}
    for n in graph.nodes:
        if not found.isdisjoint(n.inputs):
            found.add(n)
    return found - {top}
