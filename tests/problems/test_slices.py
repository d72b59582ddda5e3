"""Long sums hear interrupts, and being cut into slices changes no bit."""

import _thread
import threading
import time

import numpy as np
import pytest

import burlab as bl
from burlab.problems import engine

DATA = np.random.default_rng(0).normal(size=(300_000, 8))


def loss(x, a):
    return np.sum(np.tanh(np.outer(a, x)) ** 2)


@pytest.mark.parametrize("threads", [1, 2])
def test_slices_change_no_bit(monkeypatch: pytest.MonkeyPatch, threads: int):
    problem = bl.FiniteSum(loss, DATA[:20_000], threads=threads)
    whole, rows = problem.grad(np.ones(8)), problem.per_sample_grads(np.ones(8))
    monkeypatch.setattr(engine, "_SLICE", 100_000)  # 0.1 ms
    np.testing.assert_array_equal(problem.grad(np.ones(8)), whole)
    np.testing.assert_array_equal(problem.per_sample_grads(np.ones(8)), rows)


@pytest.mark.parametrize("question", ["grad", "per_sample_grads"])
def test_an_interrupt_ends_a_long_sum(question: str):
    problem = bl.FiniteSum(loss, DATA)
    ask = getattr(problem, question)
    ask(np.ones(8), [0])  # compiled
    pressed: list[float] = []

    def press():
        pressed.append(time.monotonic())
        _thread.interrupt_main()

    indices = np.tile(np.arange(len(DATA)), 10)
    threading.Timer(0.15, press).start()
    with pytest.raises(KeyboardInterrupt):
        _ = [ask(np.ones(8), indices) for _ in range(1000)]
    assert time.monotonic() - pressed[0] < 0.1
    np.testing.assert_array_equal(ask(np.ones(8), [0]), ask(np.ones(8), [0]))
