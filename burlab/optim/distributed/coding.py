"""Gradient coding: workers compute more than their share, so that the slowest need not be waited for."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.numpy_api.indexing import asarray
from burlab.optim.optimizer import Hyper, Metrics, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import real, whole
from burlab.transforms import random

least_squares: Any = np.linalg.lstsq


@dataclass(frozen=True)
class GradientCoding(Optimizer):
    """Tandon, Lei, Dimakis and Karampatziakis 2017, Algorithms 1 and 2 (cyclic repetition), arXiv:1612.03301.

    The clients' data are the parts, and there are as many workers. Worker i sends one combination of the gradients of
    parts i, ..., i + stragglers; any m - stragglers of these give the sum of all, so the round ends with the fastest so
    many workers:  x <- x - lr grad f(x), gradient descent. A worker needs (stragglers + 1)(1 + slow E) units of
    time, E exponential with mean 1 and one unit the time of a part.
    Random codes are ill-conditioned: with twenty workers a sum keeps about nine digits, in float32 three.
    lr: step size. stragglers: how many are not waited for, less than clients. slow: how much workers vary. seed: of the
    random code.
    Cost: the gradient of every client, computed once here and stragglers + 1 times by workers; keeps nothing. Columns:
    bits so far, round_time in those units.

    >>> import numpy as np, burlab as bl
    >>> clients = [np.zeros((2, 2)), np.ones((3, 2)), np.ones((1, 2))]
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), clients)
    >>> bl.minimize(problem, np.zeros(2), bl.optim.GradientCoding(1.0, stragglers=1), steps=1).x.round(9)
    array([0.66666667, 0.66666667])
    """

    lr: Hyper
    stragglers: int = 1
    slow: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.stragglers, "stragglers", 0)
        real(self.slow, "slow", 0.0)
        whole(self.seed, "seed", 0)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        m, s = f.clients, self.stragglers
        if s >= m:
            raise ArgumentError(f"stragglers is {s} of {m} clients. Pass at most {m - 1}.")
        code = cyclic_code(m, s, self.seed).astype(x.dtype)
        sent = code @ f.client_grads(x)
        time = (s + 1) * (1 + self.slow * random.exponential(f.key, (m,)))
        first = np.argsort(time)[: m - s]
        arrived: Any = asarray(code)[first]
        weights = least_squares(arrived.T, np.ones(m, x.dtype))[0]  # weights @ arrived = (1, ..., 1)
        step = self.lr * (weights @ sent[first]) / m
        bits = 8.0 * x.dtype.itemsize * x.shape[0] * (m - s)
        return x - step, state, {"bits": bits, "round_time": time[first[-1]]}


def cyclic_code(m: int, s: int, seed: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Matrix of each worker's weights: row i is 0 but at i, ..., i + s, and any m - s rows span (1, ..., 1).

    Rows are orthogonal to s random vectors that are orthogonal to (1, ..., 1).
    """
    normals = np.random.default_rng(seed).normal(size=(s, m))
    normals -= normals.mean(axis=1, keepdims=True)
    code = np.eye(m)
    for i in range(m if s else 0):
        support = (i + 1 + np.arange(s)) % m
        code[i, support] = -np.linalg.solve(normals[:, support], normals[:, i])
    return code
