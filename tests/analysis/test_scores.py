"""Scores of samples and networks beside JAX and SciPy."""

import sys

import numpy as np
import pytest
from scipy.special import softmax

import burlab as bl
from burlab.analysis import data_scores, el2n, grad_sign, grand, herding
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


def test_herding_is_the_greedy_choice_by_brute_force():
    points = rng.normal(size=(40, 5)) + 3
    chosen: list[int] = []
    for _ in range(25):
        left = [i for i in range(40) if i not in chosen]
        chosen.append(min(left, key=lambda i: np.linalg.norm(points.mean(0) - points[[*chosen, i]].mean(0))))
    assert herding(points, 25).tolist() == chosen
    assert sorted(herding(points, 40)) == list(range(40))


def test_herding_of_equal_norms_follows_the_weights_of_welling():
    points = rng.normal(size=(200, 6)) + 0.5
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    mean = points.mean(axis=0)
    w, left, order = mean, np.ones(200, bool), []
    for _ in range(20):
        i = int(np.argmax(np.where(left, points @ w, -np.inf)))
        w, left[i] = w + mean - points[i], False
        order.append(i)
    assert herding(points, 20).tolist() == order


def test_data_scores_are_distances_to_directions():
    cluster = pytest.importorskip("sklearn.cluster")
    points = np.concatenate([8 * np.eye(3)[k] + rng.normal(size=(30, 3)) for k in range(3)])
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    centers = cluster.KMeans(3, n_init=10, tol=0.0, random_state=0).fit(unit).cluster_centers_
    cosines = unit @ (centers / np.linalg.norm(centers, axis=1, keepdims=True)).T
    np.testing.assert_allclose(data_scores(1e200 * points, 3), 1 - cosines.max(axis=1), rtol=1e-9, atol=1e-14)


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
        (lambda: herding(np.ones(3), 1), ShapeError, r"points of herding has shape \(3,\)"),
        (lambda: herding(np.ones((3, 2)), 4), ArgumentError, "count=4 is not a whole number from 1 to 3"),
        (lambda: herding([[1.0], [np.inf]], 1), ArgumentError, "row 1 of points of herding"),
        (lambda: data_scores(np.ones((3, 2)), 0), ArgumentError, "prototypes=0"),
        (lambda: data_scores([[1.0, 2.0], [0.0, 0.0]], 1), ArgumentError, "row 1 of points of data_scores is 0"),
        (lambda: grand(np.sum, [np.ones(2)]), ArgumentError, "no samples"),
    ],
)
def test_scores_of_wrong_shapes_raise(make, error, message):
    with pytest.raises(error, match=message):
        make()
