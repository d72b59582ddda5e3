"""A drawn graph: boxes and arrows as SVG text, from left to right, in the colours of the notebook's theme.

A drawing has a size of its own, in pixels, and keeps it: notebooks shrink pictures to the width of a cell, where words
would be too small to read. It stands in a frame that scrolls instead.

Places come from `layered.py`; everything else is text.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from typing import Any, Literal

from .layered import LayeredLayout, Place, layered

Kind = Literal["input", "operation", "output", "fault"]
FONT = 12  # pixels: the size of letters, whatever the width of the page
_LINE, _LETTER, _MARGIN = 16.0, 7.25, 10.0  # pixels: line height, letter width, around the drawing
_GAP_ACROSS, _GAP_ALONG = 14.0, 44.0  # between boxes of one layer, and between layers
_ARROW_GAP, _MAX_FAN = 9.0, 24.0  # between two arrows from one box to one other, and between the outer ones of many
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
        ".fault rect{fill:#d32f2f;stroke:#d32f2f;stroke-width:2.4}",
        ".cut rect{stroke-dasharray:4 3}",
    )
)


@dataclass(frozen=True, slots=True)
class Box:
    """The box of a node: its lines of text, the first one bold, and the hint that is shown under the mouse.

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


Places = Mapping[Any, tuple[float, float]]
"""Centres of boxes by key, in pixels."""


def draw(
    boxes: Mapping[Any, Box],
    edges: Iterable[tuple[Any, Any]],
    at: Places | None = None,
    bends: Mapping[tuple[Any, Any], Sequence[Place]] | None = None,
) -> str:
    """SVG of boxes by key and arrows between keys. An edge that comes twice, as in c + c, is two arrows.

    at: the centres of the boxes, where the layout is not to choose them. bends: points through which arrows go then.

    >>> draw({"x": Box(("x",), "input"), "y": Box(("tanh",))}, [("x", "y")]).count("<rect")
    2
    """
    number = {key: k for k, key in enumerate(boxes)}
    row = list(boxes.values())
    count = Counter((number[a], number[b]) for a, b in edges)
    if at is None:
        layout = _layout(row, sorted(count))
    else:
        routes = {(number[a], number[b]): tuple(route) for (a, b), route in (bends or {}).items()}
        layout = _fixed(row, [at[key] for key in boxes], {ends: routes.get(ends, ()) for ends in sorted(count)})
    centres = layout.centres
    parts = [
        _arrow((row[a], centres[a], row[b], centres[b]), bends, shift)
        for (a, b), bends in layout.bends.items()
        for shift in shifts(count[a, b])
    ]
    parts += [_box(box, *centres[k]) for k, box in enumerate(row)]
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


def _layout(boxes: Sequence[Box], edges: list[tuple[int, int]]) -> LayeredLayout:
    """Return places in layers, shifted into the picture."""
    layout = layered({k: (box.width, box.height) for k, box in enumerate(boxes)}, edges, _GAP_ALONG, _GAP_ACROSS)
    bends = {ends: tuple(map(_inside, route)) for ends, route in layout.bends.items()}
    return replace(layout, centres={k: _inside(at) for k, at in layout.centres.items()}, bends=bends)


def _inside(at: Place) -> Place:
    return at[0] + _MARGIN, at[1] + _MARGIN


def _fixed(
    boxes: Sequence[Box], at: Sequence[Place], bends: Mapping[tuple[int, int], tuple[Place, ...]]
) -> LayeredLayout:
    """Return boxes at the given places, and the bends of the arrows between them, shifted into the picture."""
    pairs = list(zip(boxes, at, strict=True))
    left, right = min(x - b.width / 2 for b, (x, _) in pairs), max(x + b.width / 2 for b, (x, _) in pairs)
    lanes = [y for route in bends.values() for _, y in route]
    top = min([y - b.height / 2 for b, (_, y) in pairs] + lanes)
    bottom = max([y + b.height / 2 for b, (_, y) in pairs] + lanes)
    centres = {k: _inside((x - left, y - top)) for k, (x, y) in enumerate(at)}
    inside = {ends: tuple(_inside((x - left, y - top)) for x, y in route) for ends, route in bends.items()}
    return LayeredLayout(centres, inside, right - left, bottom - top)


def _arrow(ends: tuple[Box, Place, Box, Place], bends: Sequence[Place], shift: float) -> str:
    """A smooth line from the right edge of a box, through the bends, to the left edge of another."""
    first, (x, y), last, (u, v) = ends
    route = [(x + first.width / 2, y), *bends, (u - last.width / 2, v)]
    shifted = [(x, y + shift) for x, y in route]
    return f'<path d="{curve(shifted)}"/><path d="{tip(shifted[-1])}"/>'


def curve(route: Sequence[Place]) -> str:
    """A route as the path of an SVG: at each point it runs along the layers.

    >>> curve([(0, 0), (10, 8)])
    'M0 0C5 0 5 8 10 8'
    """
    text = "M{:.0f} {:.0f}".format(*route[0])
    for (x, y), (u, v) in pairwise(route):
        middle = (x + u) / 2
        text += f"C{middle:.0f} {y:.0f} {middle:.0f} {v:.0f} {u:.0f} {v:.0f}"
    return text


def tip(end: Place) -> str:
    """The head of an arrow that ends at a place, as the path of an SVG."""
    x, y = map(round, end)
    return f"M{x - 6} {y - 4}L{x} {y}L{x - 6} {y + 4}"


def shifts(count: int) -> list[float]:
    """Return the distance of each of several arrows from their common route, in pixels."""
    apart = min(_ARROW_GAP, _MAX_FAN / max(count - 1, 1))
    return [(k - (count - 1) / 2) * apart for k in range(count)]


def _box(box: Box, x: float, y: float) -> str:
    left, top = x - box.width / 2, y - box.height / 2
    lines = "".join(_text(line, left + 8, top + (k + 1) * _LINE + 1, bold=k == 0) for k, line in enumerate(box.lines))
    hint = f"<title>{escape(box.hint)}</title>" if box.hint else ""
    shape = f'<rect x="{left:.0f}" y="{top:.0f}" width="{box.width:.0f}" height="{box.height:.0f}"/>'
    return f'<g class="{box.kind}{" cut" * box.cut}">{hint}{shape}{lines}</g>'


def _text(line: str, x: float, y: float, bold: bool) -> str:
    return f'<text class="{"head" if bold else "more"}" x="{x:.0f}" y="{y:.0f}">{escape(line)}</text>'
