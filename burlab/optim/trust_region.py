"""The trust region method of Steihaug and Toint."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.transforms import while_loop

from .arithmetic import Scalar, number, ratio, rounding, unit_of, where
from .live_fields import not_below
from .newton_cg import INNER, forcing
from .optimizer import Hyper, Optimizer, State, Vector
from .queries import Queries
from .search_line import STEP_BOUND_FACTOR


@dataclass(frozen=True)
class TrustRegion(Optimizer):
    """Trust region Newton-CG: Nocedal and Wright 2006, Algorithm 4.1 with steps of Algorithm 7.2 (CG-Steihaug).

    p minimizes the parabola m(p) = f + g.p + p.H p / 2 along conjugate gradients, as far as |p| <= radius; rho =
    (f(x) - f(x + p)) / (m(0) - m(p)). x <- x + p where rho > eta. The radius shrinks to a quarter where rho < 1/4 (or
    f(x + p) is inf or nan: then to a quarter of 10 times the size of x, if that is less) and doubles, up to max_radius,
    where rho > 3/4 at the border. As SciPy's "trust-ncg", but both differences of rho get a term for rounding (Conn,
    Gould and Toint 2000, section 17.4.2), so that steps are still taken where f no longer changes. At most 20 d inner
    steps, of one Hessian-vector product each.
    radius: at step 0. max_radius: its largest value. eta: smallest rho of a step that is taken, in [0, 1/4).
    Cost: one gradient and a value, a Hessian-vector product per inner step; keeps one number.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum(x**4 - x**2), np.full(2, 0.1), bl.optim.TrustRegion(), steps=20)
    >>> run.x**2
    array([0.5, 0.5])
    """

    max_radius: Hyper = 1000.0
    eta: Hyper = 0.15
    radius: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        not_below(self, 0.0, "radius", "max_radius", strict=True)

    def init(self, x: Vector) -> State:
        """The first radius."""
        return {"radius": number(x, self.radius)}

    def update(self, g: Vector, state: State, x: Vector, t: int, *, f: Queries) -> tuple[Vector, State]:  # noqa: ARG002
        """One parabola, taken or not."""
        radius = state["radius"]
        p, promised, border = steihaug(f, x, g, radius)
        value, there = f.value(x), f.value(x + p)
        noise = rounding(x, value)
        rho = ratio(value - there + noise, promised + noise)
        rho = where(promised > 0, where(np.isfinite(rho), rho, -1), 0.5)  # a zero step is no test of the parabola
        far = where(np.isfinite(there), radius, np.minimum(radius, STEP_BOUND_FACTOR * (1 + np.max(np.abs(x)))))
        radius = where(rho >= 0.25, radius, 0.25 * far)
        radius = where((rho > 0.75) & border, np.minimum(2 * radius, self.max_radius), radius)
        return where(rho > self.eta, x + p, x), {"radius": radius}


def steihaug(f: Queries, x: Vector, g: Vector, radius: Scalar) -> tuple[Vector, Any, Any]:
    """The step p of Algorithm 7.2, m(0) - m(p), and whether p ends at the border |p| = radius."""
    unit = unit_of(g)
    tolerance = unit * forcing(g)
    g, radius = unit * g, unit * radius

    def pending(s: dict[str, Any]) -> Any:
        open_ = ~s["done"] & ~s["border"] & (s["count"] < INNER * x.shape[0])
        return open_ & (s["r"] @ s["r"] > 0) & np.isfinite(s["r"] @ s["r"])

    def inner(s: dict[str, Any]) -> Any:
        z, r, d = s["z"], s["r"], s["d"]
        h = f.hvp(x, d)
        curvature, squared = d @ h, r @ r
        inside = z + ratio(squared, curvature) * d
        border = ~(curvature > 0) | (np.linalg.norm(inside) >= radius)
        alpha = where(border, _to_border(s, curvature, radius), ratio(squared, curvature))
        residual = r + alpha * h
        part = unit_of(alpha)
        return {
            "z": z + alpha * d,
            "r": residual,
            "d": ratio(residual @ residual, squared) * d - residual,
            "promised": s["promised"] - alpha * (r @ d) - 0.5 * (part * alpha) ** 2 * curvature / part / part,
            "border": border,
            "done": np.linalg.norm(residual) < tolerance,
            "count": s["count"] + 1,
        }

    start = {
        "z": np.zeros_like(x), "r": g, "d": -g, "promised": number(x, 0.0), "border": np.asarray(False),
        "done": np.asarray(False), "count": np.asarray(0),
    }  # fmt: skip
    end = while_loop(pending, inner, start)
    return end["z"] / unit, end["promised"] / unit / unit, end["border"]


def _to_border(s: dict[str, Any], curvature: Scalar, radius: Scalar) -> Any:
    """The tau with |z + tau d| = radius: the positive one, or the better of both where the curvature is negative."""
    unit = unit_of(radius)
    z, radius = unit * s["z"], unit * radius
    a, b, c = s["d"] @ s["d"], z @ s["d"], z @ z - radius**2
    root = np.sqrt(np.maximum(b * b - a * c, 0))
    far = ratio(-b + root, a) / unit
    near = ratio(-b - root, a) / unit
    slope = s["r"] @ s["d"]
    better = near * slope + 0.5 * near**2 * curvature < far * slope + 0.5 * far**2 * curvature
    return where(better & ~(curvature > 0), near, far)
