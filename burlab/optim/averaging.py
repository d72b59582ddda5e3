"""Averaged stochastic gradient descent."""

from dataclasses import dataclass

import numpy as np

from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries


@dataclass(frozen=True)
class ASGD(Optimizer):
    """Polyak and Juditsky 1992, in Bottou's form, which is torch's (torch.optim.ASGD).

    e = lr / (1 + lambd lr t)^alpha;  x <- (1 - lambd e) x - e g;  mean <- mean + (x - mean) / max(1, t - t0).
    The mean, which is the answer, is `run.state["mean"]`; until step t0 it is x itself. A changed lr counts at once, in
    torch one step later. torch keeps e, its eta, in its default dtype, float32 unless
    torch.set_default_dtype(torch.float64) was called; burlab computes it in float64.
    lr: step size at the start. lambd: rate of the decay of x and of the step. alpha: power of the step's decay.
    t0: the step from which on points are averaged. Cost: one gradient; keeps d numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.ASGD(0.25, lambd=0.0, t0=0), steps=3)
    >>> run.x, run.state["mean"]
    (array([0.125]), array([0.1875]))
    """

    lr: Hyper = 1e-2
    lambd: Hyper = 1e-4
    alpha: Hyper = 0.75
    t0: Hyper = 1e6

    def init(self, x: Vector) -> State:
        """No mean yet."""
        return {"mean": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step, and one point more in the mean."""
        step = self.lr / (1 + self.lambd * self.lr * t) ** self.alpha
        x = (1 - self.lambd * step) * x - step * g
        return x, {"mean": state["mean"] + (x - state["mean"]) / np.maximum(1, t - self.t0)}
