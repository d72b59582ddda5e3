"""Objectives: finite sums of one-sample losses, plain functions, and known test problems."""

from burlab.problems.kernels.oracle import Oracle
from burlab.problems.library.benchmark_function import TestFunction
from burlab.problems.library.bundle_adjustment import Scene, bundle_adjustment, synthetic_scene
from burlab.problems.library.chains import arwhead, dixmaan, dixon_price, exponential, liarwhd, zakharov
from burlab.problems.library.distillation import dataset_distillation
from burlab.problems.library.fitted_models import nonlinear_least_squares
from burlab.problems.library.many_waves import griewank, schaffer_2, schaffer_4, schwefel
from burlab.problems.library.many_wells import hartmann, shekel
from burlab.problems.library.mgh import MGH, KnownResiduals, mgh
from burlab.problems.library.plane_bowls import bohachevsky, booth, egg_crate, himmelbg, matyas, periodic
from burlab.problems.library.plane_wells import (
    branin,
    deckkers_aarts,
    goldstein_price,
    himmelblau,
    muller_brown,
    six_hump_camel,
    treccani,
    zettl,
)
from burlab.problems.library.quadratics import dqdrtic, nesterov_chain, quadratic, schwefel_double_sum, trid, tridia
from burlab.problems.library.regressions import Regression, least_squares, logistic_regression, softmax_regression
from burlab.problems.library.rugged import ackley, levy, rastrigin, styblinski_tang, wavy
from burlab.problems.library.saddles import monkey_saddle, saddle
from burlab.problems.library.separable import hager, quartc, raydan
from burlab.problems.library.suite import suite
from burlab.problems.library.valleys import (
    beale,
    biggs_exp2,
    chebyshev_rosenbrock,
    cube,
    genrose,
    powell_singular,
    rosenbrock,
    sineval,
)

from .alternating import Alternating
from .batch import Batch, BlockShuffle
from .batch_loss import BatchLoss
from .clients import Federated, federated
from .finite_sum import FiniteSum
from .residual_sum import Residuals

__all__ = [
    "MGH",
    "Alternating",
    "Batch",
    "BatchLoss",
    "BlockShuffle",
    "Federated",
    "FiniteSum",
    "KnownResiduals",
    "Oracle",
    "Regression",
    "Residuals",
    "Scene",
    "TestFunction",
    "ackley",
    "arwhead",
    "beale",
    "biggs_exp2",
    "bohachevsky",
    "booth",
    "branin",
    "bundle_adjustment",
    "chebyshev_rosenbrock",
    "cube",
    "dataset_distillation",
    "deckkers_aarts",
    "dixmaan",
    "dixon_price",
    "dqdrtic",
    "egg_crate",
    "exponential",
    "federated",
    "genrose",
    "goldstein_price",
    "griewank",
    "hager",
    "hartmann",
    "himmelbg",
    "himmelblau",
    "least_squares",
    "levy",
    "liarwhd",
    "logistic_regression",
    "matyas",
    "mgh",
    "monkey_saddle",
    "muller_brown",
    "nesterov_chain",
    "nonlinear_least_squares",
    "periodic",
    "powell_singular",
    "quadratic",
    "quartc",
    "rastrigin",
    "raydan",
    "rosenbrock",
    "saddle",
    "schaffer_2",
    "schaffer_4",
    "schwefel",
    "schwefel_double_sum",
    "shekel",
    "sineval",
    "six_hump_camel",
    "softmax_regression",
    "styblinski_tang",
    "suite",
    "synthetic_scene",
    "treccani",
    "trid",
    "tridia",
    "wavy",
    "zakharov",
    "zettl",
]
