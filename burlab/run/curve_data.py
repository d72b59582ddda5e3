"""Arguments of `curve_fit`: data, a start, bounds, weights, and the residuals that they make."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.errors import ArgumentError, ShapeError
from burlab.functions.scipy.linalg import solve_triangular
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import shown
from burlab.runtime.coerce import Array
from burlab.runtime.plain import as_floats
from burlab.typing import ArrayLike


def as_data(given: ArrayLike, name: str, is_known: Callable[[Array], Array]) -> Array:
    """Return data as float64. Raises ArgumentError where `is_known` is False for a number, or where there are none."""
    data = as_floats(given, name)
    if not data.size:
        raise ArgumentError(f"{name} is empty. Pass at least one observation.")
    known = is_known(data)
    if not known.all():
        place = tuple(np.argwhere(~known)[0].tolist())
        raise ArgumentError(
            f'{name} holds {data[place]} at {place}. Leave such observations out; nan_policy="omit" does it for nan.'
        )
    return data


def anything(data: Array) -> Array:
    """Return True for each number."""
    return np.ones(data.shape, bool)


def not_nan(data: Array) -> Array:
    """Return True for each number but nan."""
    return ~np.isnan(data)


def without_nan(x: Array, y: Array, sigma: ArrayLike | None) -> tuple[Array, Array, ArrayLike | None]:
    """Return data and sigma without the observations at which x or y holds nan: indices of the last axis.

    Raises ShapeError unless y has one axis, as long as the last one of x.
    """
    if y.ndim != 1 or x.shape[-1:] != y.shape:
        raise ShapeError(
            f'nan_policy="omit" leaves out observations, numbered by the last axis of xdata and by ydata: expected '
            f"shapes (..., m) and (m,), got {x.shape} and {y.shape}. Leave nan out of the data yourself."
        )
    known = ~(np.isnan(x).reshape(-1, y.size).any(axis=0) | np.isnan(y))
    if not known.any():
        raise ArgumentError("every observation holds nan. Pass at least one without.")
    if sigma is not None:
        given = as_floats(sigma, "sigma")
        if given.size > 1 and set(given.shape) == {y.size}:
            sigma = given[np.ix_(*[known] * given.ndim)]
    return x[..., known], y[known], sigma


def start_of(f: Callable[..., Any], p0: ArrayLike | None, bounds: Any) -> tuple[Array, Array, Array]:
    """Return the lower bounds, the upper bounds and the start, each of shape (d,)."""
    pair = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    if not (isinstance(pair, (tuple, list)) and len(pair) == 2):  # pyright: ignore[reportUnknownArgumentType]
        raise ArgumentError(f"bounds is {shown(bounds)}, expected (lower, upper), or a scipy.optimize.Bounds.")
    start = None if p0 is None else np.atleast_1d(as_floats(p0, "p0"))
    size = _parameters(f) if start is None else start.size
    if start is not None:
        if start.ndim != 1 or not size:
            raise ShapeError(f"p0 has shape {start.shape}, expected (d,): a number for each parameter of f.")
        check_takes(f, "f", f"xdata and {size} parameters", "It is f(xdata, *params).", 1 + size)
    limits: list[Array] = []
    for side, name in zip(pair, ("lower", "upper"), strict=True):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        limit = as_floats(side, f"the {name} bounds")
        if limit.shape not in ((), (size,)):
            raise ShapeError(f"the {name} bounds have shape {limit.shape}, expected () or ({size},).")
        limits.append(np.broadcast_to(limit, (size,)))
    low, high = limits
    if not (low < high).all():
        raise ArgumentError(f"bounds are {shown(bounds)}: each lower one must be below the upper one.")
    start = _between(low, high) if start is None else start
    if not ((low <= start) & (start <= high)).all():
        raise ArgumentError(f"p0 = {start} is not within bounds. Pass a start between {low} and {high}.")
    return low, high, start


def _parameters(f: Callable[..., Any]) -> int:
    """Return the number of parameters of f by its signature, xdata not counted."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    try:
        named = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        named = []
    if len(named) < 2 or any(p.kind not in kinds for p in named):
        raise ArgumentError("the number of parameters of f is not known from its signature. Pass p0.")
    return len(named) - 1


def _between(low: Array, high: Array) -> Array:
    """Return a start within bounds, as SciPy does: the middle, or 1 from the only bound, or 1."""
    below, above = np.isfinite(low), np.isfinite(high)
    one = np.where(below, np.where(below, low, 0) + 1, np.where(above, high, 2) - 1)
    return np.where(below & above, 0.5 * np.where(below, low, 0) + 0.5 * np.where(above, high, 0), one)


def weights_of(sigma: ArrayLike | None, y: Array) -> Array:
    """Return 1 / sigma, a number or of y's shape, or the Cholesky factor of a covariance, shape (m, m)."""
    given = np.ones(()) if sigma is None else as_floats(sigma, "sigma")
    if given.size == 1 or given.shape == y.shape:
        if not (given > 0).all():
            raise ArgumentError(
                f"sigma holds {given[~(given > 0)][0]}, expected standard deviations above 0. Check it."
            )
        return 1 / given.reshape(y.shape if given.shape == y.shape else ())
    if given.shape != (y.size, y.size):
        raise ShapeError(f"sigma has shape {given.shape}, expected (), {y.shape} or {(y.size, y.size)}.")
    try:
        return np.linalg.cholesky(given)
    except np.linalg.LinAlgError as error:
        raise ArgumentError("sigma is not positive definite, as the covariance of data has to be. Check it.") from error


def residuals_of(f: Callable[..., Any], size: int) -> Callable[..., Any]:
    """Return the residuals of f as a function of the parameters, shape (size,), and of data and weights."""

    def residuals(params: Any, x: Any, y: Any, weights: Any) -> Any:
        found: Any = f(x, *(params[k] for k in range(size)))
        if np.shape(found) not in (y.shape, ()):
            raise ShapeError(f"f returned values of shape {np.shape(found)}, but ydata has shape {y.shape}.")
        off = found - y
        return solve_triangular(weights, off, lower=True) if weights.ndim == 2 and off.ndim == 1 else off * weights

    return residuals
