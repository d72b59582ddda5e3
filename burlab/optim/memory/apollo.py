"""APOLLO."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.arithmetic import Scalar, number, where
from burlab.optim.by_leaf import ByLeaf, Draw, adam_init, adam_step
from burlab.optim.optimizer import Hyper, State, Vector
from burlab.runtime.checks.numbers import whole
from burlab.transforms import cond, random

TINY = 1e-8  # below the norms that quotients are made of, in the authors' code


@dataclass(frozen=True)
class APOLLO(ByLeaf):
    """Zhu et al. 2025, Algorithm 1, arXiv:2412.05270; as the authors' code, apollo_torch.

    A matrix has its gradient scaled, by channels of its longer side, as Adam scales a random projection of it:
    R = P g with P of normal numbers / sqrt(rank), R~ Adam's step for R, s_j = |R~_j| / |R_j|;
    x <- x - lr sqrt(scale) g diag(s), made shorter where it is more than 1.01 times as long as the last one was (the
    authors' limiter). P is drawn anew at every so-many-th step from its key, which is all that is kept of it. All other
    leaves: Adam. APOLLO-Mini of the paper is APOLLO(rank=1, scale=128.0, mini=True).
    lr: step size. b1, b2, eps: of Adam. scale: about the size of a side / rank. rank: a quarter of the shorter side in
    the paper. every: steps between two projections. mini: one factor |R~| / |R| for the whole matrix.
    Cost: one gradient and a product per matrix m x n; keeps 2 rank max(m, n) numbers, and 2 d for the rest.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda w: np.sum((w - 1) ** 2), np.zeros((6, 4)), bl.optim.APOLLO(0.02, rank=1), steps=200)
    >>> run.state[0]["m"].shape, bool(np.abs(run.x - 1).max() < 0.1)
    ((6, 1), True)
    """

    lr: Hyper = 1e-2
    b1: Hyper = 0.9
    b2: Hyper = 0.999
    eps: Hyper = 1e-6
    scale: Hyper = 1.0
    rank: int = 256
    every: int = 200
    mini: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.rank, "rank", 1)
        whole(self.every, "every", 1)

    def init_leaf(self, x: Vector) -> State:
        """The moments of the projected gradient, a key, and no step to be longer than."""
        if len(x.shape) != 2:
            return adam_init(x)
        rank, (m, n) = min(self.rank, *x.shape), x.shape
        projected = np.zeros((m, rank) if m >= n else (rank, n), x.dtype)
        return {**adam_init(projected), "key": np.zeros(2, np.uint64), "length": number(x, 0.0)}

    def update_leaf(self, g: Vector, state: State, x: Vector, t: int, draw: Draw) -> tuple[Vector, State]:
        """A step along the gradient, channel by channel as long as Adam's."""
        if len(x.shape) != 2:
            step, state = adam_step(g, state, t, self.b1, self.b2, self.eps)
            return x - self.lr * step, state
        key = cond(t % self.every == 0, draw, lambda: state["key"])
        tall, rank = x.shape[0] >= x.shape[1], min(self.rank, *x.shape)
        p = random.normal(key, (rank, min(x.shape)), x.dtype) / rank**0.5
        projected = g @ p.T if tall else p @ g
        scaled, after = adam_step(projected, state, t, self.b1, self.b2, self.eps)
        correction = (1 - self.b2 ** (t + 1)) ** 0.5 / (1 - self.b1 ** (t + 1))
        along, length = self._limited(g * self._factors(scaled / correction, projected, tall), state["length"], t)
        step = correction * self.scale**0.5 * along
        return x - self.lr * step, {**after, "key": key, "length": length}

    def _factors(self, scaled: Vector, projected: Vector, tall: bool) -> Any:
        axis = None if self.mini else (1 if tall else 0)
        lengths = [np.sqrt(np.sum(part**2, axis=axis, keepdims=True)) for part in (scaled, projected)]
        return lengths[0] / (lengths[1] + TINY)

    def _limited(self, step: Vector, before: Scalar, t: int) -> tuple[Vector, Any]:
        """The step, no more than 1.01 times as long as the last one, and its length."""
        length = np.sqrt(np.sum(step**2))
        limiter = where(t == 0, np.ones_like(length), np.maximum(length / (before + TINY), 1.01) / 1.01)
        return step / limiter, length / limiter
