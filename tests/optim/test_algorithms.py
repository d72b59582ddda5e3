"""Rules with curvature against implementations of their own, by hand in NumPy or SciPy's."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim.barzilai_borwein import BarzilaiBorwein
from burlab.optim.conjugate_gradient import NonlinearCG
from burlab.optim.descent import ArmijoGD
from burlab.optim.lbfgs import LBFGS
from burlab.optim.newton import ModifiedNewton, Newton
from burlab.optim.newton_cg import NewtonCG
from burlab.optim.trust_region import TrustRegion
from tests.optim.curvature_cases import OPTIMIZERS, himmelblau, logistic, quadratic, rosenbrock, wood
from tests.optim.plain import Oracle, path, steps

START = {"rosenbrock": (rosenbrock, np.array([-1.2, 1.0, 0.5])), "wood": (wood, np.array([-3.0, -1, -3, -1]))}


def directions(optimizer, f, x0, n):
    """(x, g, direction of the step that follows, state before it) for every step that moved."""
    for (x, g, state), (after, *_) in pairwise(steps(optimizer, Oracle(f), x0, n)):
        if np.any(after != x):
            yield x, g, unit(after - x), state


def unit(p):
    return p / np.linalg.norm(p)


@pytest.mark.parametrize("name", START)
@pytest.mark.parametrize("memory", [1, 3, 20])
def test_lbfgs_direction_is_the_product_formula(name, memory):
    """H <- (I - rho s y') H (I - rho y s') + rho s s' from (s.y / y.y) I, over the last pairs: a dense matrix."""
    f, x0 = START[name]
    points = path(LBFGS(memory=memory), f, x0, 18)
    gradients = np.array([bl.grad(f)(x) for x in points])
    identity = np.eye(x0.size)
    for k in range(18):
        h = identity
        for j in range(max(0, k - memory), k):
            s, y = points[j + 1] - points[j], gradients[j + 1] - gradients[j]
            if j == max(0, k - memory):
                last_s, last_y = points[k] - points[k - 1], gradients[k] - gradients[k - 1]
                h = identity * (last_s @ last_y) / (last_y @ last_y)
            v = identity - np.outer(y, s) / (s @ y)
            h = v.T @ h @ v + np.outer(s, s) / (s @ y)
        np.testing.assert_allclose(unit(points[k + 1] - points[k]), unit(-h @ gradients[k]), rtol=1e-7, atol=1e-7)


def test_lbfgs_leaves_out_pairs_without_curvature():
    f = lambda x: np.sum(x) + 0 * x[0] ** 2  # noqa: E731 - as a user writes it
    for _, _, state in steps(LBFGS(trials=3), Oracle(f), np.ones(3), 3):
        assert all(not np.any(leaf) for leaf in state.values())


@pytest.mark.parametrize("form", ["PR+", "FR", "HS", "DY"])
def test_conjugate_gradients_end_after_d_exact_steps(form):
    """On a parabola all forms are linear conjugate gradients: iterates as by Hestenes and Stiefel's algorithm."""
    f = quadratic(6, 100.0)
    a, b = bl.hessian(f)(np.zeros(6)), -bl.grad(f)(np.zeros(6))
    points = path(NonlinearCG(form=form, c2=1e-9), f, np.ones(6), 6)
    x, r = np.ones(6), b - a @ np.ones(6)
    p = r
    for k in range(6):
        np.testing.assert_allclose(points[k], x, rtol=1e-6, atol=1e-6)
        alpha = r @ r / (p @ a @ p)
        x, new = x + alpha * p, r - alpha * a @ p
        p, r = new + new @ new / (r @ r) * p, new
    np.testing.assert_allclose(points[6], np.linalg.solve(a, b), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("restart", [0.2, 1e30])
@pytest.mark.parametrize("form", ["PR+", "FR", "HS", "DY"])
def test_conjugate_direction(form, restart):
    f, x0 = (wood, START["wood"][1]) if restart == 0.2 else (himmelblau, np.array([0.1, 0.0]))
    p = before = None
    restarts = 0
    for _, g, moved, _ in directions(NonlinearCG(form=form, restart=restart), f, x0, 40):
        if np.linalg.norm(g) < 1e-3:  # below it a direction is rounding
            break
        expected = -g
        if p is not None and abs(g @ before) < restart * (g @ g):
            y = g - before
            beta = {
                "PR+": max(0, g @ y / (before @ before)),
                "FR": g @ g / (before @ before),
                "HS": g @ y / (y @ p),
                "DY": g @ g / (y @ p),
            }[form]
            conjugate = beta * p - g
            expected = conjugate if g @ conjugate < 0 else -g
        restarts += np.array_equal(expected, -g)
        np.testing.assert_allclose(moved, unit(expected), rtol=1e-6, atol=1e-6)
        p, before = expected, g
    assert 0 < restarts < 40
    assert restart == 0.2 or form != "PR+" or restarts > 1  # a negative beta of Polak and Ribiere


@pytest.mark.parametrize("name", START)
def test_trust_region_is_scipys(name):
    f, x0 = START[name]
    value_and_grad, hvp = bl.value_and_grad(f), bl.hvp(f)
    seen = [x0]
    optimize.minimize(
        value_and_grad, x0, jac=True, hessp=hvp, method="trust-ncg", callback=lambda x: seen.append(x.copy()),
        options={"maxiter": 25},
    )  # fmt: skip
    ours = path(TrustRegion(), f, x0, 25)
    assert len(np.unique(ours, axis=0)) < 26  # steps were refused on the way
    np.testing.assert_allclose(ours, seen, rtol=1e-7, atol=1e-9)


def test_a_step_of_negative_curvature_is_scipys():
    """Parabolas that open downwards somewhere: the better one of two points at the border."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        a, g, radius = rng.normal(size=(3, 3)), rng.normal(size=3), 10 ** rng.uniform(-1, 1.5)
        f = lambda x, a=a + a.T, g=g: 0.5 * x @ (a @ x) + g @ x  # noqa: E731 - as a user writes it
        theirs = optimize.minimize(
            bl.value_and_grad(f), np.zeros(3), jac=True, hessp=bl.hvp(f), method="trust-ncg",
            options={"maxiter": 1, "initial_trust_radius": radius},
        )  # fmt: skip
        ours = path(TrustRegion(radius=radius), f, np.zeros(3), 1)[1]
        np.testing.assert_allclose(ours, theirs.x, rtol=1e-9, atol=1e-12)


def test_trust_region_stays_in_its_radius():
    f, x0 = START["wood"]
    for (x, _, state), (after, *_) in pairwise(steps(TrustRegion(radius=0.3, max_radius=0.5), Oracle(f), x0, 30)):
        assert state["radius"] <= 0.5
        assert np.linalg.norm(after - x) <= state["radius"] * (1 + 1e-12)
        assert f(after) <= f(x)


@pytest.mark.parametrize("name", START)
def test_newton_cg_direction(name):
    """Algorithm 7.1 with a dense Hessian."""
    f, x0 = START[name]
    bent = 0
    for x, g, moved, _ in directions(NewtonCG(), f, x0, 25):
        h = bl.hessian(f)(x)
        z, r, d = np.zeros_like(x), g, -g
        for j in range(20 * x.size):
            curvature = d @ h @ d
            if curvature <= 0:
                bent += 1
                z = -g if j == 0 else z
                break
            alpha = r @ r / curvature
            z, new = z + alpha * d, r + alpha * h @ d
            if np.linalg.norm(new) < min(0.5, np.sqrt(np.linalg.norm(g))) * np.linalg.norm(g):
                break
            d, r = new @ new / (r @ r) * d - new, new
        np.testing.assert_allclose(moved, unit(z), rtol=1e-6, atol=1e-6)
    assert bent > 0


@pytest.mark.parametrize(("lr", "damping"), [(1.0, 0.0), (0.5, 3.0)])
def test_newton_solves_the_newton_equations(lr, damping):
    for seed in range(10):
        x = np.random.default_rng(seed).normal(size=5)
        h, g = bl.hessian(rosenbrock)(x), bl.grad(rosenbrock)(x)
        expected = x - lr * np.linalg.solve(h + damping * np.eye(5), g)
        np.testing.assert_allclose(path(Newton(lr, damping), rosenbrock, x, 1)[1], expected, rtol=1e-9)


def test_newton_needs_its_pivots():
    f = lambda x: x[0] * x[1] + x[1] * x[2] + x[2] ** 2  # noqa: E731 - a zero diagonal at first
    np.testing.assert_allclose(path(Newton(), f, np.array([3.0, -2.0, 1.0]), 1)[1], 0, atol=1e-12)


def test_newton_stays_at_a_singular_hessian_until_damped():
    f = lambda x: (x[0] + x[1]) ** 2 + x[0]  # noqa: E731 - as a user writes it
    np.testing.assert_array_equal(path(Newton(), f, np.ones(2), 2)[2], np.ones(2))
    assert f(path(Newton(damping=1.0), f, np.ones(2), 2)[2]) < f(np.ones(2))


@pytest.mark.parametrize("name", START)
def test_modified_newton_adds_the_first_multiple_that_is_positive_definite(name):
    f, x0 = START[name]
    shifted = 0
    for x, g, moved, _ in directions(ModifiedNewton(), f, 0.3 * x0, 12):
        h = bl.hessian(f)(x)
        beta = 1e-3 * np.abs(np.diag(h)).max()
        tau = 0 if np.diag(h).min() > 0 else beta - np.diag(h).min()
        while np.linalg.eigvalsh(h + tau * np.eye(x.size)).min() <= 0:
            tau = max(2 * tau, beta)
        shifted += tau > 0
        np.testing.assert_allclose(moved, unit(np.linalg.solve(h + tau * np.eye(x.size), -g)), rtol=1e-6, atol=1e-6)
    assert 0 < shifted < 12


@pytest.mark.parametrize("form", ["long", "short", "alternate"])
@pytest.mark.parametrize("window", [0, 1, 4])
def test_barzilai_borwein_by_hand(form, window):
    f, gradient, x = himmelblau, bl.grad(himmelblau), np.array([0.3, -0.2])
    points = path(BarzilaiBorwein(form=form, window=window), f, x, 12)
    values, last, before = [], None, None
    for t in range(12):
        np.testing.assert_allclose(points[t], x, rtol=1e-9, atol=1e-9)
        g = gradient(x)
        if t == 0:
            a = min(1, 1 / np.linalg.norm(g))
        else:
            s, y = x - before[0], g - before[1]
            long = form == "long" or (form == "alternate" and t % 2 == 0)
            a = 10 * last if s @ y <= 0 else (s @ s / (s @ y) if long else s @ y / (y @ y))
        values = [*values, f(x)][-window:]
        while window and f(x - a * g) > max(values) - 1e-4 * a * (g @ g):
            a /= 2
        before, last = (x, g), a
        x = x - a * g


def test_armijo_descent_by_hand():
    f, gradient = logistic, bl.grad(logistic)
    for warm in (False, True):
        x = np.ones(6)
        points = path(ArmijoGD(lr=64.0, shrink=0.5, c1=0.3, warm=warm), f, x, 10)
        a = 32.0
        for t in range(10):
            np.testing.assert_allclose(points[t], x, rtol=1e-12)
            g = gradient(x)
            a = min(64.0, 2 * a) if warm else 64.0
            while f(x - a * g) > f(x) - 0.3 * a * (g @ g):
                a /= 2
            x = x - a * g


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_zero_gradient_stays_put(name, dtype):
    for f in (lambda x: np.sum((x - 1) ** 2), lambda x: np.sum((x - 1) ** 4), lambda x: 3 - np.sum((x - 1) ** 4)):
        start = np.ones(3, dtype)
        for x, _, state in steps(OPTIMIZERS[name], Oracle(f), start, 4):
            np.testing.assert_array_equal(x, start)
            assert x.dtype == dtype
            assert not any(np.isnan(leaf).any() for leaf in state.values())


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_point_that_is_not_finite_stays(name):
    """Nothing can be done there, but nothing hangs either, and what is known stays as it was."""
    with np.errstate(all="ignore"):
        for x, *_ in steps(OPTIMIZERS[name], Oracle(lambda x: np.sum(np.sqrt(x))), np.full(2, -1.0), 3):
            np.testing.assert_array_equal(x, -1)


@pytest.mark.parametrize("wrong", [lambda: NonlinearCG(form="PR"), lambda: BarzilaiBorwein(form="middle")])
def test_unknown_forms_are_refused(wrong):
    with pytest.raises(ArgumentError, match="expected"):
        wrong()
