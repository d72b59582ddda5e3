"""Problems of the literature to try optimizers on: test functions with known minima, quadratics, regressions."""

from .function import TestFunction
from .plane import beale, booth, branin, goldstein_price, himmelblau
from .quadratics import quadratic
from .regressions import Regression, least_squares, logistic_regression, softmax_regression
from .rugged import ackley, rastrigin, styblinski_tang
from .saddles import monkey_saddle, saddle
from .valleys import chebyshev_rosenbrock, powell_singular, rosenbrock

__all__ = [
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
