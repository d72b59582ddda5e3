"""Steps from the distance that was gone and the gradients that were seen: DoG and DoWG."""

from dataclasses import dataclass

import numpy as np

from burlab.optim.arithmetic import number, root_of_squares
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries


@dataclass(frozen=True)
class DoG(Optimizer):
    """Distance over gradients: Ivgi, Hinder and Carmon 2023, equation 1, arXiv:2302.12022; as optax.contrib.dog.

    x <- x - lr r / sqrt(G + eps) g, where r is the largest |x_k - x_0| so far, at least first (1 + |x_0|), and G the
    sum of |g_k|^2. The paper recommends the mean of the points as the answer.
    lr: factor of the step, 1 in the paper. eps: keeps the quotient finite. first: size of the first steps.
    Cost: one gradient; keeps x_0 and two numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(np.abs(x - 3)), np.zeros(1), bl.optim.DoG(), steps=400)
    >>> bool(abs(run.x[0] - 3) < 0.2)
    True
    """

    lr: Hyper = 1.0
    eps: Hyper = 1e-8
    first: float = 1e-6

    def init(self, x: Vector) -> State:
        """The start, the distance to begin with, and no gradients."""
        return {"x0": x, "r": number(x, self.first * (1 + np.linalg.norm(x))), "G": number(x, 0.0)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step as long as the way so far allows."""
        r = np.maximum(state["r"], np.linalg.norm(x - state["x0"]))
        total = state["G"] + g @ g
        size = root_of_squares(total + self.eps, np.linalg.norm(g))
        return x - self.lr * r / size * g, {"x0": state["x0"], "r": r, "G": total}


@dataclass(frozen=True)
class DoWG(Optimizer):
    """Distance over weighted gradients: Khaled, Mishchenko and Jin 2023, Algorithm 1, arXiv:2305.16284.

    x <- x - lr R / (sqrt(V) + eps) g, where R is the largest |x_k - x_0|^2 so far, at least first, and V the sum of
    R_k |g_k|^2. In the form of optax.contrib.dowg: the paper has no eps.
    lr: factor of the step, 1 in the paper. eps: keeps the quotient finite. first: R at the start.
    Cost: one gradient; keeps x_0 and two numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(np.abs(x - 3)), np.zeros(1), bl.optim.DoWG(), steps=3000)
    >>> bool(abs(run.x[0] - 3) < 0.2)
    True
    """

    lr: Hyper = 1.0
    eps: Hyper = 1e-4
    first: float = 1e-4

    def init(self, x: Vector) -> State:
        """The start, the squared distance to begin with, and no gradients."""
        return {"x0": x, "R": number(x, self.first), "V": number(x, 0.0)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """One step, with gradients weighted by how far away they were taken."""
        away = x - state["x0"]
        squared = np.maximum(state["R"], away @ away)
        total = state["V"] + squared * (g @ g)
        step = self.lr * squared / (root_of_squares(total, squared**0.5 * np.linalg.norm(g)) + self.eps)
        return x - step * g, {"x0": state["x0"], "R": squared, "V": total}
