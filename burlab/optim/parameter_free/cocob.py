"""Coin betting."""

from dataclasses import dataclass

import numpy as np

from burlab.optim.optimizer import Hyper, Optimizer, State, Vector
from burlab.optim.queries import Queries


@dataclass(frozen=True)
class COCOB(Optimizer):
    """Orabona and Tommasi 2017, Algorithm 2 (COCOB-Backprop), arXiv:1705.07795; as optax.contrib.cocob.

    By entries: L <- max(L, |g|);  G <- G + |g|;  reward <- max(reward - g (x - x_0), 0);  C <- C - g;
    x <- x_0 + C / (L max(G + L, alpha L)) (L + reward).
    alpha: the first steps bet no more than 1 / alpha. eps: L at the start.
    Cost: one gradient; keeps 5 d numbers.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(np.abs(x - 3)), np.zeros(1), bl.optim.COCOB(), steps=3000)
    >>> bool(abs(run.x[0] - 3) < 0.1)
    True
    """

    alpha: Hyper = 100.0
    eps: float = 1e-8

    def init(self, x: Vector) -> State:
        """The start, and nothing won yet."""
        zeros = np.zeros_like(x)
        return {"x0": x, "C": zeros, "G": zeros, "L": np.full_like(x, self.eps), "reward": zeros}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries | None = None) -> tuple[Vector, State]:  # noqa: ARG002
        """A bet on the sign of the next derivative, entry by entry."""
        x0 = state["x0"]
        largest = np.maximum(state["L"], np.abs(g))
        total = state["G"] + np.abs(g)
        reward = np.maximum(state["reward"] - g * (x - x0), 0.0)
        outcome = state["C"] - g
        bet = outcome / (largest * np.maximum(total + largest, self.alpha * largest))
        return x0 + bet * (largest + reward), {"x0": x0, "C": outcome, "G": total, "L": largest, "reward": reward}
