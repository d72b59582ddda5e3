"""Distributions of whole numbers k - loc, at loc 0."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.functions.scipy.dispatch import floats
from burlab.graph.node import SPECIAL
from burlab.graph.numpy_api.composites import stop_gradient
from burlab.graph.numpy_api.elementwise import power_exp, where
from burlab.typing import ArrayLike, Operand

from .distribution import Distribution
from .powers import two_powers

_gammainc, _gammaincc, _betainc, _betaincc = (
    SPECIAL[name] for name in ("gammainc", "gammaincc", "betainc", "betaincc")
)
_gammaln, _betaln, _xlogy, _xlog1py = (SPECIAL[name] for name in ("gammaln", "betaln", "xlogy", "xlog1py"))


@dataclass(frozen=True, eq=False)
class Discrete(Distribution):
    """A distribution of whole numbers, with the methods of `scipy.stats` for it.

    Every method takes k, the parameters in `shapes`, then `loc`, by position or name, all numbers or arrays that
    broadcast. Raises ArgumentError for parameters that it does not know.

    >>> from burlab.scipy.stats import poisson
    >>> round(float(poisson.pmf(2, mu=1.5)), 6)
    0.251021
    """

    def logpmf(self, k: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        """log of the probability of k; -inf where k is not whole or outside of the support."""
        return self._run("logpmf", self._log_mass, k, args, kwargs)

    def pmf(self, k: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        """The probability of k."""
        return self._run("pmf", self._mass, k, args, kwargs)

    def cdf(self, k: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        """The probability of what is at most k; its derivative by k counts as 0."""
        return self._distribution("cdf", 0.0, 1.0, k, args, kwargs)

    def sf(self, k: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        """The probability of what is above k, accurate where it is small."""
        return self._distribution("sf", 1.0, 0.0, k, args, kwargs)

    def _distribution(
        self, method: str, below: float, above: float, k: ArrayLike, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        rule = self.rules[method]

        def function(k: ArrayLike, *values: Any) -> Any:
            x, *shapes, loc = floats(k, *values)
            steps = stop_gradient(np.floor(x if loc is None else x - loc))
            found = self._within(steps, shapes, rule, below, above)
            return self._checked(where(np.isnan(steps), steps, found), shapes)

        return self._run(method, function, k, args, kwargs)

    def _log_mass(self, k: ArrayLike, *values: Any) -> Any:
        return self._at_whole("logpmf", -math.inf, k, *values)

    def _mass(self, k: ArrayLike, *values: Any) -> Any:
        return self._at_whole("pmf", 0.0, k, *values)

    def _at_whole(self, method: str, elsewhere: float, k: ArrayLike, *values: Any) -> Any:
        x, *shapes, loc = floats(k, *values)
        x = x if loc is None else x - loc
        found = self._within(x, shapes, self.rules[method], elsewhere, elsewhere)
        return self._checked(where(x != np.floor(x), where(np.isnan(x), x, elsewhere), found), shapes)


def _poisson(k: Operand, mu: Operand) -> Any:
    return _xlogy(k, mu) - _gammaln(k + 1) - mu


def _binomial(k: Operand, n: Operand, p: Operand) -> Any:
    """The binomial coefficient as 1 / ((n + 1) beta(k + 1, n - k + 1))."""
    return -np.log(n + 1) - _betaln(k + 1, n - k + 1) + _xlogy(k, p) + _xlog1py(n - k, -p)


def _bernoulli(k: Operand, p: Operand) -> Any:
    return _xlogy(k, p) + _xlog1py(1 - k, -p)


def _poisson_mass(k: Operand, mu: Operand) -> Any:
    return power_exp(mu, k, -_gammaln(k + 1) - mu)


def _binomial_mass(k: Operand, n: Operand, p: Operand) -> Any:
    return two_powers(p, k, n - k, -np.log(n + 1) - _betaln(k + 1, n - k + 1))


def _bernoulli_mass(k: Operand, p: Operand) -> Any:
    return two_powers(p, k, 1 - k, 0.0)


def _poisson_cdf(k: Operand, mu: Operand) -> Any:
    return _gammaincc(k + 1, mu)


def _poisson_sf(k: Operand, mu: Operand) -> Any:
    return _gammainc(k + 1, mu)


def _binomial_cdf(k: Operand, n: Operand, p: Operand) -> Any:
    return where(k < n, _betaincc(k + 1, where(k < n, n - k, 1.0), p), 1.0)


def _binomial_sf(k: Operand, n: Operand, p: Operand) -> Any:
    return where(k < n, _betainc(k + 1, where(k < n, n - k, 1.0), p), 0.0)


def _bernoulli_cdf(k: Operand, p: Operand) -> Any:
    return where(k < 1, 1 - p, 1.0)


def _bernoulli_sf(k: Operand, p: Operand) -> Any:
    return where(k < 1, p, 0.0)


def _is_rate(mu: Operand) -> list[Any]:
    return [mu >= 0]


def _is_chance(p: Operand) -> list[Any]:
    return [p >= 0, p <= 1]


def _are_trials(n: Operand, p: Operand) -> list[Any]:
    return [n >= 0, n == np.floor(n), *_is_chance(p)]


def _trials(n: Operand, _p: Operand) -> Any:
    return n


poisson = Discrete(
    "poisson",
    {"logpmf": _poisson, "pmf": _poisson_mass, "cdf": _poisson_cdf, "sf": _poisson_sf},
    ("mu",),
    low=0.0,
    inner=0.0,
    valid=_is_rate,
)
binom = Discrete(
    "binom",
    {"logpmf": _binomial, "pmf": _binomial_mass, "cdf": _binomial_cdf, "sf": _binomial_sf},
    ("n", "p"),
    low=0.0,
    high=_trials,
    inner=0.0,
    valid=_are_trials,
)
bernoulli = Discrete(
    "bernoulli",
    {"logpmf": _bernoulli, "pmf": _bernoulli_mass, "cdf": _bernoulli_cdf, "sf": _bernoulli_sf},
    ("p",),
    low=0.0,
    high=1.0,
    inner=0.0,
    valid=_is_chance,
)
