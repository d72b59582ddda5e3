"""The page of bundle adjustment: its residuals and steps are those of NumPy, and it needs few of them."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError
from burlab.typing import Array
from tests.optim.bundle import in_numpy, pattern, vector
from tests.papers.pages import method, whole

STEPS = 20
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"cameras": 1}, "cameras=1 is not"), ({"points": 0}, "points=0 is not"), ({"visible": 2.0}, "visible is 2.0"),
    ({"noise": -1.0}, "noise is -1.0"), ({"seed": -1}, "seed=-1 is not"),
]  # fmt: skip


def test_the_residuals_are_those_of_numpy_and_their_jacobian_has_the_pattern():
    scene, f = method("bundle_adjustment").adjustment(5, 20, 3)
    residuals, x = in_numpy(scene), vector(scene.start)
    np.testing.assert_allclose(f.residuals(scene.start), residuals(x), rtol=1e-10, atol=1e-10)
    jacobian = f.jacobian(scene.start)
    np.testing.assert_array_equal(jacobian.toarray() != 0, pattern(scene).toarray() != 0)
    by_differences = approx_fprime(x, residuals, 1e-7)
    np.testing.assert_allclose(jacobian.toarray(), by_differences, rtol=1e-4, atol=2e-3)


def steps_in_numpy(scene: bl.problems.Scene, jacobian: Array, damping: float) -> Array:
    """One damped step by the dense normal equations."""
    slope = jacobian.T @ in_numpy(scene)(vector(scene.start))
    return np.linalg.solve(jacobian.T @ jacobian + damping * np.diag(np.sum(jacobian**2, axis=0)), -slope)


@pytest.mark.full
def test_a_step_solves_the_damped_equations():
    page = method("bundle_adjustment")
    scene, f = page.adjustment(5, 20, 3)
    run = bl.minimize(f, scene.start, page.methods["Levenberg-Marquardt"], steps=1)
    dense = f.jacobian(scene.start).toarray()
    wanted = vector(scene.start) + steps_in_numpy(scene, dense, run.history["damping"][0])
    np.testing.assert_allclose(vector(run.x), wanted, rtol=1e-8, atol=1e-9)


def test_without_errors_the_method_finds_what_the_cameras_see():
    scene = bl.problems.synthetic_scene(4, 30, noise=0.0, seed=2)
    f = bl.problems.bundle_adjustment(scene.camera, scene.point, scene.seen)
    run = bl.minimize(f, scene.start, bl.optim.LevenbergMarquardt(), steps=STEPS)
    assert np.abs(in_numpy(scene)(vector(run.x))).max() < 1e-8
    np.testing.assert_allclose(in_numpy(scene)(vector(scene.truth)), 0, atol=1e-9)


def test_every_point_is_seen_twice():
    scene = bl.problems.synthetic_scene(9, 200, visible=0.01)
    assert np.bincount(scene.point).min() == 2
    every = bl.problems.synthetic_scene(3, 7, visible=1.0)
    assert len(every.seen) == 21


def test_unsuitable_arguments_raise():
    numbers = np.zeros(3, int)
    with pytest.raises(ShapeError, match=r"seen has shape \(3,\), expected \(n, 2\)"):
        bl.problems.bundle_adjustment(numbers, numbers, np.zeros(3))
    with pytest.raises(DTypeError, match="expected two arrays of integers"):
        bl.problems.bundle_adjustment(np.zeros(3), numbers, np.zeros((3, 2)))
    for wrong, says in WRONG:
        with pytest.raises(ArgumentError, match=says):
            bl.problems.synthetic_scene(**wrong)


@pytest.mark.full
def test_ten_steps_suffice_and_scipy_finds_no_lower_value():
    page = whole("bundle_adjustment")
    assert np.all(page.trials["Levenberg-Marquardt"][:, 10] < 1e-6)
    assert np.all(page.trials["L-BFGS"][:, 10] > 1e-2)
    for rows in page.costs:
        assert rows["burlab"][0] <= rows["SciPy"][0] * (1 + 1e-7)
        assert rows["burlab"][1] <= rows["SciPy"][1]
