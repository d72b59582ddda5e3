"""A run ends with its last reference, and with Python, whatever else goes on."""

import gc
import os
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

import burlab as bl


def bowl(x):
    return np.sum(x**2)


def threads():
    return len(list(Path("/proc/self/task").iterdir()))


def running():
    run = bl.minimize(bowl, np.ones(2), bl.optim.GD(1e-9))
    run.start()
    return run


def falls_to(count, seconds=10.0):
    end = time.monotonic() + seconds
    while threads() > count and time.monotonic() < end:
        time.sleep(0.01)
    return threads() <= count


def test_a_running_run_ends_with_its_last_reference_and_needs_no_collector():
    running().stop()  # whatever else makes threads has made them
    gc.collect()
    before = threads()
    gc.disable()
    try:
        run = running()
        assert run.hyper["lr"] == 1e-9
        assert threads() > before
        del run
        assert falls_to(before)
    finally:
        gc.enable()


def test_a_run_whose_finalizer_was_interrupted_is_ended_with_the_next_one():
    running().stop()
    gc.collect()
    before = threads()
    run = running()
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
    assert threads() > before
    bl.minimize(bowl, np.ones(2), bl.optim.GD(1e-9))
    assert falls_to(before)


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
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=environment, check=False
    )
    assert (ended.returncode, ended.stderr) == (3, "")
    assert ended.stdout.startswith("Python is ending")
