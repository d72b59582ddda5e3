"""Loops in NumPy as a researcher writes them first, with the gradient of logistic regression by hand.

The random numbers of a method are those that burlab draws, and are drawn before the clock starts, so that both take the
same steps; the loop keeps no history.
"""

from collections.abc import Mapping

import numpy as np

from burlab.bench.problem import Answer, Array, BatchObjective, Method, Problem, SparseTraining, Task, Unavailable
from burlab.bench.variants.method import CHECKED
from burlab.bench.variants.python_loop import PythonLoop
from burlab.bench.variants.task import CastTask

from .numpy_clients import CLIENT_METHODS
from .numpy_contrast import gradient
from .numpy_samples import SAMPLE_METHODS
from .numpy_sparse import MaskedSteps


def open_task(problem: Problem, variant: str) -> Task:
    """The loop of a method, which has one variant; or what is written by hand of a batch or a sparse network."""
    if isinstance(problem, BatchObjective):
        chunks = problem.chunks if variant == "by chunks" else None
        return CastTask(problem, lambda _p, _data: gradient(chunks))
    if isinstance(problem, SparseTraining):
        return MaskedSteps(problem, variant)
    if not isinstance(problem, Method):
        raise Unavailable("there are NumPy loops of methods only")
    return NumPyMethod(problem)


class NumPyMethod(PythonLoop):
    """Steps of a method from Python."""

    def __init__(self, problem: Method) -> None:
        self._problem = problem
        self._open()

    def _open(self) -> None:
        make = (CLIENT_METHODS if self._problem.clients else SAMPLE_METHODS)[self._problem.name]
        self._state: dict[str, Array] = {}
        self.start(self._problem.parameters["x"], make(self._problem, self._state))

    def answer(self, point: int, dtype: str) -> Answer:
        """See Task."""
        del dtype
        problem, x = self._problem, self._problem.points[point]
        a, b = problem.features.reshape(-1, x.size), problem.labels.ravel()
        gradient = a.T @ (-b / (1 + np.exp(b * (a @ x)))) / len(b) + problem.l2 * x
        return Answer(problem.value(x), {"x": gradient})

    def displacements(self) -> Mapping[str, Array] | None:
        """See Task."""
        self._open()
        self.repeat(CHECKED)
        return {"x": self.x - self._problem.parameters["x"]}

    def facts(self) -> Mapping[str, float]:
        """See Task."""
        return {"arrays": float(sum(a.nbytes for a in self._state.values()))}
