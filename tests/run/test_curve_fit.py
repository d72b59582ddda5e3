"""curve_fit beside SciPy's: parameters, covariances, what is returned and what is refused."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, ConvergenceError, DTypeError, ShapeError
from tests.optim.strd_cases import MODELS, STRD, observations

rng = np.random.default_rng(4)
X = np.linspace(0.0, 4.0, 60)
SIGMA = 0.05 + 0.05 * rng.random(X.size)
Y = 2.5 * np.exp(-1.3 * X) + 0.5 + SIGMA * rng.normal(size=X.size)
_mixed = rng.normal(size=(X.size, X.size)) / 60
COVARIANCE = _mixed @ _mixed.T + np.diag(SIGMA**2)


def decay(x: Any, a: Any, b: Any, c: Any) -> Any:
    return a * np.exp(-b * x) + c


ARGUMENTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "a start": {"p0": [3.0, 1.0, 0.0]},
    "one sigma": {"sigma": 0.3},
    "absolute sigma": {"sigma": SIGMA, "absolute_sigma": True},
    "relative sigma": {"sigma": SIGMA},
    "absolute without sigma": {"absolute_sigma": True},
    "a covariance": {"sigma": COVARIANCE, "absolute_sigma": True},
    "a covariance that is relative": {"sigma": COVARIANCE},
    "bounds": {"bounds": (0, [3.0, 2.0, 1.0])},
    "an active bound": {"bounds": ([0, 0, 0], [2.0, np.inf, np.inf])},
    "an object": {"bounds": optimize.Bounds([0, 0, 0], [3.0, 2.0, 1.0]), "sigma": SIGMA},
    "a lower bound": {"bounds": ([0.5, -np.inf, -np.inf], np.inf), "p0": (1, 1, 1)},
    "a robust loss": {"loss": "soft_l1", "f_scale": 0.1, "bounds": (-9, 9)},
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_parameters_and_covariance_are_scipys(name: str) -> None:
    given = ARGUMENTS[name]
    tight = {"ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-14}
    popt, pcov = bl.curve_fit(decay, X, Y, **given, **tight)
    method = {"method": "dogbox"} if "bounds" in given else {}
    wanted, covariance = optimize.curve_fit(decay, X, Y, **given, **tight, **method)
    np.testing.assert_allclose(popt, wanted, rtol=2e-6)
    np.testing.assert_allclose(pcov, covariance, rtol=2e-4)
    loose = bl.curve_fit(decay, X, Y, **given)[0]
    np.testing.assert_allclose(loose, popt, rtol=1e-5)


@pytest.mark.parametrize("name", STRD)
def test_standard_deviations_are_those_of_nist(name: str) -> None:
    """Of all problems, from the second start: 11 digits are certified."""
    x, y = observations(name)
    tight = {"ftol": 1e-15, "xtol": 1e-12, "gtol": 0.0, "max_nfev": 5000}
    popt, pcov = bl.curve_fit(lambda x, *b: MODELS[name](b, x), x, y, STRD[name]["starts"][1], **tight)
    np.testing.assert_allclose(popt, STRD[name]["certified"], rtol=1e-6)
    exact = name != "Lanczos1"  # whose residuals are rounding
    np.testing.assert_allclose(np.sqrt(np.diag(pcov)), STRD[name]["deviations"], rtol=1e-6 if exact else 0.05)


def test_full_output() -> None:
    popt, pcov, more, message, number = bl.curve_fit(decay, X, Y, full_output=True)
    for found, again in zip((popt, pcov), bl.curve_fit(decay, X, Y), strict=True):
        np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(more["fvec"], decay(X, *popt) - Y, rtol=1e-12, atol=1e-15)
    assert isinstance(more["run"], bl.Run)
    assert more["nfev"] >= more["njev"] > 2
    assert number in (1, 2, 3)
    assert "changed by less than" in message
    exact = bl.curve_fit(lambda x, a: a * x, X, 3 * X, full_output=True)
    assert exact[0] == 3.0
    assert exact[4] in (2, 3, 4)


def test_other_shapes_of_data() -> None:
    """Two variables, a grid of observations, integers, and a fit of as many parameters as data."""
    z = np.stack([X, X**2])
    plane = bl.curve_fit(lambda x, a, b: a * x[0] + b * x[1], z, 2 * X - X**2)[0]
    np.testing.assert_allclose(plane, [2, -1], rtol=1e-10)
    grid = bl.curve_fit(lambda x, a, b: a * x**b, X.reshape(6, 10) + 1, 2 * (X.reshape(6, 10) + 1) ** 0.5)[0]
    np.testing.assert_allclose(grid, [2, 0.5], rtol=1e-9)
    with pytest.warns(optimize.OptimizeWarning, match="too few data"):
        line, covariance = bl.curve_fit(lambda x, a, b: a * x + b, [0, 1], [1, 3])
    np.testing.assert_allclose(line, [2, 1], rtol=1e-10)
    assert np.isinf(covariance).all()
    with pytest.warns(optimize.OptimizeWarning, match="has not full rank"):
        bl.curve_fit(lambda x, a, b: (a + b) * x, X, 2 * X)


def test_data_of_one_shape_are_fitted_by_one_kernel() -> None:
    from burlab.problems.kernels.query_programs import PROGRAMS

    bl.curve_fit(decay, X, Y)
    before = set(PROGRAMS._entries)
    for k in range(3):
        bl.curve_fit(decay, X + 0.1 * k, Y * (1 + k))
    assert set(PROGRAMS._entries) == before


def _with_nan(*shape: int) -> Any:
    data = np.random.default_rng(shape).random((*shape, X.size))
    data[..., 7] = np.nan
    data.reshape(-1, X.size)[0, 30] = np.nan
    return data


@pytest.mark.parametrize("sigma", [None, 0.3, SIGMA, COVARIANCE], ids=["none", "one", "each", "covariance"])
@pytest.mark.parametrize("of_x", [(), (2,), (2, 3)], ids=str)
def test_omitted_observations_are_scipys(of_x: tuple[int, ...], sigma: Any) -> None:
    """nan in x, in y and in both; SciPy leaves out the same ones, with their sigma."""
    x, y = _with_nan(*of_x), np.where(np.arange(X.size) % 11 == 5, np.nan, Y)

    def line(x: Any, a: Any, b: Any) -> Any:
        return a * x.reshape(-1, x.shape[-1])[0] + b

    given: dict[str, Any] = {"sigma": sigma, "nan_policy": "omit"}
    found = bl.curve_fit(line, x, y, **given)
    for one, other in zip(found, optimize.curve_fit(line, x, y, **given), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    known = np.isfinite(x).reshape(-1, X.size).all(axis=0) & np.isfinite(y)
    for one, other in zip(found, bl.curve_fit(line, x[..., known], y[known], sigma=_chosen(sigma, known)), strict=True):
        np.testing.assert_array_equal(one, other)


def _chosen(sigma: Any, known: Any) -> Any:
    """The sigma of some observations."""
    return sigma if np.ndim(sigma) == 0 else sigma[np.ix_(*[known] * sigma.ndim)]


@pytest.mark.parametrize("policy", ["raise", "omit", None])
@pytest.mark.parametrize("finite", [True, False, None])
@pytest.mark.parametrize("spoilt", [np.nan, np.inf, 1.0])
def test_what_counts_as_data_is_what_counts_for_scipy(policy: Any, finite: Any, spoilt: float) -> None:
    y = np.where(np.arange(X.size) == 3, spoilt, Y)
    given: dict[str, Any] = {"nan_policy": policy, "check_finite": finite}
    try:
        with warnings.catch_warnings(category=optimize.OptimizeWarning, action="ignore"):
            wanted = optimize.curve_fit(decay, X, y, **given)[0]
    except ValueError:  # the data are refused
        with pytest.raises(ArgumentError, match=r"ydata holds (nan|inf) at \(3,\)"):
            bl.curve_fit(decay, X, y, **given)
        return
    if np.isfinite(y).all() or (policy == "omit" and np.isnan(spoilt)):
        np.testing.assert_allclose(bl.curve_fit(decay, X, y, **given)[0], wanted, rtol=2e-6)
    else:  # SciPy's minimizer does not move
        np.testing.assert_array_equal(wanted, np.ones(3))
        with pytest.raises(ConvergenceError, match="nan or inf at p0"):
            bl.curve_fit(decay, X, y, **given)


def test_the_method_has_scipys_name() -> None:
    np.testing.assert_array_equal(bl.curve_fit(decay, X, Y, method="lm")[0], bl.curve_fit(decay, X, Y)[0])
    places = decay, X, Y, None, None, False, None, (-np.inf, np.inf), "lm"
    np.testing.assert_allclose(bl.curve_fit(*places)[0], optimize.curve_fit(*places)[0], rtol=2e-6)
    bounds = [1.0, 0.0, 0.0], [2.0, 3.0, 1.0]  # which SciPy's "lm" refuses
    tight = {"ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-14}
    wanted = optimize.curve_fit(decay, X, Y, bounds=bounds, method="dogbox", **tight)[0]
    np.testing.assert_allclose(bl.curve_fit(decay, X, Y, bounds=bounds, method="lm", **tight)[0], wanted, rtol=2e-6)


def test_a_derivative_that_is_inf_on_the_way_is_no_minimum() -> None:
    """The first step is to a = 0, where the root has no derivative."""
    with pytest.raises(ConvergenceError, match=r"nan or inf at \[0\.\], where 1 steps led to"):
        bl.curve_fit(lambda x, a: np.where(a > 0.5, a * x, np.sqrt(np.abs(a)) * x), X, 0 * X, [1.0])


def test_unsuitable_arguments_raise() -> None:
    def refused(kind: type[BurlabError], match: str, *given: Any, **named: Any) -> None:
        with pytest.raises(kind, match=match), warnings.catch_warnings():
            bl.curve_fit(*given, **named)

    refused(ArgumentError, "number of parameters of f is not known", lambda x, *p: p[0] * x, X, Y)
    refused(ArgumentError, "f cannot be called with xdata and 2 parameters", decay, X, Y, [1.0, 2.0])
    refused(ArgumentError, r"ydata holds nan at \(3,\)", decay, X, np.where(np.arange(60) == 3, np.nan, Y))
    refused(ArgumentError, "xdata is empty", decay, [], Y)
    refused(DTypeError, "xdata", decay, ["a"], Y)
    refused(ShapeError, r"f returned values of shape \(60,\), but ydata has shape \(59,\)", decay, X, Y[1:])
    refused(ShapeError, r"sigma has shape \(3,\)", decay, X, Y, sigma=np.ones(3))
    refused(ArgumentError, "sigma holds 0.0, expected standard deviations above 0", decay, X, Y, sigma=0 * Y)
    refused(ArgumentError, "not positive definite", decay, X, Y, sigma=-COVARIANCE)
    refused(ArgumentError, r"bounds is 3, expected \(lower, upper\)", decay, X, Y, bounds=3)
    refused(ShapeError, r"the upper bounds have shape \(2,\)", decay, X, Y, bounds=(0, [1, 2]))
    refused(ArgumentError, "each lower one must be below", decay, X, Y, bounds=(1, 0))
    refused(ArgumentError, "is not within bounds", decay, X, Y, [-1, 1, 1], bounds=(0, 5))
    refused(ArgumentError, "loss is 'l1'", decay, X, Y, loss="l1")
    refused(ArgumentError, "max_nfev=0", decay, X, Y, max_nfev=0)
    refused(ArgumentError, "ftol is -1", decay, X, Y, ftol=-1)
    refused(ArgumentError, "method='trf' is a trust region of SciPy", decay, X, Y, method="trf")
    refused(ArgumentError, "method is 'newton', expected \"lm\" or None", decay, X, Y, method="newton")
    refused(ArgumentError, "nan_policy is 'propagate'", decay, X, Y, nan_policy="propagate")
    refused(ArgumentError, "check_finite=2", decay, X, Y, check_finite=2)
    refused(ArgumentError, "every observation holds nan", decay, X, np.nan * Y, nan_policy="omit")
    refused(ShapeError, r"got \(59,\) and \(60,\)", decay, X[1:], np.nan * Y, nan_policy="omit")
    refused(ArgumentError, "full_output=3", decay, X, Y, full_output=3)
    refused(ConvergenceError, "did not end within max_nfev=3 evaluations", decay, X, Y, max_nfev=3)
    refused(ConvergenceError, "nan or inf at p0", lambda x, a: np.log(a) * x, X, Y, [-1.0])
