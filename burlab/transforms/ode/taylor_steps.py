"""Taylor polynomials of solutions: each coefficient of y follows from the lower ones, by y' = f(y, t).

Moore 1966, Interval Analysis; Jorba and Zou 2005, A software package for the numerical integration of ODEs by means of
high-order Taylor methods.
"""

from collections.abc import Callable
from typing import Any

from burlab.graph import Node
from burlab.graph.linear_nodes import broadcast, zeros
from burlab.graph.node import constant
from burlab.transforms.numbers.series import Series, SeriesWalk, scaled
from burlab.transforms.vectors import close


def solution_coefficients(f: Callable[[Any, Any], Any], y: Node, t: Node, order: int) -> list[Node]:
    """Return the coefficients of h^0 to h^order of the solution y(t + h)."""
    captured, graph = close(f, y, t)
    one = broadcast(constant(1.0, t.dtype), t.shape)
    slopes: list[Series] = []
    solution = Series(y, lambda k: scaled(slopes[0][k - 1], 1 / k))
    time = Series(t, lambda k: one if k == 1 else None)
    slopes += SeriesWalk(None).of(graph, [solution, time, *map(Series, captured)])
    found = [solution[k] for k in range(order + 1)]
    return [zeros(y.shape, y.dtype) if c is None else c for c in found]
