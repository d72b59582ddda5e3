"""Optimizers that use no more of the gradient than its signs: SignSGD, Lion, Rprop."""

from dataclasses import dataclass

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import shown

from .live_fields import hyper_value
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries


@dataclass(frozen=True)
class SignSGD(Optimizer):
    """Bernstein et al. 2018, Algorithm 1, arXiv:1802.04434; optax.sign_sgd is the same: x <- x - lr sign(g).

    lr: step size, of every coordinate whose derivative is not 0. Cost: one gradient; keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.array([1.0, -3.0]), bl.optim.SignSGD(0.25), steps=2).x
    array([ 0.5, -2.5])
    """

    lr: Hyper = 1e-3

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step against the signs."""
        return x - self.lr * np.sign(g), state


@dataclass(frozen=True)
class Lion(Optimizer):
    """Chen et al. 2023, Symbolic discovery of optimization algorithms, Algorithm 2, arXiv:2302.06675; as optax.lion.

    x <- x - lr (sign(b1 m + (1 - b1) g) + weight_decay x);  m <- b2 m + (1 - b2) g.
    lr: step size. b1: how much of m the step takes. b2: decay of m. weight_decay: rate of the decoupled decay.
    Cost: one gradient; keeps d numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.Lion(0.25, weight_decay=0.0), steps=2).x
    array([0.5])
    """

    lr: Hyper = 1e-4
    b1: Hyper = 0.9
    b2: Hyper = 0.99
    weight_decay: Hyper = 1e-3

    def init(self, x: Vector) -> State:
        """The mean is zero."""
        return {"m": np.zeros_like(x)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step against the signs of the recent mean."""
        direction = np.sign(self.b1 * state["m"] + (1 - self.b1) * g)
        m = self.b2 * state["m"] + (1 - self.b2) * g
        return x - self.lr * (direction + self.weight_decay * x), {"m": m}


@dataclass(frozen=True)
class Rprop(Optimizer):
    """Riedmiller and Braun 1993, in torch's form (torch.optim.Rprop), which is iRprop- of Igel and Huesken 2000.

    A coordinate's step grows by eta_plus where the sign of its derivative stays, and shrinks by eta_minus where it
    changes; there the coordinate waits for one step, where the first paper undoes the last step. For full gradients:
    the signs of a batch's gradient are too noisy.
    lr: every coordinate's step at the start; not live, since the steps then change by themselves. step_min, step_max:
    bounds. Cost: one gradient; keeps 2 d numbers.

    >>> import numpy as np, burlab as bl
    >>> bl.minimize(lambda x: np.sum(x**2), np.array([4.0]), bl.optim.Rprop(1.0), steps=2).x.round(6)
    array([1.8])
    """

    lr: float = 1e-2
    eta_minus: Hyper = 0.5
    eta_plus: Hyper = 1.2
    step_min: Hyper = 1e-6
    step_max: Hyper = 50.0

    def init(self, x: Vector) -> State:
        """Steps of size lr and no derivative yet."""
        if callable(self.lr):
            raise ArgumentError(f"lr of Rprop is the size of the first steps, a number, got {shown(self.lr)}.")
        return {"g": np.zeros_like(x), "step": np.full_like(x, hyper_value("lr", self.lr))}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step against the signs, each of its own size."""
        stays: Vector = g * state["g"]
        step: Vector = state["step"]
        step = np.where(stays > 0, self.eta_plus * step, np.where(stays < 0, self.eta_minus * step, step))
        step = np.clip(step, self.step_min, self.step_max)
        g = np.where(stays < 0, 0.0, g)
        return x - step * np.sign(g), {"g": g, "step": step}
