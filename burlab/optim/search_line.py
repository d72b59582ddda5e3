"""A function along a line, and the arithmetic that every search along it needs: phi(a) = f(x + a p)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .arithmetic import Scalar, ratio, rounding, unit_of, where
from .optimizer import Vector
from .queries import Queries

STEP_BOUND_FACTOR = 10.0  # how far a trial that follows one of value inf or nan goes, in sizes of x
Point = dict[str, Any]  # a trial on the line: step a, value phi(a), slope phi'(a), gradient of f


@dataclass(frozen=True, slots=True)
class SearchLine:
    """phi(a) = f(x + a p), with what the conditions compare trials with.

    value: phi(0). slope: phi'(0). noise: a difference of values below it may be rounding. reach: a step that goes about
    as far as x is large; the next trial after one of value inf or nan is no longer than that. unit: p is so many times
    the direction that was asked for (see `unit_of`), and steps are as many times shorter.
    """

    f: Queries
    x: Vector
    p: Vector
    value: Scalar
    slope: Scalar
    noise: Scalar
    reach: Scalar
    unit: Scalar

    @classmethod
    def through(cls, f: Queries, x: Vector, g: Vector, p: Vector) -> "SearchLine":
        """The line from x along p. g: gradient at x. All of shape (d,)."""
        value = f.value(x)
        unit = unit_of(g, p)
        p = unit * p
        reach = ratio(STEP_BOUND_FACTOR * (1 + np.max(np.abs(x))), np.max(np.abs(p)))
        return cls(f, x, p, value, g @ p, rounding(x, value), reach, unit)

    def at(self, step: Scalar) -> Point:
        """The trial at a step: one value and gradient of f."""
        value, gradient = self.f.value_and_grad(self.x + step * self.p)
        return {"step": step, "value": value, "slope": gradient @ self.p, "gradient": gradient}

    def enough(self, trial: Point, c1: float) -> Any:
        """Return True if a trial is finite and decreases phi enough.

        The Armijo condition phi(a) <= phi(0) + c1 a phi'(0). Where `within_rounding` holds, its form by slopes,
        phi'(a) <= (2 c1 - 1) phi'(0), the same on a parabola: the approximate Wolfe conditions of Hager and Zhang 2005.
        """
        gain = trial["value"] - self.value
        exact = gain <= c1 * trial["step"] * self.slope
        by_slope = trial["slope"] <= (2 * c1 - 1) * self.slope
        finite = np.isfinite(trial["value"]) & np.isfinite(trial["slope"])
        return finite & where(self.within_rounding(gain), by_slope, exact)

    def rises(self, trial: Point, low: Point) -> Any:
        """Return True if `trial` is not below the best trial, by more than rounding."""
        gap = trial["value"] - low["value"]
        return (gap >= 0) & ~self.within_rounding(gap)

    def within_rounding(self, gap: Scalar) -> Any:
        """Return True if a difference of values may be rounding alone."""
        return np.abs(gap) <= self.noise

    def to(self, step: Scalar) -> Vector:
        """The point at a step; x itself at step 0, whatever p is."""
        return where(step > 0, self.x + step * self.p, self.x)


def first_step(g: Vector) -> Scalar:
    """A first trial that knows no scale but the gradient's: min(1, 1 / |g|)."""
    norm = np.linalg.norm(g)
    return where(norm > 1, 1 / where(norm > 1, norm, np.ones_like(norm)), np.ones_like(norm))


def cubic_minimizer(a: Point, b: Point, noise: Scalar) -> Scalar:
    """The minimizer of the cubic through two trials: Nocedal and Wright 2006, equation (3.59).

    Scaled against overflow as in More and Thuente 1994. Where the two values differ by rounding only, the zero of the
    line through the slopes. inf or nan where there is no minimizer.
    """
    span, rise = b["step"] - a["step"], b["value"] - a["value"]
    d1 = a["slope"] + b["slope"] - 3 * ratio(rise, span)
    scale = np.maximum(np.abs(d1), np.maximum(np.abs(a["slope"]), np.abs(b["slope"])))
    radicand = ratio(d1, scale) ** 2 - ratio(a["slope"], scale) * ratio(b["slope"], scale)
    d2 = np.sign(span) * scale * np.sqrt(np.maximum(radicand, 0))
    cubic = b["step"] - span * ratio(b["slope"] + d2 - d1, b["slope"] - a["slope"] + 2 * d2)
    secant = b["step"] - span * ratio(b["slope"], b["slope"] - a["slope"])
    result = where(np.abs(rise) <= noise, secant, cubic)
    return where((radicand >= 0) | (np.abs(rise) <= noise), result, np.full_like(result, np.nan))
