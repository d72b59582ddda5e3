"""The method of Levenberg, Marquardt and Moré."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.optim.arithmetic import Scalar, number, where
from burlab.optim.batches import PairedRows
from burlab.optim.optimizer import Metrics, Optimizer, State, Vector
from burlab.optim.queries import Queries
from burlab.optim.sets import box
from burlab.runtime.checks.numbers import whole

from .linear_model import LinearModel
from .schur import PairedModel
from .step_domain import StepDomain, check_domain
from .step_search import Proposal, search
from .tried_step import MIN_GAIN, TriedStep


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
    at a bound which f falls towards are left out of J (Bertsekas 1982, Projected Newton methods). The box is about all
    unknowns in one vector, of two tables as well.

    On a manifold retract(x, p), which is x for p = 0, is the point that a step p of `directions` numbers leads to, and
    J is by p at 0: a unit quaternion has 4 unknowns and 3 directions (Absil, Mahony and Sepulchre 2008, section 8.4).

    Of residuals by pairs, `bl.Residuals(..., pairs=True)`, J'J has diagonal blocks in both tables, so p comes from the
    Schur complement of the second one (Triggs et al. 2000, section 6.1), and the damping itself is the radius: 1 /
    factor^2 at first; times max(1/3, 1 - (2 gain - 1)^3) after a step, by 2, 4, 8, ... after trials that are not taken
    (Nielsen 1999). No gradient is computed: `Stop(grad_norm=, of="estimator")` is about its norm.

    One step of a run is one Jacobian. Its columns: damping, lambda of |r + J p|^2 + lambda |D p|^2; gain; predicted,
    (f(x) - m(p)) / f(x); relative_step, |D p| / |D x|; cosine, the largest between r and a column of J.

    factor: the first radius is factor |D x|, or factor where that is 0. trials: at most so many per step. bounds:
    `box`, or None. retract, directions: of a manifold, on flat vectors; or None.
    Cost: one gradient, one Jacobian, O(m d^2 + d^3) and a value per trial; keeps d numbers. Of pairs with v and w
    unknowns in p and q rows: one Jacobian, O((p v)^2 q w) and a value per trial; p v q w numbers in memory.

    >>> import numpy as np, burlab as bl
    >>> f = bl.Residuals(lambda x: np.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]]))
    >>> run = bl.minimize(f, np.array([-1.2, 1.0]), bl.optim.LevenbergMarquardt(), steps=20)
    >>> run.x
    array([1., 1.])
    """

    factor: float = 100.0
    trials: int = 30
    bounds: box | None = None
    retract: Callable[[Any, Any], Any] | None = None
    directions: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        whole(self.trials, "trials", 1)
        check_domain(self._domain, "LevenbergMarquardt")

    def init(self, x: Vector) -> State:
        """No radius, no scale and no step yet."""
        scale = np.zeros_like(x) if self.directions is None else np.zeros(self.directions, x.dtype)
        return {"radius": number(x, 0.0), "scale": scale, "length": number(x, np.inf)}

    def update(
        self, g: Vector, state: State, x: Vector, t: int, *, f: Queries  # noqa: ARG002
    ) -> tuple[Vector, State, Metrics]:  # fmt: skip
        """Trials along the curve of damped steps, until one is taken."""
        return self._whole(g, state, x, f) if f.tables is None else self._paired(state, x, f, f.tables)

    @property
    def _domain(self) -> StepDomain:
        return StepDomain(self.bounds, self.retract, self.directions)

    def _whole(self, g: Vector, state: State, x: Vector, f: Queries) -> tuple[Vector, State, Metrics]:
        """One step with the Jacobian as a matrix."""
        model = LinearModel.around(f, x, g, state["scale"], self._domain)
        size, first = model.size, state["radius"] == 0
        radius = where(first, self.factor * where(size > 0, size, np.ones_like(size)), state["radius"])

        def propose(radius: Scalar, count: Scalar) -> Proposal:
            damping = model.steps.within(radius)
            length = model.steps.length(damping)
            tried = model.tried(model.steps.at(damping))
            reach = where(first & (count == 0), np.minimum(radius, length), radius)
            shorter = tried.reduction * np.minimum(reach, 10 * length)
            longer = where((tried.gain >= 0.75) | (damping == 0), 2 * length, reach)
            return Proposal(tried, length, damping, tried.gain <= 0.25, shorter, longer)

        min_radius = float(np.finfo(x.dtype).eps) * size
        after, kept, columns = search(x, state, size, radius, min_radius, self.trials, propose)
        return self._domain.inside(x, after), {**kept, "scale": model.scale}, columns | {"cosine": model.cosine}

    def _paired(self, state: State, x: Vector, f: Queries, tables: PairedRows) -> tuple[Vector, State, Metrics]:
        """One step with the Jacobian in blocks, where the radius is 1 / damping."""
        if self.retract is not None:
            raise ArgumentError(
                "LevenbergMarquardt has no step on a manifold where residuals are of pairs. Leave retract= out; bounds "
                "are kept."
            )
        model = PairedModel.around(f, x, tables, state["scale"], self._domain)
        size, slope = np.linalg.norm(model.weights * x), f.estimated(model.slope / f.batch)
        radius = where(state["radius"] > 0, state["radius"], number(x, self.factor**2))

        def propose(radius: Scalar, count: Scalar) -> Proposal:
            p = model.step(1 / radius)
            length = np.linalg.norm(model.weights * p)
            to, p = self._domain.after(x, p)
            tried = TriedStep.at(f, x, to, slope @ p, model.squared_length(p))
            longer = radius / np.maximum(1 / 3, 1 - (2 * tried.gain - 1) ** 3)
            shorter = radius / 2 ** (count + 1)
            return Proposal(tried, length, 1 / radius, ~(tried.gain > MIN_GAIN), shorter, longer)

        after, kept, columns = search(x, state, size, radius, number(x, 0.0), self.trials, propose)
        return self._domain.inside(x, after), {**kept, "scale": model.scale}, columns | {"cosine": model.cosine}
