"""Loops that end in sums of their columns: the bits of the library's sum, memory, and where it stays the library's."""

import numpy as np
import pytest

import burlab as bl


def made(x, c):
    return np.tanh(x) * c + x * 0.5


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(64, 16), (200, 10, 8), (1000, 33), (63, 512), (129, 8, 3, 5), (2000, 8)])
def test_a_sum_of_columns_has_the_bits_of_the_library(shape, dtype):
    rng = np.random.default_rng(shape[0])
    x, c = rng.normal(size=shape).astype(dtype), rng.normal(size=shape[1:]).astype(dtype)
    whole = bl.jit(made)(x, c)
    kernel = bl.compile(lambda x, c: np.sum(made(x, c), 0), x, c)
    assert "_part[" in kernel.source
    assert "burlab_sum" not in kernel.source
    assert kernel.memory["activations"] == kernel.memory["scratch"] == 0
    np.testing.assert_array_equal(kernel(x, c), bl.jit(lambda x: np.sum(x, 0))(whole))
    both = bl.jit(lambda x, c: (np.sum(y := made(x, c), 0), y, np.sum(y * x, 0)))(x, c)
    np.testing.assert_array_equal(both[0], kernel(x, c))
    np.testing.assert_array_equal(both[1], whole)
    np.testing.assert_array_equal(both[2], bl.jit(lambda x: np.sum(x, 0))(whole * x))


@pytest.mark.parametrize("options", [{"strict": True}, {"check_finite": True}])
def test_other_sums_of_columns_stay_the_librarys(options):
    x, c = np.random.default_rng(0).normal(size=(100, 20)), np.arange(20.0)
    kernel = bl.compile(lambda x, c: np.sum(made(x, c), 0), x, c, **options)
    assert "_part[" not in kernel.source
    np.testing.assert_allclose(kernel(x, c), np.sum(made(x, c), 0), rtol=1e-12)


def test_loops_that_reduce_rows_or_end_in_a_number_do_not():
    def sums(x):
        y = np.exp(x) * 0.1
        return np.sum(y, 0), np.sum(y), np.sum(y, 1), np.sum(y / np.sum(y, 1, keepdims=True), 0)

    x = np.random.default_rng(0).normal(size=(100, 20))
    for some, other in zip(bl.jit(sums)(x), sums(x), strict=True):
        np.testing.assert_allclose(some, other, rtol=1e-13)


def test_parts_of_rows_and_operations_without_lanes():
    def sums(x):
        y = np.concatenate([x[:, 1:] * 2, x[:, :1]], 1) * np.remainder(x, 0.3)
        return np.sum(y * np.sin(y), 0)

    x = np.random.default_rng(0).normal(size=(100, 20))
    np.testing.assert_allclose(bl.jit(sums)(x), sums(x), rtol=1e-11, atol=1e-13)


def test_the_gradient_by_a_bias_is_summed_where_it_is_made():
    def loss(w, b, x):
        return np.sum(np.tanh(x @ w + b) ** 2)

    rng = np.random.default_rng(0)
    w, b, x = rng.normal(size=(7, 16)), rng.normal(size=16), rng.normal(size=(300, 7))
    kernel = bl.compile(bl.grad(loss, argnums=(0, 1)), w, b, x)
    assert "_part[" in kernel.source
    replayed = bl.compile(bl.grad(loss, argnums=(0, 1)), w, b, x, gear="replay")
    for some, other in zip(kernel(w, b, x), replayed(w, b, x), strict=True):
        np.testing.assert_allclose(some, other, rtol=1e-12, atol=1e-12)
