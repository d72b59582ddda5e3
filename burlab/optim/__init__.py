"""Optimizers as their papers write them: an update rule in NumPy, traced and compiled into the step loop."""

from .adadelta import Adadelta
from .adagrad import Adagrad
from .adam import Adam, AdamW, AMSGrad
from .adamax import Adamax
from .averaging import ASGD
from .gradient_descent import GD
from .momentum import Momentum, Nesterov
from .nadam import NAdam
from .optimizer import Hyper, Optimizer
from .penalties import Penalty, elastic_net, l1, l2, proximal
from .radam import RAdam
from .rmsprop import RMSProp
from .schedules import (
    constant,
    cosine,
    exponential,
    inverse_sqrt,
    linear,
    one_cycle,
    polynomial,
    step,
    warmup,
)
from .sets import Set, ball, box, nonnegative, projected, simplex
from .sign import Lion, Rprop, SignSGD
from .wrappers import Wrapper, clip_by_norm, clip_by_value, decoupled_weight_decay, gradient_noise, weight_decay

__all__ = [
    "ASGD",
    "GD",
    "AMSGrad",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Hyper",
    "Lion",
    "Momentum",
    "NAdam",
    "Nesterov",
    "Optimizer",
    "Penalty",
    "RAdam",
    "RMSProp",
    "Rprop",
    "Set",
    "SignSGD",
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
