"""Gradient descent."""

from dataclasses import dataclass

from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries


@dataclass(frozen=True)
class GD(Optimizer):
    """Gradient descent, Cauchy 1847: x <- x - lr g. With a batch it is stochastic gradient descent (torch.optim.SGD).

    lr: step size. Cost: one gradient; keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum((x - 3.0) ** 2), np.zeros(2), bl.optim.GD(0.25), steps=2).x
    array([2.25, 2.25])
    """

    lr: Hyper = 1e-2

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step against the gradient."""
        return x - self.lr * g, state
