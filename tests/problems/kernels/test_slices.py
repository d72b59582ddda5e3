"""Long sums hear interrupts, and being cut into slices changes no bit."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.problems.kernels import sample_kernel
from burlab.runtime.structs import CSumCall
from burlab.runtime.wait import SLICE
from tests.interrupts import interrupt

DATA = np.random.default_rng(0).normal(size=(300_000, 8))


def loss(x, a):
    return np.sum(np.tanh(np.outer(a, x)) ** 2)


def long(x, a):  # a sum over all samples takes half a minute
    return np.sum(np.tanh(np.outer(np.outer(a, x), np.linspace(0, 1, 256))) ** 2)


@pytest.fixture
def slices(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, CSumCall]]:
    """Calls of C++: "sum" or "rows" for each slice, "abandon" for a sum that was left; with their arguments."""
    begun: list[tuple[str, CSumCall]] = []
    exports = sample_kernel.sum_exports()

    def counted(name: str) -> Any:
        def door(call: Any) -> Any:
            begun.append((name, call._obj))
            return exports[name](call)

        return door

    monkeypatch.setattr(sample_kernel, "sum_exports", lambda: {name: counted(name) for name in exports})
    return begun


@pytest.mark.parametrize("threads", [1, 2])
def test_slices_change_no_bit(monkeypatch: pytest.MonkeyPatch, slices: list[tuple[str, CSumCall]], threads: int):
    problem = bl.FiniteSum(loss, DATA[:20_000], threads=threads)
    whole, rows = problem.grad(np.ones(8)), problem.per_sample_grads(np.ones(8))
    monkeypatch.setattr(sample_kernel, "_SLICE", 100_000)  # 0.1 ms
    for answer, again in ((problem.grad, whole), (problem.per_sample_grads, rows)):
        slices.clear()
        np.testing.assert_array_equal(answer(np.ones(8)), again)
        assert len(slices) > 2


@pytest.mark.parametrize("question", ["grad", "per_sample_grads"])
def test_an_interrupt_ends_a_long_sum(slices: list[tuple[str, CSumCall]], question: str):
    problem = bl.FiniteSum(long, DATA)
    ask = getattr(problem, question)
    before = ask(np.ones(8), [0])  # compiled
    slices.clear()
    interrupt(lambda: ask(np.ones(8)), lambda: slices)
    last, call = slices[-1]
    assert last == "abandon" if question == "grad" else call.position < len(DATA)
    assert call.slice == SLICE * 1e9 <= 5e7
    np.testing.assert_array_equal(ask(np.ones(8), [0]), before)
