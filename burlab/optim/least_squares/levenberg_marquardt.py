"""The method of Levenberg, Marquardt and Moré."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.arithmetic import number, ratio, where
from burlab.optim.optimizer import Metrics, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.optim.sets import box
from burlab.runtime.checks.numbers import whole
from burlab.transforms import while_loop

from .linear_model import LinearModel, check_bounds

MIN_GAIN = 1e-4  # of the predicted decrease: from there on a step is taken


@dataclass(frozen=True)
class LevenbergMarquardt(Optimizer):
    """Moré 1978, The Levenberg-Marquardt algorithm: implementation and theory, as in MINPACK's lmder.

    For `bl.Residuals`. p minimizes |r + J p|^2 with |D p| = radius up to a tenth, or is the Gauss-Newton step if that
    is shorter. D are the largest norms that the columns of J have had so far, so that units of x do not matter. gain =
    (f(x) - f(x + p)) / (f(x) - m(p)), where m is f of the residuals r + J p. The radius is cut, to a tenth at least,
    where gain <= 1/4, and becomes 2 |D p| where gain >= 3/4 or p is Gauss-Newton's; x <- x + p where gain > 1e-4, else
    the next trial is shorter. Where no trial is taken, x stays. Unlike MINPACK's, p comes from singular values, also
    where J has not full rank; both differences of the gain get a term for rounding (Conn, Gould and Toint 2000, section
    17.4.2), and steps that values cannot tell from rounding are taken as long as they become shorter.
    With bounds x + p is brought to the nearest point of the box before it is tried, and so is a start outside; unknowns
    at a bound which f falls towards are left out of J (Bertsekas 1982, Projected Newton methods).
    One step of a run is one Jacobian. Its columns: damping, lambda of |r + J p|^2 + lambda |D p|^2; gain; predicted,
    (f(x) - m(p)) / f(x); relative_step, |D p| / |D x|; cosine, the largest between r and a column of J.
    factor: the first radius is factor |D x|, or factor where that is 0. trials: at most so many per step. bounds:
    `box`, or None.
    Cost: one gradient, one Jacobian, O(m d^2 + d^3) and a value per trial; keeps d numbers.

    >>> import numpy as np, burlab as bl
    >>> f = bl.Residuals(lambda x: np.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]]))
    >>> run = bl.minimize(f, np.array([-1.2, 1.0]), bl.optim.LevenbergMarquardt(), steps=20)
    >>> run.x
    array([1., 1.])
    """

    factor: float = 100.0
    trials: int = 30
    bounds: box | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.trials, "trials", 1)
        check_bounds(self.bounds, "LevenbergMarquardt")

    def init(self, x: Vector) -> State:
        """No radius, no scale and no step yet."""
        return {"radius": number(x, 0.0), "scale": np.zeros_like(x), "length": number(x, np.inf)}

    def update(
        self, g: Vector, state: State, x: Vector, t: int, *, f: Queries  # noqa: ARG002
    ) -> tuple[Vector, State, Metrics]:  # fmt: skip
        """Trials along the curve of damped steps, until one is taken."""
        model = LinearModel.around(f, x, g, state["scale"], self.bounds)
        size = model.size
        first = state["radius"] == 0
        radius = where(first, self.factor * where(size > 0, size, np.ones_like(size)), state["radius"])
        least = float(np.finfo(x.dtype).eps) * size

        def attempt(s: dict[str, Any]) -> Any:
            damping = model.steps.within(s["radius"])
            length = model.steps.length(damping)
            tried = model.tried(model.steps.at(damping))
            reach = where(first & (s["count"] == 0), np.minimum(s["radius"], length), s["radius"])
            shorter = tried.part * np.minimum(reach, 10 * length)
            longer = where((tried.gain >= 0.75) | (damping == 0), 2 * length, reach)
            shrinks = length < state["length"]
            blind = tried.is_rounding & shrinks
            final = tried.is_nothing & ~shrinks
            taken = ((tried.gain > MIN_GAIN) & ~final) | blind
            return {
                "x": where(taken, tried.to, x),
                "radius": where(length > 0, where((tried.gain <= 0.25) & ~blind, shorter, longer), s["radius"]),
                "ends": taken | tried.is_nothing,
                "taken": taken,
                "length": length,
                "count": s["count"] + 1,
                "damping": damping,
                "gain": tried.gain,
                "predicted": tried.predicted,
                "relative_step": where(size > 0, ratio(length, size), where(length > 0, number(x, np.inf), 0.0)),
            }

        def pending(s: dict[str, Any]) -> Any:
            return ~s["ends"] & (s["count"] < self.trials) & (s["radius"] > least)

        no, names = np.asarray(False), ("damping", "gain", "predicted", "relative_step")
        begin = {"x": x, "radius": radius, "ends": no, "taken": no, "count": np.asarray(0)}
        end = while_loop(pending, attempt, begin | dict.fromkeys(("length", *names), number(x, 0.0)))
        kept = {name: where(end["taken"], end[name], state[name]) for name in ("radius", "length")}
        columns = {name: end[name] for name in names} | {"cosine": model.cosine}
        inside = x if self.bounds is None else self.bounds.project(x)
        after = where(np.all(inside == x), end["x"], inside)
        return after, {**kept, "scale": model.scale}, columns
