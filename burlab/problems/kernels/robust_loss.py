"""Robust losses of residuals, by which outliers count less than in a sum of squares."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.transforms import grad, vmap

where: Any = np.where  # NumPy's, whose types know no traced values


def _linear(z: Any) -> Any:
    return z


def _soft_l1(z: Any) -> Any:
    return 2 * (np.sqrt(1 + z) - 1)


def _huber(z: Any) -> Any:
    return where(z <= 1, z, 2 * np.sqrt(where(z <= 1, 1.0, z)) - 1)


def _cauchy(z: Any) -> Any:
    return np.log1p(z)


def _arctan(z: Any) -> Any:
    return np.arctan(z)


def _tukey(z: Any) -> Any:
    return where(z <= 1, 1 - (1 - z) ** 3, 1 + 0 * z) / 3


RHO: dict[str, Callable[[Any], Any]] = {
    "linear": _linear,
    "soft_l1": _soft_l1,
    "huber": _huber,
    "cauchy": _cauchy,
    "arctan": _arctan,
    "tukey": _tukey,
}
"""rho(z) of z = (r / scale)^2, with rho(0) = 0 and rho'(0) = 1: those of SciPy, by its names, and Tukey's biweight."""


@dataclass(frozen=True)
class RobustLoss:
    """scale^2 / 2 times the sum of rho((r / scale)^2). name: of rho. scale: the size of a residual of an inlier."""

    name: str
    scale: float

    def value(self, r: Any, *_sample: Any) -> Any:
        """The loss of residuals of any shape."""
        if self.name == "linear":
            return np.sum(r * r) / 2
        return self.scale**2 / 2 * np.sum(RHO[self.name]((r / self.scale) ** 2))

    def scaled(self, r: Any, rows: Any) -> tuple[Any, Any]:
        """Residuals, shape (k,), and Jacobian, (k, d), whose sum of squares has gradient and curvature of the loss.

        Triggs, McLauchlan, Hartley and Fitzgibbon 2000, Bundle adjustment: a modern synthesis, section 4.3. Where the
        loss is concave its curvature, rho' + 2 z rho'', is raised to the smallest that is not 0, as SciPy does.
        """
        if self.name == "linear":
            return r, rows
        rho = RHO[self.name]
        z = (r / self.scale) ** 2
        slope, bend = vmap(grad(rho))(z), vmap(grad(grad(rho)))(z)
        curvature = np.sqrt(np.maximum(slope + 2 * z * bend, float(np.finfo(r.dtype).eps)))
        return slope / curvature * r, curvature[:, None] * rows
