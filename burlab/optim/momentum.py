"""Gradient descent with a velocity."""

from dataclasses import dataclass

import numpy as np

from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries


@dataclass(frozen=True)
class Momentum(Optimizer):
    """Polyak 1964, in torch's form (torch.optim.SGD with momentum): v <- mu v + (1 - dampening) g; x <- x - lr v.

    Polyak's own form, x_{t+1} = x_t - lr g_t + mu (x_t - x_{t-1}), is the same while lr and mu do not change.
    lr: step size. mu: how much of the last velocity stays. dampening: how much of g is left out, except at the first
    step, as in torch; mu makes v an average of gradients. Cost: one gradient; keeps d numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.Momentum(0.25, mu=0.5), steps=2).x
    array([0.])
    """

    lr: Hyper = 1e-2
    mu: Hyper = 0.9
    dampening: Hyper = 0.0

    def init(self, x: Vector) -> State:
        """No velocity."""
        return {"v": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step along the velocity."""
        v = self.mu * state["v"] + (1 - self.dampening * (t > 0)) * g
        return x - self.lr * v, {"v": v}


@dataclass(frozen=True)
class Nesterov(Optimizer):
    """Nesterov 1983 as Sutskever et al. 2013 write it, in torch's form (torch.optim.SGD with nesterov=True).

    v <- mu v + g;  x <- x - lr (g + mu v).
    lr: step size. mu: how much of the last velocity stays. Nesterov's own mu grows towards 1 with t: give a schedule.
    Cost: one gradient; keeps d numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.Nesterov(0.25, mu=0.5), steps=1).x
    array([0.25])
    """

    lr: Hyper = 1e-2
    mu: Hyper = 0.9

    def init(self, x: Vector) -> State:
        """No velocity."""
        return {"v": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step along the velocity that comes next."""
        v = self.mu * state["v"] + g
        return x - self.lr * (g + self.mu * v), {"v": v}
