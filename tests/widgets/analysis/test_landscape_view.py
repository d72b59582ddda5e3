"""The view of a landscape does what its controls say, without a page."""

import threading

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.widgets.analysis.explorer import Explorer
from burlab.widgets.analysis.landscape_view import LandscapeView
from burlab.widgets.analysis.watcher import Watcher


def quartic(x: np.ndarray) -> float:
    return np.sum(np.arange(1, 5) * (x - 1.0) ** 4)


def send(view: LandscapeView, **message: str) -> None:
    """Send the message of a control's use."""
    view.bar._handle_custom_msg(message, [])


def test_planes_are_those_that_the_problem_has():
    run = bl.minimize(quartic, np.zeros(4), bl.optim.GD(1e-3), steps=5)
    two = bl.problems.rosenbrock()
    assert Explorer(quartic, np.zeros(4), None, lambda: None).planes == ["random", "curvature"]
    assert Explorer(two, np.zeros(2), None, lambda: None).planes == ["axes", "random", "curvature"]
    assert Explorer(run, None, None, lambda: None).planes == ["random", "path", "curvature"]


def test_plane_is_refined_with_an_event_each_time():
    seen: list[tuple[int, ...]] = []
    explorer = Explorer(quartic, np.zeros(4), None, lambda: seen.append(explorer.found.value.shape))
    explorer.explore("random")
    explorer.wait()
    assert seen == [(11, 11), (31, 31), (91, 91)]


def test_a_new_plane_ends_the_work_on_the_old_one():
    begun, go = threading.Event(), threading.Event()
    seen: list[str] = []

    def changed() -> None:
        seen.append(explorer.found.labels[0])
        begun.set()
        go.wait(60)

    explorer = Explorer(quartic, np.zeros(4), None, changed)
    explorer.explore("random")
    assert begun.wait(60)
    explorer.explore("curvature")
    go.set()
    explorer.wait()
    assert seen[0].startswith("random")
    assert explorer.found.labels[0].startswith("eigenvector")
    assert explorer.found.value.shape == (91, 91)


def test_a_plane_is_shown_until_the_next_one_has_points():
    view = LandscapeView(quartic, np.zeros(4))
    view.wait()
    before, seen = view.landscape, []
    view.bar.observe(lambda change: seen.append((change["new"], view.landscape is before)), "status")
    view.explore("curvature")
    view.wait()
    assert seen[0] == ("computing ...", True)
    assert seen[-1] == ("8,281 points", False)


def test_controls_choose_the_plane_and_other_directions():
    view = LandscapeView(quartic, np.zeros(4))
    view.wait()
    first = view.landscape
    send(view, type="again")
    view.wait()
    assert not np.array_equal(first.vectors, view.landscape.vectors)
    send(view, type="plane", plane="curvature")
    view.wait()
    assert view.landscape.labels[0].startswith("eigenvector")
    assert view.bar.status == "8,281 points"
    view.explore("random")
    view.wait()
    np.testing.assert_array_equal(view.landscape.vectors, first.vectors)
    assert view.bar.plane == "random"


def test_error_is_shown_and_the_view_goes_on():
    run = bl.minimize(quartic, np.zeros(4), bl.optim.GD(1e-3))
    view = LandscapeView(run)
    view.explore("path")
    view.wait()
    assert "not gone far enough" in view.bar.status
    run.step(10)
    view.explore("path")
    view.wait()
    assert view.landscape.value.shape == (91, 91)
    with pytest.raises(ArgumentError, match="plane must be one of 'random', 'path', 'curvature'; got 'axes'"):
        view.explore("axes")


def test_the_path_follows_a_run_and_the_plane_stays_until_it_is_left():
    run = bl.minimize(quartic, np.zeros(4), bl.optim.GD(1e-3))
    run.step(5)
    view = LandscapeView(run)
    view.wait()
    plane = view.landscape
    assert not view.follow()  # the run has not moved
    run.step(3)
    assert view.follow()
    now = view.landscape
    assert now.path_steps[-1] == 8
    assert now.path_values[-1] == pytest.approx(quartic(run.x))
    np.testing.assert_allclose(now.path[-1], now.places(run.x[None])[0])
    assert now.value is plane.value
    assert "step 8" in view.bar.status
    run.seek(2)
    assert view.follow()
    assert view.landscape.path_steps[-1] == 2


def test_path_has_the_points_between_two_refreshes():
    f = bl.problems.rosenbrock()
    run = bl.minimize(f, f.start, bl.optim.Momentum(3e-4, mu=0.9), progress=False)
    view = LandscapeView(run)
    view.wait()
    run.step(5000)
    assert view.follow()
    now, (steps, points) = view.landscape, run.path
    assert 40 < len(now.path) < 100
    assert np.diff(now.path_steps).max() < 200
    np.testing.assert_allclose(now.path, points[np.searchsorted(steps, now.path_steps)], rtol=1e-12, atol=1e-12)
    assert now.path_values.tolist() == pytest.approx([f(x) for x in points[np.searchsorted(steps, now.path_steps)]])
    run.seek(1000)
    run.step(10)
    assert view.follow()
    assert view.landscape.path_steps[-1] == 1010


def test_diverging_run_is_not_shown_at_its_old_place():
    f = bl.problems.rosenbrock()
    run = bl.minimize(f, f.start, bl.optim.GD(1.0), progress=False)
    view = LandscapeView(run)
    view.wait()
    with pytest.warns(RuntimeWarning, match="Stopped at step 4"):
        run.step(50)
    assert view.follow()
    view.wait()
    (here,) = (dots for dots in view.landscape.chart().parts[0].dots if dots.label == "here")
    np.testing.assert_allclose([here.x[0], here.y[0]], run.x)
    assert view.landscape.path_values[-1] == np.inf
    assert np.isfinite(view.landscape.value).all(), "the plane is where the run could still be seen"


def test_plane_requested_again_has_the_whole_path():
    run = bl.minimize(quartic, np.zeros(4), bl.optim.GD(1e-3))
    run.step(5)
    view = LandscapeView(run)
    view.wait()
    run.step(3)
    send(view, type="again")
    view.wait()
    assert view.landscape.path_steps[-1] == 8


def test_a_path_that_leaves_its_plane_gets_another_one():
    run = bl.minimize(quartic, np.zeros(4), bl.optim.GD(1e-3))
    run.step(5)
    explorer = Explorer(run, None, None, lambda: None)
    explorer.explore("random")
    explorer.wait()
    before = explorer.found
    far = bl.minimize(lambda x: -1e3 * np.sum(before.vectors[0] * x), np.zeros(4), bl.optim.GD(1.0), steps=3)
    explorer._trail._run = far
    explorer._rests = 0.0
    assert not before.holds(far.x)
    assert explorer.follow()
    explorer.wait()
    assert explorer.left == 3
    assert explorer._found is not before


def test_watcher_works_only_while_it_is_visible():
    turns, first = [], threading.Event()

    def turn() -> bool:
        turns.append(1)
        first.set()
        return True

    watcher = Watcher(turn)
    assert not watcher.works
    assert not watcher.handle({"type": "plane"})
    watcher.handle({"type": "watch", "view": "a", "visible": False})
    assert watcher.works
    assert not first.wait(0.5)
    watcher.handle({"type": "watch", "view": "a", "visible": True})
    assert first.wait(60)
    watcher.rest(10)
    assert not watcher.works


def test_the_still_picture_is_the_surface_as_it_was_turned():
    view = LandscapeView(quartic, np.zeros(4))
    view.wait()
    contour = view.picture()
    send(view, type="show", shape="surface")
    first = view.picture()
    assert contour.count("<polygon") == 0
    assert first.count("<polygon") == 45 * 45 + 1
    assert len(first) < 300_000  # what a notebook keeps
    view._chart._handle_custom_msg({"type": "pose", "turn": 90.0, "lift": 35.0, "zoom": 1.0}, [])
    assert view.picture() != first
    assert view._chart.shape == "surface"
    with pytest.raises(ArgumentError, match="'contour', 'surface'; got 'globe'"):
        view.show_as("globe")


def test_pages_get_new_heights_with_each_refinement():
    view = LandscapeView(quartic, np.zeros(4))
    view.wait()
    assert view._chart.heights["landscape"]["rows"] == 91
    before = view._chart.heights["landscape"]["values"]
    view.explore("curvature")
    view.wait()
    assert view._chart.heights["landscape"]["values"] != before
