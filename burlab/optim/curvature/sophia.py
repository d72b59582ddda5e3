"""Sophia."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import whole
from burlab.transforms import cond

from .adahessian import hutchinson


class _Sophia(Optimizer):
    """The step that both have; they differ in what they take for the diagonal of the Hessian."""

    lr: Hyper
    b1: Hyper
    b2: Hyper
    eps: Hyper
    gamma: Hyper
    weight_decay: Hyper
    every: int

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.every, "every", 1)

    def init(self, x: Vector) -> State:
        """No gradient and no curvature yet."""
        return {"m": np.zeros_like(x), "h": np.zeros_like(x)}

    @abstractmethod
    def _curvature(self, f: Queries, x: Vector) -> Vector:
        """An estimate of the diagonal."""

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """One step, at most lr long in every entry."""
        m, h = self.b1 * state["m"] + (1 - self.b1) * g, state["h"]
        quotient = m / (1 - self.b1 ** (t + 1)) / np.maximum(self.gamma * h, self.eps)
        step = np.clip(quotient, -1.0, 1.0) + self.weight_decay * x
        fresh = cond(t % self.every == 0, lambda: self.b2 * h + (1 - self.b2) * self._curvature(f, x), lambda: h)
        return x - self.lr * step, {"m": m, "h": fresh}


@dataclass(frozen=True)
class SophiaH(_Sophia):
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

    def _curvature(self, f: Queries, x: Vector) -> Vector:
        return hutchinson(f, x)


@dataclass(frozen=True)
class SophiaG(_Sophia):
    """Liu et al. 2024, Algorithm 3 with the Gauss-Newton-Bartlett estimate, Algorithm 2, arXiv:2305.14342.

    The step is SophiaH's, with h <- b2 h + (1 - b2) B g^ * g^ every so many steps, g^ the mean gradient of a batch of B
    samples whose labels the model draws itself: on average the diagonal of the Gauss-Newton matrix, and never negative.
    The problem says how: bl.FiniteSum(loss, data, resampled=f), f(x, *sample, key=) the loss for such a label. The
    authors' code divides by 0.04 B h without a correction of the bias of m; 0.05 is the paper's gamma.
    lr: the largest step of an entry. b1, b2: decay of the two means. gamma: how much curvature is trusted; few entries
    should be clipped. eps: below it curvature is none. weight_decay: rate of the decoupled decay.
    Cost: one gradient, and a second one every so many steps; keeps 2 d numbers.

    >>> import numpy as np, burlab as bl
    >>> def loss(x, label): return np.logaddexp(0.0, -label * x[0])
    >>> def resampled(x, label, key):  # 1 with probability sigmoid(x_0)
    ...     return loss(x, np.where(bl.random.uniform(key, ()) < bl.sigmoid(x[0]), 1.0, -1.0))
    >>> problem = bl.FiniteSum(loss, np.array([1.0, 1.0, 1.0, -1.0]), resampled=resampled)
    >>> run = bl.minimize(problem, np.zeros(1), bl.optim.SophiaG(0.1, gamma=1.0), steps=200)
    >>> bool(abs(run.x[0] - np.log(3)) < 0.02)
    True
    """

    lr: Hyper = 1e-3
    b1: Hyper = 0.965
    b2: Hyper = 0.99
    eps: Hyper = 1e-8
    gamma: Hyper = 0.05
    weight_decay: Hyper = 1e-4
    every: int = 10

    def _curvature(self, f: Queries, x: Vector) -> Vector:
        g = f.resampled_grad(x)
        return f.batch * g * g
