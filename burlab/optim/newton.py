"""Newton's method with the exact Hessian."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.runtime.checks.numbers import whole
from burlab.transforms import while_loop

from .arithmetic import number, where
from .line_search import armijo
from .linear_solve import hessian, solve
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries
from .search_line import SearchLine

SHIFT = 1e-3  # first multiple of the identity that makes a Hessian positive definite, relative to its diagonal
SMALLEST = 1e3  # of a diagonal that is not flat: its shift is still a normal number, in units of the least one
SHIFTS = 100  # doublings of it, at most


@dataclass(frozen=True)
class Newton(Optimizer):
    """Newton's method as in textbooks: x <- x - lr (H + damping I)^-1 g. For d up to a few hundred.

    H is exact, by d Hessian-vector products; the system is solved by elimination with partial pivoting, O(d^3). Pure
    Newton converges to any stationary point: where H is indefinite, perhaps to a saddle or a maximum. A damping larger
    than -(smallest eigenvalue of H) makes it descend; ModifiedNewton finds one by itself. Where H + damping I is
    singular, x stays: raise the damping.
    lr: part of the step that is taken. damping: multiple of the identity added to H.
    Cost: one gradient and d Hessian-vector products, O(d^3); keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 3) ** 2) + x[0] * x[1], np.zeros(2), bl.optim.Newton(), steps=1)
    >>> run.x
    array([2., 2.])
    """

    lr: Hyper = 1.0
    damping: Hyper = 0.0

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One solution of the Newton equations."""
        shifted = hessian(f, x) + self.damping * np.eye(x.shape[0], dtype=x.dtype)
        v, least = solve(shifted, g, pivoting=True)
        sound = (least > 0) & np.isfinite(np.sum(v))
        return where(sound, x - self.lr * v, x), state


@dataclass(frozen=True)
class ModifiedNewton(Optimizer):
    """Newton's method with a line search: Nocedal and Wright 2006, Algorithms 3.2 and 3.3. For d up to a few hundred.

    x <- x - a (H + tau I)^-1 g, tau the first of 0 (or beta - the least diagonal entry of H, where that is not
    positive), then max(2 tau, beta), ... that makes H + tau I positive definite, beta = 1e-3 times the largest diagonal
    entry; a the first of 1, shrink, shrink^2 ... that is enough (Algorithm 3.1). So every step descends, and near a
    minimum it is Newton's. Elimination without pivoting tests definiteness and gives the step as well.
    shrink, c1, trials: of the search, as in ArmijoGD. Where no tau helps (H not finite) or no trial, x stays.
    Cost: one gradient, d Hessian-vector products, O(d^3) per tau, a value per trial; keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**4 - x**2), np.full(2, 0.1), bl.optim.ModifiedNewton(), steps=20)
    >>> run.x**2
    array([0.5, 0.5])
    """

    shrink: Hyper = 0.5
    c1: Hyper = 1e-4
    trials: int = 60

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.trials, "trials", 1)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One search along the Newton direction of a positive definite matrix."""
        p = _positive(hessian(f, x), -g)
        line = SearchLine.through(f, x, g, p)
        step = armijo(line, np.ones_like(line.slope), self.shrink, self.c1, self.trials)
        return line.to(step), state


def _positive(h: Vector, b: Vector) -> Vector:
    """The solution of (h + tau I) v = b with the first tau that makes h + tau I positive definite; 0 if none does."""
    identity = np.eye(b.shape[0], dtype=b.dtype)
    diagonal = np.sum(h * identity, axis=1)
    largest = np.max(np.abs(diagonal))
    largest = where(largest > SMALLEST * float(np.finfo(b.dtype).tiny), largest, np.ones_like(largest))
    beta = SHIFT * largest
    least = np.min(diagonal)
    bound = float(np.finfo(b.dtype).eps) * largest

    def attempt(s: dict[str, Any]) -> Any:
        v, pivot = solve(h + s["tau"] * identity, b, pivoting=False)
        found = (pivot > bound) & np.isfinite(np.sum(v))
        return {"tau": np.maximum(2 * s["tau"], beta), "v": v, "found": found, "count": s["count"] + 1}

    start = {
        "tau": where(least > 0, number(b, 0.0), beta - least),
        "v": np.zeros_like(b),
        "found": np.asarray(False),
        "count": np.asarray(0),
    }
    end = while_loop(lambda s: ~s["found"] & (s["count"] < SHIFTS), attempt, start)
    return where(end["found"], end["v"], np.zeros_like(b))
