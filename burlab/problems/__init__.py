"""What an optimizer minimizes: finite sums of one-sample losses, plain functions, and known test problems."""

from .finite_sum import FiniteSum
from .library import (
    TestFunction,
    ackley,
    beale,
    booth,
    branin,
    chebyshev_rosenbrock,
    goldstein_price,
    himmelblau,
    monkey_saddle,
    powell_singular,
    quadratic,
    rastrigin,
    rosenbrock,
    saddle,
    styblinski_tang,
)
from .oracle import Oracle

__all__ = [
    "FiniteSum",
    "Oracle",
    "TestFunction",
    "ackley",
    "beale",
    "booth",
    "branin",
    "chebyshev_rosenbrock",
    "goldstein_price",
    "himmelblau",
    "monkey_saddle",
    "powell_singular",
    "quadratic",
    "rastrigin",
    "rosenbrock",
    "saddle",
    "styblinski_tang",
]
