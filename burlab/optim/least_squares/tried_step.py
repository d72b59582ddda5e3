"""A step that was tried, and what follows from it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.arithmetic import Scalar, number, ratio, rounding, where
from burlab.optim.optimizer import Vector
from burlab.optim.queries import Queries

MIN_GAIN = 1e-4  # of the predicted decrease: from there on a step is taken
NOISE = 10.0  # relative decreases below so many eps may be rounding of the sum of squares


@dataclass(frozen=True, slots=True)
class TriedStep:
    """A step that was tried.

    to: where it leads, shape (d,). predicted: decrease of the model, in values of f at x. gain: the decrease of f over
    that of the model. reduction: of the step to try next, where this one gained little: the minimizer of a parabola,
    between a tenth and a half. is_rounding: True if the values are equal, and predicted so, up to rounding of the
    residuals. is_negligible: True if they are predicted to be equal up to rounding of the sum.
    """

    to: Vector
    predicted: Scalar
    gain: Scalar
    reduction: Scalar
    is_rounding: Any
    is_negligible: Any

    @classmethod
    def at(cls, f: Queries, x: Vector, to: Vector, slope: Scalar, squares: Scalar) -> "TriedStep":
        """Try a point. slope: g.p. squares: |J p|^2, of the step p from x to the point."""
        value, there = f.value(x), f.value(to)
        slope = ratio(slope, value)
        predicted = -slope - ratio(squares, 2 * f.batch * value)
        actual = 1 - ratio(there, value)
        noise = NOISE * float(np.finfo(x.dtype).eps)
        gain = where(predicted + noise > 0, ratio(actual + noise, predicted + noise), -1.0)
        near = there <= 100 * value  # a parabola says something; not of inf or nan
        parabola = ratio(0.25 * slope, 0.5 * slope + 0.5 * actual)
        reduction = np.clip(where(near, where(actual < 0, parabola, 0.5), 0.1), 0.1, 0.5)
        change, least = np.abs(predicted), rounding(x, number(x, 1.0))  # of residuals, which are differences
        equal = (change <= least) & (np.abs(actual) <= least)
        return cls(to, predicted, where(near, gain, -1.0), reduction, equal, change <= noise)

    def is_taken_by_length(self, shrinks: Any) -> Any:
        """Return True for a step that is shorter than the last one, where values cannot tell which point is better."""
        return self.is_rounding & shrinks

    def is_taken(self, shrinks: Any) -> Any:
        """Return True for a step that is taken. shrinks: whether it is shorter than the last one."""
        return ((self.gain > MIN_GAIN) & ~(self.is_negligible & ~shrinks)) | self.is_taken_by_length(shrinks)
