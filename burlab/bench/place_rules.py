"""Rules of benchmarks that are written with `bl.optim.through`, as a user writes them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab import optim
from burlab.bench.problem import Array


@dataclass(frozen=True)
class Ascent:
    """T(x) of sharpness-aware minimization, Foret et al. 2021, arXiv:2010.01412. rho: its distance from x."""

    rho: optim.Hyper

    def __call__(self, x: Array, f: Any) -> Array:
        """The point at that distance uphill."""
        g = f.grad(x)
        return x + self.rho * g / np.sqrt(g @ g)


@dataclass(frozen=True)
class Largest:
    """T(x) has the largest entries of x, the others are 0. kept: how many there are."""

    kept: int

    def __call__(self, x: Array) -> Array:
        """The largest entries."""
        return np.where(np.abs(x) >= np.sort(np.abs(x))[-self.kept], x, 0.0)


def sam(lr: float, rho: float) -> optim.Optimizer:
    """Gradient descent with the gradient at a point uphill."""
    return optim.through(optim.GD(lr), Ascent(rho))


def masked_momentum(lr: float, momentum: float, kept: int) -> optim.Optimizer:
    """Momentum with the gradient at the largest entries, in all entries."""
    return optim.through(optim.Momentum(lr, momentum), Largest(kept), at="T(x)")


RULES: Mapping[str, Callable[..., optim.Optimizer]] = {"SAM": sam, "masked momentum": masked_momentum}
