"""An interrupt ends a blocking step within 100 ms, and the run goes on as if nothing had happened."""

import _thread
import threading
import time

import numpy as np
import pytest

import burlab as bl

DATA = np.random.default_rng(0).normal(size=(400_000, 8))


def slow(x, a):
    return np.sum(np.tanh(np.outer(a, x)) ** 2)


def quick(x, a):
    return (a[0] * x[0] - x[1]) ** 2


@pytest.mark.parametrize(
    ("loss", "batch", "threads"),
    [(quick, 1, 1), (quick, 64, 2), (slow, None, 1), (slow, None, 2)],
    ids=["many short steps", "two threads", "one long step", "one long step, two threads"],
)
def test_interrupt(loss, batch, threads):
    problem = bl.FiniteSum(loss, DATA, threads=threads)
    run = bl.minimize(problem, np.ones(8), bl.optim.Momentum(1e-6), batch=batch)
    for _ in range(3):
        pressed: list[float] = []

        def press(pressed: list[float] = pressed) -> None:
            pressed.append(time.monotonic())
            _thread.interrupt_main()

        threading.Timer(0.15, press).start()
        with pytest.raises(KeyboardInterrupt):
            run.step(10**8)
        assert time.monotonic() - pressed[0] < 0.1
    done = run.t
    assert run.history.steps == done
    time.sleep(0.05)
    assert run.t == done  # it rests
    more = 2 if batch is None else 50
    run.step(more)
    whole = bl.minimize(problem, np.ones(8), bl.optim.Momentum(1e-6), batch=batch, steps=done + more)
    np.testing.assert_array_equal(run.x, whole.x)
    np.testing.assert_array_equal(run.history["value"], whole.history["value"])
