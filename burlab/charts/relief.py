"""A map as a surface seen from above and aside: a still picture, SVG, far parts first, so that near ones hide them.

The height is what the colours of the map follow. Seen from straight above, it is the map.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np

from burlab.typing import ArrayLike, Indices, Numbers

from .chart import Chart, Map
from .limits import POINTS_OF_STILL, bounded
from .palette import HIGH, INK, LOW
from .strokes import element, ink, text

TALL = 0.45  # the greatest height, in the width of the plane
_MAX_LINES = 46  # of the grid on each side: more would make the picture too large to store in a notebook
_LOW, _HIGH = (np.array([*bytes.fromhex(code[1:])], np.float64) for code in (LOW, HIGH))
_LIGHT = np.array([-0.4, -0.35, 0.85])  # direction of the light


@dataclass(frozen=True, slots=True)
class Pose:
    """A direction of view. turn: degrees around the vertical. lift: degrees above the plane, 5 to 90.

    zoom: the size of the surface, 1 to see all of it.
    """

    turn: float = 30.0
    lift: float = 35.0
    zoom: float = 1.0

    @property
    def eye(self) -> tuple[float, float, float]:
        """The direction of the eye, as seen from the middle.

        >>> np.round(Pose(0, 90).eye, 12).tolist()
        [-0.0, -0.0, 1.0]
        """
        t, e = math.radians(self.turn), math.radians(self.lift)
        return -math.sin(t) * math.cos(e), -math.cos(t) * math.cos(e), math.sin(e)


def project(points: Numbers, pose: Pose) -> Numbers:
    """Points (x, y, z), shape (n, 3), x and y in -0.5 to 0.5, as seen: right, up, and towards the eye; (n, 3).

    >>> project(np.array([[0.5, 0.25, 0.1]]), Pose(0, 90)).round(12).tolist()
    [[0.5, 0.25, 0.1]]
    """
    (x, y, z), t, e = points.T, math.radians(pose.turn), math.radians(pose.lift)
    across, away = x * math.cos(t) - y * math.sin(t), x * math.sin(t) + y * math.cos(t)
    return np.stack([across, z * math.cos(e) + away * math.sin(e), z * math.sin(e) - away * math.cos(e)], axis=1)


def relief(part: Map, pose: Pose | None = None, width: int = 860, height: int = 480) -> str:
    """A picture of a map as a surface, with its curves and dots on it.

    >>> heights = np.add.outer(np.linspace(-1, 1, 9) ** 2, np.linspace(-1, 1, 9) ** 2)
    >>> from burlab.charts import Axis
    >>> part = Map("f", "a bowl", Axis("x", low=-1.0, high=1.0), Axis("y", low=-1.0, high=1.0), heights)
    >>> relief(part).count("<polygon")  # its cells, and the base
    65
    """
    pose = pose or Pose()
    part = cast("Map", bounded(Chart((part,)), POINTS_OF_STILL).parts[0])
    pieces = [element("title", f"{part.title} as a surface"), text(part.title, 8, 18, font_weight=600)]
    heights = part.heights if part.shade is None else part.shade
    if heights is not None:
        e = math.radians(pose.lift)  # the base, with the words around it, and the height above
        scale = pose.zoom * min(width / 1.5, height / (1.75 * math.sin(e) + 1.1 * TALL * math.cos(e)))
        middle = np.array([width / 2, height / 2])
        surface = _Surface(part, *_thinned(heights), pose, scale, middle)
        pieces += [*surface.base(), *surface.pieces()]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="system-ui, sans-serif" font-size="12" fill="{INK}">{"".join(pieces)}</svg>'
    )


@dataclass(frozen=True, slots=True)
class _Surface:
    """level: heights from 0 to 1, shape (rows, columns), NaN for none. rows, columns: where its lines are."""

    part: Map
    level: Numbers
    rows: Numbers
    columns: Numbers
    pose: Pose
    scale: float
    middle: Numbers

    def to_pixels(self, points: ArrayLike) -> Numbers:
        """Pixels of points (x, y, level), shape (n, 2)."""
        points = np.asarray(points, np.float64) * (1, 1, TALL) - (0, 0, TALL / 2)
        return self.middle + self.scale * project(points, self.pose)[:, :2] * (1, -1)

    def base(self) -> Iterator[str]:
        """The rectangle under it, with the names of the axes and their ends."""
        corners = [(-0.5, -0.5, 0), (0.5, -0.5, 0), (0.5, 0.5, 0), (-0.5, 0.5, 0)]
        yield element("polygon", points=_points(self.to_pixels(corners)), fill="none", stroke=INK, opacity=0.5)
        front = -0.58 if math.cos(math.radians(self.pose.turn)) > 0 else 0.58
        side = -0.58 if math.sin(math.radians(self.pose.turn)) >= 0 else 0.58
        for axis, along in ((self.part.x, True), (self.part.y, False)):
            low, high = axis.low or 0.0, axis.high or 0.0
            for at, word in ((-0.5, f"{low:.3g}"), (0.0, axis.label), (0.5, f"{high:.3g}")):
                place = (
                    (at, 1.1 * front if at == 0 else front, 0) if along else (1.1 * side if at == 0 else side, at, 0)
                )
                u, v = self.to_pixels([place])[0]
                yield text(word, u, v + 4, text_anchor="middle", font_size=12 if at == 0 else 11)

    def pieces(self) -> Iterator[str]:
        """Cells, the farthest first, and what lies on each of them."""
        x, y = np.meshgrid(self.columns, self.rows)
        points = np.stack([x, y, self.level], axis=-1)
        pixels = self.to_pixels(points.reshape(-1, 3)).reshape(*points.shape[:2], 2)
        colours = self._colours()
        laid: dict[tuple[int, int], list[str]] = {}
        for cell, piece in self._laid():
            laid.setdefault(cell, []).append(piece)
        turn = math.radians(self.pose.turn)
        down = range(len(self.rows) - 1)[:: -1 if math.cos(turn) >= 0 else 1]
        right = range(len(self.columns) - 1)[:: -1 if math.sin(turn) >= 0 else 1]
        for j in down:
            for i in right:
                corners = pixels[[j, j, j + 1, j + 1], [i, i + 1, i + 1, i]]
                if np.isfinite(corners).all():
                    ink = colours[j, i]
                    yield f'<polygon points="{_points(corners)}" fill="{ink}" stroke="{ink}" stroke-width=".6"/>'
                yield from laid.get((j, i), ())

    def _colours(self) -> Any:
        level, z = (self.level[:-1, :-1] + self.level[1:, 1:]) / 2, self.level * TALL
        along, up = np.diff(self.columns)[None, :], np.diff(self.rows)[:, None]
        slope_x, slope_y = np.diff(z, axis=1)[:-1] / along, np.diff(z, axis=0)[:, :-1] / up
        normal = np.stack([-slope_x, -slope_y, np.ones_like(slope_x)], axis=-1)
        normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
        light = 0.62 + 0.45 * np.clip(normal @ (_LIGHT / np.linalg.norm(_LIGHT)), 0, 1)
        rgb = (_LOW + np.nan_to_num(level)[..., None] * (_HIGH - _LOW)) * np.nan_to_num(light)[..., None]
        whole = np.clip(rgb, 0, 255).astype(int)
        return np.array([[f"#{r:02x}{g:02x}{b:02x}" for r, g, b in row] for row in whole.tolist()], object)

    def _laid(self) -> Iterator[tuple[tuple[int, int], str]]:
        """Pieces of curves and the ends of paths, each with the cell that it lies in."""
        for curve in self.part.curves:
            stroke = ink(curve.colour)
            places = self._places(curve.x, curve.y)
            for a, b in pairwise(places):
                count = max(int(np.ceil(np.abs(b - a).max() * _MAX_LINES)), 1)
                way = a + np.linspace(0, 1, count + 1)[:, None] * (b - a)
                for p, q in pairwise(way):
                    ends = self._on([p, q])
                    if np.isfinite(ends).all():
                        (u, v), (s, t) = self.to_pixels(ends)
                        d = f"M{u:.1f} {v:.1f}L{s:.1f} {t:.1f}"
                        yield self._cell((p + q) / 2), element("path", d=d, stroke=stroke, stroke_width=2)
        for dots in self.part.dots:
            for place in self._places(dots.x, dots.y)[-1:]:
                on = self._on([place])
                if np.isfinite(on).all():
                    u, v = self.to_pixels(on)[0]
                    yield self._cell(place), element("circle", cx=u, cy=v, r=4.5, fill=ink(dots.colour))

    def _places(self, x: Numbers, y: Numbers) -> Numbers:
        """Positions of points in the plane, -0.5 to 0.5, shape (n, 2)."""
        (left, right), (low, high) = ((a.low or 0.0, a.high or 1.0) for a in (self.part.x, self.part.y))
        return np.stack([(x - left) / (right - left) - 0.5, (y - low) / (high - low) - 0.5], axis=1)

    def _on(self, places: ArrayLike) -> Numbers:
        """Places of the plane, shape (n, 2), with their height; NaN outside."""
        places = np.asarray(places, np.float64)
        return np.column_stack([places, interpolated(self.level, self.rows, self.columns, places)])

    def _cell(self, place: Numbers) -> tuple[int, int]:
        return int(_index(self.rows, place[1])), int(_index(self.columns, place[0]))


def _thinned(heights: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return heights as levels from 0 to 1 on at most `_MAX_LINES` lines, and the places of the lines."""
    rows, columns = (_lines(n) for n in heights.shape)
    known = heights[np.isfinite(heights)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    level = np.where(np.isfinite(heights), (heights - low) / ((high - low) or 1.0), np.nan)[np.ix_(rows, columns)]
    return level, rows / max(heights.shape[0] - 1, 1) - 0.5, columns / max(heights.shape[1] - 1, 1) - 0.5


def _lines(count: int) -> Indices:
    """Return the positions of at most `_MAX_LINES` lines, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, _MAX_LINES)).round().astype(np.int64))


def interpolated(values: Numbers, rows: Numbers, columns: Numbers, places: Numbers) -> Numbers:
    """Values at places between the lines of a grid, shape (n,); NaN outside.

    values: shape (rows, columns). rows, columns: where its lines are, rising. places: (x, y), shape (n, 2).

    >>> interpolated(np.array([[0.0, 1.0], [2.0, 3.0]]), np.arange(2.0), np.arange(2.0), np.array([[0.5, 0.5], [2, 0]]))
    array([1.5, nan])
    """
    x, y = places.T
    inside = (columns[0] <= x) & (x <= columns[-1]) & (rows[0] <= y) & (y <= rows[-1])
    u, v = (cast("Numbers", np.where(inside, at, 0.0)) for at in (x, y))
    i, j = _index(columns, u), _index(rows, v)
    a, b = (u - columns[i]) / (columns[i + 1] - columns[i]), (v - rows[j]) / (rows[j + 1] - rows[j])
    low = (1 - a) * values[j, i] + a * values[j, i + 1]
    return np.where(inside, (1 - b) * low + b * ((1 - a) * values[j + 1, i] + a * values[j + 1, i + 1]), np.nan)


def _index(lines: Numbers, at: Numbers) -> Indices:
    return np.clip(np.searchsorted(lines, at, side="right") - 1, 0, len(lines) - 2)


def _points(corners: Numbers) -> str:
    return " ".join(f"{u:.1f},{v:.1f}" for u, v in corners)
