"""Step sizes from a lower bound of the distance to the solution: D-Adaptation of SGD and of Adam."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.arithmetic import number, ratio, root_of_squares, where
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries


def bias_correction(t: int, b1: float, b2: float) -> Any:
    """sqrt(1 - b2^(t+1)) / (1 - b1^(t+1)), the two corrections of Adam in one factor."""
    return (1 - b2 ** (t + 1)) ** 0.5 / (1 - b1 ** (t + 1))


@dataclass(frozen=True)
class DAdaptSGD(Optimizer):
    """Defazio and Mishchenko 2023, dual averaging with momentum, arXiv:2301.07733; as dadaptation.DAdaptSGD 3.2.

    With l = lr d / |g_0|: q <- q + l <g, s>;  s <- s + l g;  d <- max(d, min(2 q / |s|, growth d));  and the point is
    a running mean of z = x_0 - s:  x <- mu x + (1 - mu) z.
    lr: factor of the step, 1 in the paper. mu: momentum. first: d at the start, below the distance to the solution.
    growth: d grows by no more than this factor per step. Cost: one gradient; keeps 2 d + 3 numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 3) ** 2), np.zeros(1), bl.optim.DAdaptSGD(), steps=60)
    >>> bool(1 < run.state["d"] <= 3 and abs(run.x[0] - 3) < 1e-6)
    True
    """

    lr: Hyper = 1.0
    mu: Hyper = 0.0
    growth: Hyper = np.inf
    first: float = 1e-6

    def init(self, x: Vector) -> State:
        """The start, no gradients, and d as small as it can be."""
        zero = number(x, 0.0)
        return {"x0": x, "s": np.zeros_like(x), "d": number(x, self.first), "q": zero, "g0": zero}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step of dual averaging, after the bound of the distance was raised."""
        g0 = where(t == 0, np.linalg.norm(g), state["g0"])
        step = ratio(state["d"] * self.lr, g0)
        q = state["q"] + step * (g @ state["s"])
        s = state["s"] + step * g
        d = np.maximum(state["d"], np.minimum(2 * ratio(q, np.linalg.norm(s)), self.growth * state["d"]))
        after = self.mu * x + (1 - self.mu) * (state["x0"] - s)
        return after, {"x0": state["x0"], "s": s, "d": d, "q": q, "g0": g0}


@dataclass(frozen=True)
class DAdaptAdam(Optimizer):
    """Defazio and Mishchenko 2023, Algorithm 5, arXiv:2301.07733; as dadaptation.DAdaptAdam 3.2 with decouple=True.

    With l = lr d and c = sqrt(b2): q <- c q + (1 - c) l <g, s / (sqrt(v) + eps)>;  m <- b1 m + (1 - b1) l g;
    v <- b2 v + (1 - b2) g^2;  s <- c s + (1 - c) l g;  d <- max(d, min(q / ((1 - c) |s|_1), growth d));
    x <- x - l weight_decay x - m / (sqrt(v) + eps). It is optax.contrib.dadapt_adamw with bias_correction=True.
    lr: factor of the step, 1 in the paper. b1, b2, eps: as in Adam. weight_decay: of the decoupled decay. growth: d
    grows by no more than this factor per step. first: d at the start. bias_correction: l times that of Adam.
    Cost: one gradient; keeps 3 d + 2 numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 3) ** 2), np.zeros(1), bl.optim.DAdaptAdam(), steps=300)
    >>> bool(abs(run.x[0] - 3) < 1e-4)
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
        """No gradients, and d as small as it can be."""
        zeros = np.zeros_like(x)
        return {"m": zeros, "v": zeros, "s": zeros, "d": number(x, self.first), "q": number(x, 0.0)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """A step of Adam of size d, and the bound raised."""
        step = self.lr * state["d"] * (bias_correction(t, self.b1, self.b2) if self.bias_correction else 1.0)
        c = self.b2**0.5
        scaled = state["s"] / (root_of_squares(state["v"], g) + self.eps)
        q = c * state["q"] + (1 - c) * step * (g @ scaled)
        m = self.b1 * state["m"] + (1 - self.b1) * step * g
        v = self.b2 * state["v"] + (1 - self.b2) * g**2
        s = c * state["s"] + (1 - c) * step * g
        bound = ratio(q, (1 - c) * np.sum(np.abs(s)))
        d = np.maximum(state["d"], np.minimum(bound, self.growth * state["d"]))
        after = x - self.weight_decay * step * x - m / (root_of_squares(v, g) + self.eps)
        return after, {"m": m, "v": v, "s": s, "d": d, "q": q}
