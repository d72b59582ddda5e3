"""Adafactor."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.arithmetic import root_of_squares
from burlab.optim.by_leaf import ByLeaf, Draw
from burlab.optim.optimizer import Hyper, State, Vector


def mean_square(x: Vector) -> Any:
    """The mean of the squares of all entries."""
    return np.mean(x**2)


@dataclass(frozen=True)
class Adafactor(ByLeaf):
    """Shazeer and Stern 2018, Algorithms 4 and 5, arXiv:1804.04235, in torch's form (torch.optim.Adafactor).

    With b = (t+1)^decay: of a matrix (a stack of them) r <- (1 - b) r + b mean over columns of g^2, c likewise over
    rows, v = r c / mean(r); of all other leaves v <- (1 - b) v + b g^2. u = g / sqrt(max(v, eps^2));
    x <- (1 - lr weight_decay) x - min(lr, 1 / sqrt(t+1)) max(floor, rms(x)) u / max(1, rms(u) / clip).
    lr: bound of the relative step. decay: negative power of the step. floor: least scale of x. clip: largest rms of u.
    weight_decay: rate of the decay. eps: the machine's for x's dtype where it is None, as in torch.
    Cost: one gradient; keeps m + n numbers per matrix m x n and d for the rest.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda w: np.sum((w - 1) ** 2), np.zeros((3, 2)), bl.optim.Adafactor(1.0), steps=200)
    >>> bool(np.abs(run.x - 1).max() < 0.1), [leaf.shape for leaf in run.state[0].values()]
    (True, [(1, 2), (3, 1)])
    """

    lr: Hyper = 1e-2
    decay: Hyper = -0.8
    floor: Hyper = 1e-3
    clip: Hyper = 1.0
    weight_decay: Hyper = 0.0
    eps: float | None = None

    def init_leaf(self, x: Vector) -> State:
        """Nothing seen yet."""
        if len(x.shape) < 2:
            return {"v": np.zeros_like(x)}
        return {
            "columns": np.zeros((*x.shape[:-2], 1, x.shape[-1]), x.dtype),
            "rows": np.zeros((*x.shape[:-1], 1), x.dtype),
        }

    def update_leaf(self, g: Vector, state: State, x: Vector, t: int, draw: Draw) -> tuple[Vector, State]:  # noqa: ARG002
        """A step relative to the size of the leaf."""
        eps = float(np.finfo(x.dtype).eps) if self.eps is None else self.eps
        fresh = (t + 1) ** self.decay
        if len(x.shape) < 2:
            v = (1 - fresh) * state["v"] + fresh * g**2
            state = {"v": v}
        else:
            rows = (1 - fresh) * state["rows"] + fresh * np.mean(g**2, axis=-1, keepdims=True)
            columns = (1 - fresh) * state["columns"] + fresh * np.mean(g**2, axis=-2, keepdims=True)
            v = rows * (columns / np.maximum(np.mean(rows, axis=-2, keepdims=True), eps))
            state = {"columns": columns, "rows": rows}
        u = g / root_of_squares(np.maximum(v, eps**2), g)
        step = np.minimum(self.lr, 1 / (t + 1) ** 0.5) * np.maximum(self.floor, np.sqrt(mean_square(x)))
        shrunken = (1 - self.lr * self.weight_decay) * x
        return shrunken - step / np.maximum(1.0, np.sqrt(mean_square(u)) / self.clip) * u, state
