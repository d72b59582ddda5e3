"""Adamax: Adam in the maximum norm."""

from dataclasses import dataclass

import numpy as np

from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries


@dataclass(frozen=True)
class Adamax(Optimizer):
    """Kingma and Ba 2015, Algorithm 2, arXiv:1412.6980, in torch's form (torch.optim.Adamax).

    m <- b1 m + (1 - b1) g;  u <- max(b2 u, |g| + eps);  x <- x - lr / (1 - b1^(t+1)) m / u. The paper has no eps.
    lr: step size. b1: decay of the mean. b2: decay of the largest gradient. eps: keeps the quotient finite.
    Cost: one gradient; keeps 2 d numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.Adamax(0.5), steps=1).x.round(6)
    array([0.5])
    """

    lr: Hyper = 2e-3
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-8

    def init(self, x: Vector) -> State:
        """Mean and maximum are zero."""
        return {"m": np.zeros_like(x), "u": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step along the mean, scaled by the largest recent gradient."""
        m = self.b1 * state["m"] + (1 - self.b1) * g
        u = np.maximum(self.b2 * state["u"], np.abs(g) + self.eps)
        return x - self.lr / (1 - self.b1 ** (t + 1)) * m / u, {"m": m, "u": u}
