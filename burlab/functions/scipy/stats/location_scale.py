"""Continuous distributions: densities, distribution functions and quantiles of (x - loc) / scale."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.functions.scipy.dispatch import floats
from burlab.graph.node import Node
from burlab.typing import ArrayLike

from .distribution import Distribution


@dataclass(frozen=True, eq=False)
class Continuous(Distribution):
    """A continuous distribution, with the methods of `scipy.stats` for it.

    Every method takes x (or q, a probability), the parameters in `shapes`, then `loc` and `scale`, by position or name,
    all floats or arrays that broadcast. Raises ArgumentError for parameters that it does not know.

    >>> from burlab.scipy.stats import norm
    >>> round(float(norm.logpdf(0.0, scale=2.0)), 6)
    -1.612086
    """

    _free = ("loc", "scale")

    def logpdf(self, x: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        """log of the density at x; -inf outside of the support."""
        return self._run("logpdf", self._log_density, x, args, kwargs)

    def pdf(self, x: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        """The density at x."""
        return self._run("pdf", self._density, x, args, kwargs)

    def cdf(self, x: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        """The probability of what is at most x."""
        return self._distribution("cdf", 0.0, 1.0, x, args, kwargs)

    def sf(self, x: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        """The probability of what is above x, accurate where it is small."""
        return self._distribution("sf", 1.0, 0.0, x, args, kwargs)

    def logcdf(self, x: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        """log of `cdf`."""
        return self._distribution("logcdf", -math.inf, 0.0, x, args, kwargs)

    def logsf(self, x: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        """log of `sf`."""
        return self._distribution("logsf", 0.0, -math.inf, x, args, kwargs)

    def ppf(self, q: ArrayLike, *args: Any, **kwargs: Any) -> Any:
        """The x at which `cdf` is q."""
        rule = self.rules["ppf"]

        def quantile(q: ArrayLike, *values: Any) -> Any:
            p, *shapes, loc, scale = floats(q, *values)
            inside = (p >= 0) & (p <= 1)
            y = rule(p, *shapes)
            y = y if scale is None else y * scale
            return self._checked(y if loc is None else y + loc, shapes, inside, *_positive(scale))

        return self._run("ppf", quantile, q, args, kwargs)

    def _log_density(self, x: ArrayLike, *values: Any) -> Any:
        y, shapes, scale = self._standard(x, values)
        y = self._within(y, shapes, self.rules["logpdf"], -math.inf, -math.inf)
        return self._checked(y if scale is None else y - np.log(scale), shapes, *_positive(scale))

    def _density(self, x: ArrayLike, *values: Any) -> Any:
        if "pdf" not in self.rules:
            return np.exp(self._log_density(x, *values))
        y, shapes, scale = self._standard(x, values)
        y = self._within(y, shapes, self.rules["pdf"], 0.0, 0.0)
        return self._checked(y if scale is None else y / scale, shapes, *_positive(scale))

    def _distribution(
        self, method: str, below: float, above: float, x: ArrayLike, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        rule = self.rules[method]

        def function(x: ArrayLike, *values: Any) -> Any:
            y, shapes, scale = self._standard(x, values)
            return self._checked(self._within(y, shapes, rule, below, above), shapes, *_positive(scale))

        return self._run(method, function, x, args, kwargs)

    def _standard(self, x: ArrayLike, values: tuple[Any, ...]) -> tuple[Any, list[Any], Any]:
        """(x - loc) / scale, the shapes and the scale."""
        y, *shapes, loc, scale = floats(x, *values)
        y = y if loc is None else y - loc
        return y if scale is None else y / scale, shapes, scale


def _positive(scale: Node | None) -> list[Any]:
    return [] if scale is None else [scale > 0]
