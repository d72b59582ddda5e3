"""The page of density-based pruning: its quadratic program against SciPy's, and its claim."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.papers.pages import method, whole


def test_sizes_are_the_minimum_that_scipy_finds():
    page, rng = method("density_pruning"), np.random.default_rng(1)
    points = rng.normal(size=(300, 5)) + 3 * rng.normal(size=(6, 5))[rng.integers(0, 6, 300)]
    labels, centers = page.clustered(points, 6)
    sizes = np.bincount(labels, minlength=6)
    rows = points / np.linalg.norm(points, axis=1, keepdims=True)
    intra = np.array([np.mean(1 - rows[labels == j] @ centers[j]) for j in range(6)])
    inter = np.array([np.mean(np.sort(1 - centers @ centers[j])[1:4]) for j in range(6)])
    shares = np.exp(intra * inter / 0.1) / np.sum(np.exp(intra * inter / 0.1))
    found = minimize(
        lambda n: np.sum((n - 120 * shares) ** 2),
        np.full(6, 20.0),
        jac=lambda n: 2 * (n - 120 * shares),
        bounds=[(1, size) for size in sizes],
        constraints={"type": "eq", "fun": lambda n: n.sum() - 120},
        options={"ftol": 1e-14, "maxiter": 500},
    ).x
    kept = page.sizes_kept(points, labels, centers, 120, nearest=3)
    np.testing.assert_allclose(kept, found, atol=0.501)
    chosen = page.farthest(points, labels, centers, kept)
    assert len(set(chosen)) == kept.sum()
    for j in range(6):
        inside, away = chosen[labels[chosen] == j], 1 - rows @ centers[j]
        left = np.setdiff1d(np.flatnonzero(labels == j), inside)
        assert len(inside) == kept[j]
        assert not len(left) or away[inside].min() >= away[left].max()


@pytest.mark.full
def test_density_wins_where_clusters_keep_several_samples():
    end = {name: accuracy[:, -1] for name, accuracy in whole("density_pruning").trials.items()}
    assert np.all(end["density"] > end["random"])
    assert np.all(end["density"] > end["same share"])
