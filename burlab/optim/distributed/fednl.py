"""Second-order rules of clients: FedNL."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.communication.compressors import RankK
from burlab.optim.arithmetic import solve, where
from burlab.optim.optimizer import Hyper, Metrics, State, Vector
from burlab.optim.queries import Queries

from .messages import Compressed, bits_of, omega_of, sent, stated_alpha


@dataclass(frozen=True)
class FedNL(Compressed):
    """Safaryan, Islamov, Qian and Richtarik 2022, Algorithm 1 with option 2, arXiv:2106.02969.

    x <- x - lr [H + l I]^-1 grad f(x), H the mean of H_i and l that of |H_i - hess f_i(x)|_F; then
    H_i <- H_i + a C(hess f_i(x) - H_i), from H_i = 0. Gradients are sent whole, of Hessians the
    d (d + 1) / 2 entries on and above the diagonal compressed.
    lr: 1 in the paper. compressor: contractive or unbiased, of vectors of d (d + 1) / 2 entries, or RankK of matrices
    (d, d), which gets whole ones. a: where it is None 1 / (1 + omega) for an unbiased compressor, 1 for a contractive
    one.
    Cost: the gradient of every client and its Hessian, d products with vectors; keeps clients d (d + 1) / 2 numbers.
    Column: bits of all clients so far.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.problems.federated(lambda x, a: np.sum(np.cosh(x - a)), [np.zeros((2, 2)), np.ones((3, 2))])
    >>> run = bl.minimize(problem, np.zeros(2), bl.optim.FedNL(1.0, bl.compressors.TopK(1)), steps=12)
    >>> run.x.round(6)
    array([0.5, 0.5])
    """

    a: Hyper | None = None

    def init(self, x: Vector, *, f: Any = None) -> State:
        """No curvature is known yet."""
        d = x.shape[0]
        return {"H": np.zeros((f.clients, d * (d + 1) // 2), x.dtype)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """A round."""
        d, known = x.shape[0], state["H"]
        rows, columns = np.triu_indices(d)
        missing = f.client_hessians(x)[:, rows, columns] - known
        squares: Any = missing**2 * where(rows == columns, 1.0, 2.0).astype(x.dtype)  # an entry and its mirror
        error = (squares.sum(axis=1) ** 0.5).mean()
        place = np.zeros((d, d), np.int64)
        place[rows, columns] = place[columns, rows] = np.arange(len(rows))
        h = np.mean(known, axis=0)[place]
        gradient = np.mean(f.client_grads(x), axis=0)
        step = solve(h + error * np.eye(d, dtype=x.dtype), gradient)
        whole = isinstance(self.compressor, RankK)
        sendable = missing[:, np.reshape(place, (-1,))] if whole else missing
        message = sent(self.compressor, sendable, f)
        bits = bits_of(self.compressor, sendable) + 8.0 * x.dtype.itemsize * f.clients * (d + 1)
        a = self._rate(sendable.shape[1]) if self.a is None else self.a
        learned = message[:, rows * d + columns] if whole else message
        return x - self.lr * step, {"H": known + a * learned}, {"bits": bits}

    def _rate(self, entries: int) -> float:
        if self.compressor.omega(entries) is None:
            stated_alpha(self, entries)
            return 1.0
        return 1 / (1 + omega_of(self, entries))
