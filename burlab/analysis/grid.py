"""Points of a plane in rows and columns."""

from typing import Any, NamedTuple

import numpy as np

from burlab.charts.chart import Numbers


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
