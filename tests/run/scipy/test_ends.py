"""Runs of SciPy's minimizers that are interrupted; their threads, and how the interpreter ends with them."""

import gc
import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, StatusError
from tests.interrupts import interrupt
from tests.optim.curvature_cases import rosenbrock
from tests.run.forks import STEP_IN_A_CHILD
from tests.run.scipy.losses import SLOW, at_its_first_evaluation, long, slow
from tests.run.scipy.test_scipy import START


def test_interrupt_ends_a_scipy_run():
    run = bl.minimize(bl.FiniteSum(long, SLOW), np.ones(8), bl.optim.SciPy("BFGS"))
    run.start()
    assert not run._engine.rests(1e6), "who waits comes back to hear interrupts"
    run.pause()
    interrupt(run.step, lambda: run.running)
    assert run.wait(60)
    assert at_its_first_evaluation(run)
    run = bl.minimize(bl.FiniteSum(slow, SLOW), np.ones(8), bl.optim.SciPy("BFGS"), steps=1)
    interrupt(lambda: run.step(10**6), lambda: run.running)
    assert run.wait(60)
    done = run.t
    time.sleep(0.3)
    assert run.t == done
    run.step(1)
    assert run.t == done + 1
    run.stop()


def workers():
    return {thread for thread in threading.enumerate() if thread.name == "burlab-scipy"}


@pytest.mark.parametrize("fails", ["kernel", "predicate", "constraint"])
def test_a_thread_ends_with_a_run_that_failed(fails):
    """Without the cyclic collector: what the thread holds leads through no traceback to the run, nor does a cycle."""
    table = np.arange(4.0)
    f = (lambda x: bl.asarray(table)[(x[0] * 10).astype(np.int64)]) if fails == "kernel" else rosenbrock
    wrong = {"type": "ineq", "fun": lambda x: x[7]}
    method = bl.optim.SciPy("SLSQP", constraints=wrong) if fails == "constraint" else bl.optim.SciPy("Nelder-Mead")
    stop = bl.Stop(when=lambda rows: "yes") if fails == "predicate" else bl.Stop()
    before = workers()
    run = bl.minimize(f, START, method, stop=stop)
    gc.disable()
    try:
        with pytest.raises((IndexError, ArgumentError)):
            run.step(5)
        mine = workers() - before
        assert mine or fails == "constraint"  # that is where SciPy has ended
        assert fails == "predicate" or run.wait(), "raised once; a predicate is asked anew"
        engine = weakref.ref(run._engine)
        del run
        deadline = time.monotonic() + 60
        while (engine() is not None or mine & workers()) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert engine() is None
        assert not mine & workers()
    finally:
        gc.enable()


def test_threads_end():
    before = workers()
    paused = bl.minimize(rosenbrock, START, bl.optim.SciPy("CG"), steps=3)
    running = bl.minimize(bl.FiniteSum(slow, SLOW), np.ones(8), bl.optim.SciPy("BFGS"))
    running.start()
    mine = workers() - before
    assert len(mine) == 2
    history = paused.history
    del paused, running
    gc.collect()
    deadline = time.monotonic() + 60
    while mine & workers() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not mine & workers()
    assert history["value"].size == 3
    before = workers()
    run = bl.minimize(rosenbrock, START, bl.optim.SciPy("CG"), steps=3)
    mine = workers() - before
    run.stop()
    assert not mine & workers()
    assert run.t == 3
    with pytest.raises(StatusError, match="stopped for good"):
        run.step()


@pytest.mark.parametrize("state", ["running", "paused", "dropped", "forked"])
def test_the_interpreter_ends_quickly(state):
    program = f"""
import os, time, numpy as np, burlab as bl
from burlab.errors import StatusError
table = np.linspace(0, 1, 1_000_000)
def f(x):  # one evaluation is one call of a kernel, a few hundred milliseconds long
    y = table * x[0]
    for _ in range(10):
        y = np.tanh(y) + table
    return np.mean(y**2)
run = bl.minimize(f, np.ones(1), bl.optim.SciPy("trust-constr" if {state!r} == "paused" else "BFGS"))
if {state!r} == "paused":
    run.step(1)
if {state!r} in ("running", "dropped"):
    run.start()
    time.sleep(0.1)
if {state!r} == "dropped":
    del run
{STEP_IN_A_CHILD if state == "forked" else ""}
print("done", flush=True)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=environment, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "done\n", "")


_STORM = """
import signal, sys, threading, time
import numpy as np, burlab as bl

run = bl.minimize(lambda x: np.sum((x - 3.0) ** 4), np.zeros(30), bl.optim.SciPy("Nelder-Mead"))
run.step(2)
over = []

def press():
    for _ in range(600):
        time.sleep(0.001)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    over.append(1)

threading.Thread(target=press, daemon=True).start()
while not over:
    try:
        run.step(3)
        run.start(5)
        run.pause()
    except KeyboardInterrupt:
        continue
before = run.t
run.pause()
run.step(1)
print(run.t - before)
"""


def test_a_storm_of_interrupts_leaves_a_run_that_steps_and_ends():
    done = subprocess.run([sys.executable, "-c", _STORM], capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout.strip()[-1:]) == (0, "1"), done.stderr


def test_python_ends_though_a_function_of_the_users_does_not():
    text = """
import time
import numpy as np, burlab as bl
slow = {"type": "ineq", "fun": lambda x: time.sleep(600) or 1.0}
run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.SciPy("COBYLA", constraints=[slow]))
run.start()
time.sleep(0.5)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
