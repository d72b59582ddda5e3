"""Sharpness-aware minimization."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.transforms import tree

from .gradient_place import PlaceRule
from .optimizer import Hyper
from .place_step import X

_TINY = 1e-12  # where the gradient is 0, the point stays


@dataclass(frozen=True)
class SAM(PlaceRule):
    """Foret et al. 2021, Algorithm 1, arXiv:2010.01412: the gradient at the steepest point at distance rho, p = 2.

    x <- step(x, grad f(x + rho g / |g|)), g = grad f(x) over the same batch, |g| over all of x; the derivative of the
    ascent is left out, as in the paper. With rho = 0 it is the optimizer inside. The regularizer is part of f. Values
    and gradient norms are those at x. Cost: one more gradient of the batch; keeps nothing of its own.

    Args:
        inner: The optimizer; of the paper SGD with momentum.
        rho: Distance to the point of the gradient; the paper tries 0.01 to 0.5.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.SAM(bl.optim.GD(0.25), rho=0.5), steps=1)
    >>> run.x, run.counts["samples"]  # 1 - 0.25 * 2 * 1.5
    (array([0.25]), 2)
    """

    rho: Hyper = 0.05

    @property
    def place(self) -> Any:
        """The point that the gradient at x leads to."""
        return self._steepest

    @property
    def run_point(self) -> Any:
        """x itself."""
        return X

    def _steepest(self, x: Any, f: Any) -> Any:
        g = f.grad(x)
        length = np.sqrt(sum(np.sum(slope**2) for slope in tree.leaves(g)))
        reach = self.rho / (length + _TINY)

        def ascended(leaf: Any, slope: Any) -> Any:
            return leaf + reach * slope

        return tree.map(ascended, x, g)
