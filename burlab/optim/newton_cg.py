"""Newton's method by conjugate gradients, with a line search."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.runtime.checks.numbers import whole
from burlab.transforms import while_loop

from .arithmetic import number, ratio, unit_of, where
from .line_search import wolfe
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries
from .search_line import SearchLine, first_step

INNER = 20  # conjugate gradient steps per entry of x, at most


@dataclass(frozen=True)
class NewtonCG(Optimizer):
    """Truncated Newton: Nocedal and Wright 2006, Algorithm 7.1 (line search Newton-CG), with a strong Wolfe search.

    x <- x + a p, p from conjugate gradients on H p = -g, one Hessian-vector product each, until the residual is below
    min(1/2, sqrt |g|) |g|; at a direction of negative curvature p is the sum before it, or, if that is empty, -g scaled
    by |g|^2 / |g.H g| (the book's -g has no scale; SciPy's "Newton-CG" does the same). The first trial is a = 1.
    c1, c2: constants of the search, 0 < c1 < c2 < 1. trials: at most so many per step. At most 20 d inner steps.
    Cost: one gradient, a Hessian-vector product per inner step, a value and gradient per trial; keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**4 - x**2), np.full(2, 0.1), bl.optim.NewtonCG(), steps=20)
    >>> run.x**2
    array([0.5, 0.5])
    """

    c1: Hyper = 1e-4
    c2: Hyper = 0.9
    trials: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.trials, "trials", 1)

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One search along a truncated Newton direction."""
        line = SearchLine.through(f, x, g, truncated(f, x, g))
        end = wolfe(line, g, np.ones_like(line.slope), self.c1, self.c2, self.trials)
        return line.to(end["step"]), state


def forcing(g: Vector) -> Any:
    """The residual that is small enough: min(1/2, sqrt |g|) |g|, which makes the method superlinear."""
    norm = np.linalg.norm(g)
    return np.minimum(0.5, np.sqrt(norm)) * norm


def truncated(f: Queries, x: Vector, g: Vector) -> Vector:
    """The direction of Algorithm 7.1."""
    unit = unit_of(g)
    tolerance, step = unit * forcing(g), first_step(g)
    g = unit * g

    def pending(s: dict[str, Any]) -> Any:
        return ~s["done"] & (s["r"] @ s["r"] > 0) & (s["count"] < INNER * x.shape[0])

    def inner(s: dict[str, Any]) -> Any:
        z, r, d = s["z"], s["r"], s["d"]
        h = f.hvp(x, d)
        curvature, squared = d @ h, r @ r
        bent = ~(curvature > 0) | ~np.isfinite(np.sum(ratio(squared, curvature) * d))  # flat: a step beyond all numbers
        alpha = where(bent, number(x, 0.0), ratio(squared, curvature))
        scale = where(curvature < 0, ratio(squared, -curvature), step)
        residual = r + alpha * h
        return {
            "z": where(bent & (s["count"] == 0), -scale * g, z + alpha * d),
            "r": residual,
            "d": ratio(residual @ residual, squared) * d - residual,
            "done": bent | (np.linalg.norm(residual) < tolerance),
            "count": s["count"] + 1,
        }

    start = {"z": np.zeros_like(x), "r": g, "d": -g, "done": np.asarray(False), "count": np.asarray(0)}
    return while_loop(pending, inner, start)["z"] / unit
