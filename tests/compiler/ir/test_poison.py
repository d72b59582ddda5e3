"""Memory that holds nan before a kernel writes it: what a kernel leaves out is nan in its result, however it is run."""

import os
import subprocess
import sys

import numpy as np
import pytest

import burlab as bl
from burlab.compiler.lowering import contraction
from burlab.runtime import memory

GEARS = ("replay", "compiled")
RNG = np.random.default_rng(0)
X, MATRIX = RNG.normal(size=(4, 64)), RNG.normal(size=(64, 64))


def products(x, matrix):
    """Rows times a matrix that they share: a kernel that computes one row is called for each."""
    return np.einsum("ab,abc->ac", x, np.broadcast_to(matrix, (4, 64, 64)))


def loss(point, scale):
    x, matrix = point
    return np.sum(np.tanh(products(x, matrix * scale)))


@pytest.fixture
def incomplete(monkeypatch):
    """Tuned kernels are called once, whatever they compute: the fault that poison is for."""
    tuned = contraction._tuned

    def once(*args):
        found = tuned(*args)
        return found and found._replace(all_rows=True)

    monkeypatch.setattr(contraction, "_tuned", once)


@pytest.fixture(autouse=True)
def poison(monkeypatch):
    monkeypatch.setattr(memory, "_poison", True)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("gear", GEARS)
def test_unwritten_entries_are_nan(gear, dtype, incomplete):
    x, matrix = X.astype(dtype), MATRIX.astype(dtype)
    kernel = bl.compile(products, x, matrix, gear=gear)
    for _ in range(3):  # the fallback, then the gate
        np.testing.assert_array_equal(np.isnan(kernel(x, matrix)), np.arange(4)[:, None] * np.ones(64) > 0)


@pytest.mark.parametrize("gear", GEARS)
def test_in_the_workspace_too(gear, incomplete):
    arguments = (X, MATRIX), np.ones(64)
    value, (gradient, _) = bl.compile(bl.value_and_grad(loss), *arguments, gear=gear)(*arguments)
    assert np.isnan(value)
    assert np.isfinite(gradient[0]).all()
    assert np.isnan(gradient[1:]).all()


@pytest.mark.parametrize("gear", GEARS)
def test_unwritten_entries_are_nan_in_every_iteration(gear, incomplete):
    """The body's memory holds what the turn before left there."""

    def iterations(x, matrix):
        return bl.scan(lambda carry, scale: (carry, products(x * scale, matrix)), 0.0, np.ones(3))[1]

    found = bl.compile(iterations, X, MATRIX, gear=gear)(X, MATRIX)
    assert np.isfinite(found[:, 0]).all()
    assert np.isnan(found[:, 1:]).all()


def test_in_the_tiles_of_a_sum(incomplete):
    problem = bl.FiniteSum(loss, np.ones((5, 64)), tile=2)
    assert np.isnan(problem.value_and_grad((X, MATRIX))[0])


@pytest.mark.full
def test_in_the_steps_of_a_run(incomplete):
    problem = bl.FiniteSum(loss, np.ones((5, 64)), tile=2)
    with pytest.warns(RuntimeWarning, match="the value is nan"):
        run = bl.minimize(problem, (X, MATRIX), bl.optim.GD(1e-3), steps=2)
    assert run.stopped.reason == "non_finite"


@pytest.mark.parametrize("gear", GEARS)
def test_results_of_complete_kernels_are_as_without(gear, monkeypatch):
    def several(x, matrix):
        index = np.argmax(x, axis=1)
        return products(x, matrix), np.sum(x), x[0] > 0, index, np.float32(1) * index

    found = bl.compile(several, X, MATRIX, gear=gear)(X, MATRIX)
    monkeypatch.setattr(memory, "_poison", False)
    for a, b in zip(found, bl.compile(several, X, MATRIX, gear=gear)(X, MATRIX), strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_pattern_is_nan_in_both_dtypes_and_no_common_integer():
    block = memory.empty((4,), np.dtype(np.float64), "a block")
    assert np.isnan(block).all()
    assert np.isnan(block.view(np.float32)).all()
    for kind in (np.int64, np.int32, np.int16, np.int8):
        assert not np.isin(block.view(kind), [0, 1, -1]).any()


@pytest.mark.parametrize(("value", "poisons"), [("1", True), ("0", False), ("", False), (None, False)])
def test_the_variable(value, poisons):
    environment = {k: v for k, v in os.environ.items() if k != "BURLAB_POISON"}
    environment |= {} if value is None else {"BURLAB_POISON": value}
    command = "from burlab.runtime import memory; print(memory.poisons())"
    done = subprocess.run([sys.executable, "-c", command], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(poisons)]
