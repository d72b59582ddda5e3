"""RAdam: Adam that waits until its second moment can be trusted."""

from dataclasses import dataclass

import numpy as np

from .adam import moments
from .arithmetic import root_of_squares
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries


@dataclass(frozen=True)
class RAdam(Optimizer):
    """Liu et al. 2020, On the variance of the adaptive learning rate and beyond, Algorithm 2, arXiv:1908.03265.

    With k = t + 1, r = 2 / (1 - b2) - 1 and rho = r - 2 k b2^k / (1 - b2^k), and m, v, m^ as in `Adam`:
    rho > 5: x <- x - lr m^ sqrt((rho - 4) (rho - 2) r / ((r - 4) (r - 2) rho)) sqrt(1 - b2^k) / (sqrt(v) + eps);
    else x <- x - lr m^. As torch.optim.RAdam, which adapts from rho > 5 on, the paper from rho > 4, without eps.
    Fields as in `Adam`. Cost: one gradient; keeps 2 d numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.RAdam(0.25), steps=1).x.round(6)
    array([0.5])
    """

    lr: Hyper = 1e-3
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-8

    def init(self, x: Vector) -> State:
        """Both moments are zero."""
        return {"m": np.zeros_like(x), "v": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step along the first moment, scaled by the root of the second where enough steps have been seen."""
        k = t + 1
        m, v = moments(g, state, self.b1, self.b2)
        decay = self.b2**k
        r = 2 / (1 - self.b2) - 1
        rho = r - 2 * k * decay / (1 - decay)
        trusted = rho > 5
        variance = (rho - 4) * (rho - 2) * r / ((r - 4) * (r - 2) * rho)
        scale = np.sqrt(np.where(trusted, variance * (1 - decay), 1.0))  # no root of a negative number on the way
        along: Vector = self.lr / (1 - self.b1**k) * m
        return x - np.where(trusted, scale * along / (root_of_squares(v, m) + self.eps), along), {"m": m, "v": v}
