"""Plots of a panel without a browser, for a run that writes rows on request."""

import numpy as np
import pytest

import burlab as bl
from burlab.widgets.live import readable
from burlab.widgets.panel.panel_model import PanelModel
from burlab.widgets.panel.panel_state import state_of
from burlab.widgets.panel.pyramid import Pyramid
from tests.widgets.panel.fake import FakeRun, drawn, refreshed
from tests.widgets.panel.real import quadratic


def test_plots_are_logarithmic_only_while_values_are_positive():
    signs = {"accuracy": lambda s: s - 5.0, "zero": lambda s: 0 * s, "lr": lambda s: 0.1 + 1e-3 * s}
    run = FakeRun(validation_value=lambda s: np.where(s % 3 == 0, 1.0, np.nan), **signs)
    model = PanelModel(run)
    run.write(100)
    model.refresh()
    plots = {group.name: group for group in model.groups}
    assert list(plots) == ["value", "gradient_norm", "step_norm", "time_per_step", *signs]
    assert plots["value"].columns == ("value", "validation_value")
    assert [plot.log for plot in plots.values()] == [True, True, True, True, False, False, False]


def test_time_per_step_comes_from_the_stamps():
    run = FakeRun()
    model = PanelModel(run)
    for n in (3, 1, 7, 100):
        run.write(n)
        model.refresh()
    _, seconds = model.lines.curves["time_per_step"].points(100)
    np.testing.assert_allclose(seconds, 1e-6)
    assert state_of(model)["readouts"][-1] == ["time per step", "1 µs"]


def test_merged_rows_show_their_extremes():
    run = FakeRun()
    model = PanelModel(run)
    run.write(20)
    run.at = lambda step: None
    state = refreshed(model)
    assert state["readouts"][0] == ["value", f"{readable.number(0.5**19, 3)} … {readable.number(0.5**19, 3)}"]


def test_a_path_follows_the_run_through_changes_of_the_past():
    run = FakeRun()
    points = np.random.default_rng(0).normal(size=(5000, 2)).cumsum(axis=0)
    run.path = np.arange(0), points[:0]
    model = PanelModel(run)
    for n in (100, 400, 3000, -2000):
        run.t += min(n, 0)
        run.generation += n < 0
        run.write(max(n, 0))
        run.path = np.arange(run.t + 1), points[: run.t + 1]
        model.refresh()
        steps, path = model.lines.path.steps, model.lines.path.points
        assert (steps[0], steps[-1]) == (0, run.t)
        np.testing.assert_array_equal(path, points[steps])


def test_values_that_are_exactly_zero_stand_on_a_floor_a_decade_below_the_others():
    run = FakeRun(loss=lambda s: np.where(s < 10, 10.0**-s, 0.0))
    model = PanelModel(run)
    run.write(30)
    model.refresh()
    plot = {group.name: group for group in model.groups}["loss"]
    assert plot.log
    assert plot.floor == pytest.approx(1e-10)
    np.testing.assert_array_equal(model.lines.curves["loss"].zeros(100), np.arange(10, 30))
    assert {group.name: group.floor for group in model.groups}["value"] is None
    loss = drawn(model)["loss"]
    assert loss.y.floor == plot.floor
    np.testing.assert_array_equal(loss.curves[0].y, np.where(np.arange(30) < 10, 10.0 ** -np.arange(30), 0))


@pytest.mark.parametrize("rows", [5, 100, 20_000])
def test_many_zeros_are_shown_by_few_dots(rows):
    curve = Pyramid(buckets=16)
    curve.append(np.arange(float(rows)), np.zeros(rows))
    found = curve.zeros(10)
    assert len(found) <= 10
    assert (found[0], found[-1]) == (0, rows - 1)


def test_an_axis_of_a_run_that_diverged_shows_where_it_came_from():
    run = FakeRun(loss=lambda s: 5.0 * 100.0**s, growth=lambda s: 5.0 * 2.0**s, signed=lambda s: -((-300.0) ** s))
    model = PanelModel(run)
    run.write(20)
    model.refresh()
    plots = {group.name: group for group in model.groups}
    assert plots["loss"].top == 5e4
    assert plots["growth"].top is None
    shown = drawn(model)
    assert (shown["loss"].y.low, shown["loss"].y.high, shown["loss"].note) == (None, 5e4, "goes on to 5e38")
    assert (shown["signed"].y.low, shown["signed"].y.high) == (-1e4, 1e4)
    assert (shown["growth"].y.high, shown["growth"].note) == (None, "")


def test_a_spike_does_not_press_a_curve_with_negative_values_into_a_line():
    def loss(s):
        return np.where(s == 3, 1e7, 2 * np.exp(-s / 80) - 3)

    run = FakeRun(loss=loss, dip=lambda s: -loss(s), fall=lambda s: 10 * np.exp(-s / 9) - 1)
    run.write(400)
    shown = drawn(PanelModel(run))
    low, high = shown["loss"].y.low, shown["loss"].y.high
    assert low is None
    assert -1 < high < 3, "where it begins and where it is now are seen, and little more"
    assert (shown["loss"].note, shown["dip"].y.low, shown["dip"].note) == ("goes on to 1e7", -high, "goes on to −1e7")
    assert (shown["fall"].y.low, shown["fall"].y.high, shown["fall"].note) == (None, None, ""), "a descent is no spike"


def test_a_validation_that_comes_now_and_then_is_shown_with_its_step():
    run = FakeRun(validation_value=lambda s: np.where(s % 10 == 0, s + 0.5, np.nan))
    model = PanelModel(run)
    assert "validation value" not in dict(refreshed(model)["readouts"])
    run.write(38)
    assert refreshed(model)["readouts"][3] == ["validation value", "30.5 at step 30"]
    model.apply({"type": "seek", "step": 25})
    assert refreshed(model)["readouts"][3] == ["validation value", "20.5 at step 20"]


def test_the_axis_of_steps_is_logarithmic_where_there_are_many_or_as_chosen():
    run = FakeRun()
    model = PanelModel(run)
    run.write(100_000)
    model.refresh()
    assert model.log_steps
    x, y = model.lines.curves["value"].along(800, log=True, log_steps=True)
    assert x.size <= 800
    assert (x[0], x[-1]) == (0, 99_999)
    assert np.isin(np.arange(1.0, 15.0), x).all(), "the first steps are all there"
    np.testing.assert_array_equal(y, run.rows["value"][x.astype(int)])
    for choice, log in (("linear", False), ("log", True), ("auto", True)):
        model.apply({"type": "axis", "value": choice})
        assert model.log_steps == log
        assert state_of(model)["axis"] == choice


@pytest.mark.parametrize("zeros", [False, True])
def test_noise_stretches_no_axis(zeros):
    noise = np.random.default_rng(0).normal(size=60_000) ** 2
    noise[::7] *= not zeros
    run = FakeRun(loss=lambda s: (50 * np.exp(-s / 2000) + 1) * noise[s.astype(int)], steady=lambda s: 0.5**s)
    run.write(60_000)
    shown = drawn(PanelModel(run))
    faint, smooth = shown["loss"].curves
    assert (faint.faint, smooth.faint) == (True, False)
    axis = shown["loss"].y
    assert axis.low == pytest.approx(smooth.y.min() / 100)
    assert axis.high is None
    assert shown["loss"].note.startswith("goes on to ")
    assert shown["steady"].y.low is None


def test_the_axis_of_steps_of_a_run_that_has_settled_shows_how_it_came_there():
    run = bl.minimize(lambda x: x @ x, np.array([1.0, 2.0]), bl.optim.GD(0.5))
    model = PanelModel(run)
    model.apply({"type": "play"})
    run.step(1100)
    assert not model.log_steps
    model.refresh()
    assert model.settled
    assert model.log_steps
    model.apply({"type": "step", "count": 5})
    assert model.log_steps, "it does not go to and fro"


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["logarithms", "linear"])
def test_a_run_that_goes_back_has_the_axes_of_what_it_shows(sign):
    run = FakeRun(loss=lambda s: sign * np.where(s < 100, 2.0 - s / 100, 2.0 * 10.0 ** np.minimum(s - 100, 300)))
    model = PanelModel(run)
    run.write(500)
    model.refresh()
    axis = drawn(model)["loss"].y
    assert abs(axis.low or axis.high) == 2e4, "at its end it is followed"
    run.t = 50
    model.refresh()
    plot = drawn(model)["loss"]
    if sign > 0:
        assert (plot.y.low, plot.y.high) == (None, 20.0)
    else:
        assert (plot.y.low, plot.y.high) == (pytest.approx(-2.495), None)
    assert plot.note == f"goes on to {'−' * (sign < 0)}2e300"


def test_a_branch_keeps_no_axes_of_the_one_that_diverged():
    run = quadratic(5.0, steps=100)
    model = PanelModel(run)
    run.seek(3)
    run.hyper["lr"] = 0.01
    run.step(300)
    model.refresh()
    plot = drawn(model)["value"]
    assert model.old[0].curves["value"].high > 1e12
    assert plot.y.high == pytest.approx(10 * max(run.history["value"]))
    assert plot.y.high < 1e8 < model.old[0].curves["value"].high
    assert plot.note.startswith("goes on to")


def test_a_branch_keeps_no_box_of_the_path_that_diverged():
    run = bl.minimize(lambda x: np.sum(x**4), np.ones(2), bl.optim.GD(0.001), steps=20, progress=False)
    model = PanelModel(run)
    model.landscape.wait()
    calm = model.landscape.box
    run.hyper["lr"] = 0.8
    run.step(2)
    model.refresh()
    far = model.landscape.box
    run.seek(20)
    run.hyper["lr"] = 0.001
    run.step(8)
    model.refresh()
    model.landscape.wait()
    assert np.ptp(far, axis=1).max() > 1.2 * np.ptp(calm, axis=1).max(), "the case says nothing"
    np.testing.assert_array_equal(model.landscape.box, calm)
