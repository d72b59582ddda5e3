"""The life of a panel: one per run, awake while a page looks, and nothing kept alive when none does."""

import gc
import re
import threading
import time
import weakref
from itertools import pairwise

import numpy as np
import pytest

from burlab.widgets import hatch_build, pages
from burlab.widgets.page_worker import IDLE_SECONDS, PageWorker, latest
from burlab.widgets.panel.panel_view import PanelView, panel_of
from burlab.widgets.panel.scales import scale_for, texts
from tests.widgets.panel.fake import FakeRun


def until(condition, what="it comes true", seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.005)


def curve(panel, name):
    """The heights of the first curve of a plot, as a page gets them."""
    part = next(part for part in panel.data["parts"] if part["name"] == name)
    return np.frombuffer(part["curves"][0]["y"])


def watch(panel, view="a", visible=True):
    panel.on_message({"type": "watch", "view": view, "page": "1", "visible": visible})


def write(panel, run, steps):
    """Let a run do steps between two iterations of its panel: one of them shows all that they change."""
    with panel._refreshing:
        run.write(steps)


@pytest.fixture
def opened():
    panels, others = [], {*threading.enumerate()}

    def of(run):
        panels.append(panel_of(run))
        watch(panels[-1])
        return panels[-1]

    yield of
    for panel in panels:
        panel.close()
    until(lambda: not any(t.name == "burlab panel" for t in {*threading.enumerate()} - others))


def test_displays_of_one_run_share_a_panel(opened):
    run = FakeRun()
    assert opened(run) is opened(run)
    assert opened(run) is not opened(FakeRun())


def test_an_intent_reaches_the_run_and_the_page(opened):
    run = FakeRun()
    panel = opened(run)
    panel.on_message({"type": "step", "count": 5, "view": "a"})
    until(lambda: panel.state["status"] == "Paused at step 5")
    until(lambda: curve(panel, "value").size == 5, "the chart follows the words")
    np.testing.assert_array_equal(curve(panel, "value"), 0.5 ** np.arange(5))
    panel.on_message({"type": "enter", "name": "lr", "text": "0.5", "view": "a"})
    until(lambda: panel.state["knobs"][0]["text"] == "0.5")


def test_a_page_has_the_texts_of_a_knob_for_the_range_that_it_has(opened):
    run = FakeRun({"lr": 1e-3, "mu": 0.9})
    face = opened(run)
    assert face.texts == {name: texts(scale_for(name, value)) for name, value in run.hyper.items()}
    run.hyper["lr"] = 50.0
    until(lambda: face.texts["lr"] == texts(scale_for("lr", 50.0)), "it moves with the range")
    assert face.state["knobs"][0]["text"] == "50"


def test_steps_of_the_run_outside_of_the_panel_are_shown(opened):
    run = FakeRun()
    panel = opened(run)
    run.write(77)
    until(lambda: panel.state["step"] == 77)


def test_panel_sends_nothing_without_changes_or_viewers(opened):
    run = FakeRun()
    panel = opened(run)
    write(panel, run, 3)
    until(lambda: panel.state["tick"] == 1)
    watch(panel)
    time.sleep(0.5)
    assert panel.state["tick"] == 1
    watch(panel, visible=False)
    panel.on_message({"type": "enter", "name": "lr", "text": "0.5", "view": "a"})
    until(lambda: run.hyper["lr"] == 0.5)  # in a turn that knows of it
    panel.on_message({"type": "drawn", "tick": 99, "view": "a"})  # nothing else keeps it from sending
    run.write(10)
    time.sleep(0.5)
    assert panel.state["step"] == 3
    watch(panel)
    until(lambda: panel.state["step"] == 13)


def test_a_page_that_is_loaded_anew_gets_what_is_shown(opened):
    run = FakeRun()
    panel = opened(run)
    run.write(10)
    panel.on_message({"type": "seek", "step": 4, "view": "a"})
    until(lambda: any(mark["at"] == 4 for mark in panel.data["parts"][0]["marks"]))
    state = panel.get_state()
    value = state["data"]["parts"][0]
    np.testing.assert_array_equal(np.frombuffer(value["curves"][0]["y"]), 0.5 ** np.arange(10))
    assert value["y"]["log"]
    assert [mark["at"] for mark in value["marks"] if mark["kind"] == "cursor"] == [4]
    assert state["state"]["length"] == 10


def test_handled_intent_is_acknowledged_to_its_page(opened):
    panel = opened(FakeRun())
    panel.on_message({"type": "step", "count": 5, "view": "a", "serial": 7})
    until(lambda: panel.state["handled"] == {"a": 7})
    panel.on_message({"type": "enter", "name": "lr", "text": "fast", "view": "b", "serial": 1})
    until(lambda: panel.state["handled"] == {"a": 7, "b": 1}, "also of what was refused")


def test_updates_wait_for_the_page_that_draws(opened, monkeypatch):
    monkeypatch.setattr("burlab.widgets.update_flow._WAIT_SECONDS", 60.0)
    run = FakeRun()
    panel = opened(run)
    for tick in range(1, 7):
        write(panel, run, 1)
        until(lambda: panel.state["tick"] == tick)  # noqa: B023 - asked at once
    write(panel, run, 1)
    time.sleep(0.5)
    assert panel.state["tick"] == 6, "so many updates may be on the way"
    panel.on_message({"type": "seek", "step": 3, "view": "a"})
    until(lambda: panel.state["status"].startswith("At step 3 of 7"), "what was asked for waits for nothing")
    time.sleep(0.3)
    assert (panel.state["tick"], curve(panel, "value").size) == (6, 6), "and the chart does"
    panel.on_message({"type": "drawn", "tick": 1, "view": "a"})
    until(lambda: panel.state["tick"] == 7)


def test_a_deleted_output_closes_the_panel_and_lets_the_run_go(monkeypatch):
    monkeypatch.setattr(pages, "_GRACE_SECONDS", 0.1)
    run = FakeRun()
    kept, panel = weakref.ref(run), panel_of(run)
    watch(panel)
    watch(panel, view="b")
    panel.on_message({"type": "leave", "view": "a"})
    time.sleep(0.4)
    assert not panel.closed
    panel.on_message({"type": "leave", "view": "b"})
    until(lambda: panel.closed and panel.comm is None)
    assert panel_of(run) is not panel
    panel_of(run).close()
    del run
    until(lambda: (gc.collect(), kept() is None)[1])


def test_a_cell_on_the_way_to_another_place_keeps_its_panel(opened):
    run = FakeRun()
    panel = opened(run)
    panel.on_message({"type": "leave", "view": "a"})
    watch(panel, view="b")
    time.sleep(0.3)
    assert not panel.closed


def test_a_panel_that_no_page_ever_shows_lets_the_run_go(monkeypatch):
    monkeypatch.setattr(pages, "_SILENCE_SECONDS", 0.1)
    run = FakeRun()
    kept, panel = weakref.ref(run), panel_of(run)
    until(lambda: not panel._thread.works)
    monkeypatch.setattr(pages, "_SILENCE_SECONDS", 60)
    watch(panel)
    run.write(3)
    until(lambda: panel.state["step"] == 3)
    monkeypatch.setattr(pages, "_SILENCE_SECONDS", 0.1)
    until(lambda: not panel._thread.works)
    del run
    until(lambda: (gc.collect(), kept() is None)[1])
    until(lambda: panel.comm is None)


def test_an_intent_after_a_long_silence_is_carried_out(opened, monkeypatch):
    """As of a computer that slept: its button is pressed before the page reports that it is there."""
    run = FakeRun()
    panel = opened(run)
    monkeypatch.setattr(pages, "_SILENCE_SECONDS", 0.1)
    until(lambda: not panel._thread.works)
    monkeypatch.setattr(pages, "_SILENCE_SECONDS", 120.0)
    panel.on_message({"type": "step", "count": 5, "view": "a"})
    until(lambda: panel.state["status"] == "Paused at step 5")


def test_an_open_panel_keeps_its_run(opened):
    kept = weakref.ref(opened(FakeRun())._subject())
    gc.collect()
    time.sleep(0.2)
    assert kept() is not None


def test_panel_continues_after_a_failed_iteration(opened, monkeypatch, caplog):
    monkeypatch.setattr("burlab.widgets.page_worker._RETRY_SECONDS", 0.01)
    run = FakeRun()
    panel = opened(run)
    tail, failed = run.tail, []

    def fails(cursor, **options):
        failed.append(cursor)
        if len(failed) < 3:
            raise MemoryError
        return tail(cursor, **options)

    run.tail = fails
    run.write(5)
    until(lambda: panel.state["step"] == 5)
    assert "could not be brought up to date" in caplog.text


def test_failed_drawing_is_repeated_and_reported(opened, monkeypatch):
    monkeypatch.setattr("burlab.widgets.page_worker._RETRY_SECONDS", 0.01)
    run = FakeRun()
    panel = opened(run)
    made, failed = panel._model._chart.chart, []

    def fails(model):
        failed.append(model)
        if len(failed) == 1:
            raise ValueError("no way")
        return made(model)

    monkeypatch.setattr(panel._model._chart, "chart", fails)
    run.write(5)
    until(lambda: "could not be drawn: ValueError: no way" in panel.state["status"])
    until(lambda: curve(panel, "value").size == 5)


def test_playing_run_is_refreshed_fifteen_times_a_second(opened):
    run = FakeRun()
    panel = opened(run)
    run.running = True
    assert panel._iterate([]) <= 1 / 15, "besides as much rest as work"
    run.running = False
    assert panel._iterate([]) == IDLE_SECONDS


def turned(turn):
    """Begin, end, and time of work of some turns of a worker."""
    turns = []

    def timed(_intents):
        began, before = time.monotonic(), time.thread_time()
        turn()
        turns.append((began, time.monotonic(), time.thread_time() - before))
        return 0.0

    worker = PageWorker(timed)
    until(lambda: len(turns) > 5)
    worker.close()
    worker.join(60)
    return turns


def test_a_worker_rests_as_long_as_it_works():
    def work():
        end = time.thread_time() + 0.03
        while time.thread_time() < end:
            pass

    for (_, ended, worked), (again, _, _) in pairwise(turned(work)):
        assert again - ended >= worked


def test_a_worker_that_had_to_wait_does_not_rest_for_that():
    turns = turned(lambda: time.sleep(0.2))
    assert min(again - ended for (_, ended, _), (again, _, _) in pairwise(turns)) < 0.1


def test_of_a_drag_the_last_place_counts():
    slide = [{"type": "slide", "name": name, "place": p} for name, p in (("lr", 0), ("lr", 1), ("mu", 0), ("lr", 2))]
    assert [i["place"] for i in latest(slide)] == [1, 0, 2]
    play = [{"type": "play"}, {"type": "pause"}, {"type": "play"}, {"type": "play"}]
    assert list(latest(play)) == play
    assert PanelView.__doc__


def test_no_view_sets_a_handler_whose_false_would_cancel_a_key():
    """`field.onkeydown = e => e.key === "Enter" && ...` took every other key away; listeners cannot."""
    handlers = re.compile(r"\.on[a-z]+ = |\bon[a-z]+=[\"'`]")
    views = hatch_build.sources()
    assert len(views) >= 30
    assert {view.name: found for view in views if (found := handlers.findall(view.read_text()))} == {}
