"""Clients take steps of their own between two rounds: FedAvg, FedProx, SCAFFOLD."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.arithmetic import number, ratio, where
from burlab.optim.optimizer import Hyper, Metrics, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import whole
from burlab.transforms import fori_loop

from .messages import bits_whole

More = Callable[[Any], Any]  # what is added to the gradients at y, shape (clients, d)


def local_steps(x: Vector, f: Queries, lr: float, tau: int, more: More) -> Vector:
    """Points of the clients, shape (clients, d), after tau steps y <- y - lr (grad f_i(y) + more(y)) from x."""
    start = np.zeros((f.clients, x.shape[0]), x.dtype) + x
    return fori_loop(0, tau, lambda _, y: y - lr * (f.client_grads(y) + more(y)), start)


@dataclass(frozen=True)
class _Local(Optimizer):
    """tau steps of size lr at every client. Abstract."""

    lr: Hyper = 1e-2
    tau: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.tau, "tau", 1)


@dataclass(frozen=True)
class FedAvg(_Local):
    """McMahan et al. 2017, Algorithm 1 with full local gradients and all clients, arXiv:1602.05629.

    Every client takes tau steps of gradient descent from x; x <- the mean of where they end. tau = 1 is gradient
    descent; else it ends where sum (I - (I - lr H_i)^tau)(x - x_i*) = 0 on quadratics, not at the minimum.
    lr: size of local steps. tau: local steps.
    Cost: tau gradients of every client; keeps nothing. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> bl.minimize(problem, np.zeros(2), bl.optim.FedAvg(0.5, tau=3), steps=20).x.round(3)
    array([0.5, 0.5])
    """

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        y = local_steps(x, f, self.lr, self.tau, np.zeros_like)
        return np.mean(y, axis=0), state, {"bits": bits_whole(y)}


@dataclass(frozen=True)
class FedProx(_Local):
    """Li et al. 2020, Algorithm 2, arXiv:1812.06127: FedAvg with mu / 2 |y - x|^2 added to every local function.

    lr: size of local steps. tau: local steps. mu: pull to the server's point.
    Cost: tau gradients of every client; keeps nothing. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> bl.minimize(problem, np.zeros(2), bl.optim.FedProx(0.5, tau=3, mu=0.5), steps=20).x.round(3)
    array([0.5, 0.5])
    """

    mu: Hyper = 0.1

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        y = local_steps(x, f, self.lr, self.tau, lambda y: self.mu * (y - x))
        return np.mean(y, axis=0), state, {"bits": bits_whole(y)}


@dataclass(frozen=True)
class SCAFFOLD(_Local):
    """Karimireddy et al. 2020, Algorithm 1 with option II, full local gradients and all clients, arXiv:1910.06378.

    y_i takes tau steps y <- y - lr (grad f_i(y) - c_i + c), c the mean of c_i; then c_i <- c_i - c +
    (x - y_i) / (tau lr) and x <- x + outer mean(y_i - x), from c_i = 0. Unlike FedAvg it ends at the minimum.
    lr: size of local steps. tau: local steps. outer: the server's part of the mean step.
    Cost: tau gradients of every client; keeps clients d numbers. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> bl.minimize(problem, np.zeros(2), bl.optim.SCAFFOLD(0.3, tau=3), steps=40).x.round(3)
    array([0.5, 0.5])
    """

    outer: Hyper = 1.0

    def init(self, x: Vector, *, f: Any = None) -> State:
        """No control variates yet."""
        return {"c": np.zeros((f.clients, x.shape[0]), x.dtype)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        c = state["c"]
        shift = np.mean(c, axis=0) - c
        y = local_steps(x, f, self.lr, self.tau, lambda _: shift)
        way = self.tau * self.lr * number(x, 1.0)
        kept = where(way == 0, c, ratio(x - y, way) - shift)  # a schedule may end at 0, where nothing moves
        metrics = {"bits": bits_whole(y) + bits_whole(kept)}  # a client sends where it is, and its control variate
        return x + self.outer * (np.mean(y, axis=0) - x), {"c": kept}, metrics
