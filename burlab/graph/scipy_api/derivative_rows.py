"""The derivatives of the ufuncs of scipy.special: one row of `ROWS` a ufunc.

A row has an entry for each argument: a function of the arguments and the results, which gives the partial derivative of
the result, or of each of several; `None`, where it is 0; or a text, why there is no formula. Formulas are in traced
words, so they have derivatives themselves. They hold for complex numbers, too. A function that is not analytic has a
formula for the derivative by the conjugate as well (Wirtinger derivatives).
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from burlab.graph import hooks
from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import constant
from burlab.graph.operation import make_node
from burlab.graph.rules import SPECIAL, SPECIAL_COMPLEX
from burlab.runtime.plain import is_complex

Formula = Callable[..., Any]
Partial = Formula | str | None


class DerivativeRow(NamedTuple):
    """The partial derivatives of a ufunc.

    by_conjugate: those of its results by the conjugate of its last argument, where that is complex; None: all are 0.
    """

    partials: tuple[Partial, ...]
    by_conjugate: Formula | None = None


def row(*partials: Partial, by_conjugate: Formula | None = None) -> DerivativeRow:
    """Return the row of partial derivatives."""
    return DerivativeRow(partials, by_conjugate)


def like(f: Formula, arity: int, refused: Mapping[int, str] | None = None) -> DerivativeRow:
    """Return the row of a function that equals an expression in traced words, which is differentiated."""

    def partial(k: int) -> Formula:
        return lambda *values: derivative(f, values[:arity], k)

    reasons = refused or {}
    return DerivativeRow(tuple(reasons.get(k) or partial(k) for k in range(arity)))


def implicit(residual: Formula, arity: int, refused: Mapping[int, str] | None = None) -> DerivativeRow:
    """Return the row of the function y(x...) that solves residual(x..., y) = 0: dy/dx = -residual_x / residual_y."""

    def partial(k: int) -> Formula:
        return lambda *values: -derivative(residual, values, k) / derivative(residual, values, arity)

    reasons = refused or {}
    return DerivativeRow(tuple(reasons.get(k) or partial(k) for k in range(arity)))


def derivative(f: Formula, values: tuple[Any, ...], k: int) -> Any:
    """Return the derivative of an expression by its k-th argument, whatever other arguments are the same node.

    By a complex argument the expression has to be analytic: its derivative is that along the real axis.
    """
    apart = [_copied(x) for x in values]
    real, _ = hooks.complex_numbers().parts(apart[k])
    one = broadcast(constant(1.0, real.dtype), real.shape)
    parts = [part for part in hooks.complex_numbers().parts(f(*apart)) if part is not None]
    slopes = hooks.sweeps.jvp(parts, [real], [one])
    return hooks.complex_numbers().pair(*slopes) if len(slopes) == 2 else slopes[0]


def _copied(x: Any) -> Any:
    """Return an equal value whose nodes no other value has."""
    parts = [part for part in hooks.complex_numbers().parts(x) if part is not None]
    copies = [make_node("broadcast", (part.shape, tuple(range(part.ndim))), part) for part in parts]
    return hooks.complex_numbers().pair(*copies) if len(copies) == 2 else copies[0]


def with_limit(x: Any, limit: float, f: Formula) -> Any:
    """Return f(x), and at x = 0, where the formula is not defined, its limit."""
    at = x == 0.0
    return np.where(at, limit, f(np.where(at, 1.0, x)))


class SpecialFunctions:
    """The ufuncs of scipy.special, private ones too, on traced values."""

    def __getattr__(self, name: str) -> Formula:
        def call(*values: Any) -> Any:
            return (SPECIAL_COMPLEX if any(map(is_complex, values)) else SPECIAL)[name](*values)

        return call


special = SpecialFunctions()
ORDER = "there is no formula for the derivative by the order in functions that SciPy has"
PARAMETER = "there is no formula for the derivative by this parameter in functions that SciPy has"
WHOLE = "it has to be whole"
ROWS: dict[str, DerivativeRow] = {}
"""The rows of all ufuncs that SciPy's loops compute."""
