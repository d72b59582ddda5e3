"""Optimizers as their papers write them: an update rule in NumPy, traced and compiled into the step loop."""

from .adadelta import Adadelta
from .adagrad import Adagrad
from .adam import Adam, AdamW, AMSGrad
from .adamax import Adamax
from .averaging import ASGD
from .barzilai_borwein import BarzilaiBorwein
from .conjugate_gradient import NonlinearCG
from .descent import ArmijoGD, WolfeGD
from .gradient_descent import GD
from .lbfgs import LBFGS
from .momentum import Momentum, Nesterov
from .nadam import NAdam
from .newton import ModifiedNewton, Newton
from .newton_cg import NewtonCG
from .optimizer import Hyper, Optimizer
from .penalties import Penalty, elastic_net, l1, l2, proximal
from .radam import RAdam
from .rmsprop import RMSProp
from .schedules import constant, cosine, exponential, inverse_sqrt, linear, one_cycle, polynomial, step, warmup
from .scipy_minimizer import SciPy
from .sets import Set, ball, box, nonnegative, projected, simplex
from .sign import Lion, Rprop, SignSGD
from .trust_region import TrustRegion
from .wrappers import Wrapper, clip_by_norm, clip_by_value, decoupled_weight_decay, gradient_noise, weight_decay

__all__ = [
    "ASGD",
    "GD",
    "LBFGS",
    "AMSGrad",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "ArmijoGD",
    "BarzilaiBorwein",
    "Hyper",
    "Lion",
    "ModifiedNewton",
    "Momentum",
    "NAdam",
    "Nesterov",
    "Newton",
    "NewtonCG",
    "NonlinearCG",
    "Optimizer",
    "Penalty",
    "RAdam",
    "RMSProp",
    "Rprop",
    "SciPy",
    "Set",
    "SignSGD",
    "TrustRegion",
    "WolfeGD",
    "Wrapper",
    "ball",
    "box",
    "clip_by_norm",
    "clip_by_value",
    "constant",
    "cosine",
    "decoupled_weight_decay",
    "elastic_net",
    "exponential",
    "gradient_noise",
    "inverse_sqrt",
    "l1",
    "l2",
    "linear",
    "nonnegative",
    "one_cycle",
    "polynomial",
    "projected",
    "proximal",
    "simplex",
    "step",
    "warmup",
    "weight_decay",
]
