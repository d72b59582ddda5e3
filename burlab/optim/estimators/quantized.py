"""Steps on the scales of weights that are stored in few bits, from values alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.optimizer import Hyper, Metrics, Optimizer, State, Vector
from burlab.optim.queries import Queries

from .zeroth_order import later, perturb


@dataclass(frozen=True)
class QZO(Optimizer):
    """Shang et al. 2025 (QZO), arXiv:2505.13430, as in its code: MeZO on the scales of quantized weights.

    x <- max(x - lr r z, floor), z normal, from the key of the step, and r = (f(x + eps z) - f(x - eps z)) / (2 eps),
    clipped to [-clip, clip]. x holds the scales, positive; the integers are constants in f, whose weights are
    scale times integer. lr: step size. eps: size of the perturbation. clip: largest |r|.
    floor: smallest scale. Cost: two values of the batch, whose mean is the value in the history; keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> ints = np.array([[1, -2], [3, 0]])
    >>> def loss(scales): return np.sum((scales[:, None] * ints - np.array([[0.5, -1.0], [0.6, 0.0]])) ** 2)
    >>> run = bl.minimize(loss, np.ones(2), bl.optim.QZO(0.02), steps=400)
    >>> bool(np.abs(run.x - [0.5, 0.2]).max() < 1e-3)
    True
    """

    lr: Hyper = 1e-3
    eps: Hyper = 1e-3
    clip: Hyper = 100.0
    floor: Hyper = 1e-7

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State, Metrics]:  # noqa: ARG002
        """One step of all scales along a random direction."""
        ahead = f.value(perturb(x, f.key, self.eps))
        behind = f.value(perturb(later(x, ahead), f.key, -self.eps))
        r: Any = np.clip((ahead - behind) / (2 * self.eps), -self.clip, self.clip)
        return (
            np.maximum(perturb(later(x, behind), f.key, -self.lr * r), self.floor),
            state,
            {"value": (ahead + behind) / 2},
        )
