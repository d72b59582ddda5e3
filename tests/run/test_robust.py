"""Runs among interrupts, threads, forks and collections: no hang, no crash, and the same bits."""

import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import GD, Adam
from tests.interrupts import interrupt, main_stack
from tests.threads import end_soon, threads

A = np.random.default_rng(0).normal(size=(300, 3))
with_breakpoint = [False]


def minimize(batch: int = 5, **more) -> bl.Run:
    problem = bl.FiniteSum(lambda x, a: np.tanh(a @ x - 1) ** 2, A)
    return bl.minimize(problem, np.ones(3), Adam(0.01), batch=batch, seed=1, **more)


def replayed(run: bl.Run) -> bl.Run:
    """A run that did at once what the events of another one say, as far as its record reaches."""
    again = minimize()
    for event in run.events:
        again.step(event.step - again.t)
        again.hyper[event.name] = event.value
    again.step(run.length - again.t)
    return again


@contextmanager
def alarms() -> Generator[None]:
    """SIGALRM raises KeyboardInterrupt where `interrupted` waits for it; a late one does nothing."""

    def ring(*_: object) -> None:
        if with_breakpoint[0]:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def interrupted(act: Callable[[], object], seconds: float) -> bool:
    """Do something with an interrupt some time after it began; whether it came in time."""
    try:
        try:
            with_breakpoint[0] = True
            signal.setitimer(signal.ITIMER_REAL, seconds)
            act()
        finally:
            with_breakpoint[0] = False
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    return False


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # interrupts of the collector
def test_interrupts_at_random_moments_leave_a_run_whole(seed):
    luck, run = random.Random(seed), minimize()
    acts: dict[str, Callable[[], object]] = {
        "step": lambda: run.step(luck.choice([1, 10, 3000])),
        "start": lambda: run.start(luck.choice([None, 100])),
        "seek": lambda: run.seek(luck.randrange(run.length + 1)),
        "fork": lambda: run.fork(lr=0.02).step(3),
        "set": lambda: run.hyper.__setitem__("lr", luck.uniform(1e-3, 1e-2)),
        "read": lambda: (run.x, run.events, run.history["value"], run.memory),
        "wait": lambda: run.wait(0.001),
        "pause": run.pause,
    }
    for act in acts.values():  # compile
        act()
    run.pause()
    came: set[str] = set()
    with alarms():
        tries = 0
        while tries < 1500 or (came != set(acts) and tries < 100_000):
            tries += 1
            name = luck.choice([*acts])
            if interrupted(acts[name], luck.expovariate(1 / 0.0004) + 1e-6):
                came.add(name)
            if run.length > 50_000:
                run.pause()
                run.seek(luck.randrange(100))
                run.hyper["lr"] = luck.uniform(1e-3, 1e-2)  # a new line, and a short one
                run.family.parent = None  # nobody holds the long one
    assert came == set(acts)
    run.pause()
    again = replayed(run)
    run.seek(run.length)
    np.testing.assert_array_equal(run.x, again.x)
    np.testing.assert_array_equal(run.history["value"], again.history["value"])


def test_an_interrupt_of_a_seek_leaves_the_run_on_its_way():
    run = minimize(steps=100_000, keyframe_bytes=1, batch=50)
    run.seek(0)
    interrupt(lambda: run.seek(99_999), lambda: run.t > 0)
    assert run.wait(60)
    assert 0 < run.t < 99_999
    run.step(1)
    np.testing.assert_array_equal(run.x, minimize(steps=run.t, batch=50).x)


def test_an_interrupt_of_wait_pauses_the_run():
    run = minimize()
    run.start()
    interrupt(run.wait, lambda: bl.Run.wait.__code__ in main_stack())
    assert run.wait(60)
    done = run.t
    time.sleep(0.02)
    assert run.t == done > 0


def test_wait_ends_with_its_time(monkeypatch):
    run, asked = minimize(), []
    assert run.wait(0)
    run.start()
    rests = run._engine.rests
    monkeypatch.setattr(run._engine, "rests", lambda seconds: asked.append(seconds) or rests(seconds))
    for timeout in (0, 0.001, 0.12):
        asked.clear()
        before = time.monotonic()
        assert not run.wait(timeout)
        assert time.monotonic() - before >= timeout
        assert asked == sorted(asked, reverse=True)
        assert asked[0] <= timeout, "no longer than what is left"
    assert run.running
    run.pause()
    assert run.wait()
    assert not run.running


def test_threads_may_steer_one_run_together():
    run, stop, errors = minimize(), threading.Event(), []

    def seek(luck: random.Random) -> None:
        with suppress(ArgumentError):  # another thread may begin a new, shorter line
            run.seek(luck.randrange(min(run.length, 500) + 1))

    acts: list[Callable[[random.Random], object]] = [
        seek,
        lambda luck: run.step(luck.randrange(200)),
        lambda luck: run.hyper.__setitem__("lr", luck.uniform(1e-3, 1e-2)),
        lambda luck: run.start(luck.randrange(500)),
        lambda luck: run.pause(),
        lambda luck: run.fork(lr=0.5).step(luck.randrange(10)),
        lambda luck: (run.x, run.history["value"], run.path, run.parent),
    ]

    def steer(k: int) -> None:
        luck = random.Random(k)
        try:
            while not stop.is_set():
                luck.choice(acts)(luck)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=steer, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    time.sleep(2)
    stop.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert errors == []
    run.pause()
    again = replayed(run)
    run.seek(run.length)
    np.testing.assert_array_equal(run.x, again.x)


def test_runs_side_by_side_in_threads():
    wanted = minimize(steps=20_000).x
    found = []

    def work() -> None:
        run = minimize()
        run.start(20_000)
        run.wait()
        found.append(run.x)

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 5
    assert all(np.array_equal(x, wanted) for x in found)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_run_may_be_collected_while_it_runs():
    minimize().stop()  # whatever else makes threads has made them
    before, own = threads(), set[str]()
    for k in range(4):
        run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), GD(1e-9), stop=bl.Stop(when=lambda r: r["value"] < 0))
        run.start()
        if k % 2:
            run.seek(min(run.length, 5))
            run.start()
            run.hyper["lr"] = 2e-9  # a parent, too
        own |= threads() - before
        witness = weakref.ref(run)
        run = None
        gc.collect()
        assert witness() is None
    assert own
    assert end_soon(own)


FORK = """
import gc, os, sys
import numpy as np
import burlab as bl
from burlab.errors import StatusError

stop = bl.Stop(when=lambda rows: rows["value"] < 0)
run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(1e-9), stop=stop)
run.start()
child = os.fork()
if child == 0:
    for act in (run.step, run.start, run.pause, run.wait, run.stop, run.fork, lambda: run.seek(0), lambda: run.x,
                lambda: run.t, lambda: run.history, lambda: run.events, lambda: run.memory,
                lambda: run.hyper["lr"], lambda: run.hyper.__setitem__("lr", 1.0)):
        try:
            act()
        except StatusError as error:
            assert "forked" in str(error)
        else:
            os._exit(1)
    other = bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.GD(0.25), steps=3)
    assert other.x.tolist() == [0.125, 0.125]
    del run
    gc.collect()
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert run.running
run.pause()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_of_a_process_whose_run_is_running():
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
