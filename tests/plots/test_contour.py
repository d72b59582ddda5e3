"""Landscapes and paths: what is drawn are the function's own values and the path's own points."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ShapeError
from burlab.plots import contour, landscape, path_traces


def test_heights_are_the_values_of_the_function():
    f = bl.problems.branin()
    heights = landscape(f, resolution=7)
    assert (heights.x[0], heights.x[-1], heights.y[0], heights.y[-1]) == (-5, 10, 0, 15)
    expected = [[f(np.array([x, y])) for x in heights.x] for y in heights.y]
    np.testing.assert_allclose(heights.value, expected, rtol=1e-13)


def test_shades_rise_with_the_values():
    for f in (bl.problems.rosenbrock(), bl.problems.monkey_saddle(), bl.problems.goldstein_price()):
        heights = landscape(f, resolution=31)
        order = np.argsort(heights.value, axis=None)
        assert np.all(np.diff(heights.shade.ravel()[order]) >= 0)
        assert np.ptp(heights.shade) > 0


def test_a_finite_sum_has_a_landscape():
    a, b = np.random.default_rng(0).normal(size=(2, 9, 2))
    problem = bl.FiniteSum(lambda x, u, v: (u @ x - v[0]) ** 2, (a, b))
    heights = landscape(problem, [(-1, 1), (0, 2)], resolution=5)
    assert heights.value[3, 1] == problem.value(np.array([-0.5, 1.5]))
    assert heights.minimum == heights.value.min()


def test_a_pole_leaves_a_hole():
    heights = landscape(lambda x: 1 / x[0] ** 2 + x[1] ** 2, [(-1, 1), (-1, 1)], resolution=5)
    assert np.isinf(heights.value[:, 2]).all()
    assert np.isnan(heights.shade[:, 2]).all()
    assert np.isfinite(heights.shade[:, [0, 1, 3, 4]]).all()


def test_known_points_and_paths_are_drawn():
    f = bl.problems.himmelblau()
    path = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 2.0]])
    shape, saddles, minima, line, ends = contour(f, paths={"one": path}).data
    assert np.shape(shape.z) == np.shape(shape.customdata)
    np.testing.assert_array_equal(np.transpose([saddles.x, saddles.y]), f.saddles)
    np.testing.assert_array_equal(np.transpose([minima.x, minima.y]), f.minima)
    np.testing.assert_array_equal(np.transpose([line.x, line.y]), path)
    np.testing.assert_array_equal(np.transpose([ends.x, ends.y]), path[[0, -1]])


def test_a_long_path_is_thinned_to_points_that_can_be_seen_apart():
    angle = np.linspace(0, 40 * np.pi, 100_000)
    path = np.transpose([np.cos(angle), np.sin(angle)]) * np.exp(-angle / 30)[:, None]
    line, ends = path_traces("spiral", path, "#000000")
    drawn = np.transpose([line.x, line.y])
    assert 500 < len(drawn) < 5000
    np.testing.assert_array_equal(drawn[[0, -1]], path[[0, -1]])
    assert max(np.linalg.norm(np.diff(drawn, axis=0), axis=1)) < 0.01 * np.ptp(path)
    assert len(ends.x) == 2


def test_a_path_that_stands_still_or_leaves_keeps_its_ends():
    still = path_traces("still", np.ones((1000, 2)), "#000000")[0]
    assert len(still.x) == 2
    away = np.ones((1000, 2))
    away[500:] = np.nan
    assert np.isnan(path_traces("away", away, "#000000")[0].x[-1])


def test_the_whole_record_of_a_run_is_drawn():
    f = bl.problems.booth()
    run = bl.minimize(f, f.start, bl.optim.GD(0.01), steps=20)
    *_, line, ends = contour(f, paths={"run": run}).data
    assert len(line.x) == 21
    np.testing.assert_array_equal([ends.x[-1], ends.y[-1]], run.x)
    run.seek(5)
    *_, line, _ = contour(f, paths={"run": run}).data
    assert len(line.x) >= 20
    np.testing.assert_array_equal([line.x[5], line.y[5]], run.x)


def test_both_axes_have_one_scale_unless_one_side_is_far_longer():
    f = bl.problems.quadratic([1.0, 15.0], seed=None)
    for domain, anchor in (([(-1, 1), (-1, 1)], "x"), ([(-0.2, 1.5), (-0.15, 0.15)], "x"), ([(0, 100), (0, 1)], None)):
        figure = contour(f, domain=domain)
        assert figure.layout.yaxis.scaleanchor == anchor
        assert figure.layout.height is None or 200 < figure.layout.height <= 600


def test_paths_beyond_the_colours_share_one_key():
    f = bl.problems.himmelblau()
    figure = contour(f, paths={f"start {k}": [[0, 0], [k, 1]] for k in range(16)})
    keys = [trace.name for trace in figure.data[1:] if trace.showlegend is not False]
    assert keys == ["saddle", "minimum", "16 paths"]
    few = contour(f, paths={"a": [[0, 0], [1, 1]], "b": [[0, 0], [2, 1]]})
    assert [trace.name for trace in few.data[1:] if trace.showlegend is not False] == ["saddle", "minimum", "a", "b"]


def test_a_run_in_three_dimensions_has_no_path():
    f = bl.problems.rosenbrock(3)
    with pytest.raises(ShapeError, match="one or two entries"):
        path_traces("deep", bl.minimize(f, f.start, bl.optim.GD(1e-4)), "#000000")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: contour(lambda x: x[0]), ArgumentError, "states no domain.*Pass domain="),
        (lambda: contour(bl.problems.rosenbrock(3)), ShapeError, r"\(3, 2\).*two variables"),
        (lambda: contour(bl.problems.booth(), domain=[(1, 0), (0, 1)]), ArgumentError, "the lower first"),
        (lambda: contour(bl.problems.booth(), paths={"bad": [1, 2]}), ShapeError, r"'bad'.*\(2,\).*\(n, 2\)"),
        (lambda: contour(lambda x: x, domain=[(0, 1), (0, 1)]), ShapeError, "one number"),
    ],
)
def test_contour_with_wrong_arguments_raises(call, error, words):
    with pytest.raises(error, match=words):
        call()
