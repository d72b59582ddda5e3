"""Arrays that a kernel updates in place: an input and an output share the memory.

Such an output is a `put` into the input, or what a loop in place makes of it: `while` carries that its body updates so.
Everything else that reads the input has to come before the update.
"""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from operator import is_

from burlab.graph import Graph, Node

from .options import NO_ALIASES, Aliases


def put_of(graph: Graph, source: int, target: int) -> Node | None:
    """The `put` by which an output is an input with other rows, if the two can be the same memory; else None."""
    nodes = update_of(graph, source, target)
    return nodes[0] if nodes and nodes[0].op == "put" else None


def loop_carries(body: Graph, count: int) -> Aliases:
    """The carries of a loop, so many, that its body can update in place, as pairs of inputs and outputs.

    None where it updates no array: what only stays as it is may be copied, and other passes may move what reads it.
    """
    pairs, waits = set[tuple[int, int]](), dict[Node, tuple[Node, ...]]()
    for k, x in enumerate(body.inputs[:count]):
        if body.outputs[k] is x:  # it stays as it is
            pairs.add((k, k))
            continue
        nodes = update_of(body, k, k)
        more = {n: (*waits.get(n, ()), *readers(body, x, nodes)) for n in nodes}
        if nodes and (not waits or _has_order(body, waits | more)):
            pairs.add((k, k))
            waits |= more
    return frozenset(pairs) if waits else NO_ALIASES


def update_of(graph: Graph, source: int, target: int) -> tuple[Node, ...]:
    """The nodes that make an output of an input, if the two can be the same memory; () if they cannot."""
    x, n = graph.inputs[source], _root(graph.outputs[target], reshapes_only=True)
    place = _updated_input(n)
    if place is None or _root(n.inputs[place], reshapes_only=True) is not x:
        return ()
    others = [y for k, y in enumerate(graph.outputs) if k != target]
    others += [y for k, y in enumerate(n.inputs) if k != place]
    if not {x, n}.isdisjoint(map(_root, others)):
        return ()
    nodes = (n, *(y for y in graph.nodes if y is not n and _is_same_loop(y, n)))
    return nodes if _below(graph, nodes).isdisjoint(readers(graph, x, nodes)) else ()


def _updated_input(n: Node) -> int | None:
    """The operand whose memory a node can have; None if there is none."""
    if n.op == "put":
        return None if n.params[0] else 0
    if n.op != "while" or n.params.batch:
        return None
    item: int = n.params.item
    return item if update_of(n.params.region.graphs[1], item, item) else None


def _has_order(graph: Graph, waits: Mapping[Node, Sequence[Node]]) -> bool:
    """Return True unless nodes wait for each other, as where each of two arrays is updated by the other."""
    sorter = TopologicalSorter({n: (*n.inputs, *waits.get(n, ())) for n in graph.nodes})
    try:
        sorter.prepare()
    except CycleError:
        return False
    return True


def _is_same_loop(n: Node, other: Node) -> bool:
    """Return True if two nodes are results of one loop."""
    if n.op != "while" or other.op != "while" or n.params.region is not other.params.region:
        return False
    return len(n.inputs) == len(other.inputs) and all(map(is_, n.inputs, other.inputs))


def _root(n: Node, reshapes_only: bool = False) -> Node:
    """Return the node that a view is a view of; a gather of known rows may be one (`planning/windows.py`)."""
    while n.op == "reshape" or (not reshapes_only and (n.row.view or _takes_known_rows(n))):
        n = n.inputs[0]
    return n


def _takes_known_rows(n: Node) -> bool:
    if n.op != "gather":
        return False
    index = n.inputs[1].inputs[0] if n.inputs[1].op == "broadcast" else n.inputs[1]
    return index.is_constant


def readers(graph: Graph, x: Node, but: Sequence[Node]) -> Iterable[Node]:
    """The nodes that read an input, or a view of it, but for some."""
    known = set(but)
    return [n for n in graph.nodes if any(_root(i) is x for i in n.inputs) and n not in known]


def _below(graph: Graph, tops: Sequence[Node]) -> set[Node]:
    """The nodes that need some nodes."""
    found = set(tops)
    for n in graph.nodes:
        if not found.isdisjoint(n.inputs):
            found.add(n)
    return found - set(tops)
