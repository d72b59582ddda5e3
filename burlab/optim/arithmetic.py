"""Arithmetic that the rules with curvature share. All of it can be traced."""

from typing import Any

import numpy as np

from burlab.typing import Operand

from .optimizer import Vector

Scalar = Any  # a number of x's dtype, shape (): np.float64, np.float32, or traced

where: Any = np.where  # NumPy's, whose types know neither traced values nor Any
arange: Any = np.arange
solve: Any = np.linalg.solve


def number(x: Vector, value: Scalar) -> Scalar:
    """A number of x's dtype."""
    return np.asarray(value, x.dtype)


def rounding(x: Vector, value: Scalar) -> Any:
    """Differences of values that may be rounding: eps^(2/3) |value|, since a value is a sum of terms larger than it."""
    return float(np.finfo(x.dtype).eps) ** (2 / 3) * np.abs(value)


def root_of_squares(v: Operand, like: Operand) -> Any:
    """sqrt(v), and |like| where squares that v is made of went beyond the range of floats.

    What is divided by it is then of the size that it would have: g / sqrt(v) is the sign of g.
    """
    return where(v < np.inf, np.sqrt(v), np.abs(like))


def unit_of(*vectors: Vector) -> Scalar:
    """Scale, a power of 2 and as a rule 1, by which products of the vectors stay in the range of floats.

    Nothing is rounded by it, so that a rule whose formulas are written in other units keeps all bits.
    """
    size = np.max(np.stack([np.max(np.abs(v)) for v in vectors]))
    most = float(np.finfo(size.dtype).max) ** 0.3  # products of three are in range
    far = np.isfinite(size) & (size > 0) & ((size > most) | (size < 1 / most))
    power = np.floor(np.log2(where(far, size, np.ones_like(size))))
    bound = float(np.finfo(size.dtype).maxexp - 2)
    return np.exp2(-np.clip(power, -bound, bound))


def choose(condition: Scalar, yes: dict[str, Any], no: dict[str, Any]) -> dict[str, Any]:
    """One of two sets of values with the same names."""
    return {name: where(condition, yes[name], no[name]) for name in yes}


def ratio(numerator: Operand, denominator: Operand) -> Any:
    """The quotient, 0 where the denominator is 0."""
    safe = where(denominator == 0, np.ones_like(denominator), denominator)
    return where(denominator == 0, np.zeros_like(safe), numerator / safe)
