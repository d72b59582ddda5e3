"""A chart as a still picture: SVG for a saved notebook or a page, on any background, without a browser."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Any
from zlib import crc32

from .chart import Band, Chart, Curve, Dots, Map, Plot
from .frame import Scale, right_scale, scales
from .limits import POINTS_OF_STILL, bounded
from .palette import FAINT, INK
from .png import shaded
from .strokes import band, curve, dots, element, ink, mark, sign, text
from .ticks import ticks

_CLIP = "clip-name-"  # names of clips differ from chart to chart: a page may hold many
_NARROW = 700  # pixels: below this, parts stand one above the other
_ROW, _GAP, _LEFT, _RIGHT, _TOP, _BOTTOM = 190, 14, 66, 14, 26, 44  # of a plot: its height, and what surrounds it
_MAP = 420  # the greatest height of a map
_LEGEND = 18  # height of its line
_APART = 12  # pixels between the floor of an axis and the next label
_LETTER = 7.2  # width of one, on average, at 12 pixels
_WIDE = 9.2  # width of a letter of the title


def svg(chart: Chart, width: int = 860) -> str:
    """A picture of a chart as SVG text, `width` pixels wide, with letters and lines that stand out on white and black.

    Parts stand in two columns of one height, a map in the right one; one above the other below 700 pixels.

    >>> import numpy as np
    >>> from burlab.charts import Axis, Chart, Curve, Plot
    >>> squares = Curve(np.arange(3.0), np.arange(3.0) ** 2, "squares")
    >>> svg(Chart((Plot("a", "A parabola", Axis("x"), Axis("y"), (squares,)),))).startswith("<svg")
    True
    """
    chart = bounded(chart, POINTS_OF_STILL)
    boxes = list(_arranged(chart.parts, width))
    lines = wrap(chart.title, int(width / _WIDE))
    below = 10.0 + 20.0 * len(lines) if lines else 0.0
    height = max((top + tall for _, _, top, _, tall in boxes), default=0.0) + below
    body = [element("title", chart.about or chart.title or "a chart")]
    body += [text(line, 0, 18 + 20 * k, font_size=15, font_weight=600) for k, line in enumerate(lines)]
    for k, (part, left, top, wide, tall) in enumerate(boxes):
        body += _part(part, left, top + below, wide, tall, f"{_CLIP}{k}")
    inside = "".join(body)
    inside = inside.replace(_CLIP, f"clip{crc32(inside.encode()):x}-")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height:.0f}" width="{width}" '
        f'height="{height:.0f}" font-family="system-ui, sans-serif" font-size="12" fill="{INK}">{inside}</svg>'
    )


def _arranged(parts: tuple[Plot | Map, ...], width: float) -> Iterator[tuple[Plot | Map, float, float, float, float]]:
    """Each part with its left, top, width and height; columns end at the same height."""
    if not parts:
        return
    columns = _columns(parts, (width - _GAP) / 2) if width >= _NARROW and len(parts) > 1 else [[*parts]]
    wide = (width - _GAP * (len(columns) - 1)) / len(columns)
    high = max(sum(_height(part, wide) for part in column) for column in columns)
    for k, column in enumerate(columns):
        top, stretch = 0.0, high / sum(_height(part, wide) for part in column)
        for part in column:
            tall = stretch * _height(part, wide)
            yield part, k * (wide + _GAP), top, wide, tall
            top += tall


def _columns(parts: tuple[Plot | Map, ...], wide: float) -> list[list[Plot | Map]]:
    """Return two columns of nearly equal height, in order; a map heads the right one, above the plots left over."""
    maps, plots = [p for p in parts if isinstance(p, Map)], [p for p in parts if isinstance(p, Plot)]
    right, others = (maps, plots) if len(maps) == 1 and plots else ([], [*parts])

    def apart(k: int) -> float:
        left, rest = sum(_height(p, wide) for p in others[:k]), sum(_height(p, wide) for p in (*right, *others[k:]))
        return abs(left - rest)

    cut = min(range(1, len(others) + bool(right)), key=apart)
    return [[*others[:cut]], [*right, *others[cut:]]]


def _height(part: Plot | Map, wide: float) -> float:
    return _ROW * part.tall if isinstance(part, Plot) else min(wide, _MAP)


def _part(part: Plot | Map, left: float, top: float, wide: float, tall: float, clip: str) -> Iterator[str]:
    yield text(part.title, left + _LEFT, top + 15, font_weight=600)
    if part.note:
        yield text(part.note, left + wide - _RIGHT, top + 15, text_anchor="end", font_style="italic")
    bands, marks = (part.bands, part.marks) if isinstance(part, Plot) else ((), ())
    entries = _entries(bands, part)
    lines = list(_legend(entries, wide - _LEFT - _RIGHT)) if len(entries) > 1 else []
    yield from (_entry(entry, left + _LEFT + x, top + _TOP + 7 + _LEGEND * line) for entry, x, line in lines)
    head = _TOP + (_LEGEND * (lines[-1][2] + 1) if lines else 0)
    x, y = scales(part, left + _LEFT, left + wide - _RIGHT, top + head, top + tall - _BOTTOM)
    empty = isinstance(part, Plot) and not any(one.x.size for one in (*part.curves, *bands, *part.dots))
    yield from _empty(x, y) if empty else _axes(x, y, left + 11)
    box: dict[str, Any] = {"x": x.start, "y": y.stop, "width": x.stop - x.start, "height": y.start - y.stop}
    shade = (part.heights if part.shade is None else part.shade) if isinstance(part, Map) else None
    if isinstance(part, Map) and shade is not None:
        image = b64encode(shaded(shade, round(box["width"]), round(box["height"]), part.middle)).decode()
        yield element("image", **box, href=f"data:image/png;base64,{image}")
    yield f'<clipPath id="{clip}">{element("rect", **box)}</clipPath><g clip-path="url(#{clip})">'
    yield from (piece for one in bands for piece in band(one, x, y))
    right = right_scale(part, y) if isinstance(part, Plot) else None
    for one in sorted(part.curves, key=lambda one: not one.faint):
        yield curve(one, x, right if one.right and right is not None else y)
    yield from (piece for one in part.dots for piece in dots(one, x, y))
    yield "</g>"
    yield from _right_labels(right, x.stop) if right is not None else ()
    yield from (piece for one in marks for piece in mark(one, x, y))


def _right_labels(scale: Scale, side: float) -> Iterator[str]:
    """The labels of a right axis, inside of the frame."""
    for tick in ticks(scale.axis, scale.low, scale.high, 3):
        if tick.at > scale.low:
            yield text(tick.label, side - 4, float(scale.place(tick.at)) + 4, text_anchor="end", font_size=10)


def _entries(bands: Iterable[Band], part: Plot | Map) -> list[Curve | Band | Dots]:
    """Return what a legend lists: every name once, and no raw data that a curve of the same name smooths."""
    smooth = {curve.label for curve in part.curves if not curve.faint}
    curves = [curve for curve in part.curves if not (curve.faint and curve.label in smooth)]
    found: dict[str, Curve | Band | Dots] = {}
    for entry in (*bands, *curves, *part.dots):
        if entry.label and entry.x.size:
            found.setdefault(entry.label, entry)
    return [*found.values()]


def _legend(entries: Iterable[Curve | Band | Dots], wide: float) -> Iterator[tuple[Curve | Band | Dots, float, int]]:
    """Each entry with its place in its line, and the number of that line."""
    at, line = 0.0, 0
    for entry in entries:
        needs = 31 + _LETTER * len(entry.label)
        if at and at + needs > wide:
            at, line = 0.0, line + 1
        yield entry, at, line
        at += needs


def _entry(entry: Curve | Band | Dots, x: float, y: float) -> str:
    """The entry of a curve, a band or dots in the legend."""
    if isinstance(entry, Dots):
        return sign(entry, x + 8, y) + text(entry.label, x + 21, y + 4)
    stroke: dict[str, Any] = {"stroke": ink(entry.colour), "stroke_width": 8 if isinstance(entry, Band) else 2.5}
    return element("path", d=f"M{x:.1f} {y:.1f}h16", **stroke) + text(entry.label, x + 21, y + 4)


def _frame(x: Scale, y: Scale) -> str:
    d = f"M{x.start:.1f} {y.stop:.1f}V{y.start:.1f}H{x.stop:.1f}V{y.stop:.1f}Z"
    return element("path", d=d, fill="none", stroke=FAINT)


def _empty(x: Scale, y: Scale) -> Iterator[str]:
    """The frame of a plot without numbers, which has no ticks."""
    yield _frame(x, y)
    yield text("nothing yet", (x.start + x.stop) / 2, (y.start + y.stop) / 2 + 4, text_anchor="middle")


def _axes(x: Scale, y: Scale, side: float) -> Iterator[str]:
    """The frame, the ticks with their labels, and the names of both axes."""
    yield _frame(x, y)
    floor = float(y.place(y.axis.floor)) if y.axis.floor and y.axis.floor >= y.low else None
    for tick in ticks(y.axis, y.low, y.high, max(int((y.start - y.stop) / 34), 2)):
        at = float(y.place(tick.at))
        if floor is None or floor - at > _APART:
            yield element("path", d=f"M{x.start:.1f} {at:.1f}H{x.stop:.1f}", stroke=FAINT)
            yield text(tick.label, x.start - 6, at + 4, text_anchor="end", font_size=11)
    for tick in ticks(x.axis, x.low, x.high, max(int((x.stop - x.start) / 70), 2)):
        yield text(tick.label, float(x.place(tick.at)), y.start + 15, text_anchor="middle", font_size=11)
    if floor is not None:
        yield element("path", d=f"M{x.start:.1f} {floor:.1f}H{x.stop:.1f}", stroke=INK, stroke_dasharray="2 3")
        yield text("0", x.start - 6, floor + 4, text_anchor="end", font_size=11)
    yield text(x.axis.label, (x.start + x.stop) / 2, y.start + 31, text_anchor="middle")
    turned = f"translate({side:.1f} {(y.start + y.stop) / 2:.1f}) rotate(-90)"
    yield element("text", y.axis.label, transform=turned, text_anchor="middle")
