"""The method of Levenberg, Marquardt and Moré."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.optim.arithmetic import Scalar, number, ratio, where
from burlab.optim.optimizer import Metrics, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.runtime.checks.numbers import whole
from burlab.transforms import while_loop

from .damped_steps import DampedSteps

MIN_GAIN = 1e-4  # of the predicted decrease: from there on a step is taken
NOISE = 10.0  # relative decreases below so many eps may be rounding


@dataclass(frozen=True)
class LevenbergMarquardt(Optimizer):
    """Moré 1978, The Levenberg-Marquardt algorithm: implementation and theory, as in MINPACK's lmder.

    For `bl.Residuals`. p minimizes |r + J p|^2 with |D p| = radius up to a tenth, or is the Gauss-Newton step if that
    is shorter. D are the largest norms that the columns of J have had so far, so that units of x do not matter. gain =
    (f(x) - f(x + p)) / (f(x) - m(p)), where m is f of the residuals r + J p. The radius is cut, to a tenth at least,
    where gain <= 1/4, and becomes 2 |D p| where gain >= 3/4 or p is Gauss-Newton's; x <- x + p where gain > 1e-4, else
    the next trial is shorter. Where no trial is taken, x stays. Unlike MINPACK's, p comes from singular values, also
    where J has not full rank; both differences of the gain get a term for rounding (Conn, Gould and Toint 2000, section
    17.4.2), and steps that values cannot tell from rounding are taken as long as predictions fall.
    One step of a run is one Jacobian. Its columns: damping, lambda of |r + J p|^2 + lambda |D p|^2; gain; predicted,
    (f(x) - m(p)) / f(x); relative_step, |D p| / |D x|.
    factor: the first radius is factor |D x|, or factor where that is 0. trials: at most so many per step.
    Cost: one gradient, one Jacobian, O(m d^2 + d^3) and a value per trial; keeps d numbers.

    >>> import numpy as np, burlab as bl
    >>> f = bl.Residuals(lambda x: np.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]]))
    >>> run = bl.minimize(f, np.array([-1.2, 1.0]), bl.optim.LevenbergMarquardt(), steps=20)
    >>> run.x
    array([1., 1.])
    """

    factor: float = 100.0
    trials: int = 30

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.trials, "trials", 1)

    def init(self, x: Vector) -> State:
        """No radius, no scale and no prediction yet."""
        return {"radius": number(x, 0.0), "scale": np.zeros_like(x), "predicted": number(x, np.inf)}

    def update(
        self, g: Vector, state: State, x: Vector, t: int, *, f: Queries  # noqa: ARG002
    ) -> tuple[Vector, State, Metrics]:  # fmt: skip
        """Trials along the curve of damped steps, until one is taken."""
        r, rows = f.residuals_and_jacobian(x)
        scale = np.maximum(state["scale"], np.sqrt(np.sum(rows * rows, axis=0)))
        weights = where(scale > 0, scale, np.ones_like(scale))
        steps = DampedSteps.of(r, rows, weights)
        size = np.linalg.norm(weights * x)
        first = state["radius"] == 0
        radius = where(first, self.factor * where(size > 0, size, np.ones_like(size)), state["radius"])
        value = f.value(x)

        def attempt(s: dict[str, Any]) -> Any:
            damping = steps.within(s["radius"])
            p = steps.at(damping)
            tried = TriedStep.at(f, x, p, g, rows, value)
            length = np.linalg.norm(weights * p)
            reach = where(first & (s["count"] == 0), np.minimum(s["radius"], length), s["radius"])
            shorter = tried.part * np.minimum(reach, 10 * length)
            final = tried.is_rounding & (tried.predicted >= state["predicted"])
            taken = (tried.gain > MIN_GAIN) & ~final
            longer = where((tried.gain >= 0.75) | (damping == 0), 2 * length, reach)
            return {
                "x": where(taken, x + p, x),
                "radius": where(length > 0, where(tried.gain <= 0.25, shorter, longer), s["radius"]),
                "taken": taken,
                "final": final,
                "damping": damping,
                "gain": tried.gain,
                "predicted": tried.predicted,
                "relative_step": ratio(length, size),
                "count": s["count"] + 1,
            }

        names = ("damping", "gain", "predicted", "relative_step")
        begin = dict.fromkeys(names, number(x, 0.0)) | {
            "x": x, "radius": radius, "taken": np.asarray(False), "final": np.asarray(False), "count": np.asarray(0),
        }  # fmt: skip
        least = float(np.finfo(x.dtype).eps) * size

        def pending(s: dict[str, Any]) -> Any:
            return ~s["taken"] & ~s["final"] & (s["count"] < self.trials) & (s["radius"] > least)

        end = while_loop(pending, attempt, begin)
        kept = {name: where(end["taken"], end[name], state[name]) for name in ("radius", "predicted")}
        return end["x"], {**kept, "scale": scale}, {name: end[name] for name in names}


@dataclass(frozen=True, slots=True)
class TriedStep:
    """A step that was tried.

    predicted: decrease of the model, in values of f at x. gain: the decrease of f over that of the model. part: of the
    step to try next, where this one gained little: the minimizer of a parabola, between a tenth and a half.
    is_rounding: True if the prediction is so small that values cannot tell it from rounding.
    """

    predicted: Scalar
    gain: Scalar
    part: Scalar
    is_rounding: Any

    @classmethod
    def at(cls, f: Queries, x: Vector, p: Vector, g: Vector, rows: Vector, value: Scalar) -> "TriedStep":
        """Try x + p. g: gradient of f at x; rows: J; value: f(x)."""
        there, across = f.value(x + p), rows @ p
        slope = ratio(g @ p, value)
        predicted = -slope - ratio(across @ across, 2 * f.batch * value)
        actual = 1 - ratio(there, value)
        noise = NOISE * float(np.finfo(x.dtype).eps)
        gain = ratio(actual + noise, predicted + noise)
        near = there <= 100 * value  # a parabola says something; not of inf or nan
        parabola = ratio(0.25 * slope, 0.5 * slope + 0.5 * actual)
        part = where(actual >= 0, 0.5 * np.ones_like(slope), parabola)
        return cls(predicted, where(near, gain, -1.0), np.clip(where(near, part, 0.1), 0.1, 0.5), predicted <= noise)
