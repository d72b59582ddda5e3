"""Sophia."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.checks.numbers import whole
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.transforms import cond

from .adahessian import hutchinson


@dataclass(frozen=True)
class SophiaH(Optimizer):
    """Liu et al. 2024, Algorithm 3 with Hutchinson's estimate, arXiv:2305.14342; as optax.contrib.sophia.

    m <- b1 m + (1 - b1) g;  x <- x - lr clip(m^ / max(gamma h, eps), -1, 1) - lr weight_decay x;  then, at every
    `every`-th step from the first, h <- b2 h + (1 - b2) z * (H z). The paper makes h before the step and does not
    correct the bias of m.
    lr: the largest step of an entry. b1, b2: decay of the two means. gamma: how much curvature is trusted; few entries
    should be clipped. eps: below it curvature is none. weight_decay: rate of the decoupled decay.
    Cost: one gradient, and one Hessian-vector product every so many steps; keeps 2 d numbers.

    >>> import numpy as np, burlab as bl
    >>> f = lambda x: 50 * x[0] ** 2 + x[1] ** 2 / 2
    >>> run = bl.minimize(f, np.ones(2), bl.optim.SophiaH(0.02), steps=300)
    >>> bool(np.abs(run.x).max() < 0.02)
    True
    """

    lr: Hyper = 1e-3
    b1: Hyper = 0.965
    b2: Hyper = 0.99
    eps: Hyper = 1e-8
    gamma: Hyper = 0.01
    weight_decay: Hyper = 1e-4
    every: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.every, "every", 1)

    def init(self, x: Vector) -> State:
        """No gradient and no curvature yet."""
        return {"m": np.zeros_like(x), "h": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Any) -> tuple[Vector, State]:
        """One step, at most lr long in every entry."""
        m, h = self.b1 * state["m"] + (1 - self.b1) * g, state["h"]
        quotient = m / (1 - self.b1 ** (t + 1)) / np.maximum(self.gamma * h, self.eps)
        step = np.clip(quotient, -1.0, 1.0) + self.weight_decay * x
        fresh = cond(t % self.every == 0, lambda: self.b2 * h + (1 - self.b2) * hutchinson(f, x), lambda: h)
        return x - self.lr * step, {"m": m, "h": fresh}
