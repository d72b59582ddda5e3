"""The panel's model on real runs: what the fake of the other tests promises."""

import time

import numpy as np
import pytest

import burlab as bl
from burlab.widgets.panel.figure import Figure
from burlab.widgets.panel.model import Model
from burlab.widgets.panel.state import state_of


def quadratic(lr=0.01, **more):
    return bl.minimize(lambda x: np.sum(x**2), np.array([1.0, -2.0]), bl.optim.Momentum(lr), **more)


def rested(model, seconds=60.0):
    end = time.monotonic() + seconds
    while model.run.running:
        assert time.monotonic() < end
        time.sleep(0.005)
    model.look()
    return state_of(model)


def shown(model, name):
    """A curve's points as a dict from step to y."""
    x, y = model.lines.curves[name].points(10**6)
    return dict(zip(x.astype(int), y, strict=True))


def test_steps_are_read_as_they_are_done():
    run = quadratic()
    model = Model(run)
    assert state_of(model)["status"] == "Ready at step 0"
    for n in (1, 10, 500):
        model.obey({"type": "step", "count": n})
        assert rested(model)["step"] == run.t
    history = run.history
    for name in ("value", "gradient_norm", "step_norm"):
        assert shown(model, name) == dict(enumerate(history[name]))
    assert rested(model)["readouts"][0][1] != "–"
    assert model.lines.curves["time_per_step"].rows > 0


def test_play_pause_seek_and_reset():
    run = quadratic(1e-4)
    model = Model(run)
    model.obey({"type": "speed", "value": 0})
    model.obey({"type": "play"})
    while run.t < 100:
        time.sleep(0.005)
    model.look()
    assert state_of(model)["playing"]
    model.obey({"type": "pause"})
    state = rested(model)
    assert state["status"] == f"Paused at step {run.t:,}"
    model.obey({"type": "seek", "step": run.t // 2})
    assert rested(model)["tone"] == "past"
    assert run.t == run.length // 2
    model.obey({"type": "reset"})
    assert rested(model)["step"] == 0
    np.testing.assert_array_equal(run.x, [1.0, -2.0])


def test_a_change_in_the_past_draws_the_old_line():
    run = quadratic()
    model = Model(run)
    run.step(100)
    model.look()
    old = shown(model, "value")
    model.obey({"type": "seek", "step": 30})
    model.obey({"type": "slide", "name": "lr", "place": 0.3})
    run.step(20)
    model.look()
    values = run.history["value"]
    assert shown(model, "value") == dict(enumerate(values))
    assert len(values) == 50
    (line,) = model.old
    x, y = line.curves["value"].points(10**6)
    assert dict(zip(x.astype(int), y, strict=True)) == old
    assert not np.allclose(values[31:], list(old.values())[31:50])


def test_schedules_are_followed_held_and_given_back():
    run = quadratic(bl.optim.linear(0.2, steps=10))
    assert run.hyper.scheduled == ("lr",)
    assert run.hyper.follows("lr")
    assert not run.hyper.follows("mu")
    model = Model(run)
    model.obey({"type": "hold", "name": "lr"})
    assert not run.hyper.follows("lr")
    assert run.hyper["lr"] == 0.2
    model.obey({"type": "follow", "name": "lr"})
    run.step(5)
    assert run.hyper.follows("lr")
    assert run.hyper["lr"] == pytest.approx(0.1)
    model.look()
    assert [plot.name for plot in model.plots][-1] == "lr"


def test_what_stopped_it_is_said():
    run = quadratic(stop=bl.Stop(value=1e-3))
    model = Model(run)
    model.obey({"type": "speed", "value": 0})
    model.obey({"type": "play"})
    state = rested(model)
    assert state["tone"] == "stopped"
    assert "at most 0.001" in state["status"]


def test_two_parameters_are_drawn_as_a_path_over_the_function():
    run = bl.minimize(bl.problems.himmelblau(), np.array([0.0, 0.0]), bl.optim.GD(0.01))
    model = Model(run)
    run.step(50)
    model.look()
    model.landscape.wait()
    model.look()
    figure = Figure(model)
    traces = {trace.name: trace for trace in figure.widget.data if trace.name}
    assert np.shape(figure.widget.data[figure._traces["landscape"]].z) == (121, 121)
    assert len(traces["minimum"].x) == 4
    np.testing.assert_allclose([traces["point"].x[0], traces["point"].y[0]], run.x)
    path = run.path[1]
    np.testing.assert_array_equal(traces["path"].x[[0, -1]], path[[0, -1], 0])
    model.obey({"type": "seek", "step": 20})
    model.look()
    figure.draw(model)
    np.testing.assert_array_equal([traces["path"].x[-1], traces["path ahead"].x[0]], path[20, 0])
    np.testing.assert_array_equal(traces["path ahead"].x[-1], path[50, 0])
    arrays = [trace[axis] for trace in figure.widget.data for axis in "xy"]
    assert all(a is None or np.asarray(a).flags.c_contiguous for a in arrays), "else no message can carry them"


def test_the_panel_looks_while_a_run_plays():
    run = quadratic(1e-7)
    model = Model(run)
    model.obey({"type": "speed", "value": 0})
    model.obey({"type": "play"})
    steps, end = [], time.monotonic() + 60
    while len(set(steps)) < 10:
        assert time.monotonic() < end
        time.sleep(0.01)
        model.look()
        steps.append(model.lines.curves["value"].rows)
    model.obey({"type": "pause"})
    assert steps == sorted(steps)
    assert rested(model)["length"] == run.length


def test_where_someone_zooms_in_there_is_more_to_see():
    run = quadratic(1e-6, steps=200_000)
    model = Model(run)
    model.obey({"type": "axis", "value": "linear"})
    figure = Figure(model)
    assert figure.window is None

    def drawn():
        while True:
            model.zoom(figure.window)
            model.look()
            if not model.behind:
                break
        figure.draw(model)
        return figure.widget.data[1].x, figure.widget.data[1].y

    x, _ = drawn()
    assert np.sum((x >= 100_000) & (x <= 100_500)) < 20
    figure.widget.layout.xaxis.range = (100_000, 100_500)
    x, y = drawn()
    inside = (x >= 100_000) & (x <= 100_500)
    assert inside.sum() == 501
    drawings = [trace.x for trace in figure.widget.data if trace.xaxis == "x" and len(trace.x)]
    assert len(drawings) == 4
    assert all((np.diff(x) > 0).all() for x in drawings), "each curve goes on from left to right"
    np.testing.assert_array_equal(y, run.history["value"][x.astype(int)])
    assert x[-1] == 199_999, "around it the whole curve stays"
    figure.widget.layout.xaxis.autorange = True
    x, _ = drawn()
    assert model.fine is None
    assert np.sum((x >= 100_000) & (x <= 100_500)) < 20
    figure.widget.layout.xaxis.range = (100_000, 100_500)  # what a page says of a next choice
    assert figure.window == (100_000, 100_500)


def my_loss(x):
    return np.sum(x**2)


def test_the_title_names_what_minimizes_what():
    data = bl.FiniteSum(lambda x, a: np.sum((x - a) ** 2), np.ones((3, 2)))
    start = np.ones(2)
    for problem, optimizer, title in (
        (my_loss, bl.optim.Adam(1e-3), "Adam on my loss"),
        (lambda x: np.sum(x**2), bl.optim.SciPy("CG"), "CG on a function"),
        (data, bl.optim.GD(0.1), "GD on finite sum"),
    ):
        assert state_of(Model(bl.minimize(problem, start, optimizer)))["title"] == title


def test_steps_of_a_branch_at_the_start_are_labelled_for_the_record_beside_it():
    run = quadratic(0.05, steps=2)
    figure = Figure(model := Model(run))
    assert figure.widget.layout.xaxis.dtick == 1
    run.step(3000)
    run.seek(0)
    run.hyper["lr"] = 0.02
    rested(model)
    figure.draw(model)
    assert run.length == 0
    assert figure.widget.layout.xaxis.dtick is None


def test_ticks_stay_apart_where_someone_zooms_in():
    figure = Figure(model := Model(quadratic(0.05, steps=3000)))
    axis = figure.widget.layout.yaxis
    assert (axis.type, axis.tickmode) == ("log", "linear")
    for sight, mode, every in (
        ((-1.2, 0.0), "linear", "D2"),
        ((-9.0, -1.0), "linear", 2),
        ((-1.2, -0.9), "auto", None),
    ):
        axis.range = sight
        figure.draw(model)
        assert (axis.tickmode, axis.dtick) == (mode, every)
