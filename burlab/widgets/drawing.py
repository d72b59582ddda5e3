"""A drawn graph: boxes and arrows as SVG text, from left to right, in the colours of the notebook's theme.

A drawing has a size of its own, in pixels, and keeps it: notebooks shrink pictures to the width of a cell, where words
would be too small to read. It stands in a frame that scrolls instead.

Places come from fast-sugiyama (the layered layout of Sugiyama, Tagawa and Toda 1981); everything else is text.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any, Literal

from burlab.runtime.extras import late

fast_sugiyama: Any = late("fast_sugiyama", "lab")

Kind = Literal["input", "operation", "output"]
FONT = 12  # pixels: the size of letters, whatever the width of the page
_LINE, _LETTER, _MARGIN = 16.0, 7.25, 10.0  # pixels: line height, letter width, around the drawing
_GAP_ACROSS, _GAP_ALONG = 14.0, 44.0  # between boxes of one layer, and between layers
_APART, _FAN = 9.0, 24.0  # between two arrows from one box to one other, and between the outer ones of many
# Style sheets inside of an SVG hold for the whole page: each rule names the drawing.
_STYLE = "".join(
    f".burlab-graph {rule}"
    for rule in (
        f"text{{font:{FONT}px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:currentColor}}",
        ".head{font-weight:600}",
        ".more{opacity:.75}",
        "path{fill:none;stroke:currentColor;opacity:.6;stroke-width:1.2}",
        "rect{rx:6;stroke-width:1.3;fill-opacity:.12}",
        ".input rect{fill:#1a73e8;stroke:#1a73e8}",
        ".operation rect{fill:#80868b;stroke:#80868b}",
        ".output rect{fill:#e8710a;stroke:#e8710a}",
        ".cut rect{stroke-dasharray:4 3}",
    )
)


@dataclass(frozen=True, slots=True)
class Box:
    """What stands for a node: its lines of text, the first one bold, and what is shown while the mouse is over it.

    cut: some of what it was computed from is not drawn; its rim is dashed.
    """

    lines: tuple[str, ...]
    kind: Kind = "operation"
    hint: str = ""
    cut: bool = False

    @property
    def width(self) -> float:
        """Pixels."""
        return max(len(line) for line in self.lines) * _LETTER + 16

    @property
    def height(self) -> float:
        """Pixels."""
        return len(self.lines) * _LINE + 10


def draw(boxes: Mapping[Any, Box], edges: Iterable[tuple[Any, Any]]) -> str:
    """SVG of boxes by key and arrows between keys. An edge that comes twice, as in c + c, is two arrows.

    >>> draw({"x": Box(("x",), "input"), "y": Box(("tanh",))}, [("x", "y")]).count("<rect")
    2
    """
    number = {key: k for k, key in enumerate(boxes)}
    row = list(boxes.values())
    count = Counter((number[a], number[b]) for a, b in edges)
    layout = _layout(row, sorted(count))
    parts = [_arrow(layout, row, path, shift) for path in layout.paths for shift in _shifts(count[path[0], path[-1]])]
    parts += [_box(box, *layout.at[k]) for k, box in enumerate(row)]
    width, height = layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" class="burlab-graph" '
        f'style="max-width:none" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        f'aria-label="a graph of {len(row)} boxes"><style>{_STYLE}</style>{"".join(parts)}</svg>'
    )


def framed(inner: str, name: str) -> str:
    """A frame as wide as its place, which scrolls when what is in it is wider or higher, and can have the focus.

    >>> framed("<svg/>", "a < b").startswith('<div role="region" aria-label="a &lt; b" tabindex="0"')
    True
    """
    words = f'role="region" aria-label="{escape(name)}" tabindex="0"'
    return f'<div {words} style="overflow:auto;max-width:100%;max-height:36em">{inner}</div>'


@dataclass(frozen=True, slots=True)
class _Layout:
    """Centres of boxes and bends in pixels, and the way of each arrow: box, bends, box."""

    at: dict[int, tuple[float, float]]
    paths: list[list[int]]
    width: float
    height: float


def _layout(boxes: Sequence[Box], edges: list[tuple[int, int]]) -> _Layout:
    """Layers become columns as wide as their widest box; places within a layer become rows."""
    parts = _components(len(boxes), edges)
    rank: dict[int, float] = {}
    row: dict[int, float] = {}
    paths: list[list[int]] = []
    below = 0.0
    for k, (places, part_edges) in enumerate(parts):
        # bends are numbered per component: keep them apart from boxes and from each other
        key = {v: v if v < len(boxes) else len(boxes) * (k + 1) + v for v, _ in places}
        top = max(y for _, (_, y) in places)
        for v, (x, y) in places:
            rank[key[v]], row[key[v]] = round(top - y, 3), below + x
        paths += _paths(len(boxes), [(key[a], key[b]) for a, b in part_edges])
        below += max(x for _, (x, _) in places) + 1
    step = max(box.height for box in boxes) + _GAP_ACROSS
    centre, width = _columns(boxes, rank)
    at = {v: (centre[rank[v]] + _MARGIN, row[v] * step + step / 2 + _MARGIN - _GAP_ACROSS / 2) for v in rank}
    return _Layout(at, paths, width, max(row.values()) * step + step - _GAP_ACROSS)


def _components(count: int, edges: list[tuple[int, int]]) -> list[tuple[Any, Any]]:
    """Connected parts as fast-sugiyama lays them out, in rows and layers; a lonely box is a part of its own."""
    parts: list[tuple[Any, Any]] = []
    if edges:
        parts = [(places, ways) for places, _, _, ways in fast_sugiyama.from_edges(edges, vertex_spacing=1)]
    linked = {v for edge in edges for v in edge}
    return parts + [([(v, (0.0, 0.0))], []) for v in range(count) if v not in linked]


def _columns(boxes: Sequence[Box], rank: dict[int, float]) -> tuple[dict[float, float], float]:
    """The centre of each layer, and the width of all."""
    widest = dict.fromkeys(sorted(set(rank.values())), 0.0)
    for v, box in enumerate(boxes):
        widest[rank[v]] = max(widest[rank[v]], box.width)
    centre: dict[float, float] = {}
    x = 0.0
    for layer, width in widest.items():
        centre[layer] = x + width / 2
        x += width + _GAP_ALONG
    return centre, x - _GAP_ALONG


def _paths(count: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    """Arrows as ways from box to box: a number from `count` on is a bend, which has one way out."""
    onward = {a: b for a, b in edges if a >= count}
    paths: list[list[int]] = []
    for a, b in edges:
        if a < count:
            path = [a, b]
            while path[-1] >= count:
                path.append(onward[path[-1]])
            paths.append(path)
    return paths


def _shifts(count: int) -> list[float]:
    """How far each of several arrows along one way lies beside it, in pixels."""
    apart = min(_APART, _FAN / max(count - 1, 1))
    return [(k - (count - 1) / 2) * apart for k in range(count)]


def _arrow(layout: _Layout, boxes: Sequence[Box], path: list[int], shift: float) -> str:
    """A smooth line from the right edge of a box, through the bends, to the left edge of another."""
    points = [(x, y + shift) for x, y in (layout.at[v] for v in path)]
    first, last = points[0], points[-1]
    points[0] = (first[0] + boxes[path[0]].width / 2, first[1])
    points[-1] = (last[0] - boxes[path[-1]].width / 2 - 4, last[1])
    text = f"M{points[0][0]:.0f} {points[0][1]:.0f}"
    for (x, y), (u, v) in pairwise(points):
        middle = (x + u) / 2
        text += f"C{middle:.0f} {y:.0f} {middle:.0f} {v:.0f} {u:.0f} {v:.0f}"
    x, y = points[-1]
    return f'<path d="{text}"/><path d="M{x - 4:.0f} {y - 4:.0f}L{x + 3:.0f} {y:.0f}L{x - 4:.0f} {y + 4:.0f}"/>'


def _box(box: Box, x: float, y: float) -> str:
    left, top = x - box.width / 2, y - box.height / 2
    lines = "".join(_text(line, left + 8, top + (k + 1) * _LINE + 1, bold=k == 0) for k, line in enumerate(box.lines))
    hint = f"<title>{escape(box.hint)}</title>" if box.hint else ""
    shape = f'<rect x="{left:.0f}" y="{top:.0f}" width="{box.width:.0f}" height="{box.height:.0f}"/>'
    return f'<g class="{box.kind}{" cut" * box.cut}">{hint}{shape}{lines}</g>'


def _text(line: str, x: float, y: float, bold: bool) -> str:
    return f'<text class="{"head" if bold else "more"}" x="{x:.0f}" y="{y:.0f}">{escape(line)}</text>'
