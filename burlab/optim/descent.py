"""Gradient descent whose steps a line search chooses."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.runtime.checks.numbers import whole

from .arithmetic import Scalar, number, where
from .line_search import armijo, wolfe
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries
from .search_line import SearchLine, first_step


@dataclass(frozen=True)
class ArmijoGD(Optimizer):
    """Gradient descent with backtracking, Armijo 1966; Nocedal and Wright 2006, Algorithm 3.1.

    x <- x - a g with the first a of lr, shrink lr, shrink^2 lr ... that has f(x - a g) <= f(x) - c1 a |g|^2. With a
    batch, values and gradients are of this step's batch: Vaswani et al. 2019, arXiv:1905.09997.
    lr: the first trial of every step. shrink: factor from trial to trial. c1: part of the decrease that g promises.
    trials: at most so many per step; then x stays. warm: begin at the last step / shrink instead, if that is below lr.
    Cost: one gradient and a value per trial; keeps one number.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.ArmijoGD(lr=1.0), steps=2)
    >>> run.x
    array([0., 0.])
    """

    lr: Hyper = 1.0
    shrink: Hyper = 0.5
    c1: Hyper = 1e-4
    trials: int = 60
    warm: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.trials, "trials", 1)

    def init(self, x: Vector) -> State:
        """No step was taken yet."""
        return {"step": number(x, 0.0)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One step against the gradient."""
        last = state["step"]
        first = self.lr * np.ones_like(last)
        if self.warm:
            first = where(last > 0, np.minimum(last / self.shrink, first), first)
        line = SearchLine.through(f, x, g, -g)
        step = armijo(line, first, self.shrink, self.c1, self.trials)
        return line.to(step), {"step": step * line.unit}


@dataclass(frozen=True)
class WolfeGD(Optimizer):
    """Gradient descent with steps of the strong Wolfe conditions: Nocedal and Wright 2006, Algorithms 3.5 and 3.6.

    x <- x - a g with f(x - a g) <= f(x) - c1 a |g|^2 and |g(x - a g) . g| <= c2 |g|^2. The first trial promises the
    same change as the last step did (section 3.5); at step 0 it is min(1, 1 / |g|).
    c1, c2: the two constants, 0 < c1 < c2 < 1. trials: at most so many per step; then the best one so far is taken.
    Cost: a value and gradient per trial, and the one at x; keeps one number.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: x[0] ** 2 + 9 * x[1] ** 2, np.ones(2), bl.optim.WolfeGD(), steps=50)
    >>> bool(np.linalg.norm(run.x) < 1e-8)
    True
    """

    c1: Hyper = 1e-4
    c2: Hyper = 0.4
    trials: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.trials, "trials", 1)

    def init(self, x: Vector) -> State:
        """No change was promised yet."""
        return {"promise": number(x, 0.0)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One step against the gradient."""
        line = SearchLine.through(f, x, g, -g)
        first = trial_like(state["promise"], line, g)
        end = wolfe(line, g, first, self.c1, self.c2, self.trials)
        return line.to(end["step"]), {"promise": end["step"] * line.slope}


def trial_like(promise: Scalar, line: SearchLine, g: Vector) -> Any:
    """A first trial that promises the same first-order change as the last step; min(1, 1 / |g|) where none did."""
    slope = line.slope
    known = (promise < 0) & (slope < 0)
    return where(known, promise / where(known, slope, np.ones_like(slope)) * line.unit, first_step(g))
