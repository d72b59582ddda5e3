"""A function over a plane: its axes, the points of a grid, and the logarithm of the height, which colours follow."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from burlab.typing import Numbers

from .chart import Axis

LEVELS = 18  # of a map, between its lowest and its highest point; as in widgets/chart/data.js


class Grid(NamedTuple):
    """a, b: float64, shape (size,), along the first and the second axis. points: (size * size, 2), a varies first."""

    a: Numbers
    b: Numbers
    points: Numbers


def grid(ends: Numbers, size: int) -> Grid:
    """The points between both ends of two axes. ends: shape (2, 2), low and high of each.

    >>> grid(np.array([[0.0, 1.0], [5.0, 6.0]]), 2).points.tolist()
    [[0.0, 5.0], [1.0, 5.0], [0.0, 6.0], [1.0, 6.0]]
    """
    a, b = (np.linspace(float(low), float(high), size) for low, high in ends)
    points: list[Any] = [*np.meshgrid(a, b)]
    return Grid(a, b, np.stack(points, -1).reshape(-1, 2))


def axes(ends: Iterable[Any], labels: Sequence[str] = ("x₀", "x₁")) -> tuple[Axis, Axis]:
    """The axes of a map between both ends of each. ends: shape (2, 2), low and high.

    >>> axes([[0, 1], [5, 6]])[1]
    Axis(label='x₁', unit='', log=False, low=5.0, high=6.0, floor=None)
    """
    x, y = (Axis(label, low=float(low), high=float(high)) for label, (low, high) in zip(labels, ends, strict=True))
    return x, y


def lowest(heights: Numbers) -> float:
    """The lowest finite height, 0 if there is none."""
    finite = heights[np.isfinite(heights)]
    return float(finite.min()) if finite.size else 0.0


def shade(heights: Numbers, minimum: float) -> Numbers:
    """The logarithm of heights above a minimum, float64; the heights where there is none, -inf; NaN where not finite.

    >>> shade(np.array([1.0, 10.0, np.inf]), 0.0).round(2)
    array([0.32, 1.04,  nan])
    """
    heights = np.where(np.isfinite(heights), heights, np.nan)
    if not np.isfinite(minimum) or np.isnan(heights).all():
        return heights
    above = np.maximum(heights - minimum, 0.0)
    floor = max(float(np.nanquantile(above, 0.01)), 1e-6 * float(np.nanmax(above)), 1e-300)
    return np.log10(above + floor)
