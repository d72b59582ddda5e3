"""Rules for clients of which some lie: a server with a robust aggregator, and MoNNA without a server."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burlab.communication.robust import Aggregator, Attack, Median, NearestMean, SignFlip
from burlab.errors import ArgumentError
from burlab.optim.optimizer import Hyper, Metrics, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import shown, whole

from .messages import bits_whole


@dataclass(frozen=True)
class _WithLiars(Optimizer):
    """The last clients lie. Abstract."""

    lr: Hyper
    liars: int
    beta: Hyper = 0.9
    attack: Attack = field(default_factory=SignFlip)

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.liars, "liars", 0)
        self._check("attack", Attack, "one of bl.robust, such as SignFlip()")

    def _check(self, name: str, kind: type, such: str) -> None:
        given = getattr(self, name)
        if not isinstance(given, kind):
            raise ArgumentError(f"{name} of {type(self).__name__} is {shown(given)}, expected {such}.")

    def honest(self, f: Queries) -> int:
        """Number of clients that do not lie: more than half."""
        if 2 * self.liars >= f.clients:
            raise ArgumentError(
                f"liars of {type(self).__name__} is {self.liars} of {f.clients} clients. Less than half may lie."
            )
        return f.clients - self.liars

    def received(self, rows: Vector, f: Queries) -> Vector:
        """Rows that every client receives: the honest ones, and of every liar the same vector."""
        if not self.liars:
            return rows
        lie = self.attack(rows, self.liars, f.key)
        return np.concatenate([rows, np.stack([lie] * self.liars)])


@dataclass(frozen=True)
class RobustGD(_WithLiars):
    """Distributed momentum with a robust aggregator at the server: Farhadkhani et al. 2022, RESAM, arXiv:2205.12173.

    m_i <- beta m_i + (1 - beta) grad f_i(x) at every honest client, liars send what their attack says;
    x <- x - lr A(m). What is minimized is the mean over the honest clients: the last `liars` of them lie.
    lr: step size. liars: less than half of the clients. aggregator: of `bl.robust`. beta: momentum. attack: of
    `bl.robust`. Cost: the gradients of honest clients; keeps honest d numbers. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), np.array([[[1.0]], [[2.0]], [[3.0]]]))
    >>> rule = bl.optim.RobustGD(0.2, 1, aggregator=bl.robust.TrimmedMean(1), beta=0.0)
    >>> bl.minimize(problem, np.zeros(1), rule, steps=100).x.round(6)
    array([1.])
    """

    aggregator: Aggregator = field(default_factory=Median)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("aggregator", Aggregator, "one of bl.robust, such as Median()")

    def init(self, x: Vector, *, f: Any = None) -> State:
        """No momentum."""
        return {"m": np.zeros((self.honest(f), x.shape[0]), x.dtype)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        grads = f.client_grads(x, clients=np.arange(self.honest(f)))
        m = self.beta * state["m"] + (1 - self.beta) * grads
        received = self.received(m, f)
        return x - self.lr * self.aggregator(received), {"m": m}, {"bits": bits_whole(received)}


@dataclass(frozen=True)
class MoNNA(_WithLiars):
    """Farhadkhani et al. 2023, Algorithm 1 with full local gradients, arXiv:2209.10931: no server.

    Every honest client: m_i <- beta m_i + (1 - beta) grad f_i(x_i), sends y_i = x_i - lr m_i to all, and takes the
    mean of the clients - liars vectors that are nearest to its own. The run's x is the mean of the honest x_i.
    lr: step size. liars: the last ones lie, less than half. beta: momentum, 0.99 in the authors' code. attack: of
    `bl.robust`, on what is sent. Cost: the gradients of honest clients; keeps 2 honest d numbers. Column: bits so
    far, of the vectors that each client sends to each other one.

    >>> import numpy as np, burlab as bl
    >>> clients = np.array([[[1.0]], [[1.1]], [[1.2]], [[0.0]]])
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), clients)
    >>> rule = bl.optim.MoNNA(0.2, 1, beta=0.5, attack=bl.robust.SignFlip(5.0))
    >>> bl.minimize(problem, np.zeros(1), rule, steps=100).x.round(3)
    array([1.1])
    """

    def init(self, x: Vector, *, f: Any = None) -> State:
        """All begin at x, without momentum."""
        m = np.zeros((self.honest(f), x.shape[0]), x.dtype)
        return {"m": m, "points": m + x}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        points = state["points"]
        m = self.beta * state["m"] + (1 - self.beta) * f.client_grads(points, clients=np.arange(self.honest(f)))
        own = points - self.lr * m
        received = self.received(own, f)
        points = NearestMean(self.liars).around(own, received)
        metrics = {"bits": bits_whole(received) * (f.clients - 1)}  # each sends its vector to all others
        return np.mean(points, axis=0), {"m": m, "points": points}, metrics
