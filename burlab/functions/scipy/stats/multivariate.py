"""Distributions of vectors, by log-densities over the last axis."""

import math
from typing import Any, cast

import numpy as np

from burlab.errors import ShapeError
from burlab.functions.scipy.dispatch import choose, floats
from burlab.graph.linalg.scipy_names import solve_triangular
from burlab.graph.node import SPECIAL
from burlab.graph.numpy_api.elementwise import where
from burlab.graph.origin import location
from burlab.typing import ArrayLike, Operand

_gammaln, _xlogy = SPECIAL["gammaln"], SPECIAL["xlogy"]


class MultivariateNormal:
    """The normal distribution of vectors, as scipy.stats.multivariate_normal.

    >>> import numpy as np
    >>> round(float(MultivariateNormal().logpdf(np.zeros(2), np.zeros(2), np.eye(2))), 6)
    -1.837877
    """

    def logpdf(
        self, x: ArrayLike, mean: ArrayLike | None = None, cov: ArrayLike = 1.0, allow_singular: bool = False
    ) -> Any:
        """log of the density at vectors x, (..., d), over the last axis; any of numbers where d is 1.

        mean: (d,), zeros by default. cov: (d, d), symmetric positive definite, of which the lower triangle is read; the
        diagonal, (d,); or a number times the identity. nan where cov is not positive definite, for which SciPy raises.
        allow_singular: cov may be semidefinite; the density is that on the subspace which it spans, -inf off it, and
        its derivatives by cov those of matrices of the same rank. Raises ShapeError for shapes that do not fit.
        """
        return _normal_logpdf(x, mean, cov, allow_singular=bool(allow_singular))

    def pdf(
        self, x: ArrayLike, mean: ArrayLike | None = None, cov: ArrayLike = 1.0, allow_singular: bool = False
    ) -> Any:
        """The density: see `logpdf`."""
        return _normal_pdf(x, mean, cov, allow_singular=bool(allow_singular))

    def entropy(self, mean: ArrayLike | None = None, cov: ArrayLike = 1.0) -> Any:
        """The expected value of -logpdf, in nats; mean only says how many dimensions there are. See `logpdf`."""
        return _normal_entropy(mean, cov)


class Dirichlet:
    """The Dirichlet distribution on the simplex, as scipy.stats.dirichlet.

    >>> import numpy as np
    >>> round(float(Dirichlet().logpdf(np.array([0.25, 0.75]), np.array([1.0, 2.0]))), 6)
    0.405465
    """

    def logpdf(self, x: ArrayLike, alpha: ArrayLike) -> Any:
        """log of the density at x, (k,) or (k, n) as in SciPy, or without the last entry, which is what is left of 1.

        alpha: (k,), positive, else the result is nan; -inf where an entry of x is negative. That entries add up to 1 is
        not checked. Raises ShapeError for shapes that do not fit.
        """
        return _dirichlet_logpdf(x, alpha)

    def pdf(self, x: ArrayLike, alpha: ArrayLike) -> Any:
        """The density."""
        return _dirichlet_pdf(x, alpha)


def _normal(x: ArrayLike, mean: ArrayLike | None, cov: ArrayLike, allow_singular: bool = False) -> Any:
    points, spread, center = floats(x, cov, 0.0 if mean is None else mean)
    shape, d = points.shape, spread.shape[0] if spread.ndim else center.size
    if points.ndim == 0 or (points.ndim == 1 and d == 1):
        points = points[..., None]
    fits = points.shape[-1] == d and spread.shape in ((), (d,), (d, d)) and center.shape in ((), (d,))
    if not fits or (center.shape == () and mean is not None and d > 1):
        raise ShapeError(
            f"{location()}multivariate_normal needs x (..., d), mean (d,) and cov (d, d); got x {shape}, "
            f"mean {None if mean is None else center.shape} and cov {spread.shape}."
        )
    gap = points - center
    if allow_singular:
        return _singular(
            gap, np.diag(spread) if spread.ndim == 1 else spread * np.eye(d) if not spread.ndim else spread
        )
    if spread.ndim == 2:
        factor = cast("Any", np.linalg.cholesky(spread))
        whitened: Any = solve_triangular(factor, np.reshape(gap, (-1, d)).T, lower=True)
        squares = np.reshape(np.sum(whitened * whitened, axis=0), gap.shape[:-1])
    else:
        squares = np.sum(gap * gap / spread, axis=-1)
    return -0.5 * (d * math.log(2 * math.pi) + squares) - _log_root(spread, d)


def _singular(gap: Operand, cov: Operand) -> Any:
    """log of the density on the subspace of the large eigenvalues, with the limits of scipy.stats."""
    values, vectors = cast("Any", np.linalg.eigh(cov))
    relative = (1e6 if gap.dtype == np.float64 else 1e3) * float(np.finfo(gap.dtype).eps)
    limit = relative * np.max(np.abs(values))
    large = values > limit
    inverse: Any = cast("Any", np.linalg).pinv(np.tril(cov) + np.tril(cov, -1).T, rcond=relative)
    squares = np.sum(gap * (gap @ inverse), axis=-1)
    logs = np.count_nonzero(large) * math.log(2 * math.pi) + np.sum(np.log(where(large, values, 1.0)))
    off = np.linalg.norm(where(large, 0.0, gap @ vectors), axis=-1) >= 1e3 * limit
    density = where(off & ~np.all(large), -math.inf, -0.5 * (squares + logs))
    return where(np.min(values) < -limit, math.nan, density)


def _log_root(spread: Operand, d: int) -> Any:
    """log of the root of a covariance's determinant."""
    if spread.ndim == 2:
        return np.sum(np.log(np.diagonal(cast("Any", np.linalg.cholesky(spread)))))
    return 0.5 * (np.sum(np.log(spread)) if spread.ndim else d * np.log(spread))


def _entropy(mean: ArrayLike | None, cov: ArrayLike) -> Any:
    spread, center = floats(cov, 0.0 if mean is None else mean)
    d = spread.shape[0] if spread.ndim else center.size
    if spread.shape not in ((), (d,), (d, d)) or center.shape not in ((), (d,)):
        raise ShapeError(
            f"{location()}multivariate_normal needs mean (d,) and cov (d, d); got mean {center.shape} and cov "
            f"{spread.shape}."
        )
    return 0.5 * d * (1 + math.log(2 * math.pi)) + _log_root(spread, d)


def _dirichlet(x: ArrayLike, alpha: ArrayLike) -> Any:
    points, a = _simplex(x, alpha)
    outside = np.any(points < 0, axis=-1)
    result = np.sum(_xlogy(a - 1, where(points < 0, 0.5, points)), axis=-1) + _log_scale(a)
    return where(np.all(a > 0), where(outside, -math.inf, result), math.nan)


def _dirichlet_density(x: ArrayLike, alpha: ArrayLike) -> Any:
    """Entries of 0 as powers: the exponential of their logarithms has no derivative there."""
    points, a = _simplex(x, alpha)
    outside, zero = np.any(points < 0, axis=-1), points == 0
    logs = np.sum(_xlogy(a - 1, where(points <= 0, 1.0, points)), axis=-1)
    powers = np.prod(where(zero, where(zero, points, 1.0) ** (a - 1), 1.0), axis=-1)
    density = where(outside, 0.0, powers * np.exp(logs + _log_scale(a)))
    return where(np.all(a > 0), density, math.nan)


def _log_scale(a: Operand) -> Any:
    return _gammaln(np.sum(a)) - np.sum(_gammaln(a))


def _simplex(x: ArrayLike, alpha: ArrayLike) -> tuple[Any, Any]:
    """The points, with their entries on the last axis, and alpha."""
    points, a = floats(x, alpha)
    if a.ndim != 1 or points.ndim not in (1, 2) or points.shape[0] not in (a.size, a.size - 1):
        raise ShapeError(
            f"{location()}dirichlet needs alpha (k,) and x (k,) or (k, n), or k - 1 of these; got alpha {a.shape} and "
            f"x {points.shape}."
        )
    if points.shape[0] == a.size - 1:
        points = np.concatenate([points, 1 - np.sum(points, axis=0, keepdims=True)])
    return points.T, a


multivariate_normal, dirichlet = MultivariateNormal(), Dirichlet()
_normal_logpdf = choose(_normal, "multivariate_normal.logpdf")
_normal_pdf = choose(lambda *all, **options: np.exp(_normal(*all, **options)), "multivariate_normal.pdf")
_normal_entropy = choose(_entropy, "multivariate_normal.entropy")
_dirichlet_logpdf = choose(_dirichlet, "dirichlet.logpdf")
_dirichlet_pdf = choose(_dirichlet_density, "dirichlet.pdf")
