"""Prodigy."""

from dataclasses import dataclass

import numpy as np

from burlab.optim.arithmetic import number, ratio, root_of_squares, where
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries

from .d_adaptation import bias_correction


@dataclass(frozen=True)
class Prodigy(Optimizer):
    """Mishchenko and Defazio 2024, Algorithm 4 (Adam), arXiv:2306.06101; as prodigyopt.Prodigy 1.1.2.

    With l = lr d and c = sqrt(b2): m <- b1 m + (1 - b1) d g;  v <- b2 v + (1 - b2) d^2 g^2;
    r <- c r + l d <g, x_0 - x>;  s <- c s + l d g;  d' = min(largest r / |s|_1 so far, growth d), at least d;
    x <- x - l weight_decay x - l m / (sqrt(v) + d' eps): the step has the old d, eps the new one. r and s are kept
    divided by first, and first again. optax.contrib.prodigy is the same with bias_correction=True.
    lr: factor of the step, 1 in the paper. b1, b2, eps: as in Adam. weight_decay: of the decoupled decay. growth: d
    grows by no more than this factor per step, once it has left first, its start. bias_correction: l times that of
    Adam. Cost: one gradient; keeps 4 d + 3 numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 3) ** 2), np.zeros(2), bl.optim.Prodigy(), steps=300)
    >>> bool(1 < run.state["d"] <= 3)
    True
    """

    lr: Hyper = 1.0
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-8
    weight_decay: Hyper = 0.0
    growth: Hyper = np.inf
    first: float = 1e-6
    bias_correction: bool = False

    def init(self, x: Vector) -> State:
        """The start, no gradients, and d as small as it can be."""
        zeros, d = np.zeros_like(x), number(x, self.first)
        return {"x0": x, "m": zeros, "v": zeros, "s": zeros, "d": d, "largest": d, "r": number(x, 0.0)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """A step of Adam of size d, and d raised."""
        d, c = state["d"], self.b2**0.5
        step = self.lr * d * (bias_correction(t, self.b1, self.b2) if self.bias_correction else 1.0)
        m = self.b1 * state["m"] + (1 - self.b1) * d * g
        v = self.b2 * state["v"] + (1 - self.b2) * d**2 * g**2
        weight = d / self.first * step
        r = c * state["r"] + weight * (g @ (state["x0"] - x))
        s = c * state["s"] + weight * g
        largest = np.maximum(state["largest"], ratio(r, np.sum(np.abs(s))))
        raised = np.minimum(largest, self.growth * where(d == number(x, self.first), largest, d))
        after = x - self.weight_decay * step * x - step * m / (root_of_squares(v, m) + raised * self.eps)
        return after, {"x0": state["x0"], "m": m, "v": v, "s": s, "d": raised, "largest": largest, "r": r}
