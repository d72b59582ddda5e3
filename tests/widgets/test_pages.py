"""Viewers of a widget: pages that come, go, and fall silent."""

import pytest

from burlab.widgets import pages
from burlab.widgets.pages import Pages

WATCH = {"type": "watch", "visible": True}


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(pages, "monotonic", lambda: now[0])
    return now


def test_a_view_is_gone_some_time_after_its_last_page(clock):
    here = Pages()
    here.handle(WATCH | {"view": "a"})
    here.handle({"type": "leave", "view": "a"})
    clock[0] += 9
    assert not here.gone
    clock[0] += 2
    assert here.gone
    here.handle(WATCH | {"view": "b"})
    assert not here.gone


def test_closed_page_leaves_the_other_page_intact(clock):
    here = Pages()
    for name in "ab":
        here.handle(WATCH | {"view": name})
    here.handle({"type": "leave", "view": "a"})
    clock[0] += 60
    assert not here.gone
    assert here.seen


def test_pages_are_silent_when_none_has_spoken_for_long(clock):
    here = Pages()
    clock[0] += 121
    assert here.silent, "the page that was to come never came"
    here.handle(WATCH | {"view": "a"})
    assert not here.silent
    here.handle(WATCH | {"view": "b", "visible": False})
    clock[0] += 119
    here.handle(WATCH | {"view": "b"})
    clock[0] += 100
    assert not here.silent, "one of two has spoken"


def test_only_visible_views_are_seen():
    here = Pages()
    assert not here.seen
    here.handle(WATCH | {"view": "a", "visible": False})
    assert not here.seen
    here.handle(WATCH | {"view": "a"})
    assert here.seen
