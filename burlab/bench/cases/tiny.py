"""exp1: the paper's tiny compute graph, g = ((a + b) - (a b + b^3))^2 / 2 at a = -41, b = 2."""

from typing import Any

import numpy as np

from burlab.bench.problem import Case, Namespace, Scalar, Size

from .variants import SCALAR_VARIANTS

FORMULA = "const T a = x[0], b = x[1], e = (a + b) - (a * b + cube(b)); return square(e) / 2.0;"


def tiny(_: Namespace, a: float, b: float) -> Any:
    """The paper's Figure 1, in two lines."""
    e = (a + b) - (a * b + b**3)
    return e**2 / 2


def problem(_: Size) -> Scalar:
    """The paper's point first, then others nearby, so that no result can be one of before."""
    rng = np.random.default_rng(0)
    points = np.array([-41.0, 2.0]) + rng.uniform(-0.5, 0.5, (1024, 2))
    points[0] = -41.0, 2.0
    return Scalar(tiny, points, ("a", "b"), FORMULA)


CASE = Case(
    "tiny",
    "exp1: the tiny graph, one gradient by two numbers (float64)",
    problem,
    {"golden": ("straight line, loop in C++", "lanes, loop in C++"), **SCALAR_VARIANTS},
    unit="gradient",
)
