"""`bl.linalg.svd`: the bounds of Halko, Martinsson and Tropp, and NumPy's numbers where these are exact."""

import re
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError

RNG = np.random.default_rng(7)
M, N, K = 60, 40, 5
LEFT, RIGHT = np.linalg.qr(RNG.normal(size=(M, N)))[0], np.linalg.qr(RNG.normal(size=(N, N)))[0]


def matrix(spectrum: Any) -> Any:
    return (LEFT * spectrum) @ RIGHT.T


SLOW = 1.0 / np.sqrt(np.arange(1, N + 1))
A = matrix(SLOW)


def distances(power: int, p: int, keys: int = 20) -> Any:
    found = []
    for k in range(keys):
        u, s, vt = bl.linalg.svd(A, K, key=bl.random.key(k), oversampling=p, power=power)
        found.append(np.linalg.norm((u * s) @ vt - A, 2))
    return np.array(found)


def test_the_distance_is_within_the_bounds() -> None:
    """Theorem 10.6 with 9.3 without power iterations, Corollary 10.10 with them; and no less than the best."""
    p = 5
    plain = (1 + np.sqrt(K / (p - 1))) * SLOW[K] + np.e * np.sqrt(K + p) / p * np.sqrt(np.sum(SLOW[K:] ** 2))
    none, two = distances(0, p), distances(2, p)
    assert none.mean() <= plain + SLOW[K]
    factor = (1 + np.sqrt(K / (p - 1)) + np.e * np.sqrt(K + p) / p * np.sqrt(N - K)) ** (1 / 5)
    assert two.mean() <= (factor + 1) * SLOW[K]
    assert (two >= SLOW[K] * (1 - 1e-12)).all()
    assert two.mean() < none.mean()
    assert two.mean() < 1.1 * SLOW[K]  # which one product alone does not reach
    assert none.mean() > 1.1 * SLOW[K]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_matrix_of_low_rank_is_found(dtype: Any) -> None:
    low = matrix(np.where(np.arange(N) < K, 2.0 ** -np.arange(N), 0.0)).astype(dtype)
    for x in (low, low.T):
        u, s, vt = bl.linalg.svd(x, K, key=bl.random.key(1))
        assert {y.dtype for y in (u, s, vt)} == {np.dtype(dtype)}
        eps = 50 * np.finfo(dtype).eps
        np.testing.assert_allclose((u * s) @ vt, x, atol=eps)
        np.testing.assert_allclose(s, np.linalg.svd(x)[1][:K], rtol=10 * eps)
        np.testing.assert_allclose(u.T @ u, np.eye(K), atol=eps)
        np.testing.assert_allclose(vt @ vt.T, np.eye(K), atol=eps)


def test_with_all_columns_it_is_numpys() -> None:
    s = bl.linalg.svd(A, N, key=bl.random.key(0))[1]
    np.testing.assert_allclose(s, np.linalg.svd(A)[1], rtol=1e-12)


def test_randomized_svd_is_traced_and_differentiated() -> None:
    """The gradient of the sum of singular values of a matrix of rank K is u vt."""
    low = matrix(np.where(np.arange(N) < K, 2.0 ** -np.arange(N), 0.0))
    key = bl.random.key(2)
    u, s, vt = bl.linalg.svd(low, K, key=key)
    for a, b in zip(bl.jit(lambda x, k: bl.linalg.svd(x, K, key=k))(low, key), (u, s, vt), strict=True):
        np.testing.assert_array_equal(a, b)
    got = bl.grad(lambda x: np.sum(bl.linalg.svd(x, K, key=key, oversampling=0, power=1)[1]))(low)
    np.testing.assert_allclose(got, u @ vt, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: bl.linalg.svd(A, 41, key=bl.random.key(0)), ArgumentError, "rank=41 is more than a matrix"),
        (lambda: bl.linalg.svd(A, 0, key=bl.random.key(0)), ArgumentError, "rank"),
        (lambda: bl.linalg.svd(A, 2, key=bl.random.key(0), power=-1), ArgumentError, "power"),
        (lambda: bl.linalg.svd(A[0], 1, key=bl.random.key(0)), ShapeError, "has shape (40,), expected a matrix"),
        (lambda: bl.linalg.svd(A * 1j, 1, key=bl.random.key(0)), DTypeError, "is complex"),
    ],
)  # fmt: skip
def test_randomized_svd_with_wrong_arguments_raises(call: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=re.escape(text)):
        call()
