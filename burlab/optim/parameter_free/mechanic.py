"""Mechanic: the scale of another optimizer's steps, learned."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.arithmetic import root_of_squares
from burlab.optim.optimizer import Hyper, State, Vector, start
from burlab.optim.queries import Queries
from burlab.optim.wrappers import Wrapper
from burlab.runtime.checks.numbers import whole


@dataclass(frozen=True)
class mechanic(Wrapper):
    """Cutkosky, Defazio and Mehta 2023, Algorithm 1, arXiv:2306.00144; as optax.contrib.mechanize.

    With u the step of the optimizer inside at x, and D = (x - x_0) / (sum s + eps):  x <- x_0 + (sum s) (D + u), where
    the scales s, one for each of the decays b_i = 1 - 10^-i, come from coin betting on
    h = -<g + decay (sum s) |g| / (|x| + eps) x, D>:  r <- b r + clip(h, -m, m) s;  m <- max(b m, |h| + eps);
    v <- b^2 v + h^2;  s = (first m / betas + max(r, 0)) / (sqrt(v) + eps). The clipping is that of the authors' code.
    The lr inside only matters by its schedule. decay: pull to zero in h. eps: keeps quotients finite. first: scale at
    the start. betas: how many decays. Cost: that of the optimizer inside; keeps x_0 and 4 betas numbers more.

    >>> import numpy as np, burlab as bl
    >>> rule = bl.optim.mechanic(bl.optim.GD(1.0))
    >>> run = bl.minimize(lambda x: np.sum(np.abs(x - 3)), np.zeros(1), rule, steps=200)
    >>> bool(abs(run.x[0] - 3) < 0.3)
    True
    """

    decay: Hyper = 1e-2
    eps: Hyper = 1e-8
    first: float = 1e-6
    betas: int = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.betas, "betas", 1)

    def init(self, x: Vector, *, f: Any = None) -> State:
        """The state inside, the start, and a small scale."""
        zeros = np.zeros(self.betas, x.dtype)
        s = np.full(self.betas, self.first, x.dtype)
        return {"inner": start(self.inner, x, f), "x0": x, "r": zeros, "m": zeros, "v": zeros, "s": s}

    def output(self, x: Vector, state: State) -> Vector:
        """The point that the optimizer inside gives."""
        return self.inner.output(x, state["inner"])

    def batch_size(self, state: State) -> Any:
        """Return the batch size of the inner optimizer."""
        return self.inner.batch_size(state["inner"])

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:
        """The step inside at the present scale, then the scale anew."""
        after, inner = self.advance(g, state["inner"], x, t, f)
        s, x0 = state["s"], state["x0"]
        scale = np.sum(s)
        way = (x - x0) / (scale + self.eps)
        pull = self.decay * scale * np.linalg.norm(g) / (np.linalg.norm(x) + self.eps)
        h = -((g + pull * x) @ way)
        b = np.asarray([1 - 0.1**k for k in range(1, self.betas + 1)], x.dtype)
        r = b * state["r"] + np.clip(h, -state["m"], state["m"]) * s
        m = np.maximum(b * state["m"], np.abs(h) + self.eps)
        v = b**2 * state["v"] + h**2
        s = (self.first / self.betas * m + np.maximum(r, 0.0)) / (root_of_squares(v, h) + self.eps)
        return x0 + np.sum(s) * (way + (after - x)), {"inner": inner, "x0": x0, "r": r, "m": m, "v": v, "s": s}
