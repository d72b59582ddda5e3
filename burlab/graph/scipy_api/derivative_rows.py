"""How the derivatives of a ufunc of scipy.special are stated: one row of `ROWS` a ufunc.

A row has an entry for each argument: a function of the arguments and the results, which gives the partial derivative of
the result, or of each of several; `None`, where it is 0; or a text, why there is no formula. Formulas are in traced
words, so they have derivatives themselves. They hold for complex numbers, too, unless the row says why not.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from burlab.graph import hooks
from burlab.graph.linear_nodes import broadcast
from burlab.graph.node import Node, constant
from burlab.graph.operation import make_node
from burlab.graph.rules import SPECIAL, SPECIAL_COMPLEX
from burlab.runtime.plain import is_complex

Formula = Callable[..., Any]
Partial = Formula | str | None


class DerivativeRow(NamedTuple):
    """The partial derivatives of a ufunc; complex_reason: why they do not hold for its complex loops."""

    partials: tuple[Partial, ...]
    complex_reason: str = ""


def row(*partials: Partial, complex_reason: str = "") -> DerivativeRow:
    """Return the row of partial derivatives."""
    return DerivativeRow(partials, complex_reason)


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


def derivative(f: Formula, values: tuple[Any, ...], k: int) -> Node:
    """Return the derivative of an expression by its k-th argument, whatever other arguments are the same node."""
    apart = [make_node("broadcast", (x.shape, tuple(range(x.ndim))), x) for x in values]
    one = broadcast(constant(1.0, apart[k].dtype), apart[k].shape)
    return hooks.sweeps.jvp([f(*apart)], [apart[k]], [one])[0]


def with_limit(x: Any, limit: float, f: Formula) -> Any:
    """Return f(x), and at x = 0, where the formula is not defined, its limit."""
    at = x == 0.0
    return np.where(at, limit, f(np.where(at, 1.0, x)))


class Words:
    """The ufuncs of scipy.special, private ones too, on traced values."""

    def __getattr__(self, name: str) -> Formula:
        def call(*values: Any) -> Any:
            return (SPECIAL_COMPLEX if any(map(is_complex, values)) else SPECIAL)[name](*values)

        return call


special = Words()
ORDER = "there is no formula for the derivative by the order in functions that SciPy has"
PARAMETER = "there is no formula for the derivative by this parameter in functions that SciPy has"
WHOLE = "it has to be whole"
ANALYTIC = "the scaling by |exp| is not analytic"
ROWS: dict[str, DerivativeRow] = {}
"""The rows of all ufuncs that SciPy's loops compute."""
