"""Landscapes against the function itself, point by point."""

import numpy as np
import pytest

import burlab as bl
from burlab.analysis import directions, landscape, refinements
from burlab.analysis.flat_objective import FlatObjective
from burlab.analysis.landscape import Landscape, snapshots
from burlab.errors import ArgumentError, ShapeError

RNG = np.random.default_rng(3)


def quartic(x: np.ndarray) -> float:
    return np.sum(np.arange(1, 6) * (x - 1.0) ** 4)


def check(found: Landscape, f: object) -> None:
    for j in (0, len(found.b) // 2, -1):
        for i in (0, len(found.a) // 3, -1):
            point = found.origin + found.a[i] * found.vectors[0] + found.b[j] * found.vectors[1]
            assert found.value[j, i] == pytest.approx(f(point), rel=1e-12)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize("plane", ["random", "curvature", RNG.normal(size=(2, 5))])
def test_values_are_those_of_the_function(plane: object):
    check(landscape(quartic, np.linspace(-1, 2, 5), plane=plane, resolution=9), quartic)


def test_two_parameters_are_their_own_plane():
    f = bl.problems.rosenbrock()
    found = landscape(f, np.array([-1.2, 1.0]), resolution=7)
    np.testing.assert_array_equal(found.a[[0, -1]], np.asarray(f.domain)[0])
    check(found, f)


@pytest.mark.parametrize("plane", ["axes", "random"])
def test_ring_marks_the_place_of_x(plane: str):
    x = np.array([-1.2, 1.0])
    found = landscape(bl.problems.rosenbrock(), x, plane=plane, resolution=7)
    np.testing.assert_allclose(found.origin + found.centre @ found.vectors, x, rtol=0, atol=1e-15)
    (dots,) = found.chart().parts[0].dots
    np.testing.assert_array_equal([*dots.x, *dots.y], found.centre)


def test_more_points_than_one_kernel_takes():
    found = landscape(quartic, np.zeros(5), resolution=40)
    check(found, quartic)
    assert np.isfinite(found.value).all()


def test_a_finite_sum_over_some_samples():
    a, b = RNG.normal(size=(20, 4)), RNG.normal(size=20)
    problem = bl.FiniteSum(lambda x, row, y: (row @ x - y) ** 2, (a, b))
    found = landscape(problem, np.ones(4), indices=[1, 2], resolution=5)
    check(found, lambda x: np.mean((a[1:3] @ x - b[1:3]) ** 2))


def test_filters_are_as_long_as_those_of_the_point():
    x = {"bias": np.ones(3), "weight": RNG.normal(size=(4, 3)) * np.array([[1.0], [0.0], [5.0], [0.1]])}
    objective = FlatObjective.of(lambda p: np.sum(p["weight"]) + np.sum(p["bias"]), x)
    for vector in directions.random(objective, 1).vectors:
        d = objective.tree(vector)
        np.testing.assert_allclose(np.linalg.norm(d["weight"], axis=1), np.linalg.norm(x["weight"], axis=1))
        assert not d["bias"].any()


def test_curvature_finds_the_strongest_eigenvectors():
    scale = np.array([1.0, -30.0, 3.0, 20.0])
    objective = FlatObjective.of(lambda x: 0.5 * np.sum(scale * x**2), np.ones(4))
    vectors = directions.curvature(objective, 0).vectors
    np.testing.assert_allclose(np.abs(vectors), np.eye(4)[[1, 3]], atol=1e-8)


def test_the_path_of_a_run_in_its_principal_axes():
    scale = np.array([1.0, 10.0, 0.0, 0.0, 0.0])
    run = bl.minimize(lambda x: 0.5 * np.sum(scale * x**2), np.ones(5), bl.optim.GD(0.05), steps=60)
    before = run.t, run.length, run.x.copy()
    found = landscape(run, plane="path", resolution=11)
    assert (run.t, run.length) == before[:2]
    np.testing.assert_array_equal(run.x, before[2])
    assert found.shares is not None
    assert found.shares.sum() == pytest.approx(1.0)  # only two entries move
    np.testing.assert_allclose(found.path[-1], [0.0, 0.0], atol=1e-12)
    assert found.path_steps[0] == 0
    assert found.path_steps[-1] == 60
    points = found.origin + found.path @ found.vectors
    np.testing.assert_allclose(points[0], np.ones(5), atol=1e-12)
    np.testing.assert_allclose(found.path_values, [0.5 * scale @ p**2 for p in points], atol=1e-12)
    assert found.a[0] < found.path[:, 0].min() < found.path[:, 0].max() < found.a[-1]
    (part,) = found.chart().parts
    assert part.note.startswith("100.0%")
    assert part.dots[0].hints[0] == "step 0: 5.5"


def test_snapshots_are_the_points_of_the_run():
    run = bl.minimize(quartic, np.zeros(5), bl.optim.Adam(1e-2), steps=30)
    steps, points = snapshots(run, 8)
    other = bl.minimize(quartic, np.zeros(5), bl.optim.Adam(1e-2))
    for step, point in zip(steps, points, strict=True):
        other.step(int(step) - other.t)
        np.testing.assert_array_equal(point, other.x)


def test_refinements_agree_where_their_points_are_the_same():
    coarse, fine = refinements(quartic, np.zeros(5), resolutions=(3, 5))
    np.testing.assert_array_equal(coarse.value, fine.value[::2, ::2])


def test_poles_are_shown_as_holes():
    found = landscape(lambda x: np.log(x[0]) + x[1] ** 2, np.array([0.5, 0.5]), resolution=5)
    assert np.isnan(found.shade[0, 0])
    assert np.isfinite(found.shade).any()


@pytest.mark.parametrize("plane", ["random", "curvature"])
def test_landscape_of_diverged_run_is_centred_at_its_lowest_point(plane):
    run = bl.minimize(lambda x: np.sum(x**4) + np.sum(x[1:] * x[:-1]), np.arange(1.0, 6.0), bl.optim.GD(1.0))
    with pytest.warns(RuntimeWarning, match="Stopped at step"):
        run.step(50)
    assert not np.isfinite(run.value)
    found = landscape(run, plane=plane, resolution=5)
    assert np.isfinite(found.value).all()
    np.testing.assert_array_equal(found.origin, np.arange(1.0, 6.0))
    assert not np.isfinite(found.path_values[-1])


def test_landscape_without_a_plane_raises():
    with pytest.raises(ArgumentError, match="one entry"):
        landscape(np.sum, np.zeros(1))
    with pytest.raises(ArgumentError, match="needs a run"):
        landscape(quartic, np.zeros(5), plane="path")
    with pytest.raises(ArgumentError, match="not known"):
        landscape(quartic, np.zeros(5), plane="axes")
    with pytest.raises(ShapeError, match="4 entries"):
        landscape(quartic, np.zeros(5), plane=np.ones((2, 4)))
    with pytest.raises(ArgumentError, match="parallel"):
        landscape(quartic, np.zeros(5), plane=np.ones((2, 5)))
    with pytest.raises(ArgumentError, match="multiple of the identity"):
        landscape(lambda x: np.sum(x**2), np.zeros(5), plane="curvature")
    with pytest.raises(ArgumentError, match="not gone far"):
        landscape(bl.minimize(quartic, np.zeros(5), bl.optim.GD(1e-3)), plane="path")
    with pytest.raises(ShapeError, match="expected one number"):
        landscape(lambda x: x, np.zeros(5))
