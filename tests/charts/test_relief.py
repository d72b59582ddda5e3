"""A map as a surface: what hides what, and where its points are seen."""

import re

import numpy as np

from burlab.charts import Axis, Curve, Dots, Map
from burlab.charts.relief import Pose, project, relief

SIZE = 21
LINE = np.linspace(-1, 1, SIZE)
AXES = Axis("first", low=-1.0, high=1.0), Axis("second", low=-1.0, high=1.0)


def surface(heights: np.ndarray, **more) -> Map:
    return Map("f", "f", *AXES, heights, **more)


def test_rotation_moves_near_points_right_and_elevation_shows_the_top():
    near = np.array([[0.0, -0.5, 0.0]])
    right, up, towards = project(near, Pose(0, 30))[0]
    assert (right, up < 0, towards > 0) == (0, True, True)
    assert project(near, Pose(90, 30))[0, 0] > 0.49
    assert project(near, Pose(0, 60))[0, 1] < up
    lengths = np.linalg.norm(project(np.eye(3), Pose(37, 21)), axis=1)
    np.testing.assert_allclose(lengths, 1)  # it is turned, not bent


def test_far_cells_are_drawn_before_near_ones_from_every_side():
    heights = np.add.outer(LINE, LINE)
    for turn in range(0, 360, 30):
        pose = Pose(turn, 5)
        cells = re.findall(r'<polygon points="([^"]+)" fill="#', relief(surface(heights * 0), pose))
        middles = [np.mean([[float(n) for n in p.split(",")] for p in cell.split()], axis=0)[1] for cell in cells]
        rows = np.array(middles).reshape(SIZE - 1, SIZE - 1)
        assert (np.diff(rows, axis=0) >= -0.11).all(), turn  # of a flat surface, far is up; pixels are rounded
        assert (np.diff(rows, axis=1) >= -0.11).all(), turn


def test_nonfinite_height_is_a_hole_and_a_path_lies_on_the_surface():
    heights = np.add.outer(LINE**2, LINE**2)
    heights[3, 4] = np.inf
    path = Curve(np.array([-0.9, 0.9]), np.array([0.9, 0.9]), colour=1)
    end = Dots(np.array([-0.9, 0.9]), np.array([0.9, 0.9]), "here", 1)
    picture = relief(surface(heights, curves=(path,), dots=(end,)))
    assert picture.count("<polygon") == (SIZE - 1) ** 2 - 4 + 1
    assert picture.count('stroke="#d55e00"') >= 30
    assert picture.count("<circle") == 1
