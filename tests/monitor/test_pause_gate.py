"""A loop that is paused, stepped, resumed, stopped and interrupted from other threads."""

import threading
import time

import pytest

import burlab as bl
from burlab.errors import ArgumentError, StatusError
from tests.interrupts import interrupt

SECONDS = 120.0  # what a busy machine may take for anything


def until(condition):
    """Wait for a condition; whether it came about."""
    end = time.monotonic() + SECONDS
    while not condition() and time.monotonic() < end:
        time.sleep(0.001)
    return bool(condition())


@pytest.fixture
def endless():
    """A watch round a loop that goes on in another thread."""
    w, ended = bl.watch(lr=1.0), threading.Event()

    def loop():
        with w:
            while True:
                w.log(value=1.0)
        ended.set()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    assert until(lambda: w.t > 5)
    yield w
    w.stop()
    assert ended.wait(SECONDS), "stop ends the loop, and the program goes on after `with`"


def test_pause_step_and_resume(endless):
    w = endless
    assert w.running
    w.pause()
    assert until(lambda: not w.running)
    at = w.t
    time.sleep(0.2)
    assert w.t == at, "it rests"
    w.step()
    assert until(lambda: w.t == at + 1 and not w.running)
    w.step(10)
    assert until(lambda: w.t == at + 11 and not w.running)
    w.start(5)
    assert until(lambda: w.t == at + 16 and not w.running)
    time.sleep(0.2)
    assert w.t == at + 16
    w.resume()
    assert until(lambda: w.t > at + 1000)
    assert w.running


def test_steps_of_a_loop_that_runs_are_those_that_are_left(endless):
    endless.step(3)
    assert until(lambda: not endless.running)


def test_rests_are_no_time_of_the_loop(endless):
    w, began = endless, time.monotonic()
    w.pause()
    assert until(lambda: not w.running)
    paused = time.monotonic()
    time.sleep(0.5)
    rested = time.monotonic() - paused
    w.step(2)
    assert until(lambda: not w.running)
    last = w.history["time"][-3:]
    assert last[-1] - last[0] < 1e9 * (time.monotonic() - began - rested + 0.2)


def test_knobs_changed_elsewhere_are_events(endless):
    w = endless
    w.pause()
    assert until(lambda: not w.running)
    w.hyper["lr"] = 0.5
    at = w.t
    w.step()
    assert until(lambda: not w.running)
    assert [(e.step, e.name, e.value) for e in w.events] == [(at, "lr", 0.5)]
    assert w.history["lr"][-2:].tolist() == [1.0, 0.5]


def test_a_drag_is_one_event(endless):
    w = endless
    w.pause()
    assert until(lambda: not w.running)
    for k, rate in enumerate([0.5, 0.6, 0.7]):
        w.hyper.drag("lr", rate, begins=k == 0)
        w.step()
        assert until(lambda: not w.running)
    assert [(e.name, e.value) for e in w.events] == [("lr", 0.7)]
    assert w.history["lr"][-3:].tolist() == [0.5, 0.6, 0.7]


def test_paused_loop_rests_at_its_first_step():
    w = bl.watch()
    w.pause()
    thread = threading.Thread(target=lambda: _three(w), daemon=True)
    thread.start()
    assert until(lambda: w.t == 1 and not w.running)
    w.resume()
    thread.join(SECONDS)
    assert (w.t, w.stopped.reason) == (3, "finished")


def test_rows_of_one_step_pass_together():
    w = bl.watch()
    w.pause()

    def loop():
        with w:
            for step in range(3):
                w.log(step, value=1.0)
                w.log(step, accuracy=1.0)

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    assert until(lambda: w.t == 1 and not w.running)
    w.step()
    assert until(lambda: w.t == 2 and not w.running)
    assert len(w.history["step"]) == 3, "the second row of step 0, and the first of step 1"
    w.resume()
    thread.join(SECONDS)


def test_request_inside_a_step_shows_a_remark():
    with bl.watch() as w:
        w.log(value=1.0)
        assert w.remark == ""
        w.pause()
        assert w.running
        assert w.remark == "It rests when it next logs a step"
        w.resume()
        assert w.remark == ""


def test_stopped_loop_ends_whatever_it_catches():
    with bl.watch() as w:
        w.stop()
        for _ in range(3):
            try:
                w.log(value=1.0)
            except Exception:
                pytest.fail("a loop that catches all exceptions goes on for ever")
    assert (w.t, w.stopped.reason, w.stopped.message) == (1, "stopped", "The loop was stopped after step 0.")
    with w:
        w.log(value=2.0)
    assert w.stopped.reason == "finished", "it was told to stop once"


def test_an_interrupt_ends_a_rest():
    w = bl.watch()
    w.pause()
    interrupt(lambda: _three(w), lambda: not w.running and w.t == 1, wait=0.1)
    assert (w.t, w.stopped.reason, w.stopped.message) == (1, "interrupted", "The loop was interrupted after step 0.")


def test_an_interrupt_ends_a_loop_that_runs():
    w = bl.watch()

    def loop():
        with w:
            while True:
                w.log(value=1.0)

    interrupt(loop, lambda: w.t > 100)
    assert w.stopped.reason == "interrupted"
    assert len(w.history["value"]) >= 100


@pytest.mark.parametrize("count", [0, -1, 1.5, "3"])
def test_a_number_of_steps_that_is_none_is_explained(count):
    with pytest.raises(ArgumentError, match="not a whole number"):
        bl.watch().step(count)


def test_a_loop_that_has_ended_cannot_go_on():
    w = bl.watch()
    _three(w)
    for order in (w.step, w.resume, w.start):
        with pytest.raises(StatusError, match=r"has ended after step 2\. It cannot go on"):
            order()
    w.pause()  # there is nothing to be done
    w.stop()
    _three(w := bl.watch())
    w.pause()
    with w:
        w.log(value=1.0)
    assert w.t == 4, "what was asked of the loop that has ended is not asked of the next"


def _three(w):
    with w:
        for step in range(3):
            w.log(step, value=1.0)
