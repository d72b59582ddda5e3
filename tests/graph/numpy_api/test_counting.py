"""bincount, top_k and unique of known sizes: NumPy's and JAX's, traced, batched and on plain arrays."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from tests.engines import jax_or_skip

X = np.array([[0.5, -1.0, 2.0, 0.5, 2.0], [3.0, 3.0, 3.0, -2.0, 0.0]])
I = np.array([0, 3, 1, 1, 7, -1, 3])  # noqa: E741 - indices


@pytest.mark.parametrize("length", [0, 1, 4, 9])
def test_integers_are_counted_up_to_a_length(length: int) -> None:
    wanted = np.bincount(I[I >= 0], minlength=length)[:length]
    np.testing.assert_array_equal(bl.bincount(I, length=length), wanted)
    np.testing.assert_array_equal(bl.jit(lambda i: bl.bincount(i, length=length))(I), wanted)


def test_weights_are_added_up_with_derivatives() -> None:
    weights = np.arange(7.0)
    wanted = np.bincount(I[I >= 0], weights[I >= 0], minlength=4)[:4]
    np.testing.assert_array_equal(bl.bincount(I, weights, length=4), wanted)
    slopes = bl.grad(lambda w: bl.bincount(I, w, length=4) @ np.array([1.0, 10.0, 100.0, 1000.0]))(weights)
    np.testing.assert_array_equal(slopes, [1, 1000, 10, 10, 0, 0, 1000])


@pytest.mark.parametrize("k", [0, 1, 3, 5])
def test_the_largest_are_jaxs_and_their_derivatives(k: int) -> None:
    jax = jax_or_skip()
    values, places = bl.top_k(X, k)
    theirs = jax.lax.top_k(X, k)
    np.testing.assert_array_equal(values, theirs[0])
    np.testing.assert_array_equal(places, theirs[1])
    weights = np.arange(1.0, k + 1)
    slopes = bl.grad(lambda x: np.sum(bl.top_k(x, k)[0] * weights))(X)
    np.testing.assert_array_equal(slopes, jax.grad(lambda x: jax.numpy.sum(jax.lax.top_k(x, k)[0] * weights))(X))


@pytest.mark.parametrize("size", [0, 1, 2, 4, 6])
@pytest.mark.parametrize("fill", [None, 9.0])
def test_different_entries_are_jaxs(size: int, fill: float | None) -> None:
    jax = jax_or_skip()
    wanted = [jax.numpy.unique(row, size=size, fill_value=fill) for row in X]
    np.testing.assert_array_equal([bl.unique(row, size=size, fill_value=fill) for row in X], wanted)
    np.testing.assert_array_equal(bl.vmap(lambda row: bl.unique(row, size=size, fill_value=fill))(X), wanted)


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda: bl.bincount(X, length=3), "a vector of integers"),
        (lambda: bl.bincount(I, length=-1), "0 or more"),
        (lambda: bl.top_k(X, 6), "takes 0 to 5"),
        (lambda: bl.unique(X, size=-2), "0 or more"),
        (lambda: bl.unique(X[:0], size=2), "fill_value"),
    ],
)
def test_counting_with_wrong_arguments_raises(f: Any, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        f()
