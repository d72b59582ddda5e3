"""Gauss-Newton, robust losses and bounds, against SciPy's least_squares."""

from typing import Any

import numpy as np
import pytest
from scipy import optimize

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import GaussNewton, LevenbergMarquardt, box
from burlab.problems.kernels.robust_loss import RHO
from tests.optim.probe import probe
from tests.optim.test_levenberg_marquardt import START, STEPS, T, decay

rng = np.random.default_rng(8)
CLEAN = 2.5 * np.exp(-1.3 * T) + 0.4
Y = CLEAN + 0.02 * rng.normal(size=T.size) + np.where(np.arange(T.size) % 6 == 2, 1.5, 0.0)  # with outliers
SCALE = 0.1


@pytest.mark.parametrize("name", STEPS)
def test_gauss_newton_steps_solve_linear_problems(name: str) -> None:
    f, x, _ = STEPS[name]
    run = bl.minimize(f, x, GaussNewton(lr=0.5))
    for _ in range(3):
        p = np.linalg.lstsq(f.jacobian(x), -f.residuals(x))[0]
        run.step(1)
        np.testing.assert_allclose(run.x, x + 0.5 * p, rtol=1e-9, atol=1e-15)
        x = run.x


def tukey(z: Any) -> Any:
    """SciPy's form of a loss: value, first and second derivative."""
    inside = z <= 1
    return np.array(
        [np.where(inside, 1 - (1 - z) ** 3, 1.0) / 3, np.where(inside, (1 - z) ** 2, 0.0), -2 * inside * (1 - z)]
    )


@pytest.mark.parametrize("loss", RHO)
def test_robust_losses_are_scipys(loss: str) -> None:
    """Value, gradient and the scaled Jacobian at a point, and the minimum."""
    f = bl.Residuals(decay, (T, Y), loss=loss, scale=SCALE)
    theirs: Any = tukey if loss == "tukey" else loss
    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
    given = {"args": (T, Y), "loss": theirs, "f_scale": SCALE, "jac": lambda x, *_: f.jacobian(x)}
    at = optimize.least_squares(decay, START, max_nfev=1, **given)
    np.testing.assert_allclose(f.value(START) * T.size, at.cost, rtol=1e-13)
    np.testing.assert_allclose(f.grad(START) * T.size, at.grad, rtol=1e-12)
    _, (_, scaled), _ = probe(f, START, lambda f, x: f.residuals_and_jacobian(x), (Y, np.zeros((T.size, 3))))
    np.testing.assert_allclose(scaled, at.jac, rtol=1e-12, atol=1e-15)
    first = bl.minimize(bl.Residuals(decay, (T, Y)), START, LevenbergMarquardt(), steps=30).x
    run = bl.minimize(f, first, LevenbergMarquardt(), steps=300)
    end = optimize.least_squares(decay, first, max_nfev=500, **given, **tight)
    np.testing.assert_allclose(run.x, end.x, rtol=2e-6)
    assert f.value(run.x) * T.size <= end.cost * (1 + 1e-13)
    if loss in ("cauchy", "arctan"):  # which forget outliers
        np.testing.assert_allclose(run.x, [2.5, 1.3, 0.4], atol=0.06)


BOUNDED: dict[str, tuple[Any, Any, Any, Any]] = {
    "none active": (STEPS["decay"][0], START, np.array([0.0, 0.0, -1.0]), np.array([9.0, 9.0, 9.0])),
    "one active": (STEPS["decay"][0], START, np.array([0.0, 0.0, -1.0]), np.array([2.0, 9.0, 9.0])),
    "two active": (STEPS["decay"][0], START, np.array([0.0, 0.0, 0.5]), np.array([2.0, 9.0, 9.0])),
    "valley": (STEPS["valley"][0], np.array([-1.2, 1.0]), np.array([-2.0, 1.5]), np.array([0.9, 9.0])),
    "helix": (STEPS["helix"][0], np.array([-1.0, 0.1, 0.0]), np.array([-2.0, -1.0, -3.0]), np.array([0.8, 1.0, 1.0])),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_bounds_end_where_scipy_does(name: str) -> None:
    f, x0, low, high = BOUNDED[name]
    run = bl.minimize(f, x0, LevenbergMarquardt(bounds=box(low, high)), steps=200)
    end = optimize.least_squares(
        f.residuals, np.clip(x0, low + 1e-9, high - 1e-9), f.jacobian, (low, high), "dogbox", 1e-15, 1e-15, 1e-15
    )
    np.testing.assert_allclose(run.x, end.x, rtol=1e-6, atol=1e-7)
    assert np.all((run.x >= low) & (run.x <= high))
    slope, free = f.grad(run.x), (run.x > low) & (run.x < high)
    np.testing.assert_allclose(slope[free], 0, atol=1e-7)
    assert np.all(slope[run.x == low] >= 0)
    assert np.all(slope[run.x == high] <= 0)
    assert (name == "none active") == free.all()
    assert run.history["cosine"][-1] < 1e-7


def test_bounds_of_another_kind_raise() -> None:
    with pytest.raises(ArgumentError, match=r"bounds of LevenbergMarquardt is \(0, 1\), expected bl.optim.box"):
        LevenbergMarquardt(bounds=(0, 1))  # pyright: ignore[reportArgumentType] - on purpose


def product(a: Any, b: Any) -> Any:
    """Of quaternions."""
    scalar = a[0] * b[0] - np.sum(a[1:] * b[1:])
    across = np.stack([a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1]])
    return np.concatenate([np.reshape(scalar, (1,)), a[0] * b[1:] + b[0] * a[1:] + across])


def turned(q: Any, p: Any) -> Any:
    """A unit quaternion after a rotation by p, by Cayley's map: again a unit quaternion."""
    step = np.concatenate([np.ones(1), p])
    return product(q, step / np.sqrt(1 + np.sum(p * p)))


def rotated(q: Any, a: Any) -> Any:
    whole = product(product(q, np.concatenate([np.zeros(1), a])), np.concatenate([q[:1], -q[1:]]))
    return whole[1:]


def test_steps_on_a_manifold_solve_wahbas_problem() -> None:
    """The rotation between two sets of points, beside Kabsch's by singular values; x stays a unit quaternion."""
    a = rng.normal(size=(30, 3))
    exact = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    exact *= np.linalg.det(exact)
    b = a @ exact.T + 0.05 * rng.normal(size=a.shape)
    f = bl.Residuals(lambda q, a, b: rotated(q, a) - b, (a, b))
    rule = LevenbergMarquardt(retract=turned, directions=3)
    run = bl.minimize(f, np.array([1.0, 0.0, 0.0, 0.0]), rule, steps=40)
    for t in range(run.length):
        np.testing.assert_allclose(np.linalg.norm(run.x), 1, rtol=1e-13)
        run.seek(t)
    run.seek(run.length - 1)
    u, _, vt = np.linalg.svd(b.T @ a)
    best = u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt
    np.testing.assert_allclose(rotated(run.x, np.array([1.0, 2.0, 3.0])), best @ [1.0, 2.0, 3.0], rtol=1e-8)
    assert run.history["cosine"][-1] < 1e-8
    assert run.t < 20


@pytest.mark.parametrize(
    ("match", "fields"),
    [
        ("takes retract= and directions= together", {"retract": turned}),
        ("takes retract= and directions= together", {"directions": 3}),
        ("retract cannot be called with x and a step", {"retract": lambda x: x, "directions": 3}),
        ("directions=0", {"retract": turned, "directions": 0}),
        ("either bounds= or retract=", {"retract": turned, "directions": 3, "bounds": box(0.0, 1.0)}),
    ],
)
def test_unsuitable_manifolds_raise(match: str, fields: Any) -> None:
    with pytest.raises(ArgumentError, match=match):
        LevenbergMarquardt(**fields)
