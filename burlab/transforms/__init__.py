"""Functions of functions: derivatives, curvature, batching, compilation. Names and argument order are JAX's."""

from . import random
from .check import check_grads
from .compile import compile
from .control import cond, while_loop
from .curvature import hessian, hvp, jacobian
from .custom import custom_vjp, stop_gradient
from .gradients import grad, jit, jvp, value_and_grad, vjp
from .scan import scan
from .vmap import vmap

__all__ = [
    "check_grads",
    "compile",
    "cond",
    "custom_vjp",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jit",
    "jvp",
    "random",
    "scan",
    "stop_gradient",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]
