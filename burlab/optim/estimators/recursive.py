"""Recursive gradient estimates, updated by differences of gradients: SARAH, PAGE, MVR and STORM."""

from dataclasses import dataclass

import numpy as np

from burlab.optim.arithmetic import number, where
from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import whole
from burlab.transforms import cond, random
from burlab.typing import Array


def initial_state(x: Vector) -> State:
    """Return the state before the first step: the estimate v, and the point of which it is."""
    return {"v": np.zeros_like(x), "before": x}


def recursive_estimate(g: Vector, state: State, x: Vector, fresh: Array | bool, f: Queries) -> Vector:
    """Return the full gradient if `fresh`, else v + grad_i(x) - grad_i(the point before)."""
    return f.estimated(cond(fresh, lambda: f.full_grad(x), lambda: state["v"] + g - f.grad(state["before"])))


@dataclass(frozen=True)
class SARAH(Optimizer):
    """Nguyen, Liu, Scheinberg and Takac 2017, Algorithm 1, arXiv:1703.00102; the outer loop takes up the last point.

    v <- grad f(x) at every so-many-th step, from the first, else v + grad_i(x) - grad_i(x before);  x <- x - lr v.
    lr: step size. every: length of the inner loop. Cost: 2 gradients of the batch, or all n; keeps 2 d numbers.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.arange(4.0))
    >>> bl.minimize(problem, np.zeros(1), bl.optim.SARAH(0.25, every=8), batch=1, steps=40).x.round(6)
    array([1.5])
    """

    lr: Hyper = 1e-2
    every: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.every, "every", 1)

    def init(self, x: Vector) -> State:
        """No estimate before the first step."""
        return initial_state(x)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """One step along the recursive estimate."""
        v = recursive_estimate(g, state, x, t % self.every == 0, f)
        return x - self.lr * v, {"v": v, "before": x}


@dataclass(frozen=True)
class PAGE(Optimizer):
    """Li, Bao, Zhang and Richtarik 2021, Algorithm 1 with full gradients, arXiv:2008.10898.

    v <- grad f(x) with probability p and at the first step, else v + grad_i(x) - grad_i(x before);  x <- x - lr v.
    lr: step size; 1 / (L (1 + sqrt((1 - p) / (p batch)))) for L of the mean of squares. p: batch / (batch + n) where it
    is None, as in the paper. Cost: 2 gradients of the batch, or all n; keeps 2 d numbers.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.arange(4.0))
    >>> bl.minimize(problem, np.zeros(1), bl.optim.PAGE(0.25), batch=1, steps=60).x.round(6)
    array([1.5])
    """

    lr: Hyper = 1e-2
    p: Hyper | None = None

    def init(self, x: Vector) -> State:
        """No estimate before the first step."""
        return initial_state(x)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """One step along the recursive estimate."""
        p = f.batch / (f.batch + f.samples) if self.p is None else self.p
        v = recursive_estimate(g, state, x, (random.uniform(f.key, ()) < p) | (t == 0), f)
        return x - self.lr * v, {"v": v, "before": x}


@dataclass(frozen=True)
class MVR(Optimizer):
    """Momentum with variance reduction, Cutkosky and Orabona 2019, arXiv:1905.10018, at fixed rates.

    v <- grad_i(x) + (1 - a)(v - grad_i(x before)), at the first step grad_i(x);  x <- x - lr v. a = 1 is SGD. A smaller
    a makes the estimate better (its error is about a), the loss at a fixed lr not by itself.
    lr: step size. a: weight of the new gradient. Cost: 2 gradients of the batch; keeps 2 d numbers.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.arange(4.0))
    >>> run = bl.minimize(problem, np.zeros(1), bl.optim.MVR(0.05, a=0.1), batch=1, steps=400)
    >>> bool(abs(run.x[0] - 1.5) < 0.3)
    True
    """

    lr: Hyper = 1e-2
    a: Hyper = 0.1

    def init(self, x: Vector) -> State:
        """No estimate before the first step."""
        return initial_state(x)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """One step along the corrected momentum."""
        keep = where(t == 0, number(x, 0.0), (1 - self.a) * number(x, 1.0))
        v = f.estimated(g + keep * (state["v"] - f.grad(state["before"])))
        return x - self.lr * v, {"v": v, "before": x}


@dataclass(frozen=True)
class STORM(Optimizer):
    """Cutkosky and Orabona 2019, Algorithm 1, arXiv:1905.10018: MVR with rates from the gradients so far.

    lr_t = k / (w + G)^(1/3) with G the sum of |grad_i(x)|^2;  v <- grad_i(x) + (1 - a)(v - grad_i(x before)) with
    a = min(1, c lr^2) of the step before, as the authors' code bounds it;  x <- x - lr_t v.
    k: scale of the step. w: keeps the first steps short. c: how fast old gradients are forgotten. For a G-Lipschitz,
    L-smooth loss the theorem has k = b G^(2/3) / L, c = 28 L^2 + G^2 / (7 L k^3) and w the largest of (4 L k)^3, 2 G^2
    and (c k / 4 L)^3.
    Cost: 2 gradients of the batch; keeps 2 d + 2 numbers.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.arange(4.0))
    >>> run = bl.minimize(problem, np.zeros(1), bl.optim.STORM(), batch=1, steps=2000)
    >>> bool(abs(run.x[0] - 1.5) < 0.3)
    True
    """

    k: Hyper = 0.1
    w: Hyper = 0.1
    c: Hyper = 100.0

    def init(self, x: Vector) -> State:
        """No estimate before the first step, whose gradient counts fully."""
        return {**initial_state(x), "G": number(x, 0.0), "a": number(x, 1.0)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One step along the corrected momentum, and the next rates."""
        v = f.estimated(g + (1 - state["a"]) * (state["v"] - f.grad(state["before"])))
        total = state["G"] + g @ g
        lr = self.k / (self.w + total) ** (1 / 3)
        return x - lr * v, {"v": v, "before": x, "G": total, "a": np.minimum(1.0, self.c * lr**2)}
