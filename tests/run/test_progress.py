"""Progress bars: where they show, what they show, and that notebooks can bring their own."""

import io
import sys
import time

import numpy as np
import pytest

import burlab as bl
from burlab.run import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def minimize(**options) -> bl.Run:
    return bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(1e-3), steps=2000, **options)


@pytest.mark.parametrize(("asked", "shown"), [(None, True), (True, True), (False, False)])
def test_a_terminal_shows_a_bar(monkeypatch: pytest.MonkeyPatch, asked, shown):
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.0)
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    run = minimize(progress=asked)
    text = screen.getvalue()
    assert bool(text) == shown
    if shown:
        last = text.rstrip().rpartition("\r")[2]
        assert "#" * 30 in last
        assert "2000/2000" in last
        assert f"{run.value:.6g}" in last
        assert text.endswith("\n")


def test_progress_in_a_pipe_needs_a_request(capsys: pytest.CaptureFixture[str]):
    minimize()
    assert capsys.readouterr().err == ""
    minimize(progress=True)
    assert "2000/2000" in capsys.readouterr().err


def test_a_notebook_brings_its_own(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    calls: list[object] = []

    class Bar:
        def __init__(self, total: int) -> None:
            calls.append(total)

        def update(self, done: int, value: float) -> None:
            calls.append((done, value))

        def close(self) -> None:
            calls.append("closed")

    monkeypatch.setattr(progress, "_screens", [])
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.0)
    progress.register_screen(Bar)
    run = minimize()
    assert calls[0] == 2000
    assert calls[-2:] == [(2000, run.value), "closed"]
    monkeypatch.setattr(progress, "_screens", [])
    progress.register_screen(lambda total: None)
    minimize(progress=True)
    assert "2000/2000" in capsys.readouterr().err


def test_many_short_runs_leave_no_bars(monkeypatch: pytest.MonkeyPatch):
    screen, opened = Terminal(), []
    monkeypatch.setattr(progress, "DELAY_SECONDS", 3600.0)
    monkeypatch.setattr(progress, "_screens", [])
    progress.register_screen(opened.append)
    monkeypatch.setattr(sys, "stderr", screen)
    run = minimize()
    for _ in range(300):
        run.step(1, progress=None)
    assert (screen.getvalue(), opened) == ("", [])


def test_a_late_bar_counts_from_the_beginning(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(progress, "_screens", [])
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "DELAY_SECONDS", 3600.0)
    bar = progress.open_bar(10, None)
    bar.update(1, 0.5)
    assert screen.getvalue() == ""
    time.sleep(0.1)
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.1)
    bar.update(2, 0.5)
    rate = float(screen.getvalue().split("2/10")[1].split()[0])
    assert rate <= 2 / 0.1, "by all of the time"


def test_a_bar_says_how_long_the_rest_takes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(time, "perf_counter", lambda: 100.0)
    screen = Terminal()
    bar = progress.TextBar(2000, screen)
    bar.start = 90.0
    bar.update(500, 0.25)
    assert "50 steps/s  30 s left  value 0.25" in screen.getvalue()
    bar.update(2000, 0.25)
    assert "left" not in screen.getvalue().rpartition("\r")[2]
    unknown = progress.TextBar(None, screen := Terminal())
    unknown.update(500, 0.25)
    assert "left" not in screen.getvalue()
