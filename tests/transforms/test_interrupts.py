"""An interrupt ends a long call in the middle of a single loop or library call; the next call is right."""

import numpy as np
import pytest

import burlab as bl
from burlab.compiler import build
from burlab.compiler.ir import interrupts
from burlab.graph.tracing.trace import trace
from tests.interrupts import interrupt

X = np.array([0.5, 1.0, 2.0])
LONG = 10**12  # elements that nothing stores: hours of work


def endless(x):
    """More rows than anyone waits for."""
    return np.broadcast_to(x, (LONG, 3))


ENDLESS = {
    "a loop that ends in a sum": lambda x: np.sum(np.tanh(endless(x))),
    "a loop that ends in squares": lambda x: np.sum(np.square(np.sin(endless(x)))),
    "a sum": lambda x: np.sum(endless(x)[:, ::2] * 1.0, axis=(0, 1)),
    "a largest value": lambda x: np.max(endless(x)),
    "a position": lambda x: np.argmax(endless(x)[:, 0]),
    "a product of vectors": lambda x: np.einsum("ij,ij->", endless(x), endless(x)),
    "a product of a vector and a matrix": lambda x: np.einsum("ij,i->j", endless(x), endless(x)[:, 0]),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_interrupt_ends_an_endless_kernel(name):
    executable = build(trace(ENDLESS[name], (X,)).graph)
    assert executable.gear == "compiled"
    for _ in range(3):  # around the gate, and through it
        interrupt(lambda: executable(X), lambda: True)


def normal(*shape):
    return np.random.default_rng(0).normal(size=shape)


def indices(n):
    return np.random.default_rng(1).integers(0, n, n)


MANY = 2 * 10**7  # and a call hears
STORED = {
    "a loop": (lambda x: np.tan(np.sin(x) * x), lambda: [normal(MANY // 2)]),
    "a loop over rows": (lambda x: bl.softmax(np.sin(x), axis=-1), lambda: [normal(MANY // 40, 20)]),
    "a product of matrices": (lambda x: x @ x, lambda: [normal(1500, 1500)]),
    "a product that is transposed": (lambda x: np.einsum("ij,kj->ki", x, x), lambda: [normal(1500, 1500)]),
    "an outer product": (np.outer, lambda: [normal(5000), normal(5000)]),
    "running sums": (np.cumsum, lambda: [normal(3 * MANY // 2)]),
    "a copy": (lambda x: np.reshape(x.T, -1), lambda: [normal(4000, 5000)]),
    "rows that are picked": (np.take, lambda: [normal(10**6), indices(10**6).repeat(20)]),
    "rows that are added": (
        bl.grad(lambda x, i: np.sum(np.take(x, i) * 2.0)),
        lambda: [normal(10**6), indices(10**6).repeat(20)],
    ),
    "rows in order": (np.sort, lambda: [normal(MANY // 4)]),
    "random numbers": (lambda k: bl.random.uniform(k, (MANY,)), lambda: [np.array([1, 2], np.uint64)]),
}


def left_unfinished(call, out, whole):
    """Return True if an interrupt that comes when some of `out` is written leaves it before it is all of `whole`."""
    out[:] = np.nan
    try:
        interrupt(call, lambda: not np.isnan(out[0]), wait=0)
    except pytest.fail.Exception:  # on a busy machine it may come too late
        return False
    return not np.array_equal(out, whole)


@pytest.mark.parametrize("gear", ["compiled", "replay"])
@pytest.mark.parametrize("name", STORED)
def test_interrupt_leaves_a_partial_write_and_the_next_call_is_exact(name, gear):
    """And the next call has the bits of one that nobody interrupted.

    A worker has 1.5 GB, so there are three large arrays at most.
    """
    function, make = STORED[name]
    arrays = make()
    executable = build(trace(function, arrays).graph, gear=gear)
    (whole,) = executable(*arrays)
    out = np.empty_like(whole)
    assert any(left_unfinished(lambda: executable(*arrays, out=(out,)), out.ravel(), whole.ravel()) for _ in range(50))
    executable(*arrays, out=(out,))
    assert np.array_equal(out, whole)


@pytest.mark.parametrize("shape", [(LONG,), (3, LONG), (LONG, 3), (7, 11, 13, 10**9), (10**9, 2000, 3)])
def test_loop_over_any_axes_checks_for_interrupts(shape):
    """Of which only the first element is looked at: the loops are cut along the axis where that is often enough."""

    def function(x):
        y = np.broadcast_to(x, (*shape[:-1], 3)) if shape[-1] == 3 else np.broadcast_to(x[0], shape)
        return np.sum(np.exp(np.sin(y)) * np.broadcast_to(x[1], shape))

    executable = build(trace(function, (X,)).graph)
    interrupt(lambda: executable(X), lambda: True)


def test_several_rows_of_a_map_are_left_too():
    executable = build(trace(lambda x: np.sum(np.tanh(endless(x))), (X,)).graph)
    for threads in (1, 2):
        interrupt(lambda threads=threads: executable.map([np.ones((4, 3))], [True], 4, threads=threads), lambda: True)


def test_long_steps_check_for_interrupts_and_short_calls_never():
    """Bits are those of the same work in pieces that do not ask."""
    x = np.random.default_rng(2).normal(size=(interrupts.UNCHECKED_WORK // 256, 128))
    function = bl.value_and_grad(lambda x: np.sum(np.tanh(x) ** 2) + np.sum(np.cumsum(x, axis=1)))
    for gear in ("compiled", "replay"):
        whole, half = (build(trace(function, (part,)).graph, gear=gear) for part in (x, x[:8]))
        assert interrupts.is_interruptible(whole.plan.steps)
        assert sum(map(interrupts.is_halt_check, whole.plan.steps)) >= 2
        assert not interrupts.is_interruptible(half.plan.steps)
        assert not any(map(interrupts.is_halt_check, half.plan.steps))
        assert "check_halt" not in half.source
        np.testing.assert_array_equal(whole(x)[1][:8], half(x[:8])[1])
