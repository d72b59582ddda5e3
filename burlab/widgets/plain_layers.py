"""Layers of a graph, the order in each and the bends of long arrows, for machines without a wheel of fast-sugiyama.

The steps of Sugiyama, Tagawa and Toda 1981: arrows that close a cycle are turned around; a box stands one layer behind
the last of those before it (the longest path), and a first one right before what follows; an arrow over several layers
gets a bend in each; boxes are ordered by the mean place of their neighbours, layer by layer, there and back, and the
order with the fewest crossings is taken.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Sequence
from itertools import count, pairwise

Arrow = tuple[int, int]
Places = list[tuple[int, tuple[float, float]]]
_ROUNDS = 8  # sweeps over the layers


def from_edges(edges: Sequence[Arrow]) -> list[tuple[Places, list[Arrow]]]:
    """Return for each connected part the places of its vertices and bends, and its arrows, cut at the bends.

    edges: of vertices 0, 1, ..., each with an edge. A place is (order in its layer, -layer); bends have the numbers
    after the vertices.

    >>> from_edges([(0, 1), (1, 2), (0, 2)])
    [([(0, (0, 0)), (1, (0, -1)), (3, (1, -1)), (2, (0, -2))], [(0, 1), (1, 2), (0, 3), (3, 2)])]
    """
    vertices = 1 + max(max(edge) for edge in edges)
    return [_part(part, vertices) for part in _connected(edges)]


def _connected(edges: Sequence[Arrow]) -> list[list[Arrow]]:
    """The edges of each connected part, parts in the order of their first vertices."""
    root: dict[int, int] = {}

    def find(v: int) -> int:
        while (above := root.setdefault(v, v)) != v:
            root[v] = root[above]
            v = above
        return v

    for a, b in edges:
        low, high = sorted((find(a), find(b)))
        root[high] = low
    parts: defaultdict[int, list[Arrow]] = defaultdict(list)
    for edge in edges:
        parts[find(edge[0])].append(edge)
    return [parts[first] for first in sorted(parts)]


def _part(edges: Sequence[Arrow], vertices: int) -> tuple[Places, list[Arrow]]:
    layer = _layers(_acyclic(edges))
    rows: list[list[int]] = [[] for _ in range(1 + max(layer.values()))]
    for v in sorted(layer):
        rows[layer[v]].append(v)
    bends, routes = count(vertices), list[Arrow]()
    for a, b in edges:
        step = 1 if layer[a] < layer[b] else -1  # an arrow of a cycle runs back
        between = [(next(bends), k) for k in range(layer[a] + step, layer[b], step)]
        for bend, k in between:
            rows[k].append(bend)
        routes += pairwise([a, *(bend for bend, _ in between), b])
    ordered = _ordered(rows, routes)
    return [(v, (place, -k)) for k, row in enumerate(ordered) for place, v in enumerate(row)], routes


def _acyclic(edges: Sequence[Arrow]) -> list[Arrow]:
    """The edges, those that close a cycle turned around; none from a vertex to itself."""
    after: defaultdict[int, list[int]] = defaultdict(list)
    for a, b in edges:
        if a != b:
            after[a].append(b)
    is_open: dict[int, bool] = {}  # on the path of the search, or done
    kept: list[Arrow] = []
    entered = {b for a, b in edges if a != b}
    for first in sorted({v for edge in edges for v in edge}, key=lambda v: (v in entered, v)):
        stack = [] if first in is_open else [(first, iter(after[first]))]
        is_open.setdefault(first, True)
        while stack:
            v, others = stack[-1]
            w = next(others, None)
            if w is None:
                is_open[v] = False
                stack.pop()
            elif w not in is_open:
                kept.append((v, w))
                is_open[w] = True
                stack.append((w, iter(after[w])))
            else:
                kept.append((w, v) if is_open[w] else (v, w))
        is_open[first] = False
    return kept


def _layers(edges: Sequence[Arrow]) -> dict[int, int]:
    """The layer of each vertex of a graph without cycles."""
    after: defaultdict[int, list[int]] = defaultdict(list)
    missing: defaultdict[int, int] = defaultdict(int)
    for a, b in edges:
        after[a].append(b)
        missing[b] += 1
    layer = {v: 0 for edge in edges for v in edge}
    ready = [v for v in layer if not missing[v]]
    firsts = list(ready)
    while ready:
        v = ready.pop()
        for w in after[v]:
            layer[w] = max(layer[w], layer[v] + 1)
            missing[w] -= 1
            if not missing[w]:
                ready.append(w)
    return layer | {v: min(layer[w] for w in after[v]) - 1 for v in firsts if after[v]}


def _ordered(rows: list[list[int]], routes: Sequence[Arrow]) -> list[list[int]]:
    near: defaultdict[int, list[int]] = defaultdict(list)
    for a, b in routes:
        near[a].append(b)
        near[b].append(a)
    home = {v: k for k, row in enumerate(rows) for v in row}
    best, fewest = rows, _crossings(rows, near, home)
    for sweep in range(_ROUNDS):
        rows = [list(row) for row in rows]
        there = sweep % 2 == 0
        for k in range(1, len(rows)) if there else range(len(rows) - 2, -1, -1):
            fixed = {v: place for place, v in enumerate(rows[k - 1 if there else k + 1])}
            mean: dict[int, float] = {}
            for place, v in enumerate(rows[k]):
                places = [fixed[w] for w in near[v] if w in fixed]
                mean[v] = sum(places) / len(places) if places else place
            rows[k].sort(key=mean.__getitem__)
        if (crossings := _crossings(rows, near, home)) < fewest:
            best, fewest = rows, crossings
    return best


def _crossings(rows: list[list[int]], near: dict[int, list[int]], home: dict[int, int]) -> int:
    """Return the number of pairs of arrows between neighbouring layers that cross."""
    total = 0
    for k in range(1, len(rows)):
        place = {v: at for at, v in enumerate(rows[k - 1])}
        seen: list[int] = []
        for v in rows[k]:
            ends = sorted(place[w] for w in near[v] if home[w] == k - 1)
            total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                insort(seen, end)
    return total
