"""What an optimizer minimizes: finite sums of one-sample losses, plain functions, and known test problems."""

from .finite_sum import FiniteSum
from .library.function import TestFunction
from .library.plane import beale, booth, branin, goldstein_price, himmelblau
from .library.quadratics import quadratic
from .library.regressions import Regression, least_squares, logistic_regression, softmax_regression
from .library.rugged import ackley, rastrigin, styblinski_tang
from .library.saddles import monkey_saddle, saddle
from .library.valleys import chebyshev_rosenbrock, powell_singular, rosenbrock
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
