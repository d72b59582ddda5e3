"""Bars in a terminal where somebody types: the prompt comes on a line of its own, and nothing is written over it."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time

import pytest

pytestmark = pytest.mark.timeout(600)
PROMPT = ">>> "
PATIENCE = 60  # seconds
# One of two runs ends at once and the other never does; a second interrupt meets its pause.
SCRIPT = """
import time
import numpy as np
import burlab as bl
f, stop = bl.problems.rosenbrock(), bl.Stop(seconds=1e6)
def sweep(lrs=(1e-4, 1e-3), problem=f):
    return bl.sweep(problem, f.start, bl.optim.GD(), {"lr": lrs}, steps=2000, progress=True)
def forever():
    return bl.sweep(f, f.start, bl.optim.GD(), {"lr": (9.0, 1e-9)}, stop=stop, threads=2, progress=True)
def hard():
    def slow(run):
        print("pausing", flush=True)
        time.sleep(600)
    pause, bl.Run.pause = bl.Run.pause, slow
    try:
        return forever()
    finally:
        bl.Run.pause = pause
def faulty(x):
    raise ValueError("mine")
def diverge():
    bl.minimize(lambda x: -x * x, 1.0, bl.optim.GD(1e-4)).step(10**7, progress=True)
"""


# A process of its own takes the terminal: a fork of this one would wait for threads that it lacks.
START = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-q", "-i", sys.argv[1]])
"""


class Terminal:
    """Python with its prompt, in a terminal of some columns. text: all that it has written."""

    def __init__(self, script, columns=80):
        self._end, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {**os.environ, "TERM": "dumb", "PYTHON_BASIC_REPL": "1"}
        command = [sys.executable, "-c", START, script]
        self._child = subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner, env=environment)
        os.close(inner)
        self.text = ""
        self.says(PROMPT)

    def types(self, keys, then=PROMPT):
        """Return the terminal's output from now on until it ends with some text."""
        before = len(self.text)
        os.write(self._end, keys.encode())
        self.says(then, before)
        return self.text[before:]

    def says(self, what, since=0):
        """Wait for some text; for a prompt at the end of all that comes."""
        end = time.monotonic() + PATIENCE
        while not (self.text[since:].endswith(what) if what == PROMPT else what in self.text[since:]):
            assert time.monotonic() < end, self.text[since:]
            if select.select([self._end], [], [], 0.1)[0]:
                self.text += os.read(self._end, 65536).decode()

    def close(self):
        os.close(self._end)  # a hangup, which ends Python
        self._child.wait()


def screen(text):
    """The lines that a terminal shows: a carriage return begins to write over its line."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown)
    return lines


@pytest.fixture(scope="module", params=[80, 40])
def terminal(request, tmp_path_factory):
    script = tmp_path_factory.mktemp("prompt") / "script.py"
    script.write_text(SCRIPT)
    opened = Terminal(str(script), request.param)
    opened.columns = request.param
    yield opened
    opened.close()


def bars(lines):
    return [line for line in lines if re.search(r"\d+/\d+  ", line)]


def check(terminal, typed, bar):
    """The prompt after some text stands alone; the last bar is as expected and fits; nothing comes later."""
    lines = screen(typed)
    assert lines[-1] == PROMPT
    (last,) = bars(lines)
    assert re.search(bar, last), last
    assert len(last.removesuffix("^C")) < terminal.columns
    after = terminal.types("1 + 1\r")
    assert screen(after) == ["1 + 1", "2", PROMPT]


def test_after_a_sweep(terminal):
    check(terminal, terminal.types("s = sweep()\r"), "2/2  ")


def test_after_sweeps_in_a_loop(terminal):
    terminal.types("for _ in 'abc': sweep();\r", "... ")
    lines = screen(terminal.types("\r"))
    assert len(bars(lines)) == 3
    assert lines[-1] == PROMPT


def test_after_an_interrupt_and_after_the_next_one(terminal):
    for _ in range(2):
        begun = terminal.types("s = forever()\r", "1/2  ")
        ended = terminal.types("\x03")
        assert "interrupted: 1 of 2 runs are done" in ended, "each time"
        check(terminal, begun + ended, "1/2  ")


def test_after_a_second_interrupt_while_the_first_one_pauses_the_runs(terminal):
    begun = terminal.types("s = hard()\r", "1/2  ")
    begun += terminal.types("\x03", "pausing")
    ended = terminal.types("\x03")
    assert "interrupted: 1 of 2 runs are done" in ended
    assert screen(begun + ended)[-1] == PROMPT
    check(terminal, terminal.types("s = sweep()\r"), "2/2  ")


def test_after_an_error_of_the_function(terminal):
    assert screen(terminal.types("s = sweep(problem=faulty)\r"))[-2:] == ["ValueError: mine", PROMPT]


def test_prompt_returns_after_a_diverged_run(terminal):
    typed = terminal.types("diverge()\r")
    (warning,) = (line for line in screen(typed) if "RuntimeWarning" in line)
    assert re.match(r"\S+:\d+: RuntimeWarning: ", warning), "on a line of its own"
    check(terminal, typed, r"\d/10000000  ")
