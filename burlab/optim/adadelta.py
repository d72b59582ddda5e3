"""Adadelta: steps in the unit of x, without a step size."""

from dataclasses import dataclass

import numpy as np

from .arithmetic import root_of_squares
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries


@dataclass(frozen=True)
class Adadelta(Optimizer):
    """Zeiler 2012, Algorithm 1, arXiv:1212.5701; torch.optim.Adadelta is the same and adds lr.

    v <- rho v + (1 - rho) g^2;  d = sqrt(u + eps) / sqrt(v + eps) g;  u <- rho u + (1 - rho) d^2;  x <- x - lr d.
    lr: a factor on the step, 1 in the paper. rho: decay of both means. eps: what the first step starts from.
    Cost: one gradient; keeps 2 d numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.Adadelta(eps=0.01), steps=1).x.round(3)
    array([0.688])
    """

    lr: Hyper = 1.0
    rho: Hyper = 0.9
    eps: Hyper = 1e-6

    def init(self, x: Vector) -> State:
        """The mean squares of gradients (v) and of steps (u) are zero."""
        return {"v": np.zeros_like(x), "u": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step, scaled by the size of recent steps."""
        v = self.rho * state["v"] + (1 - self.rho) * g**2
        d = np.sqrt(state["u"] + self.eps) / root_of_squares(v + self.eps, g) * g
        u = self.rho * state["u"] + (1 - self.rho) * d**2
        return x - self.lr * d, {"v": v, "u": u}
