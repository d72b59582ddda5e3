"""Problems of the literature to try optimizers on: test functions with known minima, quadratics, regressions."""

from .function import TestFunction
from .plane import beale, booth, branin, goldstein_price, himmelblau
from .quadratics import quadratic
from .rugged import ackley, rastrigin, styblinski_tang
from .saddles import monkey_saddle, saddle
from .valleys import chebyshev_rosenbrock, powell_singular, rosenbrock

__all__ = [
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
