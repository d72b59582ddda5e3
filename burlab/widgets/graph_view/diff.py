"""Two graphs as one: what both compute, what only the first has (removed), what only the second has (added)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from burlab.graph import Graph, Node
from burlab.graph.structure import structural_keys

from .network import Network, Vertex, network_of

Fate = Literal["same", "affected", "added", "removed"]


def compared(before: Graph, after: Graph) -> tuple[Network, tuple[Fate, ...]]:
    """One network of both graphs, and the fate of each of its vertices.

    Nodes are the same if they compute the same: by operation, parameters, shapes and all that they depend on, whatever
    their lines and their order; what control flow executes is part of its node. Where the same operation stands at the
    same place, seen from the outputs or from the inputs, but on other numbers, it is affected.

    >>> import burlab as bl
    >>> first, second = (bl.compile(f, 0.5).graph for f in (lambda x: (x * x + 1) / 3, lambda x: (x * x - 1) / 3))
    >>> network, fates = compared(first, second)
    >>> [f"{v.head} {fate}" for v, fate in zip(network.vertices, fates)]
    ['x same', 'mul same', 'add(·, 1) removed', 'sub(·, 1) added', 'div(·, 3) affected']
    """
    old, new = (network_of(graph, opens=False) for graph in (before, after))
    pairs = _pairs(before, after)
    same = {n for n, (_, exact) in pairs.items() if exact}
    twin = {n: m for n, (m, _) in pairs.items()}  # of the second graph -> of the first
    partner = {m: n for n, m in twin.items()}
    order = _merged(dict.fromkeys(old.nodes), dict.fromkeys(new.nodes), partner)
    index = {n: k for k, n in enumerate(order)}
    vertex = {n: v for network in (old, new) for n, v in zip(network.nodes, network.vertices, strict=True)}
    fates: list[Fate] = []
    vertices: list[Vertex] = []
    for n in order:
        operands = (partner.get(x, x) for x in n.inputs)
        vertices.append(replace(vertex[n], operands=tuple(index[x] for x in operands if x in index)))
        fates.append("removed" if n in old.index else "same" if n in same else "affected" if n in twin else "added")
    return Network(tuple(vertices), _title(fates), tuple(order), index), tuple(fates)


def _pairs(before: Graph, after: Graph) -> dict[Node, tuple[Node, bool]]:
    """For nodes of the second graph their twins in the first, and whether they compute the same."""
    names = bool({x.params for x in before.inputs} & {x.params for x in after.inputs})  # else they go by position
    old, new = (structural_keys(graph, names) for graph in (before, after))
    there = {key: n for n, key in old.items()}
    pairs = {n: (there[key], True) for n, key in new.items() if key in there}
    taken = {m for m, _ in pairs.values()}

    def pair(n: Node, m: Node) -> bool:
        if n in pairs or m in taken or _own(n) != _own(m):
            return False
        pairs[n] = m, False
        taken.add(m)
        return True

    stack = list(zip(after.outputs, before.outputs, strict=False))
    while stack:  # from the outputs down, as long as the operations are the same
        n, m = stack.pop()
        if pair(n, m):
            stack.extend(zip(n.inputs, m.inputs, strict=False))
    users: dict[Node, list[Node]] = {}
    for m in before.nodes:
        for x in m.inputs:
            users.setdefault(x, []).append(m)
    for n in after.nodes:  # and from the inputs up
        near = (m for x in n.inputs if x in pairs for m in users.get(pairs[x][0], ()))
        for m in near:
            if pair(n, m):
                break
    return pairs


def _own(n: Node) -> object:
    """What a node is by itself."""
    params = n.params if n.op != "constant" else n.params.tobytes()
    return n.op, repr(params), n.shape, n.dtype, len(n.inputs)


def _merged(old: Iterable[Node], new: Iterable[Node], partner: dict[Node, Node]) -> list[Node]:
    """The nodes of the second graph, and before each what stood before its twin in the first and is gone."""
    order: list[Node] = []
    seen: set[Node] = set()
    rest = iter(new)
    for m in old:
        n = partner.get(m)
        if n is None:
            order.append(m)
            continue
        while n not in seen:
            x = next(rest)
            seen.add(x)
            order.append(x)
    return [*order, *rest]


def _title(fates: Iterable[Fate]) -> str:
    counts = Counter(fates)
    return ", ".join(f"{counts[fate]:,} {fate}" for fate in ("same", "affected", "added", "removed"))
