"""Which operations of a graph have no rounding error: always, or for some arguments."""

from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.graph.node import Node

_np: Any = np  # whose stubs know nothing of nodes
CHOICES = frozenset("where maximum minimum fmax fmin relu reduce_max reduce_min".split())
"""Operations whose results are some of their operands, or 0, besides those that move data."""
EXACT = frozenset(
    "abs neg sign copysign floor ceil rint trunc fmod nextafter lower_bound upper_bound exponent mantissa uniform "
    "round_to".split()
)
"""Operations whose results are numbers of the dtype by what they are defined as, besides the choices."""
_SUMS = frozenset("cumsum squares multiply_add matvec".split())
"""Operations that add up, besides those whose row says so."""
_AT_ZERO = frozenset(
    "exp expm1 log1p sin cos tan arctan sinh cosh tanh arctanh arcsin arcsinh erf erfc erfcx erfinv exprel cbrt exp2 "
    "sinc sigmoid silu gelu".split()
)
"""Functions that are exact at 0. (At another number exp, sin and their like have no exact result.)"""
_AT_ONE = frozenset("log log2 log10 arccos arccosh erfcinv gammaln gamma".split())


def chooses(n: Node) -> bool:
    """Return True if every result is one of the operands, or 0: it is of their format already."""
    return n.row.moves_data or n.op in CHOICES or (n.op == "put" and not adds_up(n))


def is_exact(n: Node) -> bool:
    """Return True if no result is ever rounded."""
    return n.row.leaf or chooses(n) or n.op in EXACT


def adds_up(n: Node) -> bool:
    """Return True if it is a sum, of products perhaps."""
    return n.row.adds_up or n.op in _SUMS or (n.op == "put" and n.params[1])


def largest_whole(x: Any) -> float:
    """Return the number up to which all whole numbers are numbers of x's dtype."""
    return 2.0 ** (np.finfo(x.dtype).nmant + 1)


def _at_zero(_: Any, x: Any) -> Any:
    return x == 0


def _at_one(_: Any, x: Any) -> Any:
    return x == 1


def _power(y: Any, x: Any, exponent: Any) -> Any:
    """Whole powers of whole numbers, and the first two of any number."""
    whole = (x == _np.rint(x)) & (exponent == _np.rint(exponent)) & (exponent >= 0) & (_np.abs(y) < largest_whole(y))
    return whole | (exponent == 0) | (exponent == 1)


def _quotient(y: Any, *_: Any) -> Any:
    return _np.abs(y) < largest_whole(y) / 4


EXACT_AT: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(_AT_ZERO, _at_zero),
    **dict.fromkeys(_AT_ONE, _at_one),
    "power": _power,
    "floor_divide": _quotient,
}
"""Where elementwise operations are exact: (result, *operands) -> mask. There are more such places of some."""
