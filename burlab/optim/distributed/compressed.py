"""What clients send is compressed: DCGD, EF21, DIANA, MARINA."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.compressors import Compressor
from burlab.errors import ArgumentError
from burlab.optim.arithmetic import where
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.transforms import random

Told = dict[str, Any]


def sent(compressor: Compressor, rows: Vector, f: Any) -> Vector:
    """Each client's row compressed, with a key of its own. Shape (clients, d)."""
    return np.stack([compressor(rows[c], random.fold_in(f.key, c)) for c in range(rows.shape[0])])


def of_all(compressor: Compressor, rows: Vector) -> float:
    """Bits that all clients send in a step, compressed."""
    return rows.shape[0] * compressor.bits(rows.shape[1], 8 * rows.dtype.itemsize)


@dataclass(frozen=True)
class _Compressed(Optimizer):
    """A step size, and what compresses. Abstract."""

    lr: Hyper
    compressor: Compressor

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.compressor
        if not isinstance(given, Compressor):
            kind = type(self).__name__
            raise ArgumentError(
                f"compressor of {kind} is {given!r:.80}, expected one of bl.compressors, such as RandK(2)."
            )


def omega_of(rule: Any, d: int) -> float:
    """The compressor's omega. Raises ArgumentError where it is biased."""
    omega = rule.compressor.omega(d)
    if omega is None:
        kind, given = type(rule).__name__, type(rule.compressor).__name__
        raise ArgumentError(
            f"compressor of {kind} is {given}, which is biased, and {kind} needs an unbiased one, such as RandK. "
            "EF21 takes biased ones."
        )
    return omega


@dataclass(frozen=True)
class DCGD(_Compressed):
    """Distributed compressed gradient descent, Khirirat et al. 2018: x <- x - lr mean C(grad f_i(x)).

    It stalls where the clients' gradients do not vanish at the minimum. lr: step size. compressor: unbiased.
    Cost: the gradient of every client; keeps nothing. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.ones((2, 2)), np.ones((3, 2))])
    >>> run = bl.minimize(problem, np.zeros(2), bl.optim.DCGD(0.5, bl.compressors.RandK(1)), steps=60)
    >>> run.x.round(3), run.history["bits"][-1]
    (array([1., 1.]), np.float64(7680.0))
    """

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Any) -> tuple[Vector, State, Told]:  # noqa: ARG002
        """A round."""
        omega_of(self, x.shape[0])
        grads = f.client_grads(x)
        step = np.mean(sent(self.compressor, grads, f), axis=0)
        return x - self.lr * step, state, {"bits": of_all(self.compressor, grads)}


@dataclass(frozen=True)
class EF21(_Compressed):
    """Richtarik, Sokolov and Fatkhullin 2021, Algorithm 2, arXiv:2106.05203.

    g_i <- g_i + C(grad f_i(x) - g_i);  x <- x - lr mean g_i, from g_i = 0.
    lr: at most 1 / (L + L~ sqrt(b / a)) with a = 1 - sqrt(1 - alpha), b = (1 - alpha) / a, L~^2 the mean of L_i^2; in
    EF21-W, Richtarik et al. 2024, arXiv:2402.10774, their mean takes the place of L~. compressor: contractive; one that
    is unbiased alone is scaled by 1 / (1 + omega) in `Scaled`.
    Cost: the gradient of every client; keeps clients d numbers. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> run = bl.minimize(problem, np.zeros(2), bl.optim.EF21(0.3, bl.compressors.TopK(1)), steps=100)
    >>> run.x.round(3)
    array([0.5, 0.5])
    """

    def init(self, x: Vector, *, f: Any = None) -> State:
        """Nothing was sent yet."""
        self._check(x.shape[0])
        return {"g": np.zeros((f.clients, x.shape[0]), x.dtype)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Any) -> tuple[Vector, State, Told]:  # noqa: ARG002
        """A round."""
        told = {"bits": of_all(self.compressor, state["g"])}
        estimates = state["g"] + sent(self.compressor, f.client_grads(x) - state["g"], f)
        return x - self.lr * np.mean(estimates, axis=0), {"g": estimates}, told

    def _check(self, d: int) -> None:
        omega = self.compressor.omega(d)
        if omega is not None and omega >= 1:
            name = type(self.compressor).__name__
            raise ArgumentError(
                f"compressor of EF21 is {name} with omega {omega:g}: it is not contractive. Pass Scaled({name}(...))."
            )


@dataclass(frozen=True)
class DIANA(_Compressed):
    """Mishchenko, Gorbunov, Takac and Richtarik 2019, arXiv:1901.09269; Horvath et al. 2023 for any omega.

    m_i = C(grad f_i(x) - h_i);  x <- x - lr (mean h_i + mean m_i);  h_i <- h_i + a m_i, from h_i = 0.
    lr: 1 / (L_max (1 + 6 omega / clients)). compressor: unbiased. a: 1 / (1 + omega) where it is None.
    Cost: the gradient of every client; keeps clients d numbers. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> run = bl.minimize(problem, np.zeros(2), bl.optim.DIANA(0.2, bl.compressors.RandK(1)), steps=200)
    >>> run.x.round(3)
    array([0.5, 0.5])
    """

    a: Hyper | None = None

    def init(self, x: Vector, *, f: Any = None) -> State:
        """No shifts yet."""
        return {"h": np.zeros((f.clients, x.shape[0]), x.dtype)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Any) -> tuple[Vector, State, Told]:  # noqa: ARG002
        """A round."""
        h, omega = state["h"], omega_of(self, x.shape[0])
        a = 1 / (1 + omega) if self.a is None else self.a
        message = sent(self.compressor, f.client_grads(x) - h, f)
        after = x - self.lr * np.mean(h + message, axis=0)
        return after, {"h": h + a * message}, {"bits": of_all(self.compressor, h)}


@dataclass(frozen=True)
class MARINA(_Compressed):
    """Gorbunov, Burlachenko, Li and Richtarik 2021, Algorithm 1, arXiv:2102.07845.

    With one coin for all, v = mean grad f_i(x) with probability p and at the first step, else
    v <- v + mean C(grad f_i(x) - grad f_i(x before));  x <- x - lr v.
    lr: at most 1 / (L~ (1 + sqrt((1 - p) omega / (p clients)))), L~^2 the mean of L_i^2. compressor: unbiased.
    p: 1 / (1 + omega) where it is None. Cost: the gradient of every client; keeps (clients + 1) d numbers. Column:
    bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> run = bl.minimize(problem, np.zeros(2), bl.optim.MARINA(0.2, bl.compressors.RandK(1)), steps=200)
    >>> run.x.round(3)
    array([0.5, 0.5])
    """

    p: Hyper | None = None

    def init(self, x: Vector, *, f: Any = None) -> State:
        """No gradients yet."""
        return {"v": np.zeros_like(x), "grads": np.zeros((f.clients, x.shape[0]), x.dtype)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Any) -> tuple[Vector, State, Told]:  # noqa: ARG002
        """A round."""
        grads, omega = f.client_grads(x), omega_of(self, x.shape[0])
        p = 1 / (1 + omega) if self.p is None else self.p
        whole = (random.uniform(f.key, ()) < p) | (t == 0)
        change = np.mean(sent(self.compressor, grads - state["grads"], f), axis=0)
        v = where(whole, np.mean(grads, axis=0), state["v"] + change)
        bits = where(whole, float(8 * grads.dtype.itemsize * grads.size), of_all(self.compressor, grads))
        return x - self.lr * v, {"v": v, "grads": grads}, {"bits": bits}
