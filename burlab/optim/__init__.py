"""Optimizers as their papers write them: an update rule in NumPy, traced and compiled into the step loop."""

from .adadagrad import AdAdaGrad
from .adadelta import Adadelta
from .adagrad import Adagrad
from .adam import Adam, AdamW, AMSGrad
from .adamax import Adamax
from .alternating_parts import alternating
from .averaging import ASGD
from .barzilai_borwein import BarzilaiBorwein
from .bilevel_parts import bilevel, unrolled
from .conjugate_gradient import NonlinearCG
from .coordinate import CoordinateDescent
from .curvature.adahessian import AdaHessian
from .curvature.m_fac import MFAC
from .curvature.muon import Muon
from .curvature.shampoo import SOAP, Shampoo
from .curvature.sophia import SophiaG, SophiaH
from .descent import ArmijoGD, WolfeGD
from .distributed.byzantine import MoNNA, RobustGD
from .distributed.coding import GradientCoding
from .distributed.compressed import DCGD, DIANA, EF21, EF21PP, EF21W
from .distributed.compressed_differences import DASHA, MARINA, PPMARINA, VRMARINA
from .distributed.fednl import FedNL
from .distributed.local import SCAFFOLD, FedAvg, FedProx
from .distributed.local_rules import DiLoCo
from .estimators.gluster import gluster
from .estimators.quantized import QZO
from .estimators.recursive import MVR, PAGE, SARAH, STORM
from .estimators.saga import SAGA
from .estimators.sso import SSO
from .estimators.svrg import LSVRG, SVRG
from .estimators.zeroth_order import (
    CoordinateZO,
    MeZO,
    ZOBlockwise,
    ZOConservative,
    ZOSignSGD,
    forward_gradient,
    hybrid_zeroth_order,
    sparse_zeroth_order,
    zeroth_order,
)
from .expectation_maximization import EM
from .gradient_descent import GD
from .gradient_place import through
from .lbfgs import LBFGS
from .least_squares.gauss_newton import GaussNewton
from .least_squares.levenberg_marquardt import LevenbergMarquardt
from .link_rules import GSE, SET, RigL
from .loss_scale import LossScale
from .low_precision import rounded
from .memory.adafactor import Adafactor
from .memory.apollo import APOLLO
from .memory.frugal import FRUGAL
from .memory.galore import GaLore, NaturalGaLore
from .momentum import Momentum, Nesterov
from .nadam import NAdam
from .newton import ModifiedNewton, Newton
from .newton_cg import NewtonCG
from .optimizer import Hyper, Optimizer
from .parameter_free.cocob import COCOB
from .parameter_free.d_adaptation import DAdaptAdam, DAdaptSGD
from .parameter_free.dog import DoG, DoWG
from .parameter_free.mechanic import mechanic
from .parameter_free.momo import MoMo, MoMoAdam
from .parameter_free.prodigy import Prodigy
from .parameter_free.schedule_free import ScheduleFreeAdamW, ScheduleFreeSGD
from .penalties import Penalty, elastic_net, l1, l2, proximal
from .radam import RAdam
from .rewiring import rewire
from .rmsprop import RMSProp
from .schedule_tables import refined, table
from .schedules import constant, cosine, exponential, inverse_sqrt, linear, one_cycle, polynomial, step, warmup
from .scipy_minimizer import SciPy
from .sets import Set, ball, box, nonnegative, projected, simplex
from .sharpness import SAM
from .sign import Lion, Rprop, SignSGD
from .top_kast import TopKAST
from .trust_region import TrustRegion
from .wrappers import Wrapper, clip_by_norm, clip_by_value, decoupled_weight_decay, gradient_noise, weight_decay

__all__ = [
    "APOLLO",
    "ASGD",
    "COCOB",
    "DASHA",
    "DCGD",
    "DIANA",
    "EF21",
    "EF21PP",
    "EF21W",
    "EM",
    "FRUGAL",
    "GD",
    "GSE",
    "LBFGS",
    "LSVRG",
    "MARINA",
    "MFAC",
    "MVR",
    "PAGE",
    "PPMARINA",
    "QZO",
    "SAGA",
    "SAM",
    "SARAH",
    "SCAFFOLD",
    "SET",
    "SOAP",
    "SSO",
    "STORM",
    "SVRG",
    "VRMARINA",
    "AMSGrad",
    "AdAdaGrad",
    "AdaHessian",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "ArmijoGD",
    "BarzilaiBorwein",
    "CoordinateDescent",
    "CoordinateZO",
    "DAdaptAdam",
    "DAdaptSGD",
    "DiLoCo",
    "DoG",
    "DoWG",
    "FedAvg",
    "FedNL",
    "FedProx",
    "GaLore",
    "GaussNewton",
    "GradientCoding",
    "Hyper",
    "LevenbergMarquardt",
    "Lion",
    "LossScale",
    "MeZO",
    "MoMo",
    "MoMoAdam",
    "MoNNA",
    "ModifiedNewton",
    "Momentum",
    "Muon",
    "NAdam",
    "NaturalGaLore",
    "Nesterov",
    "Newton",
    "NewtonCG",
    "NonlinearCG",
    "Optimizer",
    "Penalty",
    "Prodigy",
    "RAdam",
    "RMSProp",
    "RigL",
    "RobustGD",
    "Rprop",
    "ScheduleFreeAdamW",
    "ScheduleFreeSGD",
    "SciPy",
    "Set",
    "Shampoo",
    "SignSGD",
    "SophiaG",
    "SophiaH",
    "TopKAST",
    "TrustRegion",
    "WolfeGD",
    "Wrapper",
    "ZOBlockwise",
    "ZOConservative",
    "ZOSignSGD",
    "alternating",
    "ball",
    "bilevel",
    "box",
    "clip_by_norm",
    "clip_by_value",
    "constant",
    "cosine",
    "decoupled_weight_decay",
    "elastic_net",
    "exponential",
    "forward_gradient",
    "gluster",
    "gradient_noise",
    "hybrid_zeroth_order",
    "inverse_sqrt",
    "l1",
    "l2",
    "linear",
    "mechanic",
    "nonnegative",
    "one_cycle",
    "polynomial",
    "projected",
    "proximal",
    "refined",
    "rewire",
    "rounded",
    "simplex",
    "sparse_zeroth_order",
    "step",
    "table",
    "through",
    "unrolled",
    "warmup",
    "weight_decay",
    "zeroth_order",
]
