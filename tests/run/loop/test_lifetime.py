"""A run ends with its last reference, and with Python, whatever else goes on."""

import gc
import os
import signal
import subprocess
import sys
import weakref

import numpy as np
import pytest

import burlab as bl
from burlab.run.loop.loop_abi import fork_exports, loop_exports
from tests.threads import end_soon, threads


def bowl(x):
    return np.sum(x**2)


def running():
    run = bl.minimize(bowl, np.ones(2), bl.optim.GD(1e-9))
    run.start()
    return run


def test_a_running_run_ends_with_its_last_reference_and_needs_no_collector():
    running().stop()  # whatever else makes threads has made them
    gc.collect()
    before = threads()
    gc.disable()
    try:
        run = running()
        assert run.hyper["lr"] == 1e-9
        own = threads() - before
        assert own
        del run
        assert end_soon(own)
    finally:
        gc.enable()


def test_a_run_whose_finalizer_was_interrupted_is_ended_with_the_next_one():
    running().stop()
    gc.collect()
    before = threads()
    run = running()
    own = threads() - before
    heard = []

    def interrupt(frame, event, _argument):
        if event == "call" and frame.f_code is weakref.finalize.__call__.__code__:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    hook, sys.unraisablehook = sys.unraisablehook, lambda raised: heard.append(raised.exc_type)
    sys.setprofile(interrupt)
    try:
        del run
    finally:
        sys.setprofile(None)
        sys.unraisablehook = hook
    assert heard == [KeyboardInterrupt]
    assert own
    assert own <= threads()
    bl.minimize(bowl, np.ones(2), bl.optim.GD(1e-9))
    assert end_soon(own)


@pytest.mark.parametrize("kind", ["Thread(target=work).start()", "ThreadPoolExecutor().submit(work)"])
def test_python_ends_while_a_thread_steps(kind):
    program = f"""
import sys, time, numpy as np, burlab as bl
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(1e-9))
def work():
    try:
        while True:
            run.step(10**12)
    except bl.errors.StatusError as error:
        print(error)
{kind}
time.sleep(0.2)
sys.exit(3)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    assert (ended.returncode, ended.stderr) == (3, "")
    assert ended.stdout.startswith("Python is ending")


@pytest.mark.parametrize(
    ("exports", "name", "act"),
    [
        (fork_exports, "loop_fork", lambda run: run.fork()),
        (fork_exports, "loop_branch", lambda run: run.hyper.__setitem__("lr", 1e-8)),
        (loop_exports, "loop_open", lambda run: bl.minimize(bowl, np.ones(2), bl.optim.GD(1e-9))),
    ],
)
def test_interrupt_right_after_creation_leaks_no_loop(exports, name, act):
    """One that comes while C++ copies a run is raised when that returns, before Python has the copy."""
    run = bl.minimize(bowl, np.ones(2), bl.optim.GD(1e-9), steps=10)
    run.fork().stop()
    run.seek(5)
    gc.collect()
    before, real, seen = threads(), exports()[name], []

    def interrupted(*arguments):
        real(*arguments)
        seen.append(threads() - before)
        raise KeyboardInterrupt

    exports()[name] = interrupted
    try:
        with pytest.raises(KeyboardInterrupt):
            act(run)
    finally:
        exports()[name] = real
    assert seen[0]
    assert end_soon(seen[0])


def test_runs_that_are_dropped_in_full_flight_do_not_pile_up():
    run = bl.minimize(bowl, np.ones(2), bl.optim.GD(1e-9), steps=10)
    run.fork()
    before = threads()
    most, own = 0, set()
    for _ in range(150):
        run.fork().start()
        now = threads() - before
        most, own = max(most, len(now)), own | now
    assert own
    assert most < 40
    assert end_soon(own)


class Trainer:
    """Holds its run, which leads back to it by a function of its own."""

    def __init__(self, way):
        gd, x = bl.optim.GD(1e-9), np.ones(2)
        self.run = {
            "loss": lambda: bl.minimize(self.loss, x, gd),
            "sum": lambda: bl.minimize(bl.FiniteSum(lambda x, a: self.loss(x) * a, np.ones(3)), x, gd),
            "regularizer": lambda: bl.minimize(
                bl.FiniteSum(lambda x, a: np.sum(x) * a, np.ones(3), regularizer=self.loss), x, gd
            ),
            "when": lambda: bl.minimize(bowl, x, gd, stop=bl.Stop(when=self.note)),
            "validation": lambda: bl.minimize(bowl, x, gd, validation=self.loss),
            "scipy": lambda: bl.minimize(self.loss, x, bl.optim.SciPy("Nelder-Mead")),
            "scipy, when": lambda: bl.minimize(bowl, x, bl.optim.SciPy("Nelder-Mead"), stop=bl.Stop(when=self.note)),
        }[way]()

    def loss(self, x):
        return np.sum(x**2)

    def note(self, rows):
        return rows["value"] < -1


@pytest.mark.parametrize("way", ["loss", "sum", "regularizer", "when", "validation", "scipy", "scipy, when"])
def test_a_run_that_its_own_problem_leads_back_to_ends(way):
    Trainer(way).run.step()  # whatever else makes threads has made them
    before = threads()
    trainer = Trainer(way)
    trainer.run.step()
    own = threads() - before
    assert own
    gone = weakref.ref(trainer)
    del trainer
    gc.collect()
    assert gone() is None
    assert end_soon(own)


@pytest.mark.parametrize("what", ["panel_of(run)", "PanelModel(run)", "run.start()"])
def test_no_thread_runs_python_when_it_is_torn_down(what):
    """In C++ between it and Python, such as optree's, it would end the process with an error."""
    program = f"""
import atexit, threading, numpy as np, burlab as bl
from burlab.widgets.panel.panel_model import PanelModel
from burlab.widgets.panel.panel_view import panel_of
atexit.register(lambda: print([t.name for t in threading.enumerate()]))
stop = bl.Stop(when=lambda rows: rows["value"] < -1)
run = bl.minimize(lambda x: np.sum(np.sin(x)), np.ones(2), bl.optim.GD(1e-9), stop=stop)
shown = {what}
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "['MainThread', 'burlab closes runs']\n"


def test_interrupts_while_python_ends_leave_no_run_in_flight():
    program = """
import _thread, os, signal, threading, time, numpy as np, burlab as bl
from burlab.run.loop import lifetime
runs = [bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(1e-9)) for _ in range(5)]
for run in runs:
    run.start()
real, calls = lifetime._stop, []
def stop(entry):
    calls.append(entry)
    if len(calls) % 2:
        signal.raise_signal(signal.SIGINT)
    real(entry)
lifetime._stop = stop
import atexit
atexit.register(lambda: print(len(calls), [run.running for run in runs]))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == f"10 {[False] * 5}\n"
