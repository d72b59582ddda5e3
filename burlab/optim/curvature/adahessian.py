"""AdaHessian."""

from dataclasses import dataclass

import numpy as np

from burlab.optim.arithmetic import root_of_squares
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.transforms import random


def hutchinson(f: Queries, x: Vector) -> Vector:
    """z * (H z) for a z of random signs: on average the diagonal of the Hessian, Bekas, Kokiopoulou and Saad 2007.

    Exact where H is diagonal. Cost: one Hessian-vector product. Shape (d,).
    """
    z = random.rademacher(f.key, x.shape, x.dtype)
    return z * f.hvp(x, z)


@dataclass(frozen=True)
class AdaHessian(Optimizer):
    """Yao et al. 2021, Algorithm 1, arXiv:2006.00719, without the mean over blocks of the diagonal.

    m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) D^2 with D from `hutchinson`;
    x <- x - lr m^ / (sqrt(v^)^k + eps), with both corrected as in Adam.
    lr: step size. b1, b2: decay of the two means. eps: keeps the quotient finite. k: power of the curvature, from 0
    to 1. Cost: one gradient and one Hessian-vector product; keeps 2 d numbers.

    >>> import numpy as np, burlab as bl
    >>> f = lambda x: 50 * x[0] ** 2 + x[1] ** 2 / 2
    >>> bl.minimize(f, np.ones(2), bl.optim.AdaHessian(0.5, eps=0.0), steps=1).x
    array([0.5, 0.5])
    """

    lr: Hyper = 0.15
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-4
    k: Hyper = 1.0

    def init(self, x: Vector) -> State:
        """Both means are zero."""
        return {"m": np.zeros_like(x), "v": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """One step along the mean gradient, divided by the mean curvature."""
        m = self.b1 * state["m"] + (1 - self.b1) * g
        diagonal = hutchinson(f, x)
        v = self.b2 * state["v"] + (1 - self.b2) * diagonal**2
        curvature = root_of_squares(v / (1 - self.b2 ** (t + 1)), diagonal) ** self.k
        return x - self.lr / (1 - self.b1 ** (t + 1)) * m / (curvature + self.eps), {"m": m, "v": v}
