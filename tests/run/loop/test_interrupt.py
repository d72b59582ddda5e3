"""An interrupt ends a blocking step before the step is done, and the run goes on as if nothing had happened."""

import numpy as np
import pytest

import burlab as bl
from burlab.runtime.wait import SLICE
from tests.interrupts import interrupt

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
def test_interrupt_ends_a_running_loop(loss, batch, threads):
    problem = bl.FiniteSum(loss, DATA, threads=threads)
    run = bl.minimize(problem, np.ones(8), bl.optim.Momentum(1e-6), batch=batch)
    for _ in range(3):
        interrupt(lambda: run.step(10**12), lambda: run.running)
        assert run.wait(60)  # a single kernel call cannot be cut short
    done = run.t
    assert run.history.steps == done
    more = 2 if batch is None else 50
    run.step(more)
    assert run.t == done + more
    whole = bl.minimize(problem, np.ones(8), bl.optim.Momentum(1e-6), batch=batch, steps=done + more)
    np.testing.assert_array_equal(run.x, whole.x)
    np.testing.assert_array_equal(run.history["value"], whole.history["value"])


def long(x, a):  # a step takes half a minute
    return np.sum(np.tanh(np.outer(np.outer(a, x), np.linspace(0, 1, 256))) ** 2)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_cuts_a_step_short(threads):
    """One that waited for the end of the step would find it done."""
    run = bl.minimize(bl.FiniteSum(long, DATA, threads=threads), np.ones(8), bl.optim.GD(1e-6))
    interrupt(run.step, lambda: run.running)
    assert run.wait()
    assert run.t == run.length == 0


def test_wait_in_cpp_returns_to_handle_interrupts():
    run = bl.minimize(bl.FiniteSum(long, DATA), np.ones(8), bl.optim.GD(1e-6))
    run.start(steps=1)
    assert not run._engine.rests(1e6), "the step is not done yet"
    assert SLICE <= 0.05
    run.pause()
