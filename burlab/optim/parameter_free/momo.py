"""Polyak's step size from a model of momentum: MoMo and MoMoAdam."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.adam import moments
from burlab.optim.arithmetic import number, root_of_squares, where
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries

EPS = float(np.finfo(np.float64).eps)  # a squared norm below it gives no step


def polyak(room: Vector, squared: Vector, lr: float) -> Any:
    """min(lr, max(room, 0) / squared), 0 where there is no gradient."""
    safe = where(squared <= EPS, np.ones_like(squared), squared)
    return np.minimum(lr, where(squared <= EPS, np.zeros_like(safe), np.maximum(room, 0.0) / safe))


@dataclass(frozen=True)
class MoMo(Optimizer):
    """Schaipp et al. 2024, Algorithm 1, arXiv:2305.07583; as optax.contrib.momo.

    m, h and q are running means of g, f(x) and <g, x> with decay mu, which begin with the first ones.
    tau = min(lr, max((1 + lr weight_decay)(h - f_min - q) + <m, x>, 0) / |m|^2);
    x <- x / (1 + lr weight_decay) - tau m. f_min is a lower bound of the loss.
    lr: the largest step. mu: decay of the means. f_min: 0 for most losses. weight_decay: rate of the decay.
    Cost: one gradient and the value that comes with it; keeps d + 2 numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.MoMo(mu=0.0), steps=2).x
    array([0.25, 0.25])
    """

    lr: Hyper = 1.0
    mu: Hyper = 0.9
    f_min: Hyper = 0.0
    weight_decay: Hyper = 0.0

    def init(self, x: Vector) -> State:
        """Nothing seen yet."""
        return {"m": np.zeros_like(x), "h": number(x, 0.0), "q": number(x, 0.0)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """One step along the mean gradient."""
        keep = where(t == 0, number(x, 0.0), self.mu * number(x, 1.0))
        m = keep * state["m"] + (1 - keep) * g
        h = keep * state["h"] + (1 - keep) * f.value(x)
        q = keep * state["q"] + (1 - keep) * (g @ x)
        shrink = 1 + self.lr * self.weight_decay
        tau = polyak(shrink * (h - self.f_min - q) + m @ x, m @ m, self.lr)
        return x / shrink - tau * m, {"m": m, "h": h, "q": q}


@dataclass(frozen=True)
class MoMoAdam(Optimizer):
    """Schaipp et al. 2024, Algorithm 2, arXiv:2305.07583; as optax.contrib.momo_adam.

    m, v as in Adam, h and q running means of f(x) and <g, x> with decay b1, D = sqrt(v / (1 - b2^(t+1))) + eps and
    c = 1 - b1^(t+1). tau = min(lr / c, max((1 + lr weight_decay)(h - c f_min - q) + <m, x>, 0) / <m, m / D>);
    x <- x / (1 + lr weight_decay) - tau m / D. f_min is a lower bound of the loss.
    lr: the largest step. b1, b2, eps: as in Adam. f_min: 0 for most losses. weight_decay: rate of the decay.
    Cost: one gradient and the value that comes with it; keeps 2 d + 2 numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.MoMoAdam(1.0), steps=100)
    >>> bool(np.abs(run.x).max() < 0.01)
    True
    """

    lr: Hyper = 1e-2
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-8
    f_min: Hyper = 0.0
    weight_decay: Hyper = 0.0

    def init(self, x: Vector) -> State:
        """Nothing seen yet."""
        return {"m": np.zeros_like(x), "v": np.zeros_like(x), "h": number(x, 0.0), "q": number(x, 0.0)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """One step along the first moment, scaled by the root of the second."""
        m, v = moments(g, state, self.b1, self.b2)
        h = self.b1 * state["h"] + (1 - self.b1) * f.value(x)
        q = self.b1 * state["q"] + (1 - self.b1) * (g @ x)
        along = m / (root_of_squares(v / (1 - self.b2 ** (t + 1)), m) + self.eps)
        shrink, corrected = 1 + self.lr * self.weight_decay, 1 - self.b1 ** (t + 1)
        tau = polyak(shrink * (h - corrected * self.f_min - q) + m @ x, m @ along, self.lr / corrected)
        return x / shrink - tau * along, {"m": m, "v": v, "h": h, "q": q}
