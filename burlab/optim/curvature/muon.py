"""Muon."""

from dataclasses import dataclass

import numpy as np

from burlab.optim.by_leaf import ByLeaf, Draw, adam_init, adam_step
from burlab.optim.optimizer import Hyper, State, Vector
from burlab.runtime.checks.numbers import whole

QUINTIC = (3.4445, -4.7750, 2.0315)


def nearly_orthogonal(g: Vector, iterations: int, eps: float) -> Vector:
    """U S V' with S between about 0.7 and 1.2, for g = U s V': Newton and Schulz's iteration of fifth order.

    y <- a y + (b y y' + c (y y')^2) y from y = g / (|g| + eps), with the factors of Jordan 2024. Shape of g.
    """
    wide = g.shape[0] <= g.shape[1]
    y = (g if wide else g.T) / (np.linalg.norm(g) + eps)
    a, b, c = QUINTIC
    for _ in range(iterations):
        squared = y @ y.T
        y = a * y + (b * squared + c * squared @ squared) @ y
    return y if wide else y.T


@dataclass(frozen=True)
class Muon(ByLeaf):
    """Jordan et al. 2024, https://kellerjordan.github.io/posts/muon, in the form of optax.contrib.muon.

    Of a matrix: m <- mu m + (1 - mu) g;  x <- x - lr (sqrt(max(1, columns / rows)) O + weight_decay x), where O is
    nearly the closest orthogonal matrix to Nesterov's mean mu m / (1 - mu^(t+2)) + (1 - mu) g / (1 - mu^(t+1)). The
    authors correct no bias and compute O in bfloat16, here it is in x's dtype. All other leaves: Adam with b1, b2.
    lr: step size of both. mu: momentum. weight_decay: of matrices. eps: of both. iterations: Newton-Schulz, for O.
    Cost: one gradient and 15 products per matrix; keeps d numbers for matrices and 2 d for the rest.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda w: np.sum((w - np.eye(3)) ** 2), np.zeros((3, 3)), bl.optim.Muon(0.1), steps=12)
    >>> bool(np.abs(run.x - np.eye(3)).max() < 0.2)
    True
    """

    lr: Hyper = 0.02
    mu: Hyper = 0.95
    weight_decay: Hyper = 0.0
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-8
    iterations: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.iterations, "iterations", 1)

    def init_leaf(self, x: Vector) -> State:
        """A mean of gradients for a matrix, Adam's moments for the rest."""
        return {"m": np.zeros_like(x)} if len(x.shape) == 2 else adam_init(x)

    def update_leaf(self, g: Vector, state: State, x: Vector, t: int, draw: Draw) -> tuple[Vector, State]:  # noqa: ARG002
        """A step along an orthogonal matrix."""
        if len(x.shape) != 2:
            step, state = adam_step(g, state, t, self.b1, self.b2, self.eps)
            return x - self.lr * step, state
        m = self.mu * state["m"] + (1 - self.mu) * g
        ahead = self.mu / (1 - self.mu ** (t + 2)) * m + (1 - self.mu) / (1 - self.mu ** (t + 1)) * g
        width = max(1.0, x.shape[1] / x.shape[0]) ** 0.5
        step = width * nearly_orthogonal(ahead, self.iterations, self.eps) + self.weight_decay * x
        return x - self.lr * step, {"m": m}
