"""The life of a panel: one per run, awake while a page looks, and nothing kept alive when none does."""

import gc
import re
import threading
import time
import weakref
from itertools import pairwise
from pathlib import Path

import ipywidgets
import numpy as np
import pytest

from burlab.widgets.panel import panel as module
from burlab.widgets.panel.panel import Panel, panel_of
from burlab.widgets.panel.worker import Worker, latest
from tests.widgets.panel.fake import FakeRun


def until(condition, what="it comes true", seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.005)


def watch(panel, view="a", visible=True):
    panel.hear({"type": "watch", "view": view, "page": "1", "visible": visible})


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
    panel.hear({"type": "step", "count": 5, "view": "a"})
    until(lambda: panel.view.head.state["status"] == "Paused at step 5")
    assert len(panel.view.figure.widget.data[1].x) == 5
    panel.hear({"type": "enter", "name": "lr", "text": "0.5", "view": "a"})
    until(lambda: panel.view.controls.state["knobs"][0]["text"] == "0.5")


def test_what_the_run_does_elsewhere_is_seen(opened):
    run = FakeRun()
    panel = opened(run)
    run.write(77)
    until(lambda: panel.view.head.state["step"] == 77)


def test_nothing_is_sent_while_nothing_changes_or_nobody_looks(opened):
    run = FakeRun()
    panel = opened(run)
    run.write(3)
    until(lambda: panel.view.head.state["tick"] == 1)
    watch(panel)
    time.sleep(0.5)
    assert panel.view.head.state["tick"] == 1
    watch(panel, visible=False)
    panel.hear({"type": "enter", "name": "lr", "text": "0.5", "view": "a"})
    until(lambda: run.hyper["lr"] == 0.5)  # in a turn that knows of it
    panel.hear({"type": "drawn", "tick": 99, "view": "a"})  # nothing else keeps it from sending
    run.write(10)
    time.sleep(0.5)
    assert panel.view.head.state["step"] == 3
    watch(panel)
    until(lambda: panel.view.head.state["step"] == 13)


def test_a_page_that_is_loaded_anew_gets_what_is_shown(opened):
    run = FakeRun()
    panel = opened(run)
    run.write(10)
    panel.hear({"type": "seek", "step": 4, "view": "a"})
    until(lambda: panel.view.head.state["step"] == 4)
    state = panel.view.figure.widget.get_state(drop_defaults=True)
    np.testing.assert_array_equal(state["_widget_data"][1]["y"]["buffer"], 0.5 ** np.arange(10))
    assert state["_widget_layout"]["yaxis"]["type"] == "log"
    assert state["_widget_layout"]["shapes"][1]["x0"] == 4
    assert state["_widget_layout"]["height"] > 300


def test_a_message_that_arrives_does_not_swallow_a_drawing(opened, monkeypatch):
    """While a message is taken in, traitlets holds what the widget has to say, and merges it."""
    run = FakeRun()
    panel = opened(run)
    taking, sent = threading.Event(), []

    def slowly(self, sync_data):
        with self.hold_trait_notifications():
            taking.set()
            time.sleep(0.3)

    monkeypatch.setattr(ipywidgets.Widget, "set_state", slowly)
    panel.view.figure.widget.observe(lambda change: sent.append(change["new"]), "_py2js_update")
    page = threading.Thread(target=panel.view.figure.widget.set_state, args=({},))
    page.start()
    taking.wait()
    run.write(5)
    until(lambda: panel.view.head.state["step"] == 5)
    page.join()
    until(lambda: any(sent), "the drawing reaches the page")


def test_updates_wait_for_the_page_that_draws(opened, monkeypatch):
    monkeypatch.setattr("burlab.widgets.panel.view._PATIENCE", 60.0)
    run = FakeRun()
    panel = opened(run)
    run.write(1)
    until(lambda: panel.view.head.state["tick"] == 1)
    run.write(1)
    time.sleep(0.5)
    assert panel.view.head.state["tick"] == 1
    panel.hear({"type": "drawn", "tick": 1, "view": "a"})
    until(lambda: panel.view.head.state["tick"] == 2)


def test_a_deleted_output_closes_the_panel_and_lets_the_run_go(monkeypatch):
    monkeypatch.setattr(module, "_GRACE", 0.1)
    run = FakeRun()
    kept, panel = weakref.ref(run), panel_of(run)
    watch(panel)
    watch(panel, view="b")
    panel.hear({"type": "leave", "view": "a"})
    time.sleep(0.4)
    assert not panel.closed
    panel.hear({"type": "leave", "view": "b"})
    until(lambda: panel.closed and panel.view.root.comm is None)
    assert panel_of(run) is not panel
    panel_of(run).close()
    del run
    until(lambda: (gc.collect(), kept() is None)[1])


def test_a_cell_on_the_way_to_another_place_keeps_its_panel(opened):
    run = FakeRun()
    panel = opened(run)
    panel.hear({"type": "leave", "view": "a"})
    watch(panel, view="b")
    time.sleep(0.3)
    assert not panel.closed


def test_a_panel_that_no_page_ever_shows_lets_the_run_go(monkeypatch):
    monkeypatch.setattr(module, "_SILENCE", 0.1)
    run = FakeRun()
    kept, panel = weakref.ref(run), panel_of(run)
    until(lambda: panel._worker is None)
    monkeypatch.setattr(module, "_SILENCE", 60)
    watch(panel)
    run.write(3)
    until(lambda: panel.view.head.state["step"] == 3)
    monkeypatch.setattr(module, "_SILENCE", 0.1)
    until(lambda: panel._worker is None)
    del run
    until(lambda: (gc.collect(), kept() is None)[1])
    until(lambda: panel.view.root.comm is None)


def test_an_open_panel_keeps_its_run(opened):
    kept = weakref.ref(opened(FakeRun())._run())
    gc.collect()
    time.sleep(0.2)
    assert kept() is not None


def test_a_turn_that_fails_is_not_the_last(opened, monkeypatch, caplog):
    monkeypatch.setattr("burlab.widgets.panel.worker._AFTER_FAILURE", 0.01)
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
    until(lambda: panel.view.head.state["step"] == 5)
    assert "could not be brought up to date" in caplog.text


def test_a_drawing_that_fails_is_done_again_and_says_why(opened, monkeypatch):
    monkeypatch.setattr("burlab.widgets.panel.worker._AFTER_FAILURE", 0.01)
    run = FakeRun()
    panel = opened(run)
    send, failed = panel.view.figure._send, []

    def fails(*changes):
        failed.append(changes)
        if len(failed) == 1:
            raise ValueError("no way")
        send(*changes)

    monkeypatch.setattr(panel.view.figure, "_send", fails)
    run.write(5)
    until(lambda: "could not be drawn: ValueError: no way" in panel.view.head.state["status"])
    assert len(panel.view.figure.widget.data[1].x) == 5


def test_a_worker_rests_twice_as_long_as_it_works():
    turns = []

    def turn(intents):
        began = time.monotonic()
        time.sleep(0.05)
        turns.append((began, time.monotonic()))
        return 0.0

    worker = Worker(turn)
    until(lambda: len(turns) > 3)
    worker.close()
    worker.join(60)
    for (began, ended), (again, _) in pairwise(turns):
        assert again - ended >= 2 * (ended - began)


def test_of_a_drag_the_last_place_counts():
    slide = [{"type": "slide", "name": name, "place": p} for name, p in (("lr", 0), ("lr", 1), ("mu", 0), ("lr", 2))]
    assert [i["place"] for i in latest(slide)] == [1, 0, 2]
    play = [{"type": "play"}, {"type": "pause"}, {"type": "play"}, {"type": "play"}]
    assert list(latest(play)) == play
    assert Panel.__doc__


def test_no_view_sets_a_handler_whose_false_would_cancel_a_key():
    """`field.onkeydown = e => e.key === "Enter" && ...` took every other key away; listeners cannot."""
    folder = Path(module.__file__).parents[1]
    handlers = re.compile(r"\.on[a-z]+ = |\bon[a-z]+=[\"'`]")
    views = sorted(folder.rglob("*.js"))
    assert len(views) >= 3
    assert {view.name: found for view in views if (found := handlers.findall(view.read_text()))} == {}
