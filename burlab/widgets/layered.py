"""Places of boxes and the routes of arrows between them, from left to right.

Layers, the order in each and the bends of long arrows come from fast-sugiyama (Sugiyama, Tagawa and Toda 1981), or from
`plain_layers.py` where that is not installed. Heights differ, so the places within a layer are found here: each box is
drawn to the middle of its neighbours, and boxes that would overlap share the difference (least squares under an order,
by pooling: Ayer et al. 1955).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import accumulate, pairwise
from typing import Any

from . import plain_layers

Size = tuple[float, float]
Place = tuple[float, float]
Arrow = tuple[int, int]
_ROUNDS = 6  # sweeps over the layers, there and back
_BEND_HEIGHT = 8.0  # pixels that an arrow takes between boxes
_STRAIGHTNESS = 4.0  # how much more a bend is drawn to its neighbours in a long arrow than a box to one of its own


@dataclass(frozen=True, slots=True)
class LayeredLayout:
    """Centres of boxes, and the bends of each arrow from its first box to its last. width, height: of all of it."""

    centres: dict[int, Place]
    bends: dict[Arrow, tuple[Place, ...]]
    width: float
    height: float


def layered(
    sizes: Mapping[int, Size], arrows: Sequence[Arrow], along: float = 44.0, across: float = 14.0
) -> LayeredLayout:
    """A layout of boxes by their sizes. along, across: pixels between layers, and between the boxes of one.

    >>> layout = layered({0: (40, 20), 1: (60, 20)}, [(0, 1)], along=10)
    >>> layout.centres, layout.width, layout.height
    ({0: (20.0, 10.0), 1: (80.0, 10.0)}, 110.0, 20.0)
    """
    centres: dict[int, Place] = {}
    bends: dict[Arrow, tuple[Place, ...]] = {}
    width = height = 0.0
    for part in _components(sizes, arrows):
        xs = _columns(part, sizes, along)
        ys = _rows(part, sizes, across)
        bottom = max(ys[v] + _height(sizes, v) / 2 for v in ys)
        centres |= {v: (xs[part.layer[v]], height + ys[v]) for v in ys if v in sizes}
        bends |= {(route[0], route[-1]): tuple(_through(part, sizes, xs, ys, height, route)) for route in part.routes}
        width = max(width, xs[-1] + _width(part, sizes, len(xs) - 1) / 2)
        height += bottom + across
    return LayeredLayout(centres, bends, width, max(height - across, 0.0))


@dataclass(frozen=True, slots=True)
class _Part:
    """A connected part: layers from left to right, each in its order, and arrows as routes from box to box."""

    layers: list[list[int]]
    layer: dict[int, int]
    routes: list[list[int]]


def _components(sizes: Mapping[int, Size], arrows: Sequence[Arrow]) -> list[_Part]:
    """Connected parts; lonely boxes are one part more, in columns."""
    linked = {v for arrow in arrows for v in arrow}
    lonely = [v for v in sizes if v not in linked]
    parts: list[_Part] = []
    if arrows:
        box = [v for v in sizes if v in linked]  # bends have the numbers after these
        number = {v: k for k, v in enumerate(box)}
        edges = sorted({(number[a], number[b]) for a, b in arrows})
        for k, (places, routes) in enumerate(_laid_out(edges)):
            # Bends are numbered per part: negative numbers keep them apart from boxes and from each other.
            named: dict[int, int] = {v: box[v] if v < len(box) else -(v + (k + 1) * 1_000_000) for v, _ in places}
            parts.append(_part(named, places, routes))
    if lonely:
        rows = max(1, round(len(lonely) ** 0.5))
        layers = [lonely[k : k + rows] for k in range(0, len(lonely), rows)]
        parts.append(_Part(layers, {v: k for k, layer in enumerate(layers) for v in layer}, []))
    return parts


def _laid_out(edges: list[Arrow]) -> list[tuple[Any, Any]]:
    """Places and routes of each connected part, by the better of the two that is there."""
    try:
        fast_sugiyama: Any = import_module("fast_sugiyama")
    except ImportError:  # it has wheels for glibc 2.34 and later only
        return [*plain_layers.from_edges(edges)]
    return [(places, routes) for places, _, _, routes in fast_sugiyama.from_edges(edges, vertex_spacing=1)]


def _part(named: Mapping[int, int], places: Any, routes: Any) -> _Part:
    depth = sorted({round(-y, 3) for _, (_, y) in places})
    rank = {y: k for k, y in enumerate(depth)}
    layers: list[list[tuple[float, int]]] = [[] for _ in depth]
    for v, (x, y) in places:
        layers[rank[round(-y, 3)]].append((x, named[v]))
    ordered = [[v for _, v in sorted(layer)] for layer in layers]
    layer = {v: k for k, row in enumerate(ordered) for v in row}
    edges = [(named[a], named[b]) for a, b in routes]
    onward = {a: b for a, b in edges if a < 0}
    found: list[list[int]] = []
    for a, b in edges:
        if a >= 0:
            route = [a, b]
            while route[-1] < 0:
                route.append(onward[route[-1]])
            found.append(route)
    return _Part(ordered, layer, found)


def _through(
    part: _Part, sizes: Mapping[int, Size], xs: Sequence[float], ys: Mapping[int, float], down: float, route: list[int]
) -> Iterator[Place]:
    """Yield the points where an arrow enters and leaves the layers that it crosses, where it runs straight."""
    for before, v in pairwise(route[:-1]):
        half = _width(part, sizes, part.layer[v]) / 2
        side = half if part.layer[before] < part.layer[v] else -half  # arrows of a cycle run back
        yield xs[part.layer[v]] - side, down + ys[v]
        yield xs[part.layer[v]] + side, down + ys[v]


def _width(part: _Part, sizes: Mapping[int, Size], layer: int) -> float:
    return max((sizes[v][0] for v in part.layers[layer] if v in sizes), default=0.0)


def _columns(part: _Part, sizes: Mapping[int, Size], along: float) -> list[float]:
    """The middle of each layer, which is as wide as its widest box."""
    xs: list[float] = []
    x = 0.0
    for layer in range(len(part.layers)):
        width = _width(part, sizes, layer)
        xs.append(x + width / 2)
        x += width + along
    return xs


def _height(sizes: Mapping[int, Size], v: int) -> float:
    return sizes[v][1] if v in sizes else _BEND_HEIGHT


def _rows(part: _Part, sizes: Mapping[int, Size], across: float) -> dict[int, float]:
    """The middle of each box and bend, from 0 downwards."""
    near: dict[int, list[tuple[int, float]]] = {v: [] for layer in part.layers for v in layer}
    for route in part.routes:
        for a, b in pairwise(route):
            weight = _STRAIGHTNESS if a < 0 or b < 0 else 1.0
            near[a].append((b, weight))
            near[b].append((a, weight))
    gaps = [
        [
            (_height(sizes, a) + _height(sizes, b)) / 2 + (across if a >= 0 or b >= 0 else 2.0)
            for a, b in pairwise(layer)
        ]
        for layer in part.layers
    ]
    ys: dict[int, float] = {}
    for layer, gap in zip(part.layers, gaps, strict=True):
        y = -sum(gap) / 2
        for v, step in zip(layer, [*gap, 0.0], strict=True):
            ys[v] = y
            y += step
    order = range(len(part.layers))
    for sweep in range(2 * _ROUNDS):
        for k in order if sweep % 2 == 0 else reversed(order):
            layer = part.layers[k]
            wishes = [_middle(near[v], ys, ys[v]) for v in layer]
            ys.update(zip(layer, spread(wishes, gaps[k]), strict=True))
    top = min(ys[v] - _height(sizes, v) / 2 for v in ys)
    return {v: y - top for v, y in ys.items()}


def _middle(near: list[tuple[int, float]], ys: Mapping[int, float], own: float) -> float:
    if not near:
        return own
    return sum(ys[v] * w for v, w in near) / sum(w for _, w in near)


def spread(wishes: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The places nearest to the wishes, in least squares, that are in order with these gaps between them.

    >>> spread([0.0, 0.0, 9.0], [2.0, 2.0])
    [-1.0, 1.0, 9.0]
    """
    offsets = [0.0, *accumulate(gaps)][: len(wishes)]
    blocks: list[tuple[float, int]] = []  # sum and number of what lies together
    for wish, offset in zip(wishes, offsets, strict=True):
        total, count = wish - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / count:
            before = blocks.pop()
            total, count = total + before[0], count + before[1]
        blocks.append((total, count))
    means = [total / count for total, count in blocks for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]
