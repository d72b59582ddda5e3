"""Scores of samples and networks beside JAX and SciPy."""

import sys

import numpy as np
import pytest
from scipy.special import softmax

import burlab as bl
from burlab.analysis import el2n, grad_sign, grand
from burlab.errors import ArgumentError, ShapeError

rng = np.random.default_rng(7)
A, B = rng.normal(size=(30, 4)), rng.integers(0, 2, 30)
W = [rng.normal(size=(4, 3)) for _ in range(3)]


def loss(w, a, b):
    return np.sum(np.tanh(a @ w)) * (2.0 * b - 1) + np.sum(w**2) * np.sum(a)


def rows(w):
    """Per-sample gradients, by hand."""
    slope = (1 - np.tanh(A @ w) ** 2) * (2.0 * B - 1)[:, None]
    return A[:, :, None] * slope[:, None, :] + 2 * w * A.sum(axis=1)[:, None, None]


def test_scores_are_those_of_their_papers():
    problem = bl.FiniteSum(loss, (A, B))
    norms = [np.linalg.norm(rows(w).reshape(30, -1), axis=1) for w in W]
    np.testing.assert_allclose(grand(problem, W), np.mean(norms, axis=0), rtol=1e-12)
    np.testing.assert_allclose(grand(bl.FiniteSum(loss, (A[:1], B[:1])), W), np.mean(norms, axis=0)[:1], rtol=1e-12)
    agreement = [np.mean(np.abs(np.sign(rows(w)).sum(axis=0))) for w in W]
    np.testing.assert_allclose([grad_sign(problem, w) for w in W], agreement, rtol=1e-12)
    scores = 30 * rng.normal(size=(30, 2))
    np.testing.assert_allclose(
        el2n(scores, B), np.linalg.norm(softmax(scores, axis=1) - np.eye(2)[B], axis=1), rtol=1e-9
    )


def test_blocks_change_nothing(monkeypatch):
    problem = bl.FiniteSum(loss, (A, B))
    whole = grad_sign(problem, W[0]), grand(problem, W)
    monkeypatch.setattr(sys.modules["burlab.analysis.samples"], "_BYTES", 1000)
    assert grad_sign(problem, W[0]) == whole[0]
    np.testing.assert_array_equal(grand(problem, W), whole[1])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: el2n(np.ones(3), np.ones(3, int)), ShapeError, r"scores \(3,\)"),
        (lambda: el2n(np.ones((3, 2)), np.array([0, 1, 2])), ArgumentError, "from 0 to 1"),
        (lambda: grand(bl.FiniteSum(loss, (A, B)), []), ArgumentError, "no start"),
        (lambda: grad_sign(np.sum, np.ones(2)), ArgumentError, "no samples"),
        (lambda: grand(np.sum, [np.ones(2)]), ArgumentError, "no samples"),
    ],
)
def test_scores_of_wrong_shapes_raise(make, error, message):
    with pytest.raises(error, match=message):
        make()
