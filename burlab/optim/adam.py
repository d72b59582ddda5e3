"""Adam and those that change one line of it: AMSGrad and AdamW."""

from dataclasses import dataclass

import numpy as np

from .arithmetic import root_of_squares
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries


def moments(g: Vector, state: State, b1: float, b2: float) -> tuple[Vector, Vector]:
    """Running means of g and of g^2: m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2."""
    return b1 * state["m"] + (1 - b1) * g, b2 * state["v"] + (1 - b2) * g**2


def along(m: Vector, v: Vector, t: int, lr: float, b1: float, b2: float, eps: float) -> Vector:
    """lr m^ / (sqrt(v^) + eps), with the bias corrected: m^ = m / (1 - b1^(t+1)), v^ = v / (1 - b2^(t+1)).

    In the order that section 2 of the paper recommends: the corrections are numbers, one division is left per entry.
    """
    root = (1 - b2 ** (t + 1)) ** 0.5
    rate = lr * root / (1 - b1 ** (t + 1))
    return rate * m / (root_of_squares(v, m) + eps * root)


@dataclass(frozen=True)
class Adam(Optimizer):
    """Kingma and Ba 2015, Algorithm 1 (eps outside the root), arXiv:1412.6980; torch.optim.Adam is the same.

    m <- b1 m + (1 - b1) g;  v <- b2 v + (1 - b2) g^2;  x <- x - lr m^ / (sqrt(v^) + eps), with the bias corrected:
    m^ = m / (1 - b1^(t+1)), v^ = v / (1 - b2^(t+1)).
    lr: step size. b1, b2: decay of the two moments. eps: keeps the quotient finite.
    Cost: one gradient; keeps 2 d numbers.

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

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step along the first moment, scaled by the root of the second."""
        m, v = moments(g, state, self.b1, self.b2)
        return x - along(m, v, t, self.lr, self.b1, self.b2, self.eps), {"m": m, "v": v}


@dataclass(frozen=True)
class AMSGrad(Optimizer):
    """Reddi, Kale and Kumar 2018, Algorithm 2, arXiv:1904.09237, in torch's form (torch.optim.Adam with amsgrad=True).

    Adam, but the step is divided by the largest second moment so far: w <- max(w, v). The paper corrects no bias;
    torch corrects m and w as Adam does m and v (optax takes the maximum of the corrected v instead).
    Fields as in `Adam`. Cost: one gradient; keeps 3 d numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.AMSGrad(0.5), steps=1).x.round(6)
    array([0.5])
    """

    lr: Hyper = 1e-3
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-8

    def init(self, x: Vector) -> State:
        """All moments are zero."""
        return {"m": np.zeros_like(x), "v": np.zeros_like(x), "largest": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step along the first moment, scaled by the root of the largest second one."""
        m, v = moments(g, state, self.b1, self.b2)
        w = np.maximum(state["largest"], v)
        return x - along(m, w, t, self.lr, self.b1, self.b2, self.eps), {"m": m, "v": v, "largest": w}


@dataclass(frozen=True)
class AdamW(Optimizer):
    """Loshchilov and Hutter 2019, Algorithm 2, arXiv:1711.05101, in torch's form: the decay is scaled by lr.

    Adam, and x shrinks beside it: x <- x - lr weight_decay x - lr m^ / (sqrt(v^) + eps). The paper has a schedule
    multiplier in the place of lr at the decay. `decoupled_weight_decay` does the same around any optimizer.
    weight_decay: rate of the decay; the other fields as in `Adam`. Cost: one gradient; keeps 2 d numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: 0 * np.sum(x), np.ones(1), bl.optim.AdamW(0.5, weight_decay=0.5), steps=1).x
    array([0.75])
    """

    lr: Hyper = 1e-3
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-8
    weight_decay: Hyper = 1e-2

    def init(self, x: Vector) -> State:
        """Both moments are zero."""
        return {"m": np.zeros_like(x), "v": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """Adam's step from the shrunken point."""
        m, v = moments(g, state, self.b1, self.b2)
        shrunken = (1 - self.lr * self.weight_decay) * x
        return shrunken - along(m, v, t, self.lr, self.b1, self.b2, self.eps), {"m": m, "v": v}
