"""The model |r + J p|^2 / 2 of a sum of squares around a point, and how well it predicts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.optim.arithmetic import Scalar, ratio, where
from burlab.optim.optimizer import Vector
from burlab.optim.queries import Queries
from burlab.optim.sets import box
from burlab.runtime.checks.numbers import shown

from .damped_steps import DampedSteps
from .tried_step import TriedStep


@dataclass(frozen=True, slots=True)
class LinearModel:
    """The residuals of a step's samples as linear functions around x.

    g: gradient of f at x. rows: J, shape (m, d). scale: the diagonal of D, shape (d,). norms: of the columns of J.
    steps: the damped steps of the unknowns that may move. cosine: the largest between the residuals and a column of
    J that may move.
    """

    f: Queries
    x: Vector
    g: Vector
    rows: Vector
    scale: Vector
    steps: DampedSteps
    cosine: Scalar
    bounds: box | None

    @classmethod
    def around(cls, f: Queries, x: Vector, g: Vector, before: Vector, bounds: box | None) -> "LinearModel":
        """before: the largest norms of columns so far, shape (d,)."""
        r, rows = f.residuals_and_jacobian(x)
        norms = np.sqrt(np.sum(rows * rows, axis=0))
        scale = np.maximum(before, norms)
        free = _free(x, g, bounds)
        weights = where(scale > 0, scale, np.ones_like(scale))
        steps = DampedSteps.of(r, where(free, rows, 0.0), weights)
        slopes = where(free, np.abs(ratio(r @ rows, norms)), 0.0)
        return cls(f, x, g, rows, scale, steps, ratio(np.max(slopes), np.linalg.norm(r)), bounds)

    @property
    def size(self) -> Scalar:
        """|D x|."""
        return np.linalg.norm(self.steps.scale * self.x)

    def tried(self, p: Vector) -> TriedStep:
        """Try x + p, or the point within the bounds that is nearest to it."""
        to = self.x + p
        if self.bounds is not None:
            to = self.bounds.project(to)
            p = to - self.x
        across = self.rows @ p
        return TriedStep.at(self.f, self.x, to, self.g @ p, across @ across)


def check_bounds(bounds: object, kind: str) -> None:
    """Raise ArgumentError unless bounds are a box, or None. kind: the optimizer."""
    if not (bounds is None or isinstance(bounds, box)):
        raise ArgumentError(f"bounds of {kind} is {shown(bounds)}, expected bl.optim.box(low, high) or None.")


def _free(x: Vector, g: Vector, bounds: box | None) -> Any:
    """Return True for each unknown that is not at a bound which f falls towards."""
    if bounds is None:
        return np.ones(x.shape, bool)
    low, high = np.asarray(bounds.low, x.dtype), np.asarray(bounds.high, x.dtype)
    return ~(((x <= low) & (g > 0)) | ((x >= high) & (g < 0)))
