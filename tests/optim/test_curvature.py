"""Optimizers that ask for values and curvature, in runs: minima, numbers of steps and evaluations against SciPy's."""

from functools import cache

import numpy as np
import pytest
from scipy import optimize

import burlab as bl
from tests.optim.curvature_cases import INPUTS, LABELS, OPTIMIZERS, PROBLEMS, himmelblau, logistic, rosenbrock
from tests.optim.plain import Oracle, path, solve, steps

# Steps within which |gradient| <= 1e-10: a quarter above the most that any instruction set takes, as paths differ by
# rounding. None where pure Newton goes elsewhere.
LIMITS = {  # rosenbrock 2, rosenbrock 10, quadratic (condition 1e4), logistic, beale, himmelblau
    "ArmijoGD": (32_000, 44_000, 86_000, 820, 1850, 42),
    "ArmijoGD warm": (33_000, 44_000, 120_000, 820, 1850, 42),
    "WolfeGD": (5500, 33_500, 110_000, 46, 2300, 52),
    "BarzilaiBorwein": (57, 2700, 4000, 36, 50, 18),
    "BarzilaiBorwein short": (90, 2200, 4000, 34, 44, 18),
    "BarzilaiBorwein alternate": (95, 1500, 4000, 34, 46, 18),
    "NonlinearCG": (38, 90, 1000, 18, 20, 11),
    "NonlinearCG FR": (40, 95, 1000, 16, 20, 10),
    "NonlinearCG HS": (37, 84, 1000, 17, 22, 12),
    "NonlinearCG DY": (38, 95, 850, 16, 20, 12),
    "LBFGS": (48, 68, 1000, 18, 22, 11),
    "Newton": (9, 82, 2, 8, None, 12),
    "ModifiedNewton": (28, 12, 2, 8, 8, 8),
    "NewtonCG": (93, 30, 11, 9, 12, 8),
    "TrustRegion": (38, 37, 11, 9, 13, 9),
}


@cache
def reference(problem):
    """SciPy's minimizer from the same start, to the last bits."""
    f, x0 = PROBLEMS[problem]
    value_and_grad, hessian = bl.value_and_grad(f), bl.hessian(f)
    x = optimize.minimize(value_and_grad, x0, jac=True, method="BFGS", options={"gtol": 1e-9}).x
    for _ in range(3):
        x = x - np.linalg.solve(hessian(x), value_and_grad(x)[1])
    return x


# No limit is stated where pure Newton finds a saddle.
ENDS = [
    pytest.param(name, problem, limit, id=f"{name}-{problem}")
    for name in OPTIMIZERS
    for problem, limit in zip(PROBLEMS, LIMITS[name], strict=True)
    if limit is not None
]


@pytest.mark.parametrize(("name", "problem", "limit"), ENDS)
def test_reaches_scipys_minimum(name, problem, limit):
    f, x0 = PROBLEMS[problem]
    run = bl.minimize(f, x0, OPTIMIZERS[name], stop=bl.Stop(grad_norm=1e-10), steps=limit)
    assert run.stopped is not None
    assert run.stopped.reason == "grad_norm"
    np.testing.assert_allclose(run.x, reference(problem), rtol=1e-8, atol=1e-8)
    assert f(run.x) <= f(reference(problem)) + 1e-13


PEERS = {"LBFGS": "L-BFGS-B", "NonlinearCG": "CG", "NewtonCG": "Newton-CG", "TrustRegion": "trust-ncg"}


@pytest.mark.parametrize("name", PEERS)
def test_evaluations_are_about_as_many_as_scipys(name):
    """Trials of values or gradients, and Hessian-vector products, until SciPy's method ends; over all problems."""
    ours, theirs = np.zeros(2), np.zeros(2)
    for f, x0 in PROBLEMS.values():
        value_and_grad, hvp = bl.value_and_grad(f), bl.hvp(f)
        options = {"gtol": 1e-5, "maxiter": 10_000} if name != "NewtonCG" else {"xtol": 1e-9}
        if name == "LBFGS":
            options["ftol"] = 0.0
        more = {"hessp": hvp} if name in ("NewtonCG", "TrustRegion") else {}
        found = optimize.minimize(value_and_grad, x0, jac=True, method=PEERS[name], options=options, **more)
        tolerance = max(np.linalg.norm(found.jac), 1e-9)
        _, _, counts = solve(OPTIMIZERS[name], f, x0, 20_000, tolerance)
        ours += counts["grad"] + counts["value"], counts["hvp"]
        theirs += found.nfev, found.get("nhev", 0)
    assert np.all(ours <= 1.25 * theirs)
    assert np.all(ours[theirs > 0] > 0)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_run_is_the_rule_by_hand(name):
    for problem in ("himmelblau", "logistic"):
        f, x0 = PROBLEMS[problem]
        points = path(OPTIMIZERS[name], f, x0, 12)
        run = bl.minimize(f, x0, OPTIMIZERS[name])
        for t in range(13):
            np.testing.assert_allclose(run.x, points[t], rtol=1e-7, atol=1e-7)
            run.step()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_curvature_optimizers_stay_in_float32(name):
    scales = np.array([1.0, 3.0, 0.5], np.float32)
    f = lambda x: np.sum(np.sqrt(1 + (scales * (x - 1)) ** 2))  # noqa: E731 - as a user writes it
    start = np.array([0.6, 1.2, 2.0], np.float32) if name == "Newton" else np.array([-3.0, 0.0, 5.0], np.float32)
    run = bl.minimize(f, start, OPTIMIZERS[name], steps=200)
    assert run.x.dtype == np.float32
    np.testing.assert_allclose(run.x, 1, atol=2e-4)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_sums_over_data_and_trees(name):
    """The same run for a function of a vector, and for a mean over samples of a tree."""
    problem = bl.FiniteSum(
        lambda p, a, b: np.logaddexp(0, -b * (a[:4] @ p["w"] + a[4:] @ p["v"])),
        (INPUTS, LABELS),
        lambda p: 0.005 * (p["w"] @ p["w"] + p["v"] @ p["v"]),
    )
    run = bl.minimize(problem, {"w": np.zeros(4), "v": np.zeros(2)}, OPTIMIZERS[name], steps=8)
    flat = bl.minimize(logistic, np.zeros(6), OPTIMIZERS[name], steps=8)
    np.testing.assert_allclose(np.concatenate([run.x["w"], run.x["v"]]), flat.x, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_costs_are_counted_exactly(name):
    """After every step as many as the answers that are counted by hand, of which a sum over n samples costs n each."""
    oracle, n, x0 = Oracle(logistic), len(LABELS), np.linspace(-1, 1, 6)
    problem = bl.FiniteSum(lambda x, a, b: np.logaddexp(0, -b * (a @ x)), (INPUTS, LABELS), lambda x: 0.005 * x @ x)
    run = bl.minimize(problem, x0, OPTIMIZERS[name])
    for t, _ in enumerate(steps(OPTIMIZERS[name], oracle, x0, 6)):
        asked = t + oracle.counts["grad"], oracle.counts["value"], oracle.counts["hvp"]
        assert tuple(run.counts[kind] for kind in ("samples", "values", "hvps")) == tuple(n * k for k in asked)
        run.step()


@pytest.mark.parametrize("name", ["ArmijoGD", "WolfeGD", "LBFGS", "NonlinearCG", "NewtonCG", "TrustRegion"])
def test_batches(name):
    """Every step searches on its own batch: an interpolating least squares problem is solved (Vaswani et al. 2019)."""
    rng = np.random.default_rng(3)
    a, truth = rng.normal(size=(200, 5)), rng.normal(size=5)
    problem = bl.FiniteSum(lambda x, a, b: 0.5 * (a @ x - b) ** 2, (a, a @ truth))
    run = bl.minimize(problem, np.zeros(5), OPTIMIZERS[name], batch=40, steps=300)
    np.testing.assert_allclose(run.x, truth, atol=1e-6)


def test_damping_brings_newton_down():
    optimizer, far = OPTIMIZERS["Newton"], np.full(6, 3.0)  # where there is almost no curvature
    wild = bl.minimize(logistic, far, optimizer, steps=50)
    assert np.linalg.norm(bl.grad(logistic)(wild.x)) > 0.1
    calm = bl.minimize(logistic, far, optimizer)
    calm.hyper["damping"] = 0.2
    calm.step(100)
    calm.hyper["damping"] = 0.0
    calm.step(10)
    np.testing.assert_allclose(calm.x, reference("logistic"), rtol=1e-8)


@pytest.mark.parametrize("name", ["LBFGS", "NonlinearCG", "BarzilaiBorwein", "TrustRegion"])
def test_seek_and_fork_bring_the_state_along(name):
    run = bl.minimize(rosenbrock, np.array([-1.2, 1.0, 0.3]), OPTIMIZERS[name], steps=30)
    end = run.x
    run.seek(11)
    other = run.fork()
    other.step(19)
    run.step(19)
    np.testing.assert_array_equal(run.x, end)
    np.testing.assert_array_equal(other.x, end)


def test_a_search_without_success_ends():
    """A gradient that points uphill: nothing is enough, x stays, and the next step tries again."""
    lie = bl.custom_vjp(lambda x: np.sum(x**2), lambda g, y, x: -2 * g * x, np.ones(2), surrogate=True)
    for name in ("ArmijoGD", "WolfeGD", "LBFGS", "NonlinearCG", "BarzilaiBorwein"):
        run = bl.minimize(lie, np.ones(2), OPTIMIZERS[name], steps=5)
        np.testing.assert_allclose(run.x, 1, rtol=1e-8)  # as far as values cannot tell


@pytest.mark.parametrize("scale", [1e-12, 1e12])
@pytest.mark.parametrize(
    "name", ["BarzilaiBorwein", "NonlinearCG", "LBFGS", "Newton", "ModifiedNewton", "NewtonCG", "TrustRegion"]
)
def test_the_scale_of_values_hardly_matters(name, scale):
    x0 = np.array([-1.2, 1.0])
    first = scale * np.linalg.norm(bl.grad(rosenbrock)(x0))
    run = bl.minimize(lambda x: scale * rosenbrock(x), x0, OPTIMIZERS[name], stop=bl.Stop(grad_norm=1e-9 * first))
    run.step(250)
    assert run.stopped is not None
    np.testing.assert_allclose(run.x, 1, rtol=1e-6)


def test_live_constants_of_a_search():
    run = bl.minimize(himmelblau, np.array([2.0, 2.5]), OPTIMIZERS["ArmijoGD"], steps=1)
    run.hyper["lr"] = 1e-4
    before = run.x
    run.step()
    np.testing.assert_allclose(before - run.x, 1e-4 * bl.grad(himmelblau)(before), rtol=1e-9)
