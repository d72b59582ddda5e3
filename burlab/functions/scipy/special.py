"""Functions that `scipy.special` computes in Python code, for traced values, arrays and numbers.

Its ufuncs are called as they are on traced values, `scipy.special.gammaln(x)`; those that can be traced are here, too,
so that this module can replace it.
"""

import math
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph.node import SPECIAL
from burlab.graph.numpy_api import composites, elementwise as real
from burlab.graph.origin import location
from burlab.runtime.checks.numbers import flag, shown
from burlab.runtime.extras import late
from burlab.runtime.ranges import Range, number_in
from burlab.typing import ArrayLike, Axis

from .dispatch import choose, floats

__all__ = ["log_softmax", "logsumexp", "multigammaln", "polygamma", "softmax"]

_ufuncs: Any = late("scipy.special")


def __getattr__(name: str) -> Any:
    """A ufunc of scipy.special that can be traced."""
    if name.startswith("_") or not (name in SPECIAL or f"_{name}" in SPECIAL or name == "digamma"):
        raise AttributeError(f"bl.scipy.special has no {name!r}. What it has is listed in docs/numpy.md.")
    return getattr(_ufuncs, name)


def logsumexp(
    a: ArrayLike, axis: Axis = None, b: ArrayLike | None = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """log sum b exp a over the axes (all of them by default), shifted by the largest entry.

    a: floats; b: weights that broadcast to it, 1 by default; where one is 0 the entry does not count. return_sign: the
    logarithm of the absolute value, and the sign; without it a negative sum gives nan. As scipy.special.logsumexp.

    >>> import numpy as np
    >>> round(float(logsumexp(np.array([1000.0, 1000.0]), b=np.array([1.0, 2.0]))), 6)
    1001.098612
    """
    options = {"axis": axis, "keepdims": flag(keepdims, "keepdims"), "return_sign": flag(return_sign, "return_sign")}
    return _logsumexp(a, b, **options)


def _sum_of_exponentials(
    a: ArrayLike | None, b: ArrayLike | None, axis: Axis, keepdims: bool, return_sign: bool
) -> Any:
    if a is None:
        raise ArgumentError(f"{location()}a of logsumexp must hold numbers; got None.")
    x, weights = floats(a, b)
    if b is None and not return_sign:
        return composites.logsumexp(x, axis, keepdims)
    weights = 1.0 if b is None else weights
    counted = weights != 0
    peak: Any = composites.stop_gradient(np.max(real.where(counted, x, -math.inf), axis=axis, keepdims=True))
    shift, nothing = real.where(np.isfinite(peak), peak, 0.0), peak == -math.inf
    # By a weight of 0 the derivative is exp(gap), which may be infinite while the product is 0.
    gap = real.where(nothing, composites.stop_gradient(x), x) - shift
    large = 700.0 if x.dtype == np.float64 else 80.0
    beyond = np.logical_not(counted | (gap <= large))
    e = np.exp(real.where(beyond, 0.0, gap))
    terms = real.where(beyond, SPECIAL["xlogy"](weights, real.where(beyond, math.inf, 1.0)), weights * e)
    total = np.sum(terms, axis=axis, keepdims=True)
    empty = nothing & (np.max(e, axis=axis, keepdims=True) == 0)  # of -inf alone: it does not change
    size = np.abs(total) if return_sign else total
    result = np.log(real.where(empty, 1.0, size)) + real.where(empty, -math.inf, shift)
    shape = np.sum(x, axis=axis, keepdims=keepdims).shape
    result = np.reshape(result, shape)
    return (result, np.reshape(np.sign(total), shape)) if return_sign else result


def softmax(x: ArrayLike, axis: Axis = None) -> Any:
    """exp x / sum exp x over the axes (all of them by default). As scipy.special.softmax.

    >>> softmax([[0.0, 0.0], [0.0, 0.0]], axis=1)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    return _softmax(x, axis=axis)


def log_softmax(x: ArrayLike, axis: Axis = None) -> Any:
    """x - logsumexp x over the axes (all of them by default). As scipy.special.log_softmax.

    >>> log_softmax([1000.0, 0.0])
    array([    0., -1000.])
    """
    return _log_softmax(x, axis=axis)


def polygamma(n: ArrayLike, x: ArrayLike) -> Any:
    """The derivative of order n of digamma: whole numbers n, floats x, which broadcast. Derivatives by x only.

    As scipy.special.polygamma.

    >>> round(float(polygamma(1, 1.0)), 6)
    1.644934
    """
    return _polygamma(n, x)


def _derived_digamma(n: ArrayLike, x: ArrayLike) -> Any:
    return real.polygamma(*floats(n, x))


_DIMENSIONS = Range(1.0, 10_000.0)  # each is a term of the graph


def multigammaln(a: ArrayLike, d: int) -> Any:
    """log of the gamma function of d dimensions, of every entry of a; nan where a <= (d - 1) / 2.

    Raises ArgumentError where d is no positive whole number. As scipy.special.multigammaln, which raises for such a.

    >>> round(float(multigammaln(2.0, 1)), 6)
    0.0
    """
    if number_in(_DIMENSIONS, d, f"{location()}d of multigammaln") != int(d):
        raise ArgumentError(f"{location()}d of multigammaln is {shown(d)}, expected a positive whole number.")
    return _multigammaln(a, d=int(d))


def _multivariate(a: ArrayLike | None, d: int) -> Any:
    if a is None:
        raise ArgumentError(f"{location()}a of multigammaln must hold numbers; got None.")
    (x,) = floats(a)
    terms: list[Any] = [real.gammaln(x - 0.5 * j) for j in range(d)]
    total = sum(terms) + d * (d - 1) / 4 * math.log(math.pi)
    return real.where(x > 0.5 * (d - 1), total, math.nan)


_logsumexp = choose(_sum_of_exponentials, "logsumexp")
_softmax = choose(composites.softmax, "softmax")
_log_softmax = choose(composites.log_softmax, "log_softmax")
_polygamma = choose(_derived_digamma, "polygamma")
_multigammaln = choose(_multivariate, "multigammaln")
