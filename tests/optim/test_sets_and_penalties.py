"""Projections and proximal steps against their definitions, by other methods; runs against scikit-learn's solvers."""

import inspect

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import burlab as bl
from burlab.optim import GD, Penalty, ball, box, elastic_net, l1, l2, nonnegative, projected, proximal, simplex

rng = np.random.default_rng(5)
X = rng.normal(size=(40, 6))
Y = X @ np.array([1.5, 0.0, -2.0, 0.0, 0.3, 0.0]) + 0.1 * rng.normal(size=40)

# Each of these is a sum over coordinates, written down once more as the definition has it.
PENALTIES = {
    l1(0.7): lambda y: 0.7 * abs(y),
    l2(0.7): lambda y: 0.35 * y**2,
    elastic_net(0.4, 1.3): lambda y: 0.4 * abs(y) + 0.65 * y**2,
}


def kinds(base):
    found = [getattr(bl.optim, name) for name in bl.optim.__all__]
    return {k for k in found if isinstance(k, type) and issubclass(k, base) and not inspect.isabstract(k)}


def test_every_penalty_and_set_is_tested():
    assert kinds(Penalty) == {type(p) for p in PENALTIES} | {box, nonnegative, ball, simplex}


@pytest.mark.parametrize("step", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_prox_is_the_minimizer_that_defines_it(penalty, step):
    xs = np.array([-3.0, -0.71, -0.05, 0.0, 0.2, 0.9, 4.0])
    h = PENALTIES[penalty]
    found = [
        minimize_scalar(
            lambda y, x=x: h(y) + (y - x) ** 2 / (2 * step), (min(x, 0) - 1, max(x, 0) + 1), options={"xtol": 1e-11}
        ).x
        for x in xs
    ]
    np.testing.assert_allclose(penalty.prox(xs, step), found, atol=1e-7)
    np.testing.assert_allclose(bl.jit(lambda x: penalty.prox(x, step))(xs), penalty.prox(xs, step), rtol=1e-15)


def by_sorting(x, total):
    """Duchi et al. 2008, figure 1."""
    u = np.sort(x)[::-1]
    sums = np.cumsum(u)
    rho = np.nonzero(u * np.arange(1, x.size + 1) > sums - total)[0][-1]
    return np.maximum(x - (sums[rho] - total) / (rho + 1), 0.0)


@pytest.mark.parametrize("total", [1.0, 0.01, 50.0])
@pytest.mark.parametrize("x", [
    np.array([3.0]), np.array([-3.0]), np.zeros(7), np.full(5, 2.5), np.array([0.2, 0.3, 0.5]), -np.arange(9.0),
    rng.normal(size=40), 100 * rng.normal(size=1000), 1e-3 * rng.normal(size=300), rng.standard_cauchy(size=20_000),
    np.repeat([1.0, 0.0, -1.0], 9), np.array([1e9, 0.0, -1e9]),
], ids=lambda x: str(x.size))  # fmt: skip
def test_simplex_is_exact(x, total):
    """To the rounding of the largest entry, which is all that the sorted sums keep."""
    wanted = by_sorting(x - x.max(), total)
    for got in (simplex(total).project(x), bl.jit(simplex(total).project)(x)):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-14 * total)
        assert got.min() >= 0
        assert got.sum() == pytest.approx(total, rel=1e-13)


def test_simplex_in_float32():
    x = (3 * rng.normal(size=500)).astype(np.float32)
    got = bl.jit(simplex(2.0).project)(x)
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, by_sorting(x.astype(float), 2.0), atol=1e-6)


def test_simplex_of_what_is_not_finite_ends():
    for bad in (np.nan, np.inf, -np.inf):
        with np.errstate(all="ignore"):
            assert simplex().project(np.array([1.0, bad, 0.0])).shape == (3,)
        assert bl.jit(simplex().project)(np.array([1.0, bad, 0.0])).shape == (3,)


@pytest.mark.parametrize(
    "onto",
    [
        box(-0.5, np.linspace(0.0, 1.0, 8)),
        nonnegative(),
        ball(1.2),
        ball(0.5, center=np.linspace(-1.0, 1.0, 8)),
        simplex(),
    ],
    ids=lambda s: type(s).__name__,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_projections_are_nearest_points(onto, dtype):
    """<x - p, z - p> <= 0 for every z of the set is what makes p the nearest point of a convex set."""
    project = bl.jit(onto.project)
    inside = [project(z.astype(dtype)) for z in 2 * rng.normal(size=(50, 8))]
    slack = 1e-12 if dtype == np.float64 else 1e-5
    for x in (2 * rng.normal(size=(50, 8))).astype(dtype):
        p = project(x)
        assert p.dtype == dtype
        assert max(np.dot(x - p, z - p) for z in inside) <= slack
        np.testing.assert_allclose(project(p), p, atol=slack)
        np.testing.assert_allclose(onto.project(x), p, atol=slack)
    moved = [np.abs(project(x.astype(dtype)) - x).max() for x in 2 * rng.normal(size=(20, 8))]
    assert max(moved) > 0.1


def test_a_point_inside_a_ball_stays_to_the_bit():
    x = np.array([0.1, 0.3, -0.7])
    np.testing.assert_array_equal(ball(1.0, center=0.05).project(x), x)
    np.testing.assert_array_equal(ball(0.0).project(np.zeros(2)), np.zeros(2))
    np.testing.assert_array_equal(ball(0.0).project(np.ones(2)), np.zeros(2))


@pytest.mark.parametrize(("penalty", "alpha", "ratio"), [(l1(0.2), 0.2, 1.0), (elastic_net(0.2, 0.6), 0.8, 0.25)])
def test_proximal_gradient_solves_what_scikit_learn_solves(penalty, alpha, ratio):
    linear_model = pytest.importorskip("sklearn.linear_model")
    model = linear_model.ElasticNet(alpha=alpha, l1_ratio=ratio, fit_intercept=False, tol=1e-14, max_iter=100_000)
    wanted = model.fit(X, Y).coef_
    run = bl.minimize(lambda w: np.sum((X @ w - Y) ** 2) / 80, np.zeros(6), proximal(GD(0.3), penalty), steps=2000)
    np.testing.assert_allclose(run.x, wanted, atol=1e-9)
    assert (run.x == 0).sum() == (wanted == 0).sum() > 0


def test_projected_gradient_solves_what_scipy_solves():
    """Nonnegative least squares."""
    from scipy.optimize import nnls

    run = bl.minimize(
        lambda w: np.sum((X @ w - Y) ** 2) / 80, np.zeros(6), projected(GD(0.3), nonnegative()), steps=2000
    )
    np.testing.assert_allclose(run.x, nnls(X, Y)[0], atol=1e-9)
