"""Curves, bands, dots and marks as SVG."""

from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np

from burlab.typing import Numbers

from .chart import Band, Curve, Dots, DotShape, Mark, MarkKind
from .frame import Scale, runs
from .palette import BREAK, DASHES, INK, TINTS, colour
from .stretch_extremes import extremes

_MAX_PIXELS = 1e4  # farther out nothing is drawn, and some readers of SVG take no larger numbers
_MAX_POINTS = 2000  # of a curve that is not thinned
_LABEL = 14  # pixels that the label of a mark takes


def element(name: str, content: str = "", **attributes: Any) -> str:
    """An element of SVG. content: its text before it is escaped. Numbers are rounded; `_` in a name stands for `-`.

    >>> element("text", "a < b", x=1.04, text_anchor="end")
    '<text x="1" text-anchor="end">a &lt; b</text>'
    """
    written = "".join(f' {key.replace("_", "-")}="{_text(value)}"' for key, value in attributes.items())
    return f"<{name}{written}>{escape(content)}</{name}>" if content else f"<{name}{written}/>"


def text(content: str, x: float, y: float, **attributes: Any) -> str:
    """A line of letters."""
    return element("text", content, x=x, y=y, **attributes)


def ink(k: int) -> str:
    """A colour of the palette; that of letters for -1, and a tint from -2 downwards."""
    return TINTS[-2 - k] if k < -1 else INK if k < 0 else colour(k)


def curve(of: Curve, x: Scale, y: Scale) -> str:
    """A line; of a single point a dot."""
    if of.x.size == 1:
        return "".join(dots(Dots(of.x, of.y, of.label, of.colour), x, y))
    style: dict[str, Any] = {"stroke_width": 1, "stroke_opacity": 0.3} if of.faint else {"stroke_width": 1.8}
    style |= {"stroke_dasharray": DASHES[of.dashed]} if of.dashed else {}
    d = _through(x.place(of.x), y.place(of.y))
    return element("path", d=d, fill="none", stroke=ink(of.colour), stroke_linejoin="round", **style)


def band(of: Band, x: Scale, y: Scale) -> Iterator[str]:
    """A region, in as many pieces as it has."""
    across, low, high = x.place(of.x), y.place(of.low), y.place(of.high)
    for piece in runs(np.isfinite(across) & np.isfinite(low) & np.isfinite(high)):
        upper, lower = _through(across[piece], high[piece]), _through(across[piece][::-1], low[piece][::-1])
        d = f"{upper}L{lower[1:]}Z"
        yield element("path", d=d, fill=ink(of.colour), fill_opacity=0.75 if of.solid else 0.2)


def dots(of: Dots, x: Scale, y: Scale) -> Iterator[str]:
    """Single points."""
    if of.shape == "none":
        return
    for k, (a, u) in enumerate(zip(x.place(of.x), y.place(of.y), strict=True)):
        if not (abs(a) < _MAX_PIXELS and abs(u) < _MAX_PIXELS):  # nor nan
            continue
        if of.shape == "word":
            yield text(of.hints[k], a, u + 5, fill=ink(of.colour), text_anchor="middle", font_size=16)
        else:
            yield sign(of, float(a), float(u))


def sign(of: Dots, x: float, y: float) -> str:
    """One of the points, at a place in pixels."""
    d, filled = SHAPES["dot" if of.shape == "word" else of.shape]
    style: dict[str, Any] = {"fill": ink(of.colour)}
    style = style if filled else {"fill": "none", "stroke": ink(of.colour), "stroke_width": 2}
    return element("path", transform=f"translate({x:.1f} {y:.1f})", d=d, **style)


SHAPES: dict[DotShape, tuple[str, bool]] = {
    "dot": ("M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z", True),
    "ring": ("M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z", False),
    "cross": ("M-4.5 -4.5L4.5 4.5M-4.5 4.5L4.5 -4.5", False),
    "star": ("M0 -7L1.7 -2.3 6.7 -2.2 2.7 .9 4.1 5.7 0 2.8 -4.1 5.7 -2.7 .9 -6.7 -2.2 -1.7 -2.3z", True),
    "triangle": ("M0 -5.5L5 4H-5z", True),
}
MARK_STYLES: dict[MarkKind, dict[str, str]] = {
    "rule": {"stroke": INK, "stroke_dasharray": "3 3"},
    "cursor": {"stroke": colour(1)},
    "break": {"stroke": BREAK},
}


def mark(of: Mark, x: Scale, y: Scale) -> Iterator[str]:
    """A line across a plot, with its label at the end; nothing where it lies outside."""
    upright = of.axis == "x"
    along, across = (x, y) if upright else (y, x)
    at = float(along.place(of.at))
    if not min(along.start, along.stop) <= at <= max(along.start, along.stop):
        return
    end, start = (f"{v:.1f}" for v in (across.stop, across.start))
    yield element(
        "path", d=f"M{at:.1f} {end}V{start}" if upright else f"M{start} {at:.1f}H{end}", **MARK_STYLES[of.kind]
    )
    if of.label and upright:
        yield text(of.label, at + 4, y.stop + 11, font_size=10)
    elif of.label:
        above = at - min(along.start, along.stop) > _LABEL  # else it would leave the frame
        yield text(of.label, x.stop - 4, at - 4 if above else at + 11, font_size=10, text_anchor="end")


def _through(across: Numbers, up: Numbers) -> str:
    """The commands of a line through pixels, without those that are not finite."""
    pieces: list[str] = []
    for piece in runs(np.isfinite(across) & np.isfinite(up)):
        a, u = np.clip(across[piece], -_MAX_PIXELS, _MAX_PIXELS), np.clip(up[piece], -_MAX_PIXELS, _MAX_PIXELS)
        if a.size > _MAX_POINTS:
            columns = np.flatnonzero(np.diff(np.floor(a), prepend=np.nan))  # of pixels
            kept = np.unique(np.concatenate((columns, extremes(u, columns), columns[1:] - 1, [a.size - 1])))
            a, u = a[kept], u[kept]
        pieces.append("M" + "L".join(f"{p:.1f} {q:.1f}" for p, q in zip(a, u, strict=True)))
    return "".join(pieces)


def _text(value: Any) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) and abs(value) >= 1 else escape(str(value))
