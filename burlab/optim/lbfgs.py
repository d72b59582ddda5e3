"""Limited-memory BFGS."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.runtime.checks.numbers import whole

from .arithmetic import ratio, unit_of, where
from .line_search import wolfe
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries
from .search_line import SearchLine, first_step

MAX_PAIRS = 10_000


@dataclass(frozen=True)
class LBFGS(Optimizer):
    """Limited-memory BFGS: Nocedal and Wright 2006, Algorithms 7.4 (two loops) and 7.5, with a strong Wolfe search.

    x <- x + a p with p = -H g, H the BFGS update of (s.y / y.y) I by the last `memory` pairs s = x_after - x, y =
    g_after - g. Both gradients of a pair are of the same batch. A pair without s.y > eps |s| |y| is left out. A step
    whose search failed, or whose p is no descent direction, forgets all pairs, so that the next one follows -g.
    The first trial is a = 1, and min(1, 1 / |g|) where there is no pair.
    c1, c2: constants of the search, 0 < c1 < c2 < 1. memory: pairs. trials: at most so many per step.
    Cost: a value and gradient per trial, and the one at x, O(memory d); keeps memory (2 d + 1) numbers.

    >>> import numpy as np, burlab as bl
    >>> rosen = lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    >>> bl.minimize(rosen, np.zeros(5), bl.optim.LBFGS(), steps=60).x.round(6)
    array([1., 1., 1., 1., 1.])
    """

    c1: Hyper = 1e-4
    c2: Hyper = 0.9
    memory: int = 10
    trials: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.memory, "memory", 1, MAX_PAIRS)
        whole(self.trials, "trials", 1)

    def init(self, x: Vector) -> State:
        """No pairs: rho = 1 / s.y is 0 where there is none. The last row is the newest."""
        table = np.zeros((self.memory, x.size), x.dtype)
        return {"s": table, "y": table.copy(), "rho": np.zeros(self.memory, x.dtype)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One search along the quasi-Newton direction."""
        direction = -two_loops(g, state)
        unit = unit_of(g, direction)
        downhill = (unit * g) @ (unit * direction) < 0
        known = (state["rho"][-1] > 0) & downhill
        line = SearchLine.through(f, x, g, where(downhill, direction, -g))
        first = where(known, np.ones_like(line.slope), first_step(g))
        end = wolfe(line, g, first, self.c1, self.c2, self.trials)
        after = line.to(end["step"])
        kept = {**state, "rho": where(downhill & (end["found"] | (end["step"] > 0)), state["rho"], 0)}
        return after, _remember(kept, after - x, end["gradient"] - g)


def two_loops(g: Vector, pairs: State) -> Vector:
    """H g for the pairs of a state: Algorithm 7.4. A pair with rho = 0 changes nothing."""
    s, y, rho = pairs["s"], pairs["y"], pairs["rho"]
    memory = s.shape[0]
    alpha: list[Any] = [None] * memory
    q = g
    for k in reversed(range(memory)):
        alpha[k] = rho[k] * (s[k] @ q)
        q = q - alpha[k] * y[k]
    unit = unit_of(y[-1])
    scale = ratio(unit * np.ones_like(rho[-1]), rho[-1] / unit * ((unit * y[-1]) @ (unit * y[-1])))
    r = where(rho[-1] > 0, scale, np.ones_like(scale)) * q
    for k in range(memory):
        r = r + (alpha[k] - rho[k] * (y[k] @ r)) * s[k]
    return r


def _remember(pairs: State, s: Vector, y: Vector) -> State:
    """The pairs with a new one in place of the oldest, if its curvature is positive by more than rounding."""
    curvature = s @ y
    eps = float(np.finfo(s.dtype).eps)
    units = unit_of(s), unit_of(y)
    lengths = [np.sqrt((unit * v) @ (unit * v)) / unit for v, unit in zip((s, y), units, strict=True)]
    good = curvature > eps * lengths[0] * lengths[1]
    new = {"s": s, "y": y, "rho": ratio(np.ones_like(curvature), curvature)}
    return {name: where(good, np.concatenate([pairs[name][1:], row[None]]), pairs[name]) for name, row in new.items()}
