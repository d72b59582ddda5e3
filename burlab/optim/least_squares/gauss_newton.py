"""The method of Gauss and Newton."""

from dataclasses import dataclass

import numpy as np

from burlab.optim.arithmetic import number
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries

from .linear_model import LinearModel
from .step_domain import StepDomain


@dataclass(frozen=True)
class GaussNewton(Optimizer):
    """Gauss-Newton as in textbooks: x <- x + lr p, where p minimizes |r + J p|^2: Nocedal and Wright 2006, (10.23).

    For `bl.Residuals`. Where J has not full rank, p is the shortest in units of the norms of its columns. It has no
    safeguard: far from a minimum, or where large residuals curve, it may diverge; LevenbergMarquardt does not.
    lr: part of the step that is taken.
    Cost: one gradient, one Jacobian, O(m d^2 + d^3); keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> f = bl.Residuals(lambda x: np.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]]))
    >>> bl.minimize(f, np.array([-1.2, 1.0]), bl.optim.GaussNewton(), steps=2).x
    array([1., 1.])
    """

    lr: Hyper = 1.0

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One linear least squares problem."""
        model = LinearModel.around(f, x, g, np.zeros_like(x), StepDomain())
        return x + self.lr * model.steps.at(number(x, 0.0)), state
