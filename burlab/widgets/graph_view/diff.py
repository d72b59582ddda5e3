"""Two graphs as one: what both compute, what only the first has (removed), what only the second has (added)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from burlab.graph import Graph, Node

from .network import Network, Vertex, network_of
from .twins import twins_of

Fate = Literal["same", "affected", "added", "removed"]


def compared(before: Graph, after: Graph) -> tuple[Network, tuple[Fate, ...]]:
    """One network of both graphs, and the fate of each of its vertices.

    Nodes are the same if they compute the same: by operation, parameters, shapes and all that they depend on, whatever
    their lines and their order. Where the same operation stands at the same place, seen from the outputs or from the
    inputs, but on other numbers, it is affected. Control flow is opened: what a `scan` repeats is compared node by node
    with what its twin repeats.

    >>> import burlab as bl
    >>> first, second = (bl.compile(f, 0.5).graph for f in (lambda x: (x * x + 1) / 3, lambda x: (x * x - 1) / 3))
    >>> network, fates = compared(first, second)
    >>> [f"{v.head} {fate}" for v, fate in zip(network.vertices, fates)]
    ['x same', 'mul same', 'add(·, 1) removed', 'sub(·, 1) added', 'div(·, 3) affected']
    """
    old, new = (network_of(graph) for graph in (before, after))
    pairs = twins_of(before, after, old.insides, new.insides)
    same = {n for n, (_, exact) in pairs.items() if exact}
    twin = {n: m for n, (m, _) in pairs.items()}  # of the second graph -> of the first
    partner = {m: n for n, m in twin.items()}
    order = _merged(dict.fromkeys(old.nodes), dict.fromkeys(new.nodes), partner)
    index = {n: k for k, n in enumerate(order)}
    vertex = {n: (v, network) for network in (old, new) for n, v in zip(network.nodes, network.vertices, strict=True)}
    scopes = _scopes(old, new, partner)
    fates: list[Fate] = []
    vertices: list[Vertex] = []
    for n in order:
        v, network = vertex[n]
        operands = (index[partner.get(x, x)] for x in (network.nodes[k] for k in v.operands))
        scope = _relocated(v.scope, scopes) if network is old else v.scope
        vertices.append(replace(v, operands=tuple(operands), scope=scope))
        fates.append("removed" if network is old else "same" if n in same else "affected" if n in twin else "added")
    return Network(tuple(vertices), _title(fates), tuple(order), index), tuple(fates)


def _scopes(old: Network, new: Network, partner: dict[Node, Node]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the new scope of nodes that were removed from an execution: that of its twin, or one of their own."""
    scope_of = {n: v.scope for n, v in zip(new.nodes, new.vertices, strict=True) if n.row.parts}
    relocated: dict[tuple[str, ...], tuple[str, ...]] = {}
    for m, v in zip(old.nodes, old.vertices, strict=True):
        if m.row.parts:
            apart = (*v.scope[:-1], f"{v.scope[-1]}, before") if v.scope in scope_of.values() else v.scope
            relocated[v.scope] = scope_of.get(partner.get(m, m), relocated.get(v.scope, apart))
    return relocated


def _relocated(scope: tuple[str, ...], scopes: dict[tuple[str, ...], tuple[str, ...]]) -> tuple[str, ...]:
    """A scope whose outer part has another name now."""
    for k in range(len(scope), 0, -1):
        if scope[:k] in scopes:
            return (*scopes[scope[:k]], *scope[k:])
    return scope


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
