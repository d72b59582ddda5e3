"""`curve_fit`: parameters of a curve through data, and their covariance, by SciPy's names."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import ArgumentError, ConvergenceError
from burlab.optim import LevenbergMarquardt, box
from burlab.problems import Residuals
from burlab.runtime.checks.numbers import shown, truth, whole
from burlab.runtime.coerce import Array
from burlab.runtime.extras import late
from burlab.runtime.ranges import NOT_NEGATIVE, number_in
from burlab.typing import ArrayLike

from .curve_data import anything, as_data, not_nan, residuals_of, start_of, weights_of, without_nan
from .minimize import minimize
from .record.stop import Rows, Stop
from .run import Run

optimize: Any = late("scipy.optimize")
EVALUATIONS = 200  # per parameter, and as many more: the most by default, as MINPACK
BLOCK = 32  # steps between two looks at the number of evaluations


def curve_fit(  # noqa: PLR0913, PLR0917 - SciPy's arguments
    f: Callable[..., Any],
    xdata: ArrayLike,
    ydata: ArrayLike,
    p0: ArrayLike | None = None,
    sigma: ArrayLike | None = None,
    absolute_sigma: bool = False,
    check_finite: bool | None = None,
    bounds: Any = (-np.inf, np.inf),
    method: str | None = None,
    *,
    loss: str = "linear",
    f_scale: float = 1.0,
    ftol: float = 1e-10,
    xtol: float = 1e-10,
    gtol: float = 1e-10,
    max_nfev: int | None = None,
    full_output: bool = False,
    nan_policy: str | None = None,
) -> tuple[Any, ...]:
    """Fit f(xdata, *params) to ydata: SciPy's `curve_fit` with exact derivatives, by Levenberg and Marquardt.

    f is compiled, and once for all data of one shape. The fit is a run of `bl.optim.LevenbergMarquardt` on a
    `bl.Residuals`; what the arguments mean is said in SciPy's documentation.

    Args:
        f: (xdata, *params) -> values of ydata's shape, in NumPy.
        xdata: Any array, which f gets as float64.
        ydata: Data, shape (m,).
        p0: Start, shape (d,); None: ones, or points within the bounds, one for each argument of f.
        sigma: Standard deviations of ydata, a number or of shape (m,), or their covariance, shape (m, m).
        absolute_sigma: True if sigma is in the units of ydata; False if only the ratios count.
        check_finite: True to refuse nan and inf in the data; None: so unless there is a nan_policy.
        bounds: (lower, upper), each a number or of shape (d,), or a scipy.optimize.Bounds.
        method: "lm" or None, which are the same. SciPy's "lm" takes no bounds; this one takes them, by projection.
        loss, f_scale: Robust losses of SciPy's least_squares, and "tukey", by the size of an inlier's residual.
        ftol, xtol, gtol: It ends where a step changes the sum of squares by so little, is so short, each relative, or
            where the cosine of residuals and each column of the Jacobian is so small.
        max_nfev: Evaluations of f, at most; None: 200 (d + 1).
        full_output: True to return more.
        nan_policy: Of nan in the data: "raise" refuses it; "omit" leaves out the observations that hold it, with their
            sigma, for xdata of shape (..., m); None: as check_finite says.

    Returns:
        (popt, pcov): parameters, shape (d,), and their covariance, shape (d, d), both float64; pcov is inf, with a
        warning, where it is not known. With full_output also a dict (nfev, njev, fvec: residuals; run: the `Run`), a
        message, and the number that SciPy gives to the reason: 1 ftol, 2 xtol, 3 both, 4 gtol.

    Raises:
        ArgumentError, ShapeError: For arguments that do not fit each other.
        ConvergenceError: If it does not end within max_nfev evaluations, or f is nan or inf at the start.

    >>> import numpy as np, burlab as bl
    >>> x = np.linspace(0.0, 4.0, 50)
    >>> y = 2.5 * np.exp(-1.3 * x) + 0.5 + 0.05 * np.cos(40 * x)
    >>> popt, pcov = bl.curve_fit(lambda x, a, b, c: a * np.exp(-b * x) + c, x, y)
    >>> popt.round(2), np.sqrt(np.diag(pcov)).round(2)
    (array([2.51, 1.31, 0.5 ]), array([0.02, 0.02, 0.01]))
    """
    _check_method(method)
    x, y, sigma = _data(xdata, ydata, sigma, check_finite, nan_policy)
    low, high, start = start_of(f, p0, bounds)
    data = x[None], y[None], weights_of(sigma, y)[None]
    problem = Residuals(residuals_of(f, start.size), data, loss=loss, scale=f_scale)
    limit = EVALUATIONS * (start.size + 1) if max_nfev is None else whole(max_nfev, "max_nfev", 1)
    named = {"ftol": ftol, "xtol": xtol, "gtol": gtol}
    tests = StopTests(*(number_in(NOT_NEGATIVE, tolerance, name) for name, tolerance in named.items()))
    bounded = np.isfinite(low).any() or np.isfinite(high).any()
    run = _solved(problem, start, box(low, high) if bounded else None, tests, limit)
    covariance = problem.covariance(run.x, absolute=truth(absolute_sigma, "absolute_sigma"))
    if not np.isfinite(covariance).all():
        warnings.warn(
            "The covariance of the parameters is not known: there are too few data, or the Jacobian has not full rank.",
            optimize.OptimizeWarning,
            stacklevel=2,
        )
    if not truth(full_output, "full_output"):
        return run.x, covariance
    number, message = tests.reason(run)
    more = {"nfev": run.counts["values"], "njev": run.t, "fvec": problem.residuals(run.x), "run": run}
    return run.x, covariance, more, message, number


class StopTests(NamedTuple):
    """The tests of MINPACK's lmder on rows of a history."""

    ftol: float
    xtol: float
    gtol: float

    def each(self, rows: Rows) -> tuple[Array, Array, Array]:
        """Return for each row whether the sum of squares, the step, or the cosines are small enough."""
        change, predicted = np.abs(rows["gain"] * rows["predicted"]), np.abs(rows["predicted"])
        level = (change <= self.ftol) & (predicted <= self.ftol) & (rows["gain"] <= 2)
        return level, rows["relative_step"] <= self.xtol, rows["cosine"] <= self.gtol

    def __call__(self, rows: Rows) -> Array:
        """Return True for each row where a test holds, or where f or its derivative is nan or inf."""
        level, short, flat = self.each(rows)
        return level | short | flat | ~np.isfinite(rows["value"]) | ~np.isfinite(rows["gradient_norm"])

    def reason(self, run: Run) -> tuple[int, str]:
        """Return SciPy's number for the reason of a run's end, and the reason in words."""
        last = {name: run.history[name][-1:] for name in ("gain", "predicted", "relative_step", "cosine")}
        level, short, flat = (bool(test[0]) for test in self.each(last))
        if level and short:
            return 3, "Both the sum of squares and the parameters changed by less than ftol and xtol."
        if level:
            return 1, "The sum of squares changed by less than ftol."
        if short or not flat:
            return 2, "The parameters changed by less than xtol."
        return 4, "The cosine of the residuals and each column of the Jacobian is below gtol."


def _check_method(method: object) -> None:
    name = method if isinstance(method, str) else None
    if name in ("trf", "dogbox"):
        raise ArgumentError(
            f"method={shown(method)} is a trust region of SciPy's least_squares, but curve_fit of burlab is the method "
            "of Levenberg and Marquardt, with bounds too. Leave method= out, or call scipy.optimize.curve_fit."
        )
    if name != "lm" and method is not None:
        raise ArgumentError(f'method is {shown(method)}, expected "lm" or None.')


def _data(
    xdata: ArrayLike, ydata: ArrayLike, sigma: ArrayLike | None, check_finite: object, nan_policy: object
) -> tuple[Array, Array, ArrayLike | None]:
    """Return the observations that are to be fitted, and their sigma."""
    if nan_policy is not None and not (isinstance(nan_policy, str) and nan_policy in ("raise", "omit")):
        raise ArgumentError(f'nan_policy is {shown(nan_policy)}, expected "raise", "omit" or None.')
    is_known = not_nan if nan_policy == "raise" else anything
    if nan_policy is None if check_finite is None else truth(check_finite, "check_finite"):
        is_known = np.isfinite
    x, y = as_data(xdata, "xdata", is_known), as_data(ydata, "ydata", is_known)
    if nan_policy == "omit" and (np.isnan(x).any() or np.isnan(y).any()):
        return without_nan(x, y, sigma)
    return x, y, sigma


def _solved(problem: Residuals, start: Array, bounds: box | None, tests: StopTests, limit: int) -> Run:
    """Return the run at the minimum. Raises ConvergenceError if it does not get there."""
    run = minimize(problem, start, LevenbergMarquardt(bounds=bounds), stop=Stop(when=tests, non_finite=False))
    spent = 0
    while (stopped := run.stopped) is None and spent < limit:
        run.step(min(BLOCK, limit - spent), progress=False)
        spent = run.counts["values"] if run.stopped is None else limit
    if stopped is None:
        raise ConvergenceError(
            f"curve_fit did not end within max_nfev={limit} evaluations; it is at {run.x}. Pass a p0 that is nearer, "
            "or a larger max_nfev."
        )
    rows = run.history
    if not (np.isfinite(rows["value"][-1]) and np.isfinite(rows["gradient_norm"][-1])):
        place = f"at {run.x}, where {run.t} steps led to" if run.t else f"at p0 = {start}"
        raise ConvergenceError(
            f"f, or its derivative, is nan or inf {place}. Pass another p0, or bounds where it is finite."
        )
    if stopped.reason == "when":
        run.step(1, progress=False)  # the step that was small enough
    return run
