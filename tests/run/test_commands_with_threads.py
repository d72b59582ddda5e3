"""Commands of a panel are answered while every core computes: helpers that wait leave the core to Python."""

import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import burlab as bl


@pytest.fixture
def run() -> Iterator[Any]:
    """A run that plays on all cores, with steps long enough that several threads share each."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(1024, 256)).astype(np.float32), rng.integers(0, 10, 1024)
    start = {"a": rng.normal(size=(256, 512)) / 16, "b": rng.normal(size=(512, 10)) / 22}
    start = {name: leaf.astype(np.float32) for name, leaf in start.items()}
    problem = bl.FiniteSum(lambda p, a, b: bl.nn.cross_entropy(np.tanh(a @ p["a"]) @ p["b"], b), (x, y))
    made = bl.minimize(problem, start, bl.optim.GD(1e-3), batch=1024, threads="auto")
    made.step(2)
    made.start()
    yield made
    made.pause()


def steps_meanwhile(run: Any, command: Callable[[], object]) -> int:
    before = run.t
    command()
    return run.t - before


def test_a_knob_is_turned_within_two_steps(run: Any):
    counts = list[int]()
    for k in range(21):
        before = run.t
        run.hyper["lr"] = 1e-3 * (1 + k % 2)
        counts.append(run.t - before)
        run.wait(0.02)
    assert statistics.median(counts) <= 2


def test_pause_and_step_are_answered_within_two_steps(run: Any):
    pauses = list[int]()
    for _ in range(11):
        run.start()
        run.wait(0.03)
        pauses.append(steps_meanwhile(run, run.pause))
        assert steps_meanwhile(run, lambda: run.step(1)) == 1
    assert statistics.median(pauses) <= 2
