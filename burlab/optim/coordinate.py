"""Descent along one coordinate at a time."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.buffers.buffer_functions import at_add
from burlab.graph.numpy_api.indexing import asarray
from burlab.runtime.checks.numbers import shown
from burlab.runtime.plain import as_floats
from burlab.transforms import random

from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries

_searchsorted: Any = np.searchsorted
_minimum: Any = np.minimum


@dataclass(frozen=True)
class CoordinateDescent(Optimizer):
    """Nesterov 2012, Efficiency of coordinate descent methods on huge-scale optimization problems, method RCDM.

    x_i <- x_i - lr / L_i df/dx_i, i at random with probability L_i / sum L; all alike where L is not given.
    For strong convexity mu, E[f(x_k) - f*] <= (1 - mu / sum L)^k (f(x_0) - f*) at lr = 1.
    lr: 1, or a step size where smoothness is None. smoothness: L_i > 0 of every coordinate, shape (d,).
    Cost: one entry of the gradient; keeps nothing.

    >>> import numpy as np, burlab as bl
    >>> h = np.array([1.0, 4.0])
    >>> rule = bl.optim.CoordinateDescent(smoothness=(1.0, 4.0))
    >>> bl.minimize(lambda x: 0.5 * np.sum(h * (x - 1) ** 2), np.zeros(2), rule, steps=20).x
    array([1., 1.])
    """

    lr: Hyper = 1.0
    smoothness: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smoothness is not None:
            numbers = as_floats(self.smoothness, "smoothness of CoordinateDescent")
            if numbers.ndim != 1 or not np.all((numbers > 0) & np.isfinite(numbers)):
                raise ArgumentError(
                    f"smoothness of CoordinateDescent is {shown(self.smoothness)}, expected a number above 0 for each "
                    "coordinate, shape (d,)."
                )
            object.__setattr__(self, "smoothness", tuple(numbers.tolist()))

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One coordinate."""
        d = x.shape[0]
        if self.smoothness is None:
            i, rate = random.randint(f.key, (), 0, d), self.lr
        else:
            if len(self.smoothness) != d:
                raise ArgumentError(
                    f"smoothness of CoordinateDescent has {len(self.smoothness)} numbers, but x has {d} entries."
                )
            bounds = np.cumsum(self.smoothness) / np.sum(self.smoothness)
            i = _minimum(_searchsorted(bounds, random.uniform(f.key, ()), side="right"), d - 1)
            rate = self.lr / asarray(np.array(self.smoothness, x.dtype))[i]
        return at_add(x, i, -rate * f.partial_grad(x, i)), state
