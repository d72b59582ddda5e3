"""Model of the panel without a browser, against a run that writes rows on request."""

from types import SimpleNamespace

import numpy as np
import pytest

from burlab.run.record.breakpoints import Hit
from burlab.run.record.stop import Stopped
from burlab.widgets.live import readable
from burlab.widgets.panel.panel_model import PanelModel
from burlab.widgets.panel.panel_state import state_of
from tests.widgets.panel.fake import FakeRun, drawn, refreshed


def test_a_fresh_run_is_ready():
    state = state_of(PanelModel(FakeRun()))
    assert (state["tone"], state["status"]) == ("ready", "Ready at step 0")
    assert (state["step"], state["length"], state["playing"]) == (0, 0, False)
    assert state["readouts"] == [], "what is not known has no tile"


def test_play_and_pause_reach_the_run_and_the_status_line():
    run = FakeRun()
    model = PanelModel(run)
    model.apply({"type": "speed", "value": 0})
    model.apply({"type": "play"})
    run.write(234)
    assert refreshed(model)["status"].startswith("Running: step 234")
    model.apply({"type": "pause"})
    state = refreshed(model)
    assert run.said == [("start", None), "pause"]
    assert (state["tone"], state["status"]) == ("paused", "Paused at step 234")


@pytest.mark.parametrize(("count", "steps"), [(1, 1), ("100", 100), ("1e3", 1000), ("1,000", 1000)])
def test_step_does_the_requested_count(count, steps):
    run = FakeRun()
    PanelModel(run).apply({"type": "step", "count": count})
    assert run.said == [("start", steps)]


@pytest.mark.parametrize("count", ["", "0", "-3", "1.5", "many", "nan", "inf", "0,5", "1,00"])
def test_a_count_that_is_none_is_explained(count):
    run = FakeRun()
    model = PanelModel(run)
    model.apply({"type": "step", "count": count})
    state = state_of(model)
    assert run.said == []
    assert state["tone"] == "failed"
    assert "expected a whole number from 1 on" in state["status"]
    model.apply({"type": "step", "count": "2"})
    assert state_of(model)["tone"] == "paused"


def test_reset_and_seek_move_the_cursor_and_report_it():
    run = FakeRun()
    model = PanelModel(run)
    run.write(1000)
    model.apply({"type": "seek", "step": 412})
    state = refreshed(model)
    assert state["status"].startswith("At step 412 of 1,000, in the past")
    assert state["readouts"][0] == ["value", readable.number(0.5**412)]
    model.apply({"type": "seek", "step": 5000})
    model.apply({"type": "reset"})
    assert run.said == [("seek", 412), ("seek", 1000), ("seek", 0)]
    assert refreshed(model)["step"] == 0


def test_a_changed_knob_in_the_past_branches_and_keeps_the_old_line():
    run = FakeRun()
    model = PanelModel(run)
    run.write(100)
    model.refresh()
    model.apply({"type": "seek", "step": 40})
    model.apply({"type": "enter", "name": "lr", "text": "3e-2"})
    model.refresh()
    assert run.hyper["lr"] == 3e-2
    assert model.lines.curves["value"].rows == 40
    assert [old.curves["value"].rows for old in model.old] == [100]
    assert state_of(model)["tone"] == "paused"
    run.write(20)
    model.refresh()
    assert model.lines.curves["value"].rows == 60
    version = model.lines.version
    model.refresh()
    assert model.lines.version == version


def test_slides_and_fields_set_the_hyperparameter():
    run = FakeRun({"lr": 1e-3, "b2": 0.999})
    model = PanelModel(run)
    model.apply({"type": "slide", "name": "lr", "place": 0.75})
    model.apply({"type": "slide", "name": "b2", "place": 0.4})
    assert run.said == [("lr", 0.032), ("b2", 0.99)]
    knobs = {knob["name"]: knob for knob in refreshed(model)["knobs"]}
    assert knobs["lr"]["text"] == "0.032"
    assert knobs["lr"]["place"] == pytest.approx(0.75, abs=2e-3)
    assert (knobs["b2"]["text"], knobs["b2"]["low"], knobs["b2"]["high"]) == ("0.99", "0", "0.99999")


def test_a_number_beyond_the_slider_moves_its_range():
    model = PanelModel(FakeRun())
    model.apply({"type": "enter", "name": "lr", "text": "50"})
    knob = refreshed(model)["knobs"][0]
    assert (knob["low"], knob["high"]) == ("0.01", "100000")


@pytest.mark.parametrize("text", ["", "fast", "nan", "inf"])
def test_a_field_that_holds_no_number_is_explained(text):
    run = FakeRun()
    model = PanelModel(run)
    model.apply({"type": "enter", "name": "lr", "text": text})
    assert run.said == []
    assert "expected a number such as 0.01" in state_of(model)["status"]


def test_model_overrides_and_restores_a_schedule():
    run = FakeRun({"lr": 1e-3, "mu": 0.9}, scheduled=("lr",))
    model = PanelModel(run)

    def schedules():
        return [knob["schedule"] for knob in refreshed(model)["knobs"]]

    assert schedules() == ["follows", ""]
    model.apply({"type": "hold", "name": "lr"})
    assert schedules() == ["held", ""]
    model.apply({"type": "follow", "name": "lr"})
    assert schedules() == ["follows", ""]
    model.apply({"type": "slide", "name": "lr", "place": 0.5})
    assert schedules() == ["held", ""]


class Points(dict):
    """Breakpoints by number, as a run has them that computes no gradients."""

    conditions = ("rises", "non_finite", "every", "when")

    def __init__(self):
        super().__init__()
        self.off = set()
        self.hits = ()

    def add(self, **condition):
        self[len(self) + 1] = SimpleNamespace(
            condition=next(iter(condition)), **{"grad_norm": None, "patience": 1} | condition
        )

    def enabled(self, number):
        return number not in self.off

    def enable(self, number):
        self.off.discard(number)

    def disable(self, number):
        self.off.add(number)

    def remove(self, number):
        del self[number]


def test_breakpoints_are_added_switched_and_removed():
    run = FakeRun()
    run.breakpoints = Points()
    model = PanelModel(run)
    for kind, text in (("grad_norm", "1e3"), ("rises", "50%"), ("every", "1,000"), ("non_finite", "")):
        model.apply({"type": "break", "kind": kind, "text": text})
    model.apply({"type": "break_switch", "number": 2, "on": False})
    model.apply({"type": "break_remove", "number": 4})
    assert state_of(model)["breakpoints"] == [
        {"number": 1, "text": "gradient norm above 1000", "on": True},
        {"number": 2, "text": "value rises by 50%", "on": False},
        {"number": 3, "text": "every 1,000 steps", "on": True},
    ]
    assert run.breakpoints[2].rises == 0.5
    model.apply({"type": "break", "kind": "every", "text": "soon"})
    assert "the breakpoint's number is 'soon', expected a number" in state_of(model)["status"]
    assert state_of(model)["conditions"] == ["rises", "every", "non_finite"], "a page offers no others"
    assert state_of(PanelModel(FakeRun()))["breakpoints"] is None


def test_breakpoint_hit_is_marked_until_it_is_cut_off():
    run = FakeRun()
    run.breakpoints = Points()
    run.breakpoints.add(grad_norm=2.5)
    model = PanelModel(run)
    run.write(50)
    assert (refreshed(model)["hits"], refreshed(model)["stops"]) == ([], 0)
    run.breakpoints.hits = (Hit(49, 1, run.breakpoints[1], 0.123456),)
    plots = drawn(model)
    (mark,) = plots["value"].marks
    assert (mark.at, mark.kind, mark.label) == (49, "break", "break: gradient norm above 2.5")
    assert [(m.at, m.axis) for m in plots["gradient_norm"].marks] == [(49, "x"), (2.5, "y")]
    assert refreshed(model)["hits"] == [{"step": 49, "text": "gradient norm above 2.5", "value": "0.1235"}]
    run.breakpoints.hits = tuple(Hit(step, 1, run.breakpoints[1], 1.0) for step in range(500))
    state = refreshed(model)
    assert [hit["step"] for hit in state["hits"]] == list(range(499, 487, -1)), "the last ones, the newest first"
    assert state["stops"] == 500
    assert [mark.at for mark in drawn(model)["value"].marks] == list(range(300, 500))
    run.breakpoints.hits = ()
    assert drawn(model)["value"].marks == ()


def test_reason_of_a_stop_is_shown():
    run = FakeRun()
    model = PanelModel(run)
    run.write(3)
    run.stopped = Stopped("grad_norm", 3, "Stopped at step 3: the gradient norm 0.25 is at most 0.3.")
    assert (refreshed(model)["tone"], refreshed(model)["status"]) == ("stopped", run.stopped.message)
    run.stopped = Stopped("non_finite", 3, "Stopped at step 3: the value is nan.")
    assert refreshed(model)["tone"] == "failed"


def test_whatever_a_run_raises_is_shown():
    run = FakeRun()
    model = PanelModel(run)

    def fails(steps=None):
        raise ZeroDivisionError("no steps today")

    run.start = fails
    model.apply({"type": "play"})
    assert (state_of(model)["tone"], state_of(model)["status"]) == ("failed", "ZeroDivisionError: no steps today")
    model.apply({"type": "dance"})
    assert "; got 'dance'." in state_of(model)["status"]


def test_memory_is_shown_by_kind():
    run = FakeRun()
    run.write(1000)
    memory = state_of(PanelModel(run))["memory"]
    assert memory["total"] == "24 kB"
    assert [kind[:2] for kind in memory["kinds"]] == [["parameters", "16 B"], ["history", "24 kB"]]
    assert sum(kind[2] for kind in memory["kinds"]) == pytest.approx(1, abs=2e-3)


def test_a_slow_run_does_its_steps_by_the_clock():
    run = FakeRun()
    model = PanelModel(run)
    model.apply({"type": "speed", "value": 100})
    model.apply({"type": "play"})
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
    model.apply({"type": "play"})
    model.apply({"type": "speed", "value": 0})
    assert run.said[-1] == ("start", None)
    assert run.running


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
    assert "again" not in state_of(PanelModel(run))["status"]


def test_a_growing_speed_moves_evenly_on_a_logarithmic_axis():
    run = FakeRun()
    run.rows = {name: rows[:0] for name, rows in run.rows.items()}
    model = PanelModel(run)
    seen = []
    model.apply({"type": "play"})
    for k in range(200):
        model.commands.burst(0.1)
        if k % 50 == 49:
            seen.append(run.t)
    assert 20 < seen[0] < 200
    np.testing.assert_allclose(np.diff(np.log10(seen)), 1, atol=0.25)


def test_a_run_rests_once_where_nothing_moves_any_more():
    run = FakeRun()
    model = PanelModel(run)
    model.apply({"type": "speed", "value": 0})
    model.apply({"type": "play"})
    run.write(900)
    assert refreshed(model)["tone"] == "running", "fewer than 1,000 steps were done"
    run.write(200)
    state = refreshed(model)
    assert not run.running
    assert state["status"].startswith("At rest at step 1,100: none of the last 1,000 steps moved x")
    model.apply({"type": "play"})
    run.write(5000)
    assert refreshed(model)["tone"] == "running", "who plays it on means it"
    model.apply({"type": "enter", "name": "lr", "text": "0.5"})
    run.write(10)
    assert not refreshed(model)["playing"], "another line"


def test_a_run_that_moves_or_that_nobody_plays_here_does_not_rest():
    run = FakeRun()
    model = PanelModel(run)
    run.running = True
    run.write(3000)
    assert refreshed(model)["playing"], "Python plays it"
    model.apply({"type": "speed", "value": 0})
    model.apply({"type": "play"})
    run.rows["step_norm"] = np.full(3000, 1e-9)
    model = PanelModel(run)
    model.commands.playing = True
    assert refreshed(model)["playing"]


def test_the_row_of_a_step_that_is_being_done_is_not_the_past():
    run = FakeRun()
    run.write(10)
    model = PanelModel(run)
    run.running, run.t = True, 9  # its row is written before the step is done
    assert "again" not in refreshed(model)["status"]
    assert not drawn(model)["value"].marks
    run.t = 5
    assert "Running: step 5 again, of 10 recorded" in refreshed(model)["status"]
    assert [mark.at for mark in drawn(model)["value"].marks] == [5.0]
