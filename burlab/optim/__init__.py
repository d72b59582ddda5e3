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
from .sign import Lion, Rprop, SignSGD

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
    "RAdam",
    "RMSProp",
    "Rprop",
    "SignSGD",
    "constant",
    "cosine",
    "exponential",
    "inverse_sqrt",
    "linear",
    "one_cycle",
    "polynomial",
    "step",
    "warmup",
]
