"""Gradient descent with momentum."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .optimizer import Hyper, Optimizer, State, Vector


@dataclass(frozen=True)
class Momentum(Optimizer):
    """Polyak 1964, in torch's form (torch.optim.SGD with momentum): v <- mu v + g; x <- x - lr v.

    Polyak's own form, x_{t+1} = x_t - lr g_t + mu (x_t - x_{t-1}), is the same while lr and mu do not change.
    lr: step size. mu: how much of the last velocity stays.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.Momentum(0.25, mu=0.5), steps=2).x
    array([0.])
    """

    lr: Hyper = 1e-2
    mu: Hyper = 0.9

    def init(self, x: Vector) -> State:
        """No velocity."""
        return {"v": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Any = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step along the velocity."""
        v = self.mu * state["v"] + g
        return x - self.lr * v, {"v": v}
