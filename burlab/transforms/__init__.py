"""Functions of functions: derivatives, curvature, batching, compilation. Names and argument order are JAX's."""

from . import random, tree_functions as tree
from .associative import associative_scan
from .check import check_grads
from .checkpoint_function import checkpoint
from .choices import fori_loop, switch
from .compile import compile
from .control import cond, while_loop
from .counts import counts
from .curvature import ggn_vp, hessian, hvp
from .custom import custom_vjp, stop_gradient, straight_through
from .gradients import grad, jit, jvp, value_and_grad, vjp
from .implicit import fixed_point, root
from .jacobians import jacfwd, jacobian, jacrev
from .linearize import linearize
from .numbers.interval import interval
from .numbers.taylor import taylor
from .operations import operation
from .scan import scan
from .vmap import vmap

__all__ = [
    "associative_scan",
    "check_grads",
    "checkpoint",
    "compile",
    "cond",
    "counts",
    "custom_vjp",
    "fixed_point",
    "fori_loop",
    "ggn_vp",
    "grad",
    "hessian",
    "hvp",
    "interval",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "linearize",
    "operation",
    "random",
    "root",
    "scan",
    "stop_gradient",
    "straight_through",
    "switch",
    "taylor",
    "tree",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]
