"""The surface of a function: its heights are those of the contour, and paths lie on it."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ShapeError
from burlab.plots import landscape, surface
from burlab.plots.still_figure import still


def test_surface_height_equals_the_shade_of_the_contour():
    f = bl.problems.branin()
    (ground,) = surface(f, resolution=9).data
    heights = landscape(f, resolution=9)
    np.testing.assert_array_equal(ground.z, heights.shade)
    np.testing.assert_array_equal(ground.customdata, heights.value)


def test_a_path_follows_the_ground():
    """Between two far points it goes up and down with the surface: a straight line would go through the hill."""
    f = bl.problems.himmelblau()
    ground, line, end = surface(f, paths={"over": [[-4, -4], [4, 4]]}, resolution=101).data
    x, y, z = (np.asarray(part) for part in (line.x, line.y, line.z))
    np.testing.assert_allclose(x, y)
    rise = np.ptp(ground.z)
    at = np.array(
        [
            np.asarray(ground.z)[np.argmin(abs(ground.y - b)), np.argmin(abs(ground.x - a))]
            for a, b in zip(x, y, strict=True)
        ]
    )
    assert np.max(abs(z - at)) < 0.12 * rise  # the nearest point of the grid
    assert np.max(abs(np.diff(x))) < 0.1
    assert (end.x[0], end.y[0]) == (4, 4)


def test_of_a_path_that_leaves_the_plane_only_what_lies_on_it_is_seen():
    _, line, end = surface(bl.problems.booth(), paths={"away": [[0, 0], [40, 0]]}, resolution=21).data
    known = np.isfinite(line.z)
    assert known.any()
    assert not known.all()
    assert (np.asarray(line.x)[known] <= 10).all()
    assert np.isnan(end.z).all()


def test_a_diverged_path_has_no_height():
    _, line, _ = surface(bl.problems.booth(), paths={"off": [[0, 0], [np.inf, np.nan]]}, resolution=21).data
    assert np.isfinite(np.asarray(line.z, float)[0])


def test_a_run_is_a_path_and_other_shapes_are_refused():
    f = bl.problems.rosenbrock()
    run = bl.minimize(f, f.start, bl.optim.Adam(0.05), steps=50)
    _, line, _ = surface(f, paths={"run": run}, resolution=31).data
    assert (line.x[0], line.y[0]) == tuple(f.start)
    with pytest.raises(ShapeError, match="a row per point"):
        surface(f, paths={"flat": [1.0, 2.0]})


def test_pages_without_scripts_show_it_from_where_it_opens():
    figure = surface(bl.problems.himmelblau(), paths={"over": [[-4, -4], [4, 4]]}, title="A hill", resolution=31)
    picture = still(figure.to_plotly_json())
    assert "A hill" in picture
    assert picture.count("<polygon") > 800
    assert "x₁" in picture
    eye = figure.layout.scene.camera.eye
    assert eye.z > 0 > eye.y  # from above and from the front, as the still picture
