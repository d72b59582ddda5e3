"""What an optimizer minimizes: finite sums of one-sample losses, plain functions, and known test problems."""

from .finite_sum import FiniteSum
from .library import (
    Regression,
    TestFunction,
    ackley,
    beale,
    booth,
    branin,
    chebyshev_rosenbrock,
    goldstein_price,
    himmelblau,
    least_squares,
    logistic_regression,
    monkey_saddle,
    powell_singular,
    quadratic,
    rastrigin,
    rosenbrock,
    saddle,
    softmax_regression,
    styblinski_tang,
)
from .oracle import Oracle

__all__ = [
    "FiniteSum",
    "Oracle",
    "Regression",
    "TestFunction",
    "ackley",
    "beale",
    "booth",
    "branin",
    "chebyshev_rosenbrock",
    "goldstein_price",
    "himmelblau",
    "least_squares",
    "logistic_regression",
    "monkey_saddle",
    "powell_singular",
    "quadratic",
    "rastrigin",
    "rosenbrock",
    "saddle",
    "softmax_regression",
    "styblinski_tang",
]
