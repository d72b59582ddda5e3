"""The page of Monarch matrices: its network is one in NumPy, and its claim holds."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.papers.pages import method, whole

STEPS, RATE = 20, 0.1


def gradients(net: Any, x: Array, digits: Array) -> list[Array]:
    """Of the mean loss: by the dense matrix of the middle layer, then by its factors."""
    (w1, b1), (right, left, b2), (w3, b3) = net
    middle = np.einsum("rks,kpr->rspk", right, left)
    shape, matrix = middle.shape, middle.reshape(w1.shape[1], w3.shape[0])
    u1 = x @ w1 + b1
    h1 = np.maximum(u1, 0)
    u2 = h1 @ matrix + b2
    h2 = np.maximum(u2, 0)
    z = h2 @ w3 + b3
    p = np.exp(z - z.max(axis=1, keepdims=True))
    g3 = (p / p.sum(axis=1, keepdims=True) - np.eye(10)[digits]) / len(x)
    g2 = (g3 @ w3.T) * (u2 > 0)
    g1 = (g2 @ matrix.T) * (u1 > 0)
    slices = (h1.T @ g2).reshape(shape)
    factors = [np.einsum("rspk,kpr->rks", slices, left), np.einsum("rspk,rks->kpr", slices, right)]
    return [x.T @ g1, g1.sum(axis=0), *factors, g2.sum(axis=0), h2.T @ g3, g3.sum(axis=0)]


def test_the_network_is_one_in_numpy():
    page = method("monarch")
    x, digits = page.pixels[:30].astype(np.float64), page.digits[:30]
    start = bl.tree.map(lambda a: a.astype(np.float64), page.network(0, page.middles["Monarch"]))
    run = bl.minimize(bl.FiniteSum(page.loss, (x, digits)), start, bl.optim.GD(RATE), steps=STEPS)
    leaves, structure = bl.tree.flatten(start)
    for _ in range(STEPS):
        net = bl.tree.unflatten(structure, leaves)
        parts = [list(bl.tree.leaves(layer)) for layer in net]
        leaves = [a - RATE * g for a, g in zip(leaves, gradients(parts, x, digits), strict=True)]
    for got, wanted, first in zip(bl.tree.leaves(run.x), leaves, bl.tree.leaves(start), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)
        assert np.abs(got - first).max() > 1e-4


def test_the_fourier_transform_is_exact():
    page = method("monarch")
    got = page.fourier(page.signal[page.by_remainder])
    np.testing.assert_allclose(got, np.fft.fft(page.signal), atol=1e-12)


@pytest.mark.full
def test_monarch_reaches_the_accuracy_of_dense_layers_with_a_tenth_of_the_numbers():
    page = whole("monarch")
    dense, monarch, projected = (values[:, -1] for values in page.trials.values())
    assert np.all(monarch > dense - 0.015)
    assert np.all(projected > dense - 0.015)
    dense_numbers, numbers = (bl.nn.count(middle(bl.random.key(0))) for middle in page.middles.values())
    assert numbers < dense_numbers / 10
