"""A watched loop in a terminal: the line that it writes, and where it writes none."""

import os
import pty
import re
import sys

import numpy as np

import burlab as bl
from burlab.monitor import monitor
from burlab.widgets.panel.panel_chart import PanelChart
from burlab.widgets.panel.panel_model import PanelModel


def in_a_terminal(monkeypatch, loop):  # of a few kilobytes, which a terminal holds until they are read
    """Return the lines that a terminal shows of a loop, each with its later texts."""
    master, slave = pty.openpty()
    monkeypatch.setattr(monitor, "REFRESH_NANOSECONDS", 0)  # at every log
    with os.fdopen(slave, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        loop()
        os.write(slave, b"end")
    text = b""
    while not text.endswith(b"end"):
        text += os.read(master, 4096)
    os.close(master)
    return [line.split("\r") for line in text.decode().replace("\r\n", "\n").split("\n")]


def test_a_terminal_shows_one_line_that_is_written_anew(monkeypatch):
    def loop():
        with bl.watch(lr=0.1) as w:
            for step in range(30):
                w.log(step, value=1 / (1 + step))

    line, end = in_a_terminal(monkeypatch, loop)
    assert end == ["end"], "one line, which is closed"
    shown = [text for text in line if text]
    assert len(shown) == 31, "at each log that looks, and at the end"
    assert all(re.fullmatch(r"[\d,]+ steps  [\d,]+ steps/s(  value \S+)? *", text) for text in shown)
    assert shown[0].startswith("0 steps")
    assert shown[-1].startswith("30 steps")
    assert shown[-1].rstrip().endswith("value 0.0333333"), "the value of the last row"
    lengths = [len(text) for text in shown]
    assert lengths == sorted(lengths), "what is shorter covers what was there"


def test_a_line_ends_with_a_loop_that_fails_and_counts_from_where_it_begins(monkeypatch):
    w = bl.watch()
    with w:
        w.log(41, value=1.0)

    def loop():
        try:
            with w:
                w.log(42, value=3.0)
                raise ValueError("burst")
        except ValueError:
            pass

    line, end = in_a_terminal(monkeypatch, loop)
    assert end == ["end"]
    assert line[-1].startswith("1 steps")
    assert "value 3" in line[-1]


def test_pipe_gets_a_line_only_on_request_and_at_the_end(capsys):
    for show in (None, False, True):
        with bl.watch(show=show) as w:
            w.log(value=0.5)
        written = capsys.readouterr().err
        assert bool(written) == (show is True)
    assert re.fullmatch(r"1 steps  [\d,]+ steps/s  value 0.5\n", written)


def test_curves_show_where_nan_and_inf_began():
    with bl.watch(show=False) as w:
        for step in range(50):
            bad = {"score": np.inf} if step >= 30 else {"score": 1.0}
            w.log(step, value=np.nan if step in (20, 25) else 1.0, other=2.0, **bad)
    parts = {part.name: part for part in PanelChart().chart(PanelModel(w)).parts}
    for name, step in (("value", 20), ("score", 30)):
        (mark,) = parts[name].marks
        assert (mark.at, mark.axis, mark.label) == (step, "x", f"{name} is nan or inf here first")
        assert parts[name].note == f"first nan or inf at step {step}"
    assert (parts["other"].marks, parts["other"].note) == ((), "")
