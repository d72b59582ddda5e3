"""The panel's model on real runs: what the fake of the other tests promises."""

import itertools
import math
import time
from dataclasses import dataclass

import numpy as np
import pytest

import burlab as bl
from burlab.widgets.live import readable
from burlab.widgets.panel.groups import groups_of
from burlab.widgets.panel.panel_chart import PanelChart
from burlab.widgets.panel.panel_model import PanelModel
from burlab.widgets.panel.panel_state import state_of
from burlab.widgets.panel.panel_view import panel_of
from tests.widgets.panel.real import quadratic, rested


def shown(model, name):
    """A curve's points as a dict from step to y."""
    x, y = model.lines.curves[name].points(10**6)
    return dict(zip(x.astype(int), y, strict=True))


def test_steps_are_read_as_they_are_done():
    run = quadratic()
    model = PanelModel(run)
    assert state_of(model)["status"] == "Ready at step 0"
    for n in (1, 10, 500):
        model.apply({"type": "step", "count": n})
        assert rested(model)["step"] == run.t
    history = run.history
    for name in ("value", "gradient_norm", "step_norm"):
        assert shown(model, name) == dict(enumerate(history[name]))
    assert rested(model)["readouts"][0] == ["value", readable.number(run.value)]
    assert model.lines.curves["time_per_step"].rows > 0


def test_logged_metric_is_drawn():
    @dataclass(frozen=True)
    class LoggingRule(bl.optim.Optimizer):
        def update(self, g, state, x, t):
            return x - 0.1 * g, state, {"longest": np.max(np.abs(g))}

    run = bl.minimize(lambda x: np.sum(x**2), np.array([1.0, -2.0]), LoggingRule())
    model = PanelModel(run)
    model.apply({"type": "step", "count": 5})
    rested(model)
    assert shown(model, "longest") == dict(enumerate(run.history["longest"]))
    assert "longest" in [group.name for group in groups_of([model.lines])]


def test_play_pause_seek_and_reset():
    run = quadratic(1e-4)
    model = PanelModel(run)
    model.apply({"type": "speed", "value": 0})
    model.apply({"type": "play"})
    while run.t < 100:
        time.sleep(0.005)
    model.refresh()
    assert state_of(model)["playing"]
    model.apply({"type": "pause"})
    state = rested(model)
    assert state["status"] == f"Paused at step {run.t:,}"
    model.apply({"type": "seek", "step": run.t // 2})
    assert rested(model)["tone"] == "past"
    assert run.t == run.length // 2
    model.apply({"type": "reset"})
    assert rested(model)["step"] == 0
    np.testing.assert_array_equal(run.x, [1.0, -2.0])


def test_a_change_in_the_past_draws_the_old_line():
    run = quadratic()
    model = PanelModel(run)
    run.step(100)
    model.refresh()
    old = shown(model, "value")
    model.apply({"type": "seek", "step": 30})
    model.apply({"type": "slide", "name": "lr", "place": 0.3})
    run.step(20)
    model.refresh()
    values = run.history["value"]
    assert shown(model, "value") == dict(enumerate(values))
    assert len(values) == 50
    (line,) = model.old
    x, y = line.curves["value"].points(10**6)
    assert dict(zip(x.astype(int), y, strict=True)) == old
    assert not np.allclose(values[31:], list(old.values())[31:50])


def test_line_that_branches_between_refreshes_drops_the_old_end():
    run = quadratic()
    run.step(80)
    model = PanelModel(run)
    model.wait(120)
    model.refresh()
    assert model.front == (80, run.value)
    run.seek(20)
    run.hyper["lr"] = 0.02
    run.step(60)
    run.seek(10)
    model.refresh()
    assert model.front is None
    run.seek(80)
    model.refresh()
    assert model.front == (80, run.value)


@pytest.mark.parametrize(
    ("function", "rate", "log"),
    [
        pytest.param(lambda x: np.sum(x**2), 0.5, True, id="0 for the first time"),
        pytest.param(lambda x: np.sum(x**3), 1.0, False, id="below 0 for the first time"),
        pytest.param(lambda x: np.sum(x**2), 0.25, True, id="above 0"),
    ],
)
def test_a_curve_ends_where_the_run_rests_and_the_axis_shows_it(function, rate, log):
    run = bl.minimize(function, np.ones(1), bl.optim.GD(rate), steps=1)
    (value, *_) = PanelChart().chart(PanelModel(run)).parts
    assert (value.curves[0].x[-1], value.curves[0].y[-1]) == (1, run.value)
    assert value.y.log == log
    assert (value.y.floor is not None) == (run.value == 0)


def test_picture_waits_for_a_value_that_a_refresh_skips(monkeypatch):
    value, waited = bl.Run.row_value, []

    def slow(run, seconds=math.inf):
        waited.append(seconds > 1)
        return value(run) if any(waited) else math.nan

    monkeypatch.setattr(bl.Run, "row_value", slow)
    run = quadratic(steps=2)
    panel = panel_of(run)
    try:
        assert panel.settle(time.monotonic() + 60.0)
        x = np.frombuffer(panel.data["parts"][0]["curves"][0]["x"])
        np.testing.assert_array_equal(x, [0, 1, 2])
    finally:
        panel.close()


def test_infinite_end_is_reported_and_not_drawn():
    run = bl.minimize(lambda x: np.sum(x**4), np.ones(3), bl.optim.GD(1e3), steps=4)
    model = PanelModel(run)
    assert run.value == np.inf
    assert state_of(model)["readouts"][0] == ["value", "inf"]
    (value, *_) = PanelChart().chart(model).parts
    assert value.curves[0].y[-1] == run.history["value"][3]


def test_schedules_are_followed_held_and_given_back():
    run = quadratic(bl.optim.linear(0.2, steps=10))
    assert run.hyper.scheduled == ("lr",)
    assert run.hyper.follows("lr")
    assert not run.hyper.follows("mu")
    model = PanelModel(run)
    model.apply({"type": "hold", "name": "lr"})
    assert not run.hyper.follows("lr")
    assert run.hyper["lr"] == 0.2
    model.apply({"type": "follow", "name": "lr"})
    run.step(5)
    assert run.hyper.follows("lr")
    assert run.hyper["lr"] == pytest.approx(0.1)
    model.refresh()
    assert [group.name for group in model.groups][-1] == "lr"


def test_stop_of_a_real_run_is_shown():
    run = quadratic(stop=bl.Stop(value=1e-3))
    model = PanelModel(run)
    model.apply({"type": "speed", "value": 0})
    model.apply({"type": "play"})
    state = rested(model)
    assert state["tone"] == "stopped"
    assert "at most 0.001" in state["status"]


def test_panel_refreshes_while_a_run_plays():
    run = quadratic(1e-7)
    model = PanelModel(run)
    model.apply({"type": "speed", "value": 0})
    model.apply({"type": "play"})
    steps, end = [], time.monotonic() + 60
    while len(set(steps)) < 10:
        assert time.monotonic() < end
        time.sleep(0.01)
        model.refresh()
        steps.append(model.lines.curves["value"].rows)
    model.apply({"type": "pause"})
    assert steps == sorted(steps)
    assert rested(model)["length"] == run.length


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
        assert state_of(PanelModel(bl.minimize(problem, start, optimizer)))["title"] == title


def test_a_run_plays_backwards_to_its_start(monkeypatch):
    clock = itertools.count(step=0.05)  # a busy machine looks less often
    monkeypatch.setattr("burlab.widgets.panel.panel_model.monotonic", lambda: next(clock))
    run = quadratic(1e-3, steps=1000)
    model = PanelModel(run)
    model.apply({"type": "speed", "value": 0})
    model.apply({"type": "back"})
    seen, end = [run.t], time.monotonic() + 60
    while model.active:
        assert time.monotonic() < end
        model.refresh()
        seen.append(run.t)
        assert state_of(model)["playing"] == (run.t > 0)
    assert seen == sorted(seen, reverse=True)
    assert len({*seen}) > 5, "it can be watched"
    assert (run.t, run.length) == (0, 1000)
    np.testing.assert_array_equal(run.x, [1.0, -2.0])
    assert state_of(model)["status"].startswith("At step 0 of 1,000, in the past")


def test_playing_backwards_rests_at_the_start_however_late_the_panel_is():
    run = quadratic()
    run.step(30)
    model = PanelModel(run)
    model.apply({"type": "back"})
    model.commands.burst(1e6)  # as after a long wait
    assert run.t == 0
    assert not model.commands.playing


def test_anything_else_ends_playing_backwards():
    for intent, t in (
        ({"type": "pause"}, 900),
        ({"type": "step", "count": 3}, 903),
        ({"type": "rewind", "count": 10}, 890),
    ):
        run = quadratic(1e-3, steps=1000)
        model = PanelModel(run)
        model.apply({"type": "speed", "value": 100})
        model.apply({"type": "back"})
        model.commands.burst(0.99)
        assert run.t == 900
        assert model.active
        model.apply(intent)
        assert rested(model)["step"] == t
        assert not model.active
        model.commands.burst(1.0)
        assert run.t == t


def test_large_kernel_is_split_on_request():
    run = bl.minimize(lambda x: np.sum(np.tanh(x)), np.ones(100_000), bl.optim.GD(1e-6), steps=200)
    model = PanelModel(run)
    while model.costs.steps.size < 4:
        run.step(200)
        model.refresh()
    assert state_of(model)["splits"]
    assert model.costs.seconds == {}
    model.apply({"type": "split"})
    run.step(1)
    model.refresh()
    model.costs.wait()
    model.refresh()
    assert not state_of(model)["splits"]
    assert {"forward", "backward"} <= model.costs.seconds.keys() or "fused" in model.costs.seconds


def test_a_run_that_plays_rests_at_a_breakpoint_and_goes_on():
    run = quadratic(1e-3)
    model, picture = PanelModel(run), PanelChart()
    model.apply({"type": "break", "kind": "every", "text": "40"})
    model.apply({"type": "speed", "value": 0})
    for step in (40, 80):
        model.apply({"type": "play"})
        state = rested(model)
        assert (run.t, state["tone"], state["playing"]) == (step, "stopped", False)
        assert f"Stopped at step {step} by breakpoint 1" in state["status"]
    assert [mark.at for mark in picture.chart(model).parts[0].marks if mark.kind == "break"] == [40, 80]
    model.apply({"type": "break_switch", "number": 1, "on": False})
    model.apply({"type": "step", "count": 100})
    assert rested(model)["step"] == 180
    run.breakpoints.add(when=lambda rows: rows["value"] < 0)
    assert [point["text"] for point in state_of(model)["breakpoints"]] == ["every 40 steps", "a predicate holds"]


@pytest.mark.parametrize("speed", [0, 200, -1])
@pytest.mark.parametrize("told", [lambda run: run.pause(), lambda run: run.seek(0)], ids=["pause", "seek"])
def test_pause_or_seek_from_a_cell_ends_the_playing(speed, told):
    run = quadratic(1e-7)
    model = PanelModel(run)
    model.apply({"type": "speed", "value": speed})
    model.apply({"type": "play"})
    while not run.t:
        model.refresh()
    told(run)
    t = run.t
    model.refresh()
    assert not state_of(model)["playing"]
    model.commands.burst(1.0)
    assert (run.t, run.running) == (t, False)
    model.apply({"type": "play"})
    model.commands.burst(0.5)
    while run.t <= t:
        time.sleep(0.005)
    model.apply({"type": "pause"})


def test_a_click_on_the_plane_begins_there():
    f = bl.problems.rosenbrock()
    run = bl.minimize(f, f.start, bl.optim.Momentum(1e-3, mu=0.9))
    model = PanelModel(run)
    assert model.state()["movable"]
    run.step(50)
    model.apply({"type": "slide", "name": "lr", "place": 0.4})
    rate = run.hyper["lr"]
    model.refresh()
    model.apply({"type": "speed", "value": 0})
    model.apply({"type": "start", "x": 0.5, "y": 2.0})
    assert model.error == ""
    assert model.commands.playing
    model.apply({"type": "pause"})
    model.refresh()
    path = model.run.path[1]
    assert path[0].tolist() == [0.5, 2.0]
    assert run.hyper["lr"] == rate
    assert run.parent.length == 50, "what was there is not lost"
    alone = bl.minimize(f, np.array([0.5, 2.0]), bl.optim.Momentum(rate, mu=0.9), steps=run.t)
    assert np.array_equal(alone.x, run.x)
    labels = [curve.label for curve in model.chart().parts[-1].curves]
    assert "before it branched" in labels


def test_a_loaded_run_does_not_begin_elsewhere(tmp_path):
    f = bl.problems.rosenbrock()
    bl.minimize(f, f.start, bl.optim.GD(1e-3), steps=5).save(tmp_path / "run.burlab")
    loaded = bl.load_run(tmp_path / "run.burlab")
    model = PanelModel(loaded)
    assert not model.state()["movable"]
    model.apply({"type": "start", "x": 0.0, "y": 0.0})
    assert "a loaded run cannot begin at another point" in model.state()["status"]
    assert loaded.t == 5


def test_a_breakpoint_holds_in_a_replay_too():
    run = quadratic(steps=60)
    model = PanelModel(run)
    model.apply({"type": "break", "kind": "every", "text": "40"})
    model.apply({"type": "reset"})
    model.apply({"type": "speed", "value": 0})
    model.apply({"type": "play"})
    state = rested(model)
    assert (state["step"], state["length"], state["tone"]) == (40, 60, "stopped")
    assert "breakpoint 1" in state["status"]
    assert [mark.at for mark in model.chart().parts[0].marks if mark.kind == "break"] == [40]
    model.apply({"type": "play"})
    assert rested(model)["step"] == 80


def test_sliders_of_numbers_of_the_loss_have_their_ranges():
    hyper = {"T": (1.0, 0.0, 4.0), "C": (1.0, 0.01, 100.0), "free": 1.0}
    f = bl.FiniteSum(lambda x, a, hyper: hyper.T * hyper.C * hyper.free * (x - a) ** 2, np.arange(3.0), hyper=hyper)
    model = PanelModel(bl.minimize(f, 0.0, bl.optim.Momentum(0.1, 0.9), steps=2))
    knobs = {knob["name"]: knob for knob in rested(model)["knobs"]}
    assert [(knobs[name]["low"], knobs[name]["high"]) for name in ("T", "C")] == [("0", "4"), ("0.01", "100")]
    assert [knobs[name]["place"] for name in ("T", "C")] == pytest.approx([0.25, 0.5])
    assert (knobs["free"]["low"], knobs["mu"]["high"]) == ("0.001", "0.99999")  # around their values
    model.apply({"type": "slide", "name": "T", "place": 1.0})
    assert model.run.hyper.T == 4.0


def test_numbers_of_the_loss_have_knobs():
    """Their slider moves the next step; one with a schedule is held, and follows it again."""
    f = bl.FiniteSum(lambda x, a, hyper: hyper.T * (x - a) ** 2, np.arange(3.0), hyper={"T": lambda t: 1.0 + t})
    run = bl.minimize(f, 0.0, bl.optim.GD(0.1), steps=2)
    model = PanelModel(run)
    names = [knob["name"] for knob in rested(model)["knobs"]]
    assert names == ["lr", "T"]
    model.apply({"type": "slide", "name": "T", "place": 0.5})
    held, before = run.hyper.T, run.x
    assert held != 3.0
    model.apply({"type": "step", "count": 1})
    rested(model)
    np.testing.assert_allclose(run.x, before - 0.1 * held * 2 * (before - 1), rtol=1e-12)
    model.apply({"type": "follow", "name": "T"})
    assert run.hyper.T == 4.0
