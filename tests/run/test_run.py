"""Runs: what they compute, what they record, what they refuse, and that the same seed gives the same bits."""

import gc
import subprocess
import sys
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, DTypeError, ShapeError, TraceError
from burlab.optim import GD, Adam, Momentum
from tests.threads import end_soon, threads

rng = np.random.default_rng(0)
A, B = rng.normal(size=(100, 3)), rng.normal(size=100)


def loss(x, a, b):
    return 0.5 * (np.tanh(a @ x["w"]) + x["c"] - b) ** 2


def ridge(x):
    return 0.01 * np.sum(x["w"] ** 2)


START = {"w": np.array([0.1, -0.2, 0.3]), "c": np.array(0.5)}


def problem(threads: int = 1, dtype=np.float64, copies: int = 1) -> bl.FiniteSum:
    """copies: of each sample; three are enough to occupy two threads."""
    data = np.tile(A, (copies, 1)).astype(dtype), np.tile(B, copies).astype(dtype)
    return bl.FiniteSum(loss, data, ridge, threads=threads)


def flat(x) -> np.ndarray:
    return np.concatenate([np.ravel(x[k]) for k in sorted(x)])


@pytest.mark.parametrize("sampler", ["reshuffle", "uniform", "nice", "sequential"])
@pytest.mark.parametrize("batch", [None, 1, 7, 32])
def test_a_run_is_the_loop_that_one_would_write(sampler, batch):
    from tests.run.test_sampler import batches

    run = bl.minimize(problem(), START, Momentum(0.05), batch=batch, sampler=sampler, seed=3, steps=25)
    drawn = batches(sampler, len(A), batch, 25, seed=3) if batch else np.tile(np.arange(len(A)), (25, 1))
    x, v, p = {k: a.copy() for k, a in START.items()}, np.zeros(4), problem()
    values, norms, steps = [], [], []
    for t in range(25):
        value, gradient = p.value_and_grad(x, drawn[t])
        v = 0.9 * v + flat(gradient)
        moved = flat(x) - 0.05 * v
        values.append(value)
        norms.append(np.linalg.norm(flat(gradient)))
        steps.append(np.linalg.norm(moved - flat(x)))
        x = {"c": moved[0], "w": moved[1:]}
    history = run.history
    np.testing.assert_allclose(flat(run.x), flat(x), rtol=1e-12)
    np.testing.assert_allclose(history["value"], values, rtol=1e-12)
    np.testing.assert_allclose(history["gradient_norm"], norms, rtol=1e-12)
    np.testing.assert_allclose(history["step_norm"], steps, rtol=1e-10)
    assert history["samples"].tolist() == [(batch or len(A)) * (t + 1) for t in range(25)]
    assert history["step"].tolist() == list(range(25))


def test_x_has_the_structure_of_the_start_and_the_start_stays():
    start = {k: a.copy() for k, a in START.items()}
    for a in start.values():
        a.flags.writeable = False
    run = bl.minimize(problem(), start, Adam(0.1), steps=5)
    assert list(run.x) == list(start)
    assert run.x["w"].shape == (3,)
    assert run.x["c"].shape == ()
    assert all(np.array_equal(start[k], START[k]) for k in START)
    run.x["w"][:] = 7  # a copy
    assert not (run.x["w"] == 7).any()
    assert run.t == 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("batch", [None, 3, 240])
def test_run_threads_change_no_bit(dtype, batch):
    start = {k: a.astype(dtype) for k, a in START.items()}
    runs = [bl.minimize(problem(t, dtype, 3), start, Adam(0.01), batch=batch, steps=60) for t in (1, 2, 3, 16)]
    for other in runs[1:]:
        np.testing.assert_array_equal(flat(other.x), flat(runs[0].x))
        np.testing.assert_array_equal(other.history["value"], runs[0].history["value"])


PROGRAM = """
import numpy as np, burlab as bl
data = np.random.default_rng(1).normal(size=(500, 3)).astype(np.float32)
def loss(x, a, *, key):
    return (a @ x - 1.0) ** 2 * (1 + bl.random.uniform(key, (), "float32"))
def bits(threads=1, sampler="reshuffle", seed=5, chunks=(50,)):
    problem = bl.FiniteSum(loss, data, threads=threads)
    run = bl.minimize(problem, np.ones(3, np.float32), bl.optim.Adam(0.01), batch=200, sampler=sampler, seed=seed)
    for chunk in chunks:
        run.step(chunk)
    return run.x.tobytes().hex() + " " + run.history["value"].tobytes().hex()
"""


def test_the_same_seed_gives_the_same_bits_in_another_process():
    command = [sys.executable, "-c", PROGRAM + "print(bits())"]
    other = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    here: dict[str, Any] = {}
    exec(PROGRAM, here)
    bits = here["bits"]
    assert bits() == other
    assert bits(threads=2, chunks=[1, 17, 32]) == other
    assert bits(seed=6) != other
    assert bits(sampler="nice") != other


def test_a_stochastic_loss_gets_a_key_per_step_and_place():
    def noisy(x, a, *, key):
        return np.sum((x - a) ** 2) * bl.random.uniform(key, ())

    p = bl.FiniteSum(noisy, A)
    run = bl.minimize(p, np.zeros(3), GD(0.1), seed=8, steps=3)
    x = np.zeros(3)
    for t in range(3):
        x = x - 0.1 * p.grad(x, key=bl.random.fold_in(bl.random.key(8), t))
    np.testing.assert_allclose(run.x, x, rtol=1e-13)


def test_hyperparameters_are_live_and_logged():
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), Momentum(0.1))
    assert dict(run.hyper) == {"lr": 0.1, "mu": 0.9, "dampening": 0.0}
    run.step(3)
    run.hyper["lr"] = 0.01
    assert run.hyper["lr"] == 0.01
    run.hyper["mu"] = 0
    run.step(2)
    run.hyper["lr"] = 0.01  # no change, no event
    run.step(1)
    run.hyper["lr"] = np.float32(0.5)
    assert [(e.step, e.name, e.value) for e in run.events] == [(3, "lr", 0.01), (3, "mu", 0.0), (6, "lr", 0.5)]
    assert run.history["lr"].tolist() == [0.1] * 3 + [0.01] * 3
    assert run.history["mu"].tolist() == [0.9] * 3 + [0.0] * 3


def test_a_change_from_another_thread_counts_from_the_next_step():
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), GD(1e-9))
    timer = threading.Timer(0.1, lambda: run.hyper.__setitem__("lr", 2e-9))
    timer.start()
    while not run.events:
        run.step(20_000)
    event, rates = run.events[0], run.history["lr"]
    assert (rates[: event.step] == 1e-9).all()
    assert (rates[event.step :] == 2e-9).all()


def test_x_can_be_read_while_the_run_steps():
    run = bl.minimize(problem(), START, GD(1e-6))
    worker = threading.Thread(target=lambda: run.step(300_000))
    worker.start()
    seen = [(run.t, flat(run.x), len(run.history["value"])) for _ in range(20)]
    worker.join()
    assert run.t == 300_000
    assert [t for t, _, _ in seen] == sorted(t for t, _, _ in seen)
    assert all(np.isfinite(x).all() for _, x, _ in seen)


def test_two_runs_live_side_by_side():
    p = problem()
    one = bl.minimize(p, START, GD(0.1), batch=8, seed=1)
    two = bl.minimize(p, START, Adam(0.1), batch=8, seed=1)
    for _ in range(5):
        one.step(3)
        two.step(2)
    np.testing.assert_array_equal(flat(one.x), flat(bl.minimize(p, START, GD(0.1), batch=8, seed=1, steps=15).x))
    np.testing.assert_array_equal(flat(two.x), flat(bl.minimize(p, START, Adam(0.1), batch=8, seed=1, steps=10).x))


def test_nonfinite_values_are_recorded_and_need_not_stop():
    on = bl.Stop(non_finite=False)
    run = bl.minimize(lambda x: np.sum(np.sqrt(x)), np.array([1.0]), GD(3.0), steps=6, stop=on)
    value = run.history["value"]
    assert value[0] == 1
    assert np.isnan(value[1:]).all()
    assert run.t == 6
    blown = bl.minimize(lambda x: np.sum(x**4), np.array([1e3]), GD(1.0), steps=8, stop=on)
    assert np.isinf(blown.history["value"]).any() or np.isnan(blown.history["value"]).any()
    live = bl.minimize(lambda x: np.sum(x**2), np.ones(1), GD(0.1), stop=on)
    live.hyper["lr"] = 1e308
    live.step(2)
    assert not np.isfinite(live.x).any()


def test_history_columns():
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), Adam(0.1))
    assert len(run.history["value"]) == run.history.steps == 0
    run.step(5000)
    history = run.history
    measured = ["step", "value", "gradient_norm", "step_norm", "samples", "flops", "time"]
    assert list(history) == [*measured, "lr", "b1", "b2", "eps"]
    assert all(len(history[name]) == 5000 for name in history)
    assert history["step"].dtype == history["samples"].dtype == np.int64
    run.step(1)
    assert history.steps == len(history["value"]) == 5000  # as it was when asked for
    with pytest.raises(KeyError, match="gradient_norm"):
        history["loss"]


def test_time_is_that_of_running():
    began, rested = time.perf_counter_ns(), 0
    run = bl.minimize(lambda x: np.sum(x**2), np.ones(2), GD(0.1))
    run.step(1000)
    for _ in range(4):
        paused = time.perf_counter_ns()
        time.sleep(0.05)
        run.hyper["lr"] = run.hyper["lr"] / 2  # wakes the loop, which goes back to rest
        assert len(run.events) > 0
        rested += time.perf_counter_ns() - paused
    run.step(1000)
    elapsed = run.history["time"]
    assert np.isfinite(elapsed).all()
    assert (np.diff(elapsed) >= 0).all()
    assert 0 < elapsed[-1] <= time.perf_counter_ns() - began - rested


def test_a_collected_run_ends_its_thread():
    bl.minimize(problem(2, copies=3), START, GD(0.1), batch=240).step()  # whatever else makes threads has made them
    before = threads()
    runs = [bl.minimize(problem(2, copies=3), START, GD(0.1), batch=240) for _ in range(5)]
    for run in runs:
        run.step(10)
    own = threads() - before
    assert len(own) >= 5
    witness = weakref.ref(runs[0])
    del runs, run
    gc.collect()
    assert witness() is None
    assert end_soon(own)


def test_a_run_in_full_flight_ends_with_the_interpreter():
    """Its thread is joined before anything that it uses is torn down; the exit code is 0."""
    text = """
import atexit, threading, time
import numpy as np

def look():  # registered first, so called last
    first = run.t
    time.sleep(0.05)
    print("at rest" if run.t == first else "still running", flush=True)

atexit.register(look)
import burlab as bl
run = bl.minimize(lambda x: np.sum(x ** 2), np.ones(2), bl.optim.GD(1e-9))
threading.Thread(target=lambda: run.step(10**9), daemon=True).start()
while run.t == 0:
    time.sleep(0.01)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "at rest\n", "")


def test_a_failing_kernel_stops_the_run_before_that_step():
    p = bl.FiniteSum(lambda x, i: np.sum(x[i] ** 2), np.array([0, 1, 9]))
    run = bl.minimize(p, np.ones(2), GD(0.1), batch=1, sampler="sequential")
    for _ in range(2):
        with pytest.raises(BurlabError, match="outside") as caught:
            run.step(5)
        assert "sample 2" in caught.value.__notes__[0]
        assert run.t == run.history.steps == 2
    np.testing.assert_allclose(run.x, 0.8 * np.ones(2))


def test_leaves_must_have_one_dtype():
    with pytest.raises(DTypeError, match="float32 and float64"):
        bl.minimize(lambda x: np.sum(x[0].astype(float)) + x[1], (np.ones(2, np.float32), np.ones(())), GD())


@pytest.mark.parametrize("start", [[5, 5], (5, np.array(5)), np.array([5, 5]), np.array([5, 5], np.int8)])
def test_a_start_of_whole_numbers_is_of_floats(start):
    run = bl.minimize(lambda p: (p[0] - 1.0) ** 2 + p[1] ** 2, start, GD(0.5), steps=1)
    np.testing.assert_array_equal(np.array(run.x), [1.0, 0.0])
    assert run.x[0].dtype == np.float64


def test_a_list_that_was_meant_as_an_array_is_one_error():
    with pytest.raises(TraceError, match=r"list of 2 numbers.*np.array of it") as caught:
        bl.minimize(lambda x: np.sum(x**2), [0.0, 0.0], GD(), steps=1)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bl.minimize(3, np.ones(2), GD()), ArgumentError, "problem"),
        (lambda: bl.minimize(np.sum, np.ones(2, bool), GD()), DTypeError, "x0 has dtype bool"),
        (lambda: bl.minimize(np.sum, {}, GD()), ArgumentError, "no array"),
        (lambda: bl.minimize(lambda x: x, np.ones(2), GD()), ShapeError, r"\(2,\)"),
        (lambda: bl.minimize(np.sum, np.ones(2), GD(), batch=5), ArgumentError, "batch=5"),
        (lambda: bl.minimize(np.sum, np.ones(2), GD(), seed=-1), ArgumentError, "seed"),
        (
            lambda: bl.minimize(np.sum, np.ones(2), GD(), steps=-1),
            ArgumentError,
            "is not a whole number from 0",
        ),
        (lambda: bl.minimize(np.sum, np.ones(2), GD()).step(1.5), ArgumentError, "1.5"),
        (lambda: bl.minimize(np.sum, np.ones(2), GD()).hyper["mu"], ArgumentError, "lr"),
        (lambda: bl.minimize(np.sum, np.ones(2), GD()).hyper.__setitem__("mu", 1.0), ArgumentError, "lr"),
        (lambda: bl.minimize(np.sum, np.ones(2), GD()).hyper.__setitem__("lr", "a"), DTypeError, "lr"),
    ],
)
def test_minimize_with_wrong_arguments_raises(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_memory_lists_the_arrays_of_a_run():
    run = bl.minimize(problem(), START, Adam())
    kinds = [
        "parameters", "gradients", "activations", "optimizer_state", "scratch",
        "history", "events", "keyframes", "path", "traces",
    ]  # fmt: skip
    assert list(run.memory) == [*kinds, "total", "peak"]
    before = run.memory
    run.step(10_000)
    after = run.memory
    assert after["total"] == sum(after[kind] for kind in kinds)
    assert after["history"] >= 10_000 * 3 * 8
    assert all(after[kind] == before[kind] for kind in kinds if kind not in ("history", "keyframes", "traces"))
    assert before["parameters"] == 2 * 64
    assert before["optimizer_state"] == 2 * 2 * 64
