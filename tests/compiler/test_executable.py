"""Executables: gears, errors with the user's line, rows, interrupts, and graphs of every size."""

import ctypes
import gc
import inspect
import time
import timeit
import weakref
from functools import cache

import numpy as np
import pytest

from burlab import errors, runtime
from burlab.compiler import build
from burlab.compiler.map import _run_rows
from burlab.graph import Graph
from burlab.runtime.status import Status
from tests.compiler.trace import traced
from tests.interrupts import interrupt

GEARS = ["compiled", "replay"]
pytestmark = pytest.mark.parametrize("gear", GEARS)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_executable_has_a_repr(gear):
    exe = build(traced(rosenbrock, np.zeros(8)), gear=gear)
    assert repr(exe) == f"<Executable float64[8] -> float64[], {gear}, {len(exe.graph)} nodes>"
    assert [str(s) for s in exe.inputs] == ["float64[8]"]
    assert exe.memory["inputs"] == 64
    assert exe.memory["outputs"] == 8
    assert ("sum_epilogue_float64" if gear == "compiled" else "sum_float64") in exe.source
    assert exe.gear == gear
    assert ("for (std::int64_t" in exe.source) == (gear == "compiled")


def test_the_same_graph_is_compiled_once(gear, monkeypatch):
    build(traced(rosenbrock, np.zeros(13)), gear=gear)
    texts = []
    monkeypatch.setattr(runtime.cling, "_compile", texts.append)
    again = build(traced(rosenbrock, np.zeros(13)), gear=gear)
    assert texts == []
    assert again(np.ones(13)) == (0.0,)


def test_constants_are_data_not_text(gear):
    exes = [
        build(traced(lambda x, c=c: x * np.full(20, c) + np.arange(20.0) * c, np.zeros(20)), gear=gear)
        for c in (2.0, 3.0)
    ]
    for exe, c in zip(exes, (2.0, 3.0), strict=True):
        np.testing.assert_array_equal(exe(np.ones(20))[0], c + np.arange(20.0) * c)


def test_c_code_may_call_it_directly(gear):
    exe = build(traced(lambda x, y: (x @ y, x * 2.0), np.zeros(3), np.zeros(3)), gear=gear)
    x, y, dot, double = np.arange(3.0), np.ones(3), np.zeros(()), np.zeros(3)
    run = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4)(exe.address)
    tables = [(ctypes.c_void_p * 2)(*(a.ctypes.data for a in pair)) for pair in ((x, y), (dot, double))]
    workspace = ctypes.create_string_buffer(exe.workspace_bytes + 64)
    assert run(exe.context, *tables, (ctypes.addressof(workspace) + 63) // 64 * 64) == 0
    assert (dot, double.tolist()) == (3.0, [0.0, 2.0, 4.0])


def test_an_index_that_leaves_its_axis_raises_with_the_users_line(gear):
    exe = build(traced(lambda x, i: x[i] * 2.0, np.zeros((4, 2)), np.zeros(3, int)), gear=gear)
    line = inspect.currentframe().f_lineno - 1
    for _ in range(3):
        np.testing.assert_array_equal(exe(np.ones((4, 2)), np.array([0, -1, 3]))[0], np.full((3, 2), 2.0))
        for bad in ([0, 4, 1], [-5, 0, 0], [0, 0, 2**60], [-(2**62), 0, 0]):
            with pytest.raises(IndexError, match=f"test_executable.py.*line {line}.*gather") as caught:
                exe(np.ones((4, 2)), np.array(bad))
            assert isinstance(caught.value, errors.BurlabError)


def test_error_explains_an_outcome_of_the_c_function(gear):
    exe = build(traced(lambda x, i: x[i], np.zeros(4), np.zeros(3, int)), gear=gear)
    gather = next(k for k, n in enumerate(exe.graph.nodes) if n.op == "gather")
    assert "gather" in str(exe.error(Status.INDEX_OUT_OF_RANGE | gather << 8))
    assert isinstance(exe.error(Status.OUT_OF_MEMORY), MemoryError)


# Rows


def shared_and_batched():
    rng = np.random.default_rng(1)
    return rng.normal(size=(3, 4)), rng.normal(size=(1000, 4)), rng.normal(size=1000)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_map_is_a_call_for_every_row_on_any_number_of_threads(gear, threads):
    W, X, b = shared_and_batched()
    exe = build(traced(lambda W, x, b: (np.tanh(W @ x) + b, np.sum(x) * b), W, X[0], b[0]), gear=gear)
    rows = exe.map([W, X, b], (False, True, True), 1000, threads=threads)
    single = [exe(W, X[k], b[k]) for k in range(1000)]
    np.testing.assert_array_equal(rows[0], np.stack([y for y, _ in single]))
    np.testing.assert_array_equal(rows[1], np.array([s for _, s in single]))
    assert rows[0].shape == (1000, 3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_map_of_numbers_has_the_same_bits_in_lanes_and_alone(gear, dtype):
    rng = np.random.default_rng(2)
    a, w = rng.normal(size=53).astype(dtype), rng.normal(size=2).astype(dtype)

    def function(x, w):
        y = np.tanh(x * w[0]) - x * x + np.where(x > 0, np.exp(-x), w[1])
        return y, y > x, w[0] * w[1], x

    exe = build(traced(function, a[0], w), gear=gear)
    for n in (0, 1, 15, 16, 17, 53):
        rows = exe.map([a[:n], w], (True, False), n)
        single = [exe(x, w) for x in a[:n]]
        for k, spec in enumerate(exe.outputs):
            np.testing.assert_array_equal(rows[k], np.array([y[k] for y in single], spec.dtype))


def test_map_of_no_rows_one_row_and_awkward_arrays(gear):
    W, X, b = shared_and_batched()
    exe = build(traced(lambda W, x, b: W @ x * b, W, X[0], b[0]), gear=gear)
    assert exe.map([W, X[:0], b[:0]], (False, True, True), 0)[0].shape == (0, 3)
    expected = exe.map([W, X[:5], b[:5]], (False, True, True), 5)[0]
    odd = exe.map([np.asfortranarray(W), X[:5].astype(">f8"), np.repeat(b[:5], 2)[::2]], (False, True, True), 5)[0]
    np.testing.assert_array_equal(odd, expected)
    np.testing.assert_array_equal(exe.map([W, X[0], 2.0], (False, False, False), 4)[0], [exe(W, X[0], 2.0)[0]] * 4)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"n": 6}, errors.ShapeError, r"\(6, 4\), got \(5, 4\)"),
        ({"n": -1}, errors.ArgumentError, "n >= 0"),
        ({"threads": 0}, errors.ArgumentError, "threads >= 1"),
        ({"arrays": []}, errors.ArgumentError, "3 arrays"),
        ({"batched": (True, True, True)}, errors.ShapeError, r"\(5, 3, 4\)"),
    ],
)
def test_map_refuses_what_does_not_fit(gear, change, error, words):
    W, X, b = shared_and_batched()
    exe = build(traced(lambda W, x, b: W @ x * b, W, X[0], b[0]), gear=gear)
    options = {"arrays": [W, X[:5], b[:5]], "batched": (False, True, True), "n": 5, "threads": 1}
    with pytest.raises(error, match=words):
        exe.map(**options | change)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_row_that_fails_stops_the_map(gear, threads):
    exe = build(traced(lambda x, i: x[i], np.zeros(4), np.zeros((), int)), gear=gear)
    index = np.zeros(5000, int)
    index[3210] = 9
    with pytest.raises(IndexError, match="gather"):
        exe.map([np.zeros(4), index], (False, True), 5000, threads=threads)


def heavy(x):
    return np.sum(np.tanh(x + np.linspace(0.0, 1.0, 20_000)))


@pytest.fixture
def ends(monkeypatch) -> list[int]:
    """The row after each slice of a map."""
    ends, run = [], _run_rows()

    def counted(*arguments):
        row = run(*arguments)
        ends.append(row)
        return row

    monkeypatch.setattr("burlab.compiler.map._run_rows", lambda: counted)
    return ends


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_stops_a_map_between_two_slices(gear, threads, ends):
    exe = build(traced(heavy, 1.0), gear=gear)
    n = 1_000_000
    interrupt(lambda: exe.map([np.zeros(n)], (True,), n, threads=threads), lambda: len(ends) > threads)
    assert min(ends) < n // 64, "a slice ends long before the rows that a thread takes at a time"
    assert max(ends) < n
    assert exe(0.0)[0] == pytest.approx(heavy(0.0))


def test_other_threads_run_during_a_map(gear, ends):
    """A thread that is asked again and again gets an answer, also several times while C++ is in one slice."""
    exe = build(traced(heavy, 1.0), gear=gear)
    n, seen = 1_000_000, []

    def often() -> bool:
        seen.append(len(ends))
        return len(seen) > 3 and 0 < seen[-4] == seen[-1]

    interrupt(lambda: exe.map([np.zeros(n)], (True,), n), often)


def test_row_loop_checks_the_clock_in_long_rows(gear, ends, monkeypatch):
    monkeypatch.setattr("burlab.compiler.map.SLICE", 0)
    exe = build(traced(heavy, 1.0), gear=gear)
    exe.map([np.zeros(5)], (True,), 5)
    assert ends == [1, 2, 3, 4, 5]
    assert _run_rows.cache_info().currsize == 1


# Every size


def chain(x, n):
    for k in range(n):
        x = x * 1.0001 + (k % 3) * 1e-3
    return x


@cache
def traced_chain(n):
    return traced(lambda x: chain(x, n), 0.5)


def test_a_graph_too_large_to_compile_is_replayed(gear):
    n = 30_000
    small, large = traced_chain(n // 10), traced_chain(n)
    shortest = min(timeit.repeat(lambda: build(small, gear="replay"), timer=time.process_time, number=1, repeat=3))
    began = time.process_time()
    exe = build(large, gear=gear)
    assert time.process_time() - began < 40 * shortest, "ten times the nodes take about ten times as long"
    assert exe.gear == "replay"
    assert exe(0.5)[0] == chain(0.5, n)
    ours, pythons = (min(timeit.repeat(f, number=1, repeat=20)) for f in (lambda: exe(0.5), lambda: chain(0.5, n)))
    assert ours < pythons / 4, "no Python runs per node"


def test_two_thousand_lines_are_compiled(gear):
    exe = build(traced_chain(700), gear=gear)
    assert exe.gear == gear
    assert exe(0.5)[0] == chain(0.5, 700)


def test_large_arrays(gear):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(300, 700)), rng.normal(size=(700, 200))
    exe = build(traced(lambda A, B: (A @ B, np.sum(A, 0), np.sum(A), np.cumsum(B.T, 1)), A, B), gear=gear)
    product, columns, total, running = exe(A, B)
    np.testing.assert_allclose(product, A @ B, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(columns, A.sum(0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(total, A.sum(), rtol=1e-12)
    np.testing.assert_allclose(running, np.cumsum(B.T, 1), rtol=1e-11, atol=1e-11)


def test_executables_release_their_constants(gear):
    big = np.ones(100_000)
    gone = []
    for _ in range(3):
        constant = big.copy()
        exe = build(traced(lambda x, c=constant: x * c, big), gear=gear)
        for _ in range(3):
            exe(big)
        gone.append(weakref.ref(exe))
        del exe, constant
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3


def test_an_empty_graph(gear):
    exe = build(Graph((), ()), gear=gear)
    assert [exe() for _ in range(3)] == [()] * 3
