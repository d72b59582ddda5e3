"""Boxes of a large graph: vertices are grouped by scope, and large groups without scopes by size."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from .network import Network, Vertex

MAX_LOOSE = 80  # boxes of one group that can still be overlooked; more are grouped by their order
MAX_NEXT_TO_SCOPES = 12  # boxes outside scopes, which the user named
_MIN_GROUP_SIZE = 8  # vertices that are worth a group of their own
IN, OUT = "in", "out"
Port = tuple[str, int]  # where arrows cross the rim of a group: their direction, and the box at the other end
End = int | Port


@dataclass(frozen=True)
class Groups:
    """A tree over the vertices 0 to n - 1: number n is the whole graph, those after it are groups.

    parent: of each vertex and group; -1 of the whole. titles: of the groups.
    """

    network: Network
    parent: tuple[int, ...]
    titles: dict[int, str]

    @property
    def root(self) -> int:
        """The number of the whole."""
        return len(self.network.vertices)

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The items directly in each group, in the order of their first vertices."""
        found: dict[int, list[int]] = {group: [] for group in self.titles}
        for item in sorted((k for k, p in enumerate(self.parent) if p >= 0), key=lambda k: self.first[k]):
            found[self.parent[item]].append(item)
        return found

    @cached_property
    def first(self) -> dict[int, int]:
        """The first vertex of each item, in the order of the graph, leaves aside where there is anything else."""
        found: dict[int, int] = {}
        for vertex in sorted(range(self.root), key=lambda k: (self.network.vertices[k].kind == "input", k)):
            for item in self.line(vertex):
                found.setdefault(item, vertex)
        return found

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """The vertices in each group, however deep."""
        found: dict[int, list[int]] = {group: [] for group in self.titles}
        for vertex in range(self.root):
            for group in self.line(vertex)[:-1]:
                found[group].append(vertex)
        return found

    def line(self, item: int) -> list[int]:
        """The groups that an item lies in, from the whole to itself."""
        found = [item]
        while self.parent[found[-1]] >= 0:
            found.append(self.parent[found[-1]])
        return found[::-1]

    def is_group(self, item: int) -> bool:
        """Return True if an item holds others."""
        return item in self.titles

    @cached_property
    def arrows(self) -> dict[int, Counter[tuple[End, End]]]:
        """In each group, how many arrows lead from one of its children, or ports, to another."""
        found: dict[int, Counter[tuple[End, End]]] = {group: Counter() for group in self.titles}
        lines = [self.line(k) for k in range(self.root)]
        for v, vertex in enumerate(self.network.vertices):
            for u in vertex.operands:
                a, b = lines[u], lines[v]
                split = next(k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
                found[a[split - 1]][a[split], b[split]] += 1
                for group, child in zip(a[split:], a[split + 1 :], strict=False):
                    found[group][child, (OUT, b[split])] += 1
                for group, child in zip(b[split:], b[split + 1 :], strict=False):
                    found[group][(IN, a[split]), child] += 1
        return found

    def shown(self, item: int, opened: Iterable[int]) -> int:
        """The box of an item if only some groups are open."""
        there = {self.root, *opened}
        return next((x for x in self.line(item) if x not in there), item)


def grouped(network: Network) -> Groups:
    """The tree of a network, by scopes; what a group holds too much of is divided by order.

    >>> import numpy as np, burlab as bl
    >>> from burlab.widgets.graph_view.network import network_of
    >>> def f(x):
    ...     with bl.scope("first"):
    ...         x = np.tanh(x) + 1
    ...     return x * x
    >>> tree = grouped(network_of(bl.compile(f, 0.5).graph))
    >>> list(tree.titles.values()), tree.children[tree.root]
    (['', 'first'], [5, 3])
    """
    vertices = network.vertices
    paths = _near_their_users(vertices, [_path(v) for v in vertices])
    root = len(vertices)
    titles, parent = {root: ""}, [root] * root + [-1]
    known: dict[tuple[str, ...], int] = {(): root}

    def group(path: tuple[str, ...]) -> int:
        if path not in known:
            above = group(path[:-1])
            known[path] = len(parent)
            titles[known[path]] = path[-1]
            parent.append(above)
        return known[path]

    for k, path in enumerate(paths):
        parent[k] = group(path)
    _divide(vertices, parent, titles)
    return Groups(network, tuple(parent), titles)


def _path(v: Vertex) -> tuple[str, ...]:
    """The backward pass of a part of the model is a part of its own: arrows lead from one to the other."""
    return (f"∇ {v.scope[0]}", *v.scope[1:]) if v.backward and v.scope else v.scope


def _near_their_users(vertices: Sequence[Vertex], paths: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Inputs and constants lie in the innermost scope that holds all that use them."""
    users: dict[int, list[tuple[str, ...]]] = {}
    for v, path in zip(vertices, paths, strict=True):
        for u in v.operands:
            if not v.backward:
                users.setdefault(u, []).append(path)
    return [
        _common(users[k]) if not v.operands and not path and k in users else path
        for k, (v, path) in enumerate(zip(vertices, paths, strict=True))
    ]


def _common(paths: list[tuple[str, ...]]) -> tuple[str, ...]:
    low, high = min(paths), max(paths)
    count = next((k for k, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    return low[:count]


def _divide(vertices: Sequence[Vertex], parent: list[int], titles: dict[int, str]) -> None:
    """Give those who hold many vertices groups of neighbours in the order of computation."""
    loose: dict[int, list[int]] = {}
    computed = [k for k, v in enumerate(vertices) if v.operands]
    for k in computed:
        loose.setdefault(parent[k], []).append(k)
    order = {k: at for at, k in enumerate(computed)}
    mixed = {parent[group] for group in titles if parent[group] >= 0}  # what holds scopes, and vertices beside them
    for group, members in loose.items():
        most = MAX_NEXT_TO_SCOPES if group in mixed else MAX_LOOSE
        if len(members) > most:
            gaps = {k: group in mixed and order[k] - at for at, k in enumerate(members)}  # other groups lie between
            for _, run in groupby(members, lambda k: (vertices[k].backward, gaps[k])):  # noqa: B023 - used at once
                _level(vertices, list(run), group, parent, titles, most)
    _number_equal_titles(parent, titles)


def _level(
    vertices: Sequence[Vertex], members: list[int], group: int, parent: list[int], titles: dict[int, str], most: int
) -> None:
    """Divide a run into as many parts as each of them has, or in as many levels as that takes."""
    if len(members) <= most:
        return
    levels = max(1, math.ceil(math.log(len(members)) / math.log(MAX_LOOSE)))
    count = round(len(members) ** ((levels - 1) / levels))
    for part in _parts(members, count):
        if len(part) < _MIN_GROUP_SIZE:
            continue
        number = len(parent)
        parent.append(group)
        titles[number] = _title([vertices[k] for k in part])
        for k in part:
            parent[k] = number
        _level(vertices, part, number, parent, titles, MAX_LOOSE)


def _number_equal_titles(parent: Sequence[int], titles: dict[int, str]) -> None:
    """Number the groups of one parent that have the same title."""
    groups: dict[tuple[int, str], list[int]] = {}
    for group, title in titles.items():
        groups.setdefault((parent[group], title), []).append(group)
    for same in groups.values():
        if len(same) > 1:
            for k, group in enumerate(same, 1):
                titles[group] += f" ({k})"


def _parts(members: list[int], count: int) -> Iterator[list[int]]:
    size = math.ceil(len(members) / count)
    return (members[start : start + size] for start in range(0, len(members), size))


def _title(part: Sequence[Vertex]) -> str:
    """The lines that a part comes from, or what it does most."""
    lines = list(dict.fromkeys(v.place for v in part if v.place))
    if 0 < len(lines) <= 2:
        return " ".join(lines)
    often = Counter(v.operation for v in part).most_common(2)
    return " ".join(op for op, _ in often) + (", ..." if len({v.operation for v in part}) > 2 else "")
