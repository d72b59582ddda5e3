"""Adagrad: every coordinate has a step of its own."""

from dataclasses import dataclass

import numpy as np

from .arithmetic import root_of_squares
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries


@dataclass(frozen=True)
class Adagrad(Optimizer):
    """Duchi, Hazan and Singer 2011, the diagonal form, in torch's form (torch.optim.Adagrad: eps outside the root).

    s <- s + g^2;  x <- x - lr / (1 + t lr_decay) g / (sqrt(s) + eps). The paper has delta for eps and no lr_decay.
    lr: step size. eps: keeps the quotient finite. lr_decay: how fast the step size shrinks, per step.
    initial_accumulator_value: what s starts from. Cost: one gradient; keeps d numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.Adagrad(0.5), steps=1).x.round(6)
    array([0.5])
    """

    lr: Hyper = 1e-2
    eps: Hyper = 1e-10
    lr_decay: Hyper = 0.0
    initial_accumulator_value: float = 0.0

    def init(self, x: Vector) -> State:
        """The sum of squares, as it starts."""
        return {"s": np.full_like(x, self.initial_accumulator_value)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step, scaled by the root of the sum of squares."""
        s = state["s"] + g**2
        return x - self.lr / (1 + t * self.lr_decay) * g / (root_of_squares(s, g) + self.eps), {"s": s}
