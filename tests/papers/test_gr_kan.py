"""The page of GR-KAN: its network is one in NumPy, by the paper's derivatives, and its claims hold."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.papers.pages import method, whole

STEPS, RATE = 20, 0.1


def gradients(leaves: list[Array], x: Array, digits: Array) -> list[Array]:
    """Of the mean loss by weights, biases, numerators and denominators: formulas of section 3.3 of GR-KAN."""
    w1, b1, w2, b2, a, b = leaves
    groups = a.shape[0]
    u = (x @ w1 + b1).reshape(len(x), groups, -1)
    powers = np.stack([u**i for i in range(6)])
    size = np.stack([np.abs(u) ** j for j in range(5)])
    p = np.einsum("gi,i...gc->...gc", a, powers)
    q = 1 + np.einsum("gj,j...gc->...gc", np.abs(b), size[1:])
    h = (p / q).reshape(len(x), -1)
    z = h @ w2 + b2
    e = np.exp(z - z.max(axis=1, keepdims=True))
    g2 = (e / e.sum(axis=1, keepdims=True) - np.eye(10)[digits]) / len(x)
    g = (g2 @ w2.T).reshape(u.shape)
    by_p = np.einsum("gi,i...gc->...gc", a[:, 1:] * np.arange(1, 6), powers[:5])
    by_q = np.sign(u) * np.einsum("gj,j...gc->...gc", np.abs(b) * np.arange(1, 5), size[:4])
    by_a = np.einsum("ngc,ingc->gi", g / q, powers)
    by_b = np.einsum("ngc,jngc->gj", -g * p / q**2, size[1:]) * np.where(b < 0, -1, 1)
    g1 = (g * (by_p / q - p / q**2 * by_q)).reshape(len(x), -1)
    return [x.T @ g1, g1.sum(axis=0), h.T @ g2, g2.sum(axis=0), by_a, by_b]


@pytest.mark.parametrize("name", ["rational, starts as swish", "rational, starts as identity"])
def test_the_network_is_one_in_numpy(name: str):
    page: Any = method("gr_kan")
    x, digits = page.pixels[:30], page.digits[:30]
    start = page.network(0, page.activations[name])
    run = bl.minimize(bl.FiniteSum(page.loss, (x, digits)), start, bl.optim.GD(RATE), steps=STEPS)
    leaves = bl.tree.leaves(start)
    for _ in range(STEPS):
        leaves = [a - RATE * g for a, g in zip(leaves, gradients(leaves, x, digits), strict=True)]
    for got, wanted, first in zip(bl.tree.leaves(run.x), leaves, bl.tree.leaves(start), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)
        assert np.abs(got - first).max() > 1e-5


@pytest.mark.full
def test_learned_activations_train_like_gelu_and_one_accumulator_loses_digits():
    page = whole("gr_kan")
    gelu, *learned = (values[:, -1] for values in page.trials.values())
    assert all(np.all(values > gelu - 0.015) for values in learned)
    assert np.all(page.sums["burlab's sums"][:, -1] < 0.1 * page.sums["one accumulator"][:, -1])
