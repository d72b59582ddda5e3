"""The view of a playground without a screen."""

import time
from base64 import b64decode

import numpy as np
import pytest

import burlab as bl
from burlab.charts import Map, Plot
from burlab.errors import ArgumentError
from burlab.runtime.flag import Flag
from burlab.widgets.playground.network_pictures import SIZE
from burlab.widgets.playground.playground_model import PlaygroundModel
from burlab.widgets.playground.playground_setting import PlaygroundSetting


@pytest.fixture
def model():
    made = PlaygroundModel(bl.playground("quadrants", hidden=(3, 2)))
    yield made
    if made.playground.opened:
        made.playground.run.pause()


def do(model, **intent):
    """Apply an intent, and return the state once a run that it needs is open."""
    model.apply(intent)
    until(model, lambda: not model.state()["status"].startswith("Compiling"), "it compiled for ever")
    return model.state()


def until(model, done, why, seconds=120):
    """Refresh, and again until something is so."""
    end = time.monotonic() + seconds
    model.refresh()
    while not done():
        assert time.monotonic() < end, why
        time.sleep(0.005)
        model.refresh()


def rested(model):
    """Return the state once the run rests, and its value is known."""
    assert model.playground.run.wait(120)
    model.wait(120)
    model.refresh()
    return model.state()


def test_everything_is_shown_before_a_run_is_compiled(model):
    state = model.state()
    assert not model.playground.opened
    assert state["network"]["widths"] == [2, 3, 2, 1]
    assert (state["step"], state["tone"], state["playing"]) == (0, "ready", False)
    loss, plane = model.chart().parts
    assert isinstance(loss, Plot)
    assert isinstance(plane, Map)
    assert plane.heights is not None
    assert plane.heights.shape == (SIZE, SIZE)
    assert sum(dots.x.size for dots in plane.dots) == 200


def test_a_page_that_has_drawn_it_sees_it_move(model):
    first = model.state()["network"]["weights"]
    model.apply({"type": "begin"})
    assert model.state()["status"].startswith("Compiling")
    until(model, lambda: model.playground.opened and model.playground.run.t > 3, "it never moved")
    assert model.state()["playing"]
    assert model.state()["network"]["weights"] != first
    do(model, type="pause")
    t = rested(model)["step"]
    do(model, type="begin")  # of a second cell
    assert not model.active
    assert model.state()["step"] == t


def test_changes_while_it_compiles_are_taken_at_once_and_only_the_last_is_opened(model, monkeypatch):
    opened, may_end = [], Flag()

    def slow(setting, start, run=PlaygroundSetting.run):
        opened.append(setting.hidden)
        assert may_end.wait(120)
        return run(setting, start)

    monkeypatch.setattr(PlaygroundSetting, "run", slow)
    model.apply({"type": "begin"})
    for by in (1, 1, 1):
        model.refresh()
        model.apply({"type": "layers", "by": by})
        assert model.state()["status"].startswith("Compiling")
    model.refresh()
    assert model.state()["network"]["widths"] == [2, 3, 2, 2, 2, 2, 1]
    may_end.set()
    until(model, lambda: model.playground.opened, "no run was opened")
    assert opened == [(3, 2), (3, 2, 2, 2, 2)]
    assert len(model.playground.run.x.layers) == 6


def test_changes_of_a_run_that_rests_do_not_make_it_play(model):
    for _ in range(3):  # the second while the first is compiled
        model.apply({"type": "layers", "by": 1})
    assert do(model, type="neurons", layer=0, by=1)["tone"] == "ready"
    assert not model.active
    do(model, type="step", count=1)
    assert rested(model)["length"] == 1


def test_a_run_that_cannot_be_opened_says_why_and_another_choice_mends_it(model, monkeypatch):
    def failing(setting, start):
        raise ArgumentError("no compiler was found.")

    with monkeypatch.context() as broken:
        broken.setattr(PlaygroundSetting, "run", failing)
        model.apply({"type": "begin"})
        until(model, lambda: not model.active, "it compiled for ever")
        assert model.state()["tone"] == "failed"
        assert "no compiler was found" in model.state()["status"]
        with pytest.raises(ArgumentError, match="no compiler"):
            _ = model.playground.run
    assert do(model, type="choose", name="optimizer", value="GD")["tone"] == "ready"
    do(model, type="step", count=1)
    assert rested(model)["length"] == 1


def test_pictures_are_what_neurons_answer(model):
    do(model, type="step", count=30)
    state = rested(model)
    network = model.playground.network
    plane = model._plane
    side = SIZE // 3
    point = np.array([plane.a[1 + 3 * 2], plane.b[1 + 3 * 5]], np.float32)  # column 2, row 5 of a small picture
    hidden = np.tanh(network.layers[0](point))
    for neuron, answer in enumerate(hidden):
        bytes_ = np.frombuffer(b64decode(state["network"]["pictures"][1][neuron]), np.int8).reshape(side, side)
        most = np.abs(np.tanh(plane.at @ network.layers[0].weight[:, neuron] + network.layers[0].bias[neuron])).max()
        assert abs(bytes_[5, 2] / 127 - answer / most) < 0.02
    weights = state["network"]["weights"]
    assert np.allclose(weights[1][0], [*network.layers[1].weight[:, 0], network.layers[1].bias[0]], atol=1e-4)


def test_map_is_what_the_network_says(model):
    do(model, type="step", count=50)
    rested(model)
    plane = model.chart().parts[1]
    x, y = model._plane.a[7], model._plane.b[30]
    score = model.playground.network(np.array([x, y], np.float32))[0]
    assert abs(plane.heights[30, 7] - np.tanh(score / 2)) < 1e-6
    version = plane.version
    do(model, type="probe", layer=2, neuron=1)
    looked = model.chart().parts[1]
    assert looked.title == "neuron 2 of layer 2"
    assert looked.version > version
    do(model, type="probe", layer=None, neuron=None)
    assert np.array_equal(model.chart().parts[1].heights, plane.heights)


def test_back_in_time_the_picture_is_that_of_then(model):
    do(model, type="step", count=10)
    rested(model)
    before = model.state()["network"]
    do(model, type="step", count=40)
    assert rested(model)["network"] != before
    assert do(model, type="seek", step=10)["network"] == before


def test_learning_rate_and_batch_change_the_run_that_there_is(model):
    do(model, type="step", count=10)
    rested(model)
    run = model.playground.run
    do(model, type="slide", name="lr", place=0.5)
    state = do(model, type="enter", name="batch", text="50")
    assert model.playground.run is run
    assert run.hyper["batch"] == 50
    assert [event.name for event in run.events] == ["lr", "batch"]
    assert [knob["name"] for knob in state["knobs"]] == ["lr", "batch", "noise"]


def test_knobs_stay_while_another_run_is_opened(model):
    """A slider that is dragged must not be taken away."""
    do(model, type="step", count=1)
    model.apply({"type": "slide", "name": "noise", "place": 0.4})
    state = model.state()
    assert not model.playground.opened
    assert [knob["name"] for knob in state["knobs"]] == ["lr", "batch", "noise"]
    assert set(model.texts) >= {"lr", "batch", "noise"}


def test_batch_slider_covers_one_to_all_samples(model):
    do(model, type="step", count=1)
    for place, size in ((0.0, 1), (1.0, 200)):
        do(model, type="slide", name="batch", place=place)
        assert model.error == ""
        assert model.playground.run.hyper["batch"] == size


@pytest.mark.parametrize(
    "intent",
    [
        {"type": "choose", "name": "data", "value": "spirals"},
        {"type": "choose", "name": "activation", "value": "relu"},
        {"type": "choose", "name": "optimizer", "value": "GD"},
        {"type": "choose", "name": "dtype", "value": "float64"},
        {"type": "slide", "name": "noise", "place": 0.5},
        {"type": "enter", "name": "noise", "text": "0.4"},
        {"type": "layers", "by": 1},
        {"type": "layers", "by": -1},
        {"type": "neurons", "layer": 1, "by": 1},
        {"type": "neurons", "layer": 0, "by": -1},
        {"type": "again"},
    ],
)
def test_what_changes_the_problem_begins_anew(model, intent):
    do(model, type="step", count=10)
    rested(model)
    setting, run = model.playground.setting, model.playground.run
    state = do(model, **intent)
    assert model.error == ""
    assert model.playground.setting != setting
    assert model.playground.run is not run
    assert (state["step"], state["playing"]) == (0, False)
    assert state["network"]["widths"] == model.playground.setting.widths


def test_what_plays_goes_on_playing_after_a_change(model):
    do(model, type="begin")
    until(model, lambda: model.playground.run.t > 2, "it never moved")
    do(model, type="layers", by=1)
    until(model, lambda: model.playground.run.t > 2, "it stopped")
    assert model.state()["playing"]


def test_loss_of_the_optimizer_before_stays_in_the_picture(model):
    do(model, type="step", count=25)
    rested(model)
    do(model, type="choose", name="optimizer", value="Momentum")
    do(model, type="step", count=5)
    rested(model)
    curves = {curve.label: curve for curve in model.chart().parts[0].curves}
    assert curves["Adam"].x[-1] == 24
    assert curves["Adam"].faint
    assert model.playground.run.hyper["lr"] == 0.1
    assert "mu" in [knob["name"] for knob in model.state()["knobs"]]
    do(model, type="choose", name="data", value="moons")  # another problem: its loss is compared with nothing
    assert all(curve.label != "Adam" for curve in model.chart().parts[0].curves)


def test_fork_keeps_the_run_and_goes_on_beside_it(model):
    do(model, type="step", count=20)
    rested(model)
    run = model.playground.run
    do(model, type="fork")
    do(model, type="step", count=20)
    assert rested(model)["step"] == 40
    assert (run.t, run.length) == (20, 20)
    assert model.playground.run.parent is run


@pytest.mark.parametrize(
    "intent",
    [
        {"type": "choose", "name": "dtype", "value": "float16"},
        {"type": "choose", "name": "seed", "value": "1"},
        {"type": "neurons", "layer": 7, "by": 1},
        {"type": "enter", "name": "noise", "text": "much"},
        {"type": "enter", "name": "lr", "text": "fast"},
    ],
)
def test_a_wrong_intent_is_said_and_changes_nothing(model, intent):
    setting = model.playground.setting
    state = do(model, **intent)
    assert state["tone"] == "failed"
    assert "Error" in state["status"]
    assert model.playground.setting == setting
    assert do(model, type="layers", by=1)["tone"] == "ready"


def test_a_chart_that_has_not_changed_is_the_same_object(model):
    do(model, type="step", count=10)
    rested(model)
    chart = model.chart()
    model.refresh()
    assert model.chart() is chart
