"""RMSProp, plain, centred and with momentum."""

from dataclasses import dataclass

import numpy as np

from .arithmetic import root_of_squares
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries


@dataclass(frozen=True)
class RMSProp(Optimizer):
    """Tieleman and Hinton 2012, Lecture 6.5, in torch's form (torch.optim.RMSprop: eps outside the root).

    v <- alpha v + (1 - alpha) g^2;  x <- x - lr g / (sqrt(v) + eps).
    `centered` and `mu` make it the form of Graves 2013, arXiv:1308.0850, equations 38 to 45, up to where eps is: with
    m the running mean of g, v - m^2 stands in the place of v; the step goes along b <- mu b + g / (sqrt(v) + eps).
    lr: step size. alpha: decay of the means. eps: keeps the quotient finite. mu: how much of the last step stays;
    None, for no momentum, saves its memory. centered: divide by the standard deviation, not the root mean square.
    Cost: one gradient; keeps d numbers, and d more each for momentum and for `centered`.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.RMSProp(0.05), steps=1).x.round(6)
    array([0.5])
    """

    lr: Hyper = 1e-2
    alpha: Hyper = 0.99
    eps: Hyper = 1e-8
    mu: Hyper | None = None
    centered: bool = False

    def init(self, x: Vector) -> State:
        """All state is zero."""
        kept = ["v", *["m"] * self.centered, *["b"] * (self.mu is not None)]
        return {name: np.zeros_like(x) for name in kept}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step, scaled by the size of recent gradients."""
        new = {"v": self.alpha * state["v"] + (1 - self.alpha) * g**2}
        variance = new["v"]
        if self.centered:
            new["m"] = self.alpha * state["m"] + (1 - self.alpha) * g
            variance = np.maximum(variance - new["m"] ** 2, 0.0)  # rounding may take it below zero (nan in torch)
        step = g / (root_of_squares(variance, g) + self.eps)
        if self.mu is not None:
            step = new["b"] = self.mu * state["b"] + step
        return x - self.lr * step, new
