"""Clients send compressed differences of gradients: MARINA with its VR and PP forms, DASHA."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.arithmetic import where
from burlab.optim.optimizer import Hyper, Metrics, State, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import whole
from burlab.transforms import cond, random
from burlab.typing import Array

from .messages import Compressed, bits_of, check_clients, omega_of, sent


@dataclass(frozen=True)
class MARINA(Compressed):
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

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        grads, omega = f.client_grads(x), omega_of(self, x.shape[0])
        p = 1 / (1 + omega) if self.p is None else self.p
        whole = (random.uniform(f.key, ()) < p) | (t == 0)
        change = np.mean(sent(self.compressor, grads - state["grads"], f), axis=0)
        v = where(whole, np.mean(grads, axis=0), state["v"] + change)
        bits = where(whole, float(8 * grads.dtype.itemsize * grads.size), bits_of(self.compressor, grads))
        return x - self.lr * v, {"v": v, "grads": grads}, {"bits": bits}


@dataclass(frozen=True)
class VRMARINA(Compressed):
    """MARINA with variance reduction, Gorbunov et al. 2021, Algorithm 2, arXiv:2102.07845, for clients with samples.

    As MARINA, but the differences are those of gradients over `batch` random samples of each client, the same at both
    points: v <- v + mean C(grad_i(x) - grad_i(x before)), and at times mean grad f_i(x).
    p: the smaller of 1 / (1 + omega) and batch / (batch + samples of the largest client) where it is None.
    lr: at most 1 / (L~ + sqrt((1 - p) / (p clients) (omega L~^2 + (1 + omega) l^2 / batch))), l^2 the mean of squares
    of smoothness over samples. compressor: unbiased. batch: samples of each client, drawn with replacement.
    Cost: 2 batch gradients of every client, or all; keeps 2 d numbers. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> run = bl.minimize(problem, np.zeros(2), bl.optim.VRMARINA(0.2, bl.compressors.RandK(1), batch=1), steps=200)
    >>> run.x.round(3)
    array([0.5, 0.5])
    """

    batch: int = 1
    p: Hyper | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.batch, "batch", 1)

    def init(self, x: Vector) -> State:
        """No estimate before the first step."""
        return {"v": np.zeros_like(x), "before": x}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        share = self.batch / (self.batch + max(f.client_sizes))
        p = min(1 / (1 + omega_of(self, x.shape[0])), share) if self.p is None else self.p
        key = random.fold_in(f.key, f.clients)
        sizes = np.array(f.client_sizes)[:, None]
        chosen = np.floor(random.uniform(key, (f.clients, self.batch)) * sizes).astype(np.int64)
        return _round(self, state, x, (random.uniform(f.key, ()) < p) | (t == 0), f, {"indices": chosen})


@dataclass(frozen=True)
class PPMARINA(Compressed):
    """MARINA with partial participation, Gorbunov et al. 2021, Algorithm 4, arXiv:2102.07845.

    As MARINA, but differences come from `clients` of the m clients, drawn with replacement.
    p: clients / (m (1 + omega)) where it is None, as in the paper.
    lr: at most 1 / (L (1 + sqrt((1 - p)(1 + omega) / (p clients)))), L the largest L_i. compressor: unbiased.
    Cost: 2 gradients of each of these clients, or one of all; keeps 2 d numbers. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> run = bl.minimize(problem, np.zeros(2), bl.optim.PPMARINA(0.1, bl.compressors.RandK(1), clients=1), steps=400)
    >>> run.x.round(3)
    array([0.5, 0.5])
    """

    clients: int = 1
    p: Hyper | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.clients, "clients", 1)

    def init(self, x: Vector) -> State:
        """No estimate before the first step."""
        return {"v": np.zeros_like(x), "before": x}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        omega = omega_of(self, x.shape[0])
        check_clients(self.clients, f)
        p = self.clients / (f.clients * (1 + omega)) if self.p is None else self.p
        chosen = random.randint(random.fold_in(f.key, f.clients), (self.clients,), 0, f.clients)
        return _round(self, state, x, (random.uniform(f.key, ()) < p) | (t == 0), f, {"clients": chosen})


def _round(rule: Compressed, state: State, x: Vector, fresh: Array, f: Queries, some: dict[str, Any]) -> Any:
    """The mean of all clients' gradients where `fresh`, else v and the mean of some compressed differences."""

    def everyone() -> Any:
        return np.mean(f.client_grads(x), axis=0), float(8 * x.dtype.itemsize * x.shape[0] * f.clients)

    def differences() -> Any:
        rows = f.client_grads(x, **some) - f.client_grads(state["before"], **some)
        return state["v"] + np.mean(sent(rule.compressor, rows, f), axis=0), bits_of(rule.compressor, rows)

    v, bits = cond(fresh, everyone, differences)
    return x - rule.lr * v, {"v": v, "before": x}, {"bits": bits}


@dataclass(frozen=True)
class DASHA(Compressed):
    """Tyurin and Richtarik 2023, Algorithm 1 with full local gradients, arXiv:2202.01268: no round sends everything.

    h_i the gradient of client i at x, h_i' that before:  m_i = C(h_i - h_i' - a (g_i - h_i'));  g_i <- g_i + m_i;
    x <- x - lr mean g_i, from g_i = h_i at the start.
    lr: at most 1 / (L + L~ sqrt(16 omega (2 omega + 1) / clients)), L~^2 the mean of L_i^2. compressor: unbiased.
    a: 1 / (2 omega + 1) where it is None.
    Cost: the gradient of every client; keeps 2 clients d numbers. Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: 0.5 * np.sum((x - a) ** 2), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> run = bl.minimize(problem, np.zeros(2), bl.optim.DASHA(0.2, bl.compressors.RandK(1)), steps=300)
    >>> run.x.round(3)
    array([0.5, 0.5])
    """

    a: Hyper | None = None

    def init(self, x: Vector, *, f: Any = None) -> State:
        """Nothing before the first step, at which both are the gradients."""
        return {name: np.zeros((f.clients, x.shape[0]), x.dtype) for name in ("g", "h")}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        omega = omega_of(self, x.shape[0])
        a = 1 / (2 * omega + 1) if self.a is None else self.a
        grads, h = f.client_grads(x), state["h"]
        message = sent(self.compressor, grads - h - a * (state["g"] - h), f)
        estimates = where(t == 0, grads, state["g"] + message)
        bits = where(t == 0, float(8 * grads.dtype.itemsize * grads.size), bits_of(self.compressor, grads))
        return x - self.lr * np.mean(estimates, axis=0), {"g": estimates, "h": grads}, {"bits": bits}
