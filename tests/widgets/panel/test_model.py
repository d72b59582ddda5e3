"""What the panel shows and does, without a browser: against a run that writes rows when it is told to."""

import numpy as np
import pytest

from burlab.run.record.stop import Stopped
from burlab.widgets.panel import words
from burlab.widgets.panel.arrangement import Place
from burlab.widgets.panel.curves import zeros
from burlab.widgets.panel.model import Model
from burlab.widgets.panel.pyramid import Pyramid
from burlab.widgets.panel.state import state_of
from burlab.widgets.panel.theme import axis_of, words as words_of
from tests.widgets.panel.fake import FakeRun


def looked(model):
    model.look()
    return state_of(model)


def test_a_fresh_run_is_ready():
    state = state_of(Model(FakeRun()))
    assert (state["tone"], state["status"]) == ("ready", "Ready at step 0")
    assert (state["step"], state["length"], state["playing"]) == (0, 0, False)
    assert [text for _, text in state["readouts"]] == ["–"] * 4


def test_play_and_pause_reach_the_run_and_the_status_line():
    run = FakeRun()
    model = Model(run)
    model.obey({"type": "speed", "value": 0})
    model.obey({"type": "play"})
    run.write(234)
    assert looked(model)["status"].startswith("Running: step 234")
    model.obey({"type": "pause"})
    state = looked(model)
    assert run.said == [("start", None), "pause"]
    assert (state["tone"], state["status"]) == ("paused", "Paused at step 234")


@pytest.mark.parametrize(("count", "steps"), [(1, 1), ("100", 100), ("1e3", 1000), ("1,000", 1000)])
def test_step_does_as_many_as_it_is_told(count, steps):
    run = FakeRun()
    Model(run).obey({"type": "step", "count": count})
    assert run.said == [("start", steps)]


@pytest.mark.parametrize("count", ["", "0", "-3", "1.5", "many", "nan", "inf", "0,5", "1,00"])
def test_a_count_that_is_none_is_explained(count):
    run = FakeRun()
    model = Model(run)
    model.obey({"type": "step", "count": count})
    state = state_of(model)
    assert run.said == []
    assert state["tone"] == "failed"
    assert "expected a whole number from 1 on" in state["status"]
    model.obey({"type": "step", "count": "2"})
    assert state_of(model)["tone"] == "paused"


def test_reset_and_seek_move_the_cursor_and_say_where_it_is():
    run = FakeRun()
    model = Model(run)
    run.write(1000)
    model.obey({"type": "seek", "step": 412})
    state = looked(model)
    assert state["status"].startswith("At step 412 of 1,000, in the past")
    assert state["readouts"][0] == ["value", words.number(0.5**412)]
    model.obey({"type": "seek", "step": 5000})
    model.obey({"type": "reset"})
    assert run.said == [("seek", 412), ("seek", 1000), ("seek", 0)]
    assert looked(model)["step"] == 0


def test_a_changed_knob_in_the_past_branches_and_keeps_the_old_line():
    run = FakeRun()
    model = Model(run)
    run.write(100)
    model.look()
    model.obey({"type": "seek", "step": 40})
    model.obey({"type": "enter", "name": "lr", "text": "3e-2"})
    model.look()
    assert run.hyper["lr"] == 3e-2
    assert model.lines.curves["value"].rows == 40
    assert [old.curves["value"].rows for old in model.old] == [100]
    assert state_of(model)["tone"] == "paused"
    run.write(20)
    model.look()
    assert model.lines.curves["value"].rows == 60
    version = model.lines.version
    model.look()
    assert model.lines.version == version


def test_slides_and_fields_set_the_hyperparameter():
    run = FakeRun({"lr": 1e-3, "b2": 0.999})
    model = Model(run)
    model.obey({"type": "slide", "name": "lr", "place": 0.75})
    model.obey({"type": "slide", "name": "b2", "place": 0.4})
    assert run.said == [("lr", 0.032), ("b2", 0.99)]
    knobs = {knob["name"]: knob for knob in looked(model)["knobs"]}
    assert knobs["lr"]["text"] == "0.032"
    assert knobs["lr"]["place"] == pytest.approx(0.75, abs=2e-3)
    assert (knobs["b2"]["text"], knobs["b2"]["low"], knobs["b2"]["high"]) == ("0.99", "0", "0.99999")


def test_a_number_beyond_the_slider_moves_its_range():
    model = Model(FakeRun())
    model.obey({"type": "enter", "name": "lr", "text": "50"})
    knob = looked(model)["knobs"][0]
    assert (knob["low"], knob["high"]) == ("0.01", "100000")


@pytest.mark.parametrize("text", ["", "fast", "nan", "inf"])
def test_a_field_that_holds_no_number_is_explained(text):
    run = FakeRun()
    model = Model(run)
    model.obey({"type": "enter", "name": "lr", "text": text})
    assert run.said == []
    assert "expected a number such as 0.01" in state_of(model)["status"]


def test_a_schedule_is_taken_over_and_given_back():
    run = FakeRun({"lr": 1e-3, "mu": 0.9}, scheduled=("lr",))
    model = Model(run)

    def schedules():
        return [knob["schedule"] for knob in looked(model)["knobs"]]

    assert schedules() == ["follows", ""]
    model.obey({"type": "hold", "name": "lr"})
    assert schedules() == ["held", ""]
    model.obey({"type": "follow", "name": "lr"})
    assert schedules() == ["follows", ""]
    model.obey({"type": "slide", "name": "lr", "place": 0.5})
    assert schedules() == ["held", ""]


def test_what_stopped_a_run_is_said():
    run = FakeRun()
    model = Model(run)
    run.write(3)
    run.stopped = Stopped("grad_norm", 3, "Stopped at step 3: the gradient norm 0.25 is at most 0.3.")
    assert (looked(model)["tone"], looked(model)["status"]) == ("stopped", run.stopped.message)
    run.stopped = Stopped("non_finite", 3, "Stopped at step 3: the value is nan.")
    assert looked(model)["tone"] == "failed"


def test_whatever_a_run_raises_is_shown():
    run = FakeRun()
    model = Model(run)

    def fails(steps=None):
        raise ZeroDivisionError("no steps today")

    run.start = fails
    model.obey({"type": "play"})
    assert (state_of(model)["tone"], state_of(model)["status"]) == ("failed", "ZeroDivisionError: no steps today")
    model.obey({"type": "dance"})
    assert "no intent 'dance'" in state_of(model)["status"]


def test_memory_is_shown_by_kind():
    run = FakeRun()
    run.write(1000)
    memory = state_of(Model(run))["memory"]
    assert memory["total"] == "24 kB"
    assert [kind[:2] for kind in memory["kinds"]] == [["parameters", "16 B"], ["history", "24 kB"]]
    assert sum(kind[2] for kind in memory["kinds"]) == pytest.approx(1, abs=2e-3)


def test_plots_are_logarithmic_only_while_values_are_positive():
    signs = {"accuracy": lambda s: s - 5.0, "zero": lambda s: 0 * s, "lr": lambda s: 0.1 + 1e-3 * s}
    run = FakeRun(validation_value=lambda s: np.where(s % 3 == 0, 1.0, np.nan), **signs)
    model = Model(run)
    run.write(100)
    model.look()
    plots = {plot.name: plot for plot in model.plots}
    assert list(plots) == ["value", "gradient_norm", "step_norm", "time_per_step", *signs]
    assert plots["value"].columns == ("value", "validation_value")
    assert [plot.log for plot in plots.values()] == [True, True, True, True, False, False, False]


def test_time_per_step_comes_from_the_stamps():
    run = FakeRun()
    model = Model(run)
    for n in (3, 1, 7, 100):
        run.write(n)
        model.look()
    _, seconds = model.lines.curves["time_per_step"].points(100)
    np.testing.assert_allclose(seconds, 1e-6)
    assert state_of(model)["readouts"][-1] == ["time per step", "1 µs"]


def test_a_slow_run_does_its_steps_by_the_clock():
    run = FakeRun()
    model = Model(run)
    model.obey({"type": "speed", "value": 100})
    model.obey({"type": "play"})
    assert run.t == 1
    for _ in range(10):
        model.commands.burst(0.05)
    assert run.t == 51
    assert state_of(model)["playing"]
    run.stopped = Stopped("steps", 51, "enough")
    model.commands.burst(1.0)
    assert run.t == 51
    assert not state_of(model)["playing"]
    run.stopped = None
    model.obey({"type": "play"})
    model.obey({"type": "speed", "value": 0})
    assert run.said[-1] == ("start", None)
    assert run.running


def test_where_rows_have_been_merged_their_extremes_are_shown():
    run = FakeRun()
    model = Model(run)
    run.write(20)
    run.at = lambda step: None
    state = looked(model)
    assert state["readouts"][0] == ["value", f"{words.number(0.5**19, 3)} … {words.number(0.5**19, 3)}"]


def test_a_path_follows_the_run_through_changes_of_the_past():
    run = FakeRun()
    points = np.random.default_rng(0).normal(size=(5000, 2)).cumsum(axis=0)
    run.path = np.arange(0), points[:0]
    model = Model(run)
    for n in (100, 400, 3000, -2000):
        run.t += min(n, 0)
        run.generation += n < 0
        run.write(max(n, 0))
        run.path = np.arange(run.t + 1), points[: run.t + 1]
        model.look()
        steps, path = model.lines.path.steps, model.lines.path.points
        assert (steps[0], steps[-1]) == (0, run.t)
        np.testing.assert_array_equal(path, points[steps])


def test_values_that_are_exactly_zero_stand_on_a_floor_a_decade_below_the_others():
    run = FakeRun(loss=lambda s: np.where(s < 10, 10.0**-s, 0.0))
    model = Model(run)
    run.write(30)
    model.look()
    plot = {plot.name: plot for plot in model.plots}["loss"]
    assert plot.log
    assert plot.floor == pytest.approx(1e-10)
    np.testing.assert_array_equal(model.lines.curves["loss"].zeros(100), np.arange(10, 30))
    assert {plot.name: plot.floor for plot in model.plots}["value"] is None
    drawn = zeros(model.lines, plot, 100, log_steps=False)()
    np.testing.assert_array_equal(drawn["y"], plot.floor)
    np.testing.assert_array_equal(drawn["x"], np.arange(10, 30))


@pytest.mark.parametrize("rows", [5, 100, 20_000])
def test_few_dots_tell_of_many_zeros(rows):
    curve = Pyramid(stretches=16)
    curve.append(np.arange(float(rows)), np.zeros(rows))
    found = curve.zeros(10)
    assert len(found) <= 10
    assert (found[0], found[-1]) == (0, rows - 1)


def test_an_axis_of_a_run_that_diverged_shows_where_it_came_from():
    run = FakeRun(loss=lambda s: 5.0 * 100.0**s, growth=lambda s: 5.0 * 2.0**s, signed=lambda s: -((-300.0) ** s))
    model = Model(run)
    run.write(20)
    model.look()
    plots = {plot.name: plot for plot in model.plots}
    assert plots["loss"].top == 5e4
    assert plots["growth"].top is None
    assert axis_of(plots["loss"], None)["range"][1] < 5
    assert axis_of(plots["signed"], None)["range"] == [-1e4, 1e4]
    place = Place(plots["loss"], "x", "y", (0, 1), 100)
    assert words_of(place, plots["loss"])[0]["text"] == "loss <i>goes on to 5e38</i>"


def test_a_validation_that_comes_now_and_then_is_shown_with_its_step():
    run = FakeRun(validation_value=lambda s: np.where(s % 10 == 0, s + 0.5, np.nan))
    model = Model(run)
    assert looked(model)["readouts"][3] == ["validation value", "–"]
    run.write(38)
    assert looked(model)["readouts"][3] == ["validation value", "30.5 at step 30"]
    model.obey({"type": "seek", "step": 25})
    assert looked(model)["readouts"][3] == ["validation value", "20.5 at step 20"]


def test_a_run_that_plays_is_not_in_its_past_because_it_has_moved_on_meanwhile():
    class Fast(FakeRun):
        @property
        def length(self):
            self.t = super().length  # it steps between any two looks
            self.rows = {name: np.append(rows, rows[-1:]) for name, rows in self.rows.items()}
            return self.t

    run = Fast()
    run.write(10)
    run.running = True
    assert "again" not in state_of(Model(run))["status"]


def test_a_growing_speed_moves_evenly_on_a_logarithmic_axis():
    run = FakeRun()
    run.rows = {name: rows[:0] for name, rows in run.rows.items()}
    model = Model(run)
    seen = []
    model.obey({"type": "play"})
    for k in range(200):
        model.commands.burst(0.1)
        if k % 50 == 49:
            seen.append(run.t)
    assert 20 < seen[0] < 200
    np.testing.assert_allclose(np.diff(np.log10(seen)), 1, atol=0.25)


def test_a_run_rests_once_where_nothing_moves_any_more():
    run = FakeRun()
    model = Model(run)
    model.obey({"type": "speed", "value": 0})
    model.obey({"type": "play"})
    run.write(900)
    assert looked(model)["tone"] == "running", "fewer than 1,000 steps were done"
    run.write(200)
    state = looked(model)
    assert not run.running
    assert state["status"].startswith("At rest at step 1,100: none of the last 1,000 steps moved x")
    model.obey({"type": "play"})
    run.write(5000)
    assert looked(model)["tone"] == "running", "who plays it on means it"
    model.obey({"type": "enter", "name": "lr", "text": "0.5"})
    run.write(10)
    assert not looked(model)["playing"], "another line"


def test_a_run_that_moves_or_that_nobody_plays_here_does_not_rest():
    run = FakeRun()
    model = Model(run)
    run.running = True
    run.write(3000)
    assert looked(model)["playing"], "Python plays it"
    model.obey({"type": "speed", "value": 0})
    model.obey({"type": "play"})
    run.rows["step_norm"] = np.full(3000, 1e-9)
    model = Model(run)
    model.commands.playing = True
    assert looked(model)["playing"]


def test_the_axis_of_steps_is_logarithmic_where_there_are_many_or_as_chosen():
    run = FakeRun()
    model = Model(run)
    run.write(100_000)
    model.look()
    assert model.log_steps
    x, y = model.lines.curves["value"].along(800, log=True, log_steps=True)
    assert x.size <= 800
    assert (x[0], x[-1]) == (0.5, 99_999)
    assert np.isin(np.arange(1.0, 15.0), x).all(), "the first steps are all there"
    np.testing.assert_array_equal(y, run.rows["value"][x.astype(int)])
    for choice, log in (("linear", False), ("log", True), ("auto", True)):
        model.obey({"type": "axis", "value": choice})
        assert model.log_steps == log
        assert state_of(model)["axis"] == choice
