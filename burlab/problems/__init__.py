"""Objectives: finite sums of one-sample losses, plain functions, and known test problems."""

from burlab.problems.kernels.oracle import Oracle
from burlab.problems.library.benchmark_function import TestFunction
from burlab.problems.library.fitted_models import nonlinear_least_squares
from burlab.problems.library.mgh import MGH, KnownResiduals, mgh
from burlab.problems.library.plane import beale, booth, branin, goldstein_price, himmelblau
from burlab.problems.library.quadratics import quadratic
from burlab.problems.library.regressions import Regression, least_squares, logistic_regression, softmax_regression
from burlab.problems.library.rugged import ackley, rastrigin, styblinski_tang
from burlab.problems.library.saddles import monkey_saddle, saddle
from burlab.problems.library.valleys import chebyshev_rosenbrock, powell_singular, rosenbrock

from .batch import Batch, BlockShuffle
from .clients import Federated, federated
from .finite_sum import FiniteSum
from .residual_sum import Residuals

__all__ = [
    "MGH",
    "Batch",
    "BlockShuffle",
    "Federated",
    "FiniteSum",
    "KnownResiduals",
    "Oracle",
    "Regression",
    "Residuals",
    "TestFunction",
    "ackley",
    "beale",
    "booth",
    "branin",
    "chebyshev_rosenbrock",
    "federated",
    "goldstein_price",
    "himmelblau",
    "least_squares",
    "logistic_regression",
    "mgh",
    "monkey_saddle",
    "nonlinear_least_squares",
    "powell_singular",
    "quadratic",
    "rastrigin",
    "rosenbrock",
    "saddle",
    "softmax_regression",
    "styblinski_tang",
]
