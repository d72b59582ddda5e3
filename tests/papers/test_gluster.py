"""The page of gradient clustering: its steps are a loop in NumPy, and its claim holds."""

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.papers.pages import method, whole

CLUSTERS, EVERY, STEPS, RATE = 4, 8, 12, 0.5


def sample_gradients(x: Array, images: Array, labels: Array) -> Array:
    """Of the cross entropy, shape (n, 64, 10)."""
    scores = images @ x
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[np.arange(len(labels)), labels] -= 1
    return images[:, :, None] * shares[:, None, :]


def objective(cluster: Array, rows: Array) -> float:
    parts = (rows[cluster == c] for c in np.unique(cluster))
    return float(sum(len(part) * np.sum((part - part.mean(axis=0)) ** 2) for part in parts))


def moved(cluster: Array, rows: Array) -> Array:
    """Each sample in turn to where the objective is least, found by computing it anew for every cluster."""
    cluster = cluster.copy()
    for i in range(len(rows)):
        tried = [np.where(np.arange(len(rows)) == i, c, cluster) for c in range(CLUSTERS)]
        cluster = tried[int(np.argmin([objective(new, rows) for new in tried]))]
    return cluster


def drawn(cluster: Array, c: int, t: int) -> int:
    """The sample of cluster c at step t: the one with the largest number of the step's key."""
    key = bl.random.fold_in(bl.random.fold_in(bl.random.key(0), t), c)
    return int(np.argmax(np.where(cluster == c, bl.random.uniform(key, (len(cluster),)), -1.0)))


def test_the_method_is_a_loop_in_numpy():
    page = method("gluster")
    images, labels = (part[:40] for part in page.digits_of(0, 12))
    rule = bl.optim.gluster(bl.optim.GD(RATE), clusters=CLUSTERS, every=EVERY, sweeps=1)
    run = bl.minimize(page.problem_of((images, labels)), np.zeros((64, 10)), rule, batch=1, steps=STEPS)
    x, cluster = np.zeros((64, 10)), np.arange(40) % CLUSTERS
    for t in range(STEPS):
        rows = sample_gradients(x, images, labels)
        if t % EVERY == 0:
            cluster = moved(cluster, (rows + 1e-3 * x).reshape(40, -1))
        estimate = sum(np.mean(cluster == c) * rows[drawn(cluster, c, t)] for c in range(CLUSTERS))
        x = x - RATE * (estimate + 1e-3 * x)
    np.testing.assert_array_equal(run.state["cluster"], cluster)
    np.testing.assert_allclose(run.x, x, rtol=1e-9, atol=1e-12)


@pytest.mark.full
def test_clusters_have_less_variance_and_most_where_data_are_redundant():
    copies, different = whole("gluster").trials["20 different digits"], whole("gluster").trials["240 different digits"]
    assert np.all(copies < 1)
    assert np.all(different < 1)
    assert np.all(copies[:, -1] < 0.5 * different[:, -1])
