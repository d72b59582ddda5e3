"""The notebook's progress bar: one line, replaced in place, and only where there is a notebook."""

import re
from typing import Any

import pytest

from burlab.run import progress
from burlab.widgets.notebook_progress import NotebookBar, notebook_bar


class Shown:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def update(self, html: Any) -> None:
        self.lines.append(html.data)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    screen = Shown()

    def display(html: Any, display_id: bool) -> Shown:
        assert display_id
        screen.update(html)
        return screen

    monkeypatch.setattr("IPython.display.display", display)
    return screen


def test_the_bar_is_one_line_that_is_replaced(shown: Shown):
    bar = NotebookBar(2000)
    bar.update(500, 0.25)
    bar.update(2000, 0.125)
    bar.close()
    *lines, last = shown.lines
    assert [re.findall(r'value="(\d+)" max="2000"', line) for line in lines] == [["0"], ["500"], ["2000"]]
    assert "progress" not in last, "what is over is no bar"
    assert "2,000 of 2,000 steps" in shown.lines[-1]
    assert "value 0.125" in shown.lines[-1]
    assert "nan" not in shown.lines[0]


def test_the_line_says_how_long_the_rest_takes(shown: Shown, monkeypatch: pytest.MonkeyPatch):
    bar = NotebookBar(2000)
    monkeypatch.setattr("time.perf_counter", lambda: bar.start + 5400.0)
    bar.update(500, 0.25)
    assert "per second, 4 h 30 min left, value 0.25" in shown.lines[-1]


def test_only_a_notebook_gets_one(monkeypatch: pytest.MonkeyPatch, shown: Shown):
    class Shell:
        pass

    for shell, expected in ((None, type(None)), (Shell(), type(None))):
        monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda shell=shell: shell)
        assert isinstance(notebook_bar(10), expected)
    kernel = Shell()
    kernel.kernel = object()  # type: ignore[attr-defined]
    monkeypatch.setattr("IPython.core.getipython.get_ipython", lambda: kernel)
    assert isinstance(notebook_bar(10), NotebookBar)
    assert notebook_bar in progress._screens
