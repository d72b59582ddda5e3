"""Cheap values that a later loop computes again instead of reading them: memory, bits, and where it is not done."""

import numpy as np
import pytest

import burlab as bl


def distances(centres, x):
    return np.sum(np.amin(np.sum((x[:, None, :] - centres) ** 2, -1), -1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_differences_of_all_pairs_are_not_stored(dtype):
    rng = np.random.default_rng(0)
    centres, x = rng.normal(size=(10, 8)).astype(dtype), rng.normal(size=(300, 8)).astype(dtype)
    kernel = bl.compile(bl.grad(distances), centres, x)
    away = x[:, None, :] - centres
    nearest = np.sum(away**2, -1) == np.min(np.sum(away**2, -1), -1, keepdims=True)
    rtol = 1e-12 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(kernel(centres, x), -2 * np.sum(away * nearest[..., None], 0), rtol=rtol, atol=rtol)
    assert kernel.source.count(" - a1;") == 2  # in both loops
    assert kernel.memory["activations"] + kernel.memory["scratch"] < away.nbytes / 2


def test_the_bits_are_those_of_a_value_that_is_stored():
    def loss(x, y):
        z = x - y
        return np.sum(np.exp(np.sum(z * z, -1))) + np.sum(np.tanh(z) * np.max(np.abs(z)))

    x, y = np.random.default_rng(1).normal(size=(2, 400, 6)) * 0.3
    both = [bl.compile(bl.grad(loss, argnums=(0, 1)), x, y, gear=gear)(x, y) for gear in ("compiled", "replay")]
    for some, other in zip(*both, strict=True):
        np.testing.assert_allclose(some, other, rtol=1e-13, atol=1e-13)


def test_what_is_read_otherwise_stays_in_memory():
    def rows(x, y):
        z = x[:, None, :] - y
        return np.sum(z**2, -1), np.sort(z, axis=0), z

    x, y = np.random.default_rng(2).normal(size=(60, 6)), np.random.default_rng(3).normal(size=(9, 6))
    squares, ordered, z = bl.jit(rows)(x, y)
    np.testing.assert_array_equal(z, x[:, None, :] - y)
    np.testing.assert_array_equal(ordered, np.sort(z, axis=0))
    np.testing.assert_allclose(squares, np.sum(z**2, -1), rtol=1e-14)
