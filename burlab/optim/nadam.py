"""Nadam: Adam with Nesterov's look ahead."""

from dataclasses import dataclass

import numpy as np

from .adam import moments
from .arithmetic import root_of_squares
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries


@dataclass(frozen=True)
class NAdam(Optimizer):
    """Dozat 2016, Incorporating Nesterov momentum into Adam, Algorithm 2, in torch's form (torch.optim.NAdam).

    With mu(k) = b1 (1 - 0.96^(k momentum_decay) / 2), k = t + 1, and p the product of all mu(1) ... mu(k):
    x <- x - lr ((1 - mu(k)) / (1 - p) g + mu(k+1) / (1 - p mu(k+1)) m) / (sqrt(v^) + eps), m, v and v^ as in `Adam`.
    The paper leaves the schedule mu open; this is torch's. torch keeps p, its mu_product, in its default dtype,
    float32 unless torch.set_default_dtype(torch.float64) was called; burlab keeps it in float64.
    momentum_decay: how fast mu(k) grows towards b1; the other fields as in `Adam`.
    Cost: one gradient; keeps 2 d + 1 numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.NAdam(0.5), steps=1).x.round(3)
    array([0.472])
    """

    lr: Hyper = 2e-3
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-8
    momentum_decay: Hyper = 4e-3

    def init(self, x: Vector) -> State:
        """Both moments are zero; the product of no factors is one."""
        return {"m": np.zeros_like(x), "v": np.zeros_like(x), "product": 1.0}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step along the first moment as it will be, scaled by the root of the second."""
        m, v = moments(g, state, self.b1, self.b2)
        mu, mu_next = self._mu(t + 1), self._mu(t + 2)
        product = state["product"] * mu
        root = (1 - self.b2 ** (t + 1)) ** 0.5
        along_g = self.lr * root * (1 - mu) / (1 - product)
        along_m = self.lr * root * mu_next / (1 - product * mu_next)
        step = (along_g * g + along_m * m) / (root_of_squares(v, m) + self.eps * root)
        return x - step, {"m": m, "v": v, "product": product}

    def _mu(self, k: int) -> float:
        return self.b1 * (1 - 0.5 * 0.96 ** (k * self.momentum_decay))
