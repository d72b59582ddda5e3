"""SciPy's minimizers as runs: the same points as scipy.optimize.minimize, steered like any other run."""

import numpy as np
import pytest
from scipy import optimize

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim.scipy_minimizer import METHODS
from burlab.runtime.blas_threads import OneBlasThread
from tests.optim.curvature_cases import himmelblau, rosenbrock

START = np.array([-1.2, 1.0, 0.5])


def direct(method, f=rosenbrock, x0=START, **options):
    """SciPy's own call, with one thread of OpenBLAS: its result, and the points that its callback saw."""
    traits, value_and_grad, hvp = METHODS[method], bl.value_and_grad(f), bl.hvp(f)
    seen = [x0]
    asked = {"jac": True} if traits.gradient else {}
    if traits.curvature == "hessp":
        asked["hessp"] = lambda x, v: hvp(x, v.astype(float))
    elif traits.curvature:
        asked["hess"] = lambda x: np.stack([hvp(x, unit) for unit in np.eye(len(x))])
    fun = value_and_grad if traits.gradient else lambda x: float(value_and_grad(x)[0])
    with OneBlasThread():
        result = optimize.minimize(
            fun, x0, method=method, callback=lambda x, *_: seen.append(np.array(x)), **asked, **options
        )
    return result, np.array(seen)


def points(run):
    """Every recorded point."""
    end = run.t
    found = []
    for step in range(end + 1):
        run.seek(step)
        found.append(run.x)
    run.seek(end)
    return np.array(found)


@pytest.mark.filterwarnings("ignore:delta_grad")
@pytest.mark.parametrize("method", METHODS)
def test_is_scipy(method):
    result, seen = direct(method)
    run = bl.minimize(rosenbrock, START, bl.optim.SciPy(method), steps=10_000)
    np.testing.assert_array_equal(run.x, result.x)
    visited = points(run)
    np.testing.assert_array_equal(visited[: len(seen)], seen)
    assert len(visited) - len(seen) <= 1  # the result, where no callback saw it
    assert run.stopped.reason == "finished"
    assert str(result.message) in run.stopped.message
    history = run.history
    assert history.steps == run.length == run.t + 1
    np.testing.assert_allclose(history["value"], [rosenbrock(x) for x in visited], rtol=1e-12, atol=1e-25)
    norms = [np.linalg.norm(bl.grad(rosenbrock)(x)) for x in visited]
    np.testing.assert_allclose(history["gradient_norm"], norms, rtol=1e-9, atol=1e-12)
    lengths = np.linalg.norm(np.diff(visited, axis=0), axis=1)
    np.testing.assert_allclose(history["step_norm"][:-1], lengths, rtol=1e-14)
    if METHODS[method].curvature != "hess" and method != "trust-constr":
        miscount = 1 if METHODS[method].curvature else 0  # SciPy's own nhev is one more than it asked
        assert 0 <= result.nfev + result.get("nhev", 0) - history["samples"][-1] <= miscount
    assert np.all(np.diff(history["time"]) >= 0)
    run.step(5)  # there is nothing left to do
    assert run.stopped.reason == "finished"
    assert run.length == history.steps


@pytest.mark.parametrize("method", ["L-BFGS-B", "TNC", "SLSQP", "Nelder-Mead", "COBYLA"])
def test_bounds(method):
    bounds = [(0.0, 2.0), (-1.0, 0.5)]
    result, _ = direct(method, himmelblau, np.ones(2) * 0.4, bounds=bounds)
    run = bl.minimize(himmelblau, np.ones(2) * 0.4, bl.optim.SciPy(method, bounds=bounds), steps=10_000)
    np.testing.assert_array_equal(run.x, result.x)
    assert run.x[1] <= 0.5


@pytest.mark.filterwarnings("ignore:delta_grad")
@pytest.mark.parametrize("method", ["SLSQP", "COBYLA", "COBYQA", "trust-constr"])
def test_constraints_and_options(method):
    inside = {"type": "ineq", "fun": lambda x: 1 - x @ x}
    given = {"constraints": inside, "options": {"maxiter": 60}, "tol": 1e-9}
    result, _ = direct(method, himmelblau, np.zeros(2), **given)
    run = bl.minimize(himmelblau, np.zeros(2), bl.optim.SciPy(method, **given), steps=10_000)
    np.testing.assert_array_equal(run.x, result.x)
    assert run.x @ run.x <= 1 + 1e-6


def test_options_reach_scipy():
    run = bl.minimize(rosenbrock, START, bl.optim.SciPy("BFGS", options={"maxiter": 7}), steps=100)
    assert run.t == 7
    assert "Maximum number of iterations" in run.stopped.message


def test_names_are_scipys_in_any_case():
    assert bl.optim.SciPy("nelder-mead").method == "Nelder-Mead"
    for wrong in ("Adam", None, 3):
        with pytest.raises(ArgumentError, match="L-BFGS-B"):
            bl.optim.SciPy(wrong)
    with pytest.raises(ArgumentError, match=r"BFGS cannot keep bounds.*SLSQP"):
        bl.optim.SciPy("BFGS", bounds=[(0, 1)])
    with pytest.raises(ArgumentError, match=r"L-BFGS-B cannot keep constraints.*COBYLA"):
        bl.optim.SciPy(constraints={"type": "eq", "fun": lambda x: x[0]})


def test_batches_are_refused():
    problem = bl.FiniteSum(lambda x, a: (x[0] - a) ** 2, np.arange(5.0))
    for arguments in ({"batch": 2}, {"batch": 5, "sampler": "uniform"}):
        with pytest.raises(ArgumentError, match="Leave batch= out"):
            bl.minimize(problem, np.zeros(1), bl.optim.SciPy(), **arguments)


def test_sums_over_data_trees_and_precision():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(50, 3)), rng.normal(size=50)
    problem = bl.FiniteSum(lambda p, a, b: (a[:2] @ p[0] + a[2] * p[1] - b) ** 2, (a, b), lambda p: 0.1 * p[1] ** 2)
    run = bl.minimize(problem, (np.zeros(2), 0.0), bl.optim.SciPy("BFGS"), steps=100)
    system = 2 / 50 * a.T @ a + np.diag([0, 0, 0.2])
    expected = np.linalg.solve(system, 2 / 50 * a.T @ b)
    np.testing.assert_allclose(np.append(run.x[0], run.x[1]), expected, atol=1e-5)
    assert run.x[0].shape == (2,)
    assert run.x[1].shape == ()
    assert run.history["samples"][-1] % 50 == 0
    single = bl.minimize(rosenbrock, np.full(2, 0.5, np.float32), bl.optim.SciPy("CG", tol=1e-2), steps=50)
    assert single.x.dtype == np.float32
    np.testing.assert_allclose(single.x, 1, atol=0.1)


def test_keys_are_drawn_once_from_the_seed():
    """SciPy needs one function; the same seed gives the same one."""
    noisy = lambda x, a, key: (x[0] - a - bl.random.normal(key, ())) ** 2  # noqa: E731 - as a user writes it
    problem = bl.FiniteSum(noisy, np.arange(20.0))
    ends = [bl.minimize(problem, np.zeros(1), bl.optim.SciPy(), seed=seed, steps=50).x[0] for seed in (1, 1, 2)]
    assert ends[0] == ends[1] != ends[2]
