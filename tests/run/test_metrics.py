"""Metrics that a loss gives beside its value, and the value of a second problem: columns of the history."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, ShapeError
from burlab.optim import GD, Adam
from tests.run.test_sampler import batches

rng = np.random.default_rng(2)
START = np.array([0.1, -0.2, 0.3])
A = rng.normal(size=(200, 3))
B = A @ [0.5, 0.0, -0.5] + rng.normal(size=200)
HELD = A[:40] + 0.1, B[:40]


def loss(x, a, b):
    error = a @ x - b
    return 0.5 * error**2, {"wrong": np.abs(error) > 1.0, "error": np.abs(error), "answer": 42, "first": x[0]}


def plain(x, a, b):
    return loss(x, a, b)[0]


def ridge(x):
    return 0.1 * np.sum(x**2)


def problem(dtype=np.float64, **more) -> bl.FiniteSum:
    return bl.FiniteSum(loss, (A.astype(dtype), B.astype(dtype)), ridge, has_aux=True, **more)


@pytest.mark.parametrize(("dtype", "threads"), [(np.float64, 1), (np.float64, 2), (np.float32, 1)])
@pytest.mark.parametrize("batch", [None, 7, 150])
def test_metrics_are_means_over_the_batch(dtype, threads, batch):
    run = bl.minimize(problem(dtype, threads=threads), START.astype(dtype), GD(0.05), batch=batch, steps=20)
    assert list(run.history)[4:8] == ["answer", "error", "first", "wrong"]
    bare = bl.FiniteSum(plain, (A.astype(dtype), B.astype(dtype)), ridge)
    other = bl.minimize(bare, START.astype(dtype), GD(0.05), batch=batch, steps=20)
    np.testing.assert_array_equal(run.x, other.x)
    np.testing.assert_array_equal(run.history["value"], other.history["value"])
    drawn = batches("reshuffle", len(A), batch, 20, seed=0) if batch else np.tile(np.arange(len(A)), (20, 1))
    for step in (0, 1, 19):
        other.seek(step)
        x, a, b = other.x, A[drawn[step]].astype(dtype), B[drawn[step]].astype(dtype)
        error = np.abs(a @ x - b)
        row = run.at(step)
        tight = 1e-12 if dtype == np.float64 else 1e-5
        assert row["error"] == pytest.approx(error.mean(), rel=tight)
        assert row["wrong"] == pytest.approx((error > 1).mean(), rel=tight)
        assert row["first"] == pytest.approx(x[0], rel=tight)
        assert row["answer"] == 42


def test_metrics_of_a_function():
    def f(x):
        return np.sum(x**2), {"largest": np.max(x)}

    run = bl.minimize(f, START, GD(0.1), steps=3, has_aux=True)
    np.testing.assert_allclose(run.history["largest"], 0.3 * 0.8 ** np.arange(3), rtol=1e-14)
    stopped = bl.minimize(f, START, GD(0.1), has_aux=True, stop=bl.Stop(when=lambda rows: rows["largest"] < 0.1))
    stopped.step(100)
    assert stopped.t == int(np.ceil(np.log(1 / 3) / np.log(0.8)))


def test_other_questions_see_the_value_alone():
    p, bare = problem(), bl.FiniteSum(plain, (A, B), ridge)
    assert p.value(START) == bare.value(START)
    np.testing.assert_array_equal(p.grad(START, [3, 5]), bare.grad(START, [3, 5]))
    np.testing.assert_array_equal(p.hvp(START, START), bare.hvp(START, START))
    run = bl.minimize(p, START, bl.optim.ArmijoGD(), steps=5)  # which asks f.value
    np.testing.assert_array_equal(run.x, bl.minimize(bare, START, bl.optim.ArmijoGD(), steps=5).x)


def test_forks_and_seeks_keep_metrics():
    run = bl.minimize(problem(), START, Adam(0.05), batch=8, steps=50)
    fork = run.fork()
    fork.step(30)
    run.seek(10)
    run.step(70)
    for name in ("error", "wrong", "first"):
        np.testing.assert_array_equal(run.history[name], fork.history[name])


@pytest.mark.parametrize("every", [1, 7, 1000])
@pytest.mark.parametrize("threads", [1, 2])
def test_validation_is_the_full_value_of_the_second_problem(every, threads):
    held = bl.FiniteSum(plain, (A[::-1], B), ridge, threads=threads)
    run = bl.minimize(problem(), START, GD(0.05), batch=8, steps=30, validation=held, validate_every=every)
    bare = bl.minimize(problem(), START, GD(0.05), batch=8)
    column = run.history["validation_value"]
    for step in range(30):
        if step % every == 0:
            assert column[step] == held.value(bare.x)
        else:
            assert np.isnan(column[step])
        bare.step()
    np.testing.assert_array_equal(run.x, bare.x)
    run.seek(3)
    run.hyper["lr"] = 0.01
    run.step(27)
    again = run.history["validation_value"]
    np.testing.assert_array_equal(np.isnan(again), np.isnan(column))
    np.testing.assert_array_equal(again[:3], column[:3])


def test_validation_by_a_function_in_float32_and_with_keys():
    def noisy(x, a, *, key):
        return np.sum((x - a) ** 2) * bl.random.uniform(key, ())

    start = START.astype(np.float32)
    run = bl.minimize(lambda x: np.sum(x**2), start, GD(0.1), steps=4, validation=ridge, validate_every=2)
    assert run.history["validation_value"][0] == bl.FiniteSum(lambda x, _: ridge(x), np.zeros(1)).value(start)
    held = bl.FiniteSum(noisy, A)
    run = bl.minimize(lambda x: np.sum(x**2), START, GD(0.1), steps=3, seed=5, validation=held, validate_every=1)
    keys = [bl.random.fold_in(bl.random.key(5), step) for step in range(3)]
    run.seek(2)
    assert run.history["validation_value"][2] == held.value(run.x, key=keys[2])


def test_predicate_may_read_the_validation():
    held = bl.FiniteSum(plain, HELD)
    stop = bl.Stop(when=lambda rows: rows["validation_value"] < 0.9 * held.value(START))
    run = bl.minimize(problem(), START, GD(0.05), stop=stop, validation=held, validate_every=10)
    run.step(10_000)
    column = run.history["validation_value"]
    assert run.t % 10 == 0
    assert column[-1] < 0.9 * held.value(START) <= np.nanmin(column[:-1])


def test_a_long_validation_can_be_interrupted():
    big = np.tile(A, (20_000, 1))
    held = bl.FiniteSum(lambda x, a: np.tanh(a @ x) ** 2, big)
    run = bl.minimize(lambda x: np.sum(x**2), START, GD(0.1), validation=held, validate_every=2)
    run.start()
    run.pause()
    assert run.length == run.t
    run.step(2)
    assert run.history["validation_value"][0] == held.value(START)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bl.minimize(lambda x: (np.sum(x), 3), START, GD(), has_aux=True), ArgumentError, "name: number"),
        (lambda: bl.minimize(lambda x: (np.sum(x), {3: x[0]}), START, GD(), has_aux=True), ArgumentError, "name"),
        (lambda: bl.minimize(lambda x: (np.sum(x), {"x": x}), START, GD(), has_aux=True), ShapeError, "'x' has shape"),
        (lambda: bl.minimize(lambda x: (np.sum(x), {"lr": x[0]}), START, GD(), has_aux=True), ArgumentError, "'lr'"),
        (lambda: bl.minimize(lambda x: (np.sum(x), {"time": 1}), START, GD(), has_aux=True), ArgumentError, "'time'"),
        (lambda: bl.minimize(bl.FiniteSum(plain, (A, B)), START, GD(), has_aux=True), ArgumentError, "FiniteSum"),
        (lambda: bl.minimize(problem(), START, GD(), validation=3), ArgumentError, "validation is a int"),
        (lambda: bl.minimize(problem(), START, GD(), validation=ridge, validate_every=0), ArgumentError, "every"),
        (lambda: bl.minimize(problem(), START, bl.optim.SciPy("BFGS")), ArgumentError, "metrics"),
    ],
)
def test_invalid_metrics_and_validations_raise(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_failing_validation_is_named():
    held = bl.FiniteSum(lambda x, i: x[i], np.array([0, 1, 7]))
    run = bl.minimize(lambda x: np.sum(x**2), START, GD(0.1), validation=held)
    with pytest.raises(BurlabError, match="outside") as caught:
        run.step()
    assert caught.value.__notes__ == ["In sample 2 of the data.", "In the validation problem."]
    assert run.t == run.length == 0
