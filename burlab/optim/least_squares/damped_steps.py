"""The steps of a damped least squares problem, for every damping from one singular value decomposition."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.arithmetic import Scalar, number, ratio, where
from burlab.optim.optimizer import Vector
from burlab.transforms import while_loop

MAX_NEWTON_STEPS = 10  # for a damping, as MINPACK
LENGTH_TOLERANCE = 0.1  # of the radius, by which a step's length may differ from it


@dataclass(frozen=True, slots=True)
class DampedSteps:
    """The p that minimize |r + J p|^2 + damping |D p|^2, by the singular values of J D^-1.

    scale: the diagonal of D, shape (d,). values: singular values, shape (k,). vectors: right ones, rows of shape
    (k, d). parts: of the residuals along the left ones, shape (k,). cutoff: values up to it count as 0.
    """

    scale: Vector
    values: Vector
    vectors: Vector
    parts: Vector
    cutoff: Scalar

    @classmethod
    def of(cls, r: Vector, rows: Vector, scale: Vector) -> "DampedSteps":
        """r: residuals, shape (m,). rows: J, shape (m, d)."""
        q, upper = np.linalg.qr(rows / scale)
        u, s, v = np.linalg.svd(upper, full_matrices=False)
        cutoff = float(np.finfo(r.dtype).eps) * max(rows.shape) * np.max(s)
        return cls(scale, s, v, (r @ q) @ u, cutoff)

    def at(self, damping: Scalar) -> Vector:
        """The step, shape (d,); without damping the shortest one, in D p."""
        return -(self._along(damping) @ self.vectors) / self.scale

    def length(self, damping: Scalar) -> Scalar:
        """|D p|."""
        return np.linalg.norm(self._along(damping))

    def within(self, radius: Scalar) -> Scalar:
        """The damping of the step of |D p| = radius up to a tenth; 0 if the undamped step is no longer than that.

        Moré 1978, section 5, Algorithm (5.5): Newton's method on 1 / |D p| between two bounds.
        """
        zero = number(self.parts, 0.0)
        excess = self.length(zero) - radius  # of the undamped step
        high = np.linalg.norm(self.values * self.parts) / radius
        full = np.min(self.values) > self.cutoff
        low = where(full, ratio(excess, self._decline(zero)), zero)

        def bounded(damping: Scalar, low: Scalar, high: Scalar) -> Any:
            inside = (damping > low) & (damping < high)
            return where(inside, damping, np.maximum(1e-3 * high, np.sqrt(low * high)))

        def newton(s: dict[str, Any]) -> Any:
            excess, decline = self.length(s["damping"]) - radius, self._decline(s["damping"])
            high = where(excess < 0, s["damping"], s["high"])
            low = np.maximum(s["low"], s["damping"] + ratio(excess, decline))
            after = s["damping"] + (excess + radius) / radius * ratio(excess, decline)
            return {"damping": bounded(after, low, high), "low": low, "high": high, "count": s["count"] + 1}

        def pending(s: dict[str, Any]) -> Any:
            off = np.abs(self.length(s["damping"]) - radius) > LENGTH_TOLERANCE * radius
            return off & (s["count"] < MAX_NEWTON_STEPS)

        first = {"damping": bounded(zero, low, high), "low": low, "high": high, "count": np.asarray(0)}
        return where(excess <= LENGTH_TOLERANCE * radius, zero, while_loop(pending, newton, first)["damping"])

    def _along(self, damping: Scalar) -> Vector:
        """The step along the right singular vectors, with the other sign."""
        counted = self.values > self.cutoff
        return where(counted | (damping > 0), ratio(self.values * self.parts, self.values**2 + damping), 0.0)

    def _decline(self, damping: Scalar) -> Scalar:
        """Return -d|D p| / d damping."""
        along = self._along(damping)
        slopes = ratio(along**2, self.values**2 + damping)
        return ratio(np.sum(slopes), np.linalg.norm(along))
