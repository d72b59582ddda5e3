"""Densities with powers: x^y e^z by one exponential, with derivatives at the ends of the support.

The exponential of a log-density has none there: 0 times the infinite derivative of a logarithm.
"""

from typing import Any

from burlab.graph.node import SPECIAL
from burlab.graph.numpy_api.elementwise import power_exp, where
from burlab.typing import Operand

_xlogy, _xlog1py = SPECIAL["xlogy"], SPECIAL["xlog1py"]


def two_powers(x: Operand, y: Operand, z: Operand, rest: Operand) -> Any:
    """x^y (1 - x)^z e^rest of nodes, 0 <= x <= 1: the factor that may be 0 as a power, the other in the exponent."""
    low = x < 0.5
    left, right = where(low, x, 0.25), where(low, 0.75, x)
    other = where(low, _xlog1py(z, -left), _xlogy(y, right))
    return power_exp(where(low, x, 1 - x), where(low, y, z), other + rest)
