"""A step along the imaginary axis (Squire and Trapp 1998): f'(x) = Im f(x + ih) / h, exact to rounding.

It only judges: gradients of few numbers, without any engine of automatic differentiation.
"""

import numpy as np

from burlab.bench.namespace import PLAIN
from burlab.bench.problem import Answer, Problem, Scalar, Start, Task, Unavailable
from burlab.bench.variants.task import Gradient

_STEP = 1e-200


def open_task(problem: Problem, variant: str) -> Task:
    """The task of a scalar problem."""
    del variant
    if isinstance(problem, Start):
        problem = problem.scalar
    if not isinstance(problem, Scalar):
        raise Unavailable("a complex step by each parameter would take too long")
    return Judge(problem)


class Judge(Gradient):
    """One evaluation of the function for each argument."""

    def __init__(self, problem: Scalar) -> None:
        self._problem = problem

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        x = self._problem.points[point].tolist()
        gradients = {name: np.asarray(self._by(x, k)) for k, name in enumerate(self._problem.names)}
        return Answer(float(self._problem.function(PLAIN, *x)), gradients)

    def repeat(self, count: int) -> float:
        """It has no time."""
        del count
        raise Unavailable("a complex step by each parameter only judges: it is not timed")

    def _by(self, x: list[float], k: int) -> float:
        displacements = [complex(number, _STEP * (k == j)) for j, number in enumerate(x)]
        return float(np.imag(self._problem.function(PLAIN, *displacements)) / _STEP)
