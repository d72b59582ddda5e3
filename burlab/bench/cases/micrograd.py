"""exp2: the expression of micrograd's README, at a = -4, b = 2.

Its gradients there are 138.8338 and 645.5773. (The code published with the paper prints 104.125 and 680.286.)
"""

from typing import Any

import numpy as np

from burlab.bench.problem import Case, Namespace, Scalar, Size

from .variants import SCALAR_VARIANTS

FORMULA = """const T a = x[0], b = x[1];
  T c = a + b, d = a * b + cube(b);
  c = c + (c + 1.0);
  c = c + (c - a + 1.0);
  d = d + (d * 2.0 + relu(b + a));
  d = d + (d * 3.0 + relu(b - a));
  const T f = square(c - d);
  return f / 2.0 + 10.0 / f;"""


def micrograd(np_: Namespace, a: float, b: float) -> Any:
    """The same operations, in the same order."""
    c, d = a + b, a * b + b**3
    c = c + (c + 1)
    c = c + (1 + c + (-a))
    d = d + (d * 2 + np_.relu(b + a))
    d = d + (3 * d + np_.relu(b - a))
    f = (c - d) ** 2
    return f / 2.0 + 10.0 / f


def problem(_: Size) -> Scalar:
    """README's point first, then others nearby. Both relu stay 2 and 6 away from their kinks, give or take 1."""
    rng = np.random.default_rng(0)
    points = np.array([-4.0, 2.0]) + rng.uniform(-0.5, 0.5, (1024, 2))
    points[0] = -4.0, 2.0
    return Scalar(micrograd, points, ("a", "b"), FORMULA)


CASE = Case(
    "micrograd",
    "exp2: the graph of micrograd's README, one gradient by two numbers (float64)",
    problem,
    SCALAR_VARIANTS,
    unit="gradient",
)
