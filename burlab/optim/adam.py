"""Adam."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .optimizer import Hyper, Optimizer, State, Vector


@dataclass(frozen=True)
class Adam(Optimizer):
    """Kingma and Ba 2015, Algorithm 1 (eps outside the root), arXiv:1412.6980; torch.optim.Adam is the same.

    m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2;  x <- x - lr m^ / (sqrt(v^) + eps), with the bias taken out:
    m^ = m / (1 - b1^(t+1)), v^ = v / (1 - b2^(t+1)).
    lr: step size. b1, b2: decay of the two moments. eps: what keeps the quotient finite.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.Adam(0.5), steps=1).x.round(6)
    array([0.5])
    """

    lr: Hyper = 1e-3
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-8

    def init(self, x: Vector) -> State:
        """Both moments are zero."""
        return {"m": np.zeros_like(x), "v": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Any = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step along the first moment, scaled by the root of the second."""
        m = self.b1 * state["m"] + (1 - self.b1) * g
        v = self.b2 * state["v"] + (1 - self.b2) * g**2
        # The corrections are numbers: one division is left for each entry of x.
        rate = self.lr / (1 - self.b1 ** (t + 1))
        scale = 1 / np.sqrt(1 - self.b2 ** (t + 1))
        return x - rate * (m / (np.sqrt(v) * scale + self.eps)), {"m": m, "v": v}
