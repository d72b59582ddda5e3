"""When the picture of a widget is made, and what a notebook gets of it."""

import gc
import threading
import time
import weakref
from base64 import b64encode
from types import SimpleNamespace

import numpy as np
import pytest

ipywidgets = pytest.importorskip("ipywidgets")
screen = pytest.importorskip("IPython.display")

from burlab.widgets import still  # noqa: E402 - after the packages that it may need


class Screen:
    """Displays, and their changes in place."""

    def __init__(self):
        self.shown, self.changed = [], []

    def display(self, what, raw=False, display_id=None):
        self.shown.append((what, display_id))

    def update(self, what, raw, display_id):
        self.changed.append((time.monotonic(), what, display_id))


@pytest.fixture
def page(monkeypatch):
    found = Screen()
    monkeypatch.setattr(screen, "display", found.display)
    monkeypatch.setattr(screen, "update_display", found.update)
    monkeypatch.setattr(still, "_PERIOD_SECONDS", 0.3)
    yield found
    for thread in threading.enumerate():  # what is on the way is not for the next test
        if isinstance(thread, threading.Timer):
            thread.join()


def wait_for(page, count, seconds=120):
    end = time.monotonic() + seconds
    while len(page.changed) < count and time.monotonic() < end:
        time.sleep(0.01)
    return page.changed


def shown(picture):
    """A widget after its display."""
    root = ipywidgets.VBox()
    still.show(root, picture, lambda: "in a line")
    return root


def test_a_display_is_a_widget_a_picture_and_a_note(page):
    root = shown(lambda: "<svg/>")
    (view, _), (picture, name), (note, _) = page.shown
    assert view["application/vnd.jupyter.widget-view+json"]["model_id"] == root.model_id
    assert view["text/plain"] == "in a line"
    image = f'<img alt="in a line" src="data:image/svg+xml;base64,{b64encode(b"<svg/>").decode()}">'
    assert picture == {"text/html": image, "image/svg+xml": "<svg/>", "text/plain": "in a line"}
    assert name
    assert "run this cell again" in note["text/html"]
    assert "<img" not in note["text/html"], "a page that takes the styles away would show it twice"
    assert "burlab-live" in root._dom_classes


def test_the_image_is_changed_with_the_picture(page):
    made = iter(["<svg>1</svg>", "<svg>2</svg>"])
    root = shown(lambda: next(made))
    still.refresh(root)
    assert b64encode(b"<svg>2</svg>").decode() in wait_for(page, 1)[0][1]["text/html"]


@pytest.mark.parametrize(("width", "least"), [("320", 238), ("639.5", 476), ("860", 640), ("2400", 1786)])
def test_a_picture_is_shrunk_to_three_quarters_at_most(page, width, least):
    shown(lambda: f'<svg color="#777" xmlns="x" width="{width}" height="90"><rect width="3"/></svg>')
    assert f'style="min-width:{least}px"' in page.shown[1][0]["text/html"]


def test_a_summary_cannot_leave_its_place(page):
    root = ipywidgets.VBox()
    still.show(root, lambda: "<svg/>", lambda: '"><script>alert(1)</script>')
    assert "<script" not in page.shown[1][0]["text/html"]


def test_displays_of_one_widget_have_one_picture(page):
    root = shown(lambda: "<svg/>")
    still.show(root, lambda: "", lambda: "")
    assert page.shown[1] == page.shown[4]


def test_a_picture_is_changed_in_place_once_a_period_and_only_when_it_differs(page, monkeypatch):
    made = []

    def picture():
        made.append(len(made))
        return f"<svg>{made[-1]}</svg>"

    clock, timers = [100.0], []

    class Timer(SimpleNamespace):
        """One that goes off by the clock of this test."""

        def start(self):
            timers.append((clock[0] + self.wait, self.act))

    threads = SimpleNamespace(Lock=threading.Lock, Timer=lambda wait, act: Timer(wait=wait, act=act))
    monkeypatch.setattr(still, "threading", threads)
    monkeypatch.setattr(still, "monotonic", lambda: clock[0])
    root, times = shown(picture), []
    for _ in range(500):
        still.refresh(root)
        clock[0] += 0.002
        if clock[0] >= timers[-1][0]:
            timers.pop()[1]()
            times.append(clock[0])
    changed = page.changed
    assert len(changed) == len(times) == 3
    np.testing.assert_allclose(np.diff([100, *times]), 0.3, atol=0.005)
    assert {name for _, _, name in changed} == {page.shown[1][1]}
    assert [what["image/svg+xml"] for _, what, _ in changed] == [f"<svg>{k + 1}</svg>" for k in range(len(changed))]


def test_the_last_change_is_never_lost(page):
    now = ["a"]
    root = shown(lambda: now[0])
    now[0] = "b"
    still.refresh(root)
    wait_for(page, 1)
    now[0] = "c"
    still.refresh(root)
    assert [what["image/svg+xml"] for _, what, _ in wait_for(page, 2)] == ["b", "c"]


def test_unchanged_still_is_not_sent(page):
    root = shown(lambda: "a")
    still.refresh(root)
    time.sleep(0.6)
    assert not page.changed


def test_a_picture_that_is_too_large_leaves_the_last_one(page):
    now = ["a"]
    root = shown(lambda: now[0])
    now[0] = "x" * 300_001
    still.refresh(root)
    time.sleep(0.6)
    assert not page.changed
    now[0] = "b"
    still.refresh(root)
    assert wait_for(page, 1)[0][1]["image/svg+xml"] == "b"


def test_initially_too_large_still_is_text(page):
    shown(lambda: "x" * 300_001)
    assert page.shown[1][0] == {"text/plain": "in a line"}


def test_error_of_a_still_is_logged_and_the_next_one_is_sent(page, caplog):
    now = ["a"]

    def picture():
        if not now[0]:
            raise ValueError("no such thing")
        return now[0]

    root = shown(picture)
    now[0] = ""
    still.refresh(root)
    end = time.monotonic() + 120
    while "no such thing" not in caplog.text and time.monotonic() < end:
        time.sleep(0.01)
    assert "no such thing" in caplog.text
    now[0] = "b"
    still.refresh(root)
    assert wait_for(page, 1)[0][1]["image/svg+xml"] == "b"


def test_closed_or_hidden_widget_sends_nothing(page):
    now = ["a"]
    root = shown(lambda: now[0])
    root.close()
    now[0] = "b"
    still.refresh(root)
    still.refresh(ipywidgets.VBox())
    time.sleep(0.6)
    assert not page.changed


def test_a_picture_does_not_keep_its_widget_alive(page):
    class View:
        def __init__(self):
            self.root = ipywidgets.VBox()

        def picture(self):
            return "a"

    view = View()
    still.show(view.root, view.picture, lambda: "")
    gone = weakref.ref(view)
    view.root.close()
    del view
    gc.collect()
    assert gone() is None
