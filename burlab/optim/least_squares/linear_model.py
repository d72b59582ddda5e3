"""The model |r + J p|^2 / 2 of a sum of squares around a point, and how well it predicts."""

from dataclasses import dataclass

import numpy as np

from burlab.optim.arithmetic import Scalar, ratio, where
from burlab.optim.optimizer import Vector
from burlab.optim.queries import Queries

from .damped_steps import DampedSteps
from .step_domain import StepDomain
from .tried_step import TriedStep


@dataclass(frozen=True, slots=True)
class LinearModel:
    """The residuals of a step's samples as linear functions around x.

    g: gradient of f at x. rows: J, shape (m, d). scale: the diagonal of D, shape (d,). norms: of the columns of J.
    steps: the damped steps of the unknowns that may move. cosine: the largest between the residuals and a column of
    J that may move. domain: where x may go; g, J and steps are by its directions.
    """

    f: Queries
    x: Vector
    g: Vector
    rows: Vector
    scale: Vector
    steps: DampedSteps
    cosine: Scalar
    domain: StepDomain

    @classmethod
    def around(cls, f: Queries, x: Vector, g: Vector, before: Vector, domain: StepDomain) -> "LinearModel":
        """before: the largest norms of columns so far, one for each direction."""
        r, rows = f.residuals_and_jacobian(x)
        g, rows = domain.along(x, g, rows)
        norms = np.sqrt(np.sum(rows * rows, axis=0))
        scale = np.maximum(before, norms)
        free = domain.free(x, g)
        weights = where(scale > 0, scale, np.ones_like(scale))
        steps = DampedSteps.of(r, where(free, rows, 0.0), weights)
        slopes = where(free, np.abs(ratio(r @ rows, norms)), 0.0)
        return cls(f, x, g, rows, scale, steps, ratio(np.max(slopes), np.linalg.norm(r)), domain)

    @property
    def size(self) -> Scalar:
        """|D x|; on a manifold, whose directions have units of their own, |D 1|."""
        return np.linalg.norm(self.steps.scale * (self.x if self.domain.retract is None else 1.0))

    def tried(self, p: Vector) -> TriedStep:
        """Try the point that a step leads to."""
        to, p = self.domain.after(self.x, p)
        across = self.rows @ p
        return TriedStep.at(self.f, self.x, to, self.g @ p, across @ across)
