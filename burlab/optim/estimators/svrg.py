"""Gradients corrected by those at a snapshot: SVRG and loopless SVRG."""

from dataclasses import dataclass

import numpy as np

from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import whole
from burlab.transforms import cond, random
from burlab.typing import Array


def snapshot(x: Vector) -> State:
    """A point with its full gradient, before there is one."""
    return {"w": x, "full": np.zeros_like(x)}


def corrected(g: Vector, state: State, x: Vector, fresh: Array | bool, f: Queries) -> tuple[Vector, State]:
    """g - grad_i(w) + grad f(w), with the snapshot w = x made anew where `fresh` is true."""
    w, full = cond(fresh, lambda: (x, f.full_grad(x)), lambda: (state["w"], state["full"]))
    return f.estimated(g - f.grad(w) + full), {"w": w, "full": full}


@dataclass(frozen=True)
class SVRG(Optimizer):
    """Johnson and Zhang 2013, with option I (the snapshot is the last point), NIPS 26.

    x <- x - lr (grad_i(x) - grad_i(w) + grad f(w)); w <- x at every so-many-th step, from the first.
    lr: step size; 1 / (6 L_max) is safe. every: steps between two snapshots; twice n / batch in the paper.
    Cost: 2 gradients of the batch, and all n at a snapshot; keeps 2 d numbers.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.arange(4.0))
    >>> bl.minimize(problem, np.zeros(1), bl.optim.SVRG(0.25, every=8), batch=1, steps=40).x.round(6)
    array([1.5])
    """

    lr: Hyper = 1e-2
    every: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.every, "every", 1)

    def init(self, x: Vector) -> State:
        """No snapshot before the first step."""
        return snapshot(x)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """One step along the corrected gradient."""
        estimate, state = corrected(g, state, x, t % self.every == 0, f)
        return x - self.lr * estimate, state


@dataclass(frozen=True)
class LSVRG(Optimizer):
    """Kovalev, Horvath and Richtarik 2020, Algorithm 1 (L-SVRG), arXiv:1901.08689.

    SVRG whose snapshot is made anew with probability p at each step, and at the first. w <- x comes before the step
    from x; the paper takes the x before it. lr: step size; 1 / (6 L_max) is safe. p: 1 / n where it is None.
    Cost: 2 gradients of the batch, and p n on average; keeps 2 d numbers.

    >>> import numpy as np, burlab as bl
    >>> problem = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.arange(4.0))
    >>> bl.minimize(problem, np.zeros(1), bl.optim.LSVRG(0.25), batch=1, steps=40).x.round(6)
    array([1.5])
    """

    lr: Hyper = 1e-2
    p: Hyper | None = None

    def init(self, x: Vector) -> State:
        """No snapshot before the first step."""
        return snapshot(x)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """One step along the corrected gradient."""
        p = 1 / f.samples if self.p is None else self.p
        fresh = (random.uniform(f.key, ()) < p) | (t == 0)
        estimate, state = corrected(g, state, x, fresh, f)
        return x - self.lr * estimate, state
