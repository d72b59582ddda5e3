"""Means over many samples in float32: their digits, and their bits for any tiles and threads."""

import numpy as np
import pytest

import burlab as bl

LONG_SIZES = 200_003  # samples, so that slots end within a piece and a tile
X = np.float32(0.3)


def loss(x, a):
    return 0.5 * a * x * x + a * x


def problem(data, **options):
    return bl.FiniteSum(loss, data, **options)


def queries(f):
    """Value, gradient and curvature at X, and what a run writes down of the first two."""
    run = bl.minimize(f, X, bl.optim.GD(1e-3), steps=1)
    own = [f.value(X), f.grad(X), f.hvp(X, np.float32(1)), *f.value_and_grad(X)]
    return np.array([*own, run.history["value"][0], run.history["gradient_norm"][0]], np.float64)


def exact(data):
    """By sums in double of the same numbers."""
    x, mean = float(X), float(np.mean(data, dtype=np.float64))
    value, grad = mean * (0.5 * x * x + x), mean * (x + 1)
    return np.array([value, grad, mean, value, grad, value, grad])


@pytest.mark.parametrize("equal", [True, False])
def test_float32_keeps_its_digits(equal):
    data = np.full(LONG_SIZES, 0.1, np.float32)
    if not equal:
        data = np.random.default_rng(0).exponential(size=LONG_SIZES).astype(np.float32)
    np.testing.assert_allclose(queries(problem(data)), exact(data), rtol=1.5e-6)


def test_ten_million_samples():
    data = np.full(10**7, 0.1, np.float32)
    np.testing.assert_allclose(queries(problem(data)), exact(data), rtol=1.5e-6)


def test_bits_are_those_of_any_tile_and_any_number_of_threads():
    data = np.random.default_rng(1).normal(size=LONG_SIZES).astype(np.float32)
    first = queries(problem(data, tile=64))
    for options in ({"tile": 1}, {"tile": 16}, {"tile": 50}, {"tile": 64, "threads": 3}, {"threads": 16}):
        np.testing.assert_array_equal(queries(problem(data, **options)), first, err_msg=str(options))


@pytest.mark.parametrize("n", [1, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1025, 2049, 5000])
def test_sizes_around_pieces_tiles_and_slots(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(n, 5)).astype(np.float32), rng.normal(size=n).astype(np.float32)
    x = rng.normal(size=5).astype(np.float32)
    f = bl.FiniteSum(lambda x, a, b: (a @ x - b) ** 2, (a, b))
    value, grad = f.value_and_grad(x)
    wide_a, wide_x = a.astype(np.float64), x.astype(np.float64)
    rest = wide_a @ wide_x - b
    np.testing.assert_allclose(value, np.mean(rest**2), rtol=2e-6)
    np.testing.assert_allclose(grad, 2 * wide_a.T @ rest / n, rtol=1e-5, atol=1e-6 * np.abs(rest).max())


def test_batches_that_vary_in_size_keep_their_digits():
    data = np.full(5000, 0.1, np.float32)
    run = bl.minimize(problem(data), X, bl.optim.GD(0.0), batch=3000, sampler="uniform", steps=3)
    np.testing.assert_allclose(run.history["value"], exact(data)[0], rtol=1.5e-6)


@pytest.mark.parametrize("n", [4096, 4097, 30_000])
def test_large_results_keep_their_digits(n):
    """The sums of large results are doubles in long batches only: their memory is worth more than the last digit."""
    x, data = np.ones(1 << 15, np.float32), np.full(n, 0.1, np.float32)
    f = bl.FiniteSum(lambda x, a: 0.5 * a * (x @ x), data)
    np.testing.assert_allclose(f.grad(x), np.full(x.shape, data[0]), rtol=6e-6)
    first = f.grad(x)
    for options in ({"tile": 1}, {"tile": 50, "threads": 3}):
        np.testing.assert_array_equal(bl.FiniteSum(lambda x, a: 0.5 * a * (x @ x), data, **options).grad(x), first)
