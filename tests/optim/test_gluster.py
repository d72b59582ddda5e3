"""Gradient clustering: step for step in NumPy, unbiased, and with the variance that stratified sampling has."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import GD, AdAdaGrad, ScheduleFreeSGD, gluster
from tests.optim.theory import X0, N, grad, grads, problem

CLUSTERS, EVERY, SWEEPS, LR = 5, 4, 2, 0.05
SMALL = bl.FiniteSum(lambda x, a: np.sum(np.cosh(x - a)), np.arange(6.0)[:, None] * np.ones(3))


def objective(cluster, rows):
    """n^2 times the variance of the estimate."""
    parts = (rows[cluster == c] for c in np.unique(cluster))
    return sum(len(part) * np.sum((part - part.mean(axis=0)) ** 2) for part in parts)


def reassigned(cluster, rows, sweeps=SWEEPS):
    """Each sample in turn to where the objective is least, by trying all."""
    cluster = cluster.copy()
    for _ in range(sweeps):
        for i in range(len(rows)):
            tried = [np.where(np.arange(len(rows)) == i, c, cluster) for c in range(CLUSTERS)]
            cluster = tried[int(np.argmin([objective(new, rows) for new in tried]))]
    return cluster


def drawn(cluster, c, t, each):
    key = bl.random.fold_in(bl.random.key(0), t)
    chosen = []
    for k in range(each):
        priority = bl.random.uniform(bl.random.fold_in(key, c * each + k), (N,))
        chosen.append(int(np.argmax(np.where(cluster == c, priority, -1.0))))
    return chosen


@pytest.mark.parametrize("each", [1, 3])
def test_gluster_takes_the_steps_of_its_paper(each):
    rule = gluster(GD(LR), clusters=CLUSTERS, each=each, every=EVERY, sweeps=SWEEPS)
    run = bl.minimize(problem(), X0, rule, batch=1, steps=7)
    x, cluster = X0, reassigned(np.arange(N) % CLUSTERS, grads(X0))
    for t in range(7):
        if t and t % EVERY == 0:
            cluster = reassigned(cluster, grads(x))
        estimates = [np.mean(cluster == c) * grads(x)[drawn(cluster, c, t, each)].mean(axis=0) for c in range(CLUSTERS)]
        x = x - LR * sum(estimates)
    np.testing.assert_allclose(run.x, x, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(run.state["cluster"], cluster)


def test_gluster_is_unbiased_with_less_variance_than_uniform_draws():
    run = bl.minimize(problem(), X0, gluster(GD(1.0), clusters=CLUSTERS, every=10**6), batch=1)
    cluster, rows = run.state["cluster"], grads(X0)
    variance = objective(cluster, rows) / N**2
    assert variance < 0.9 * rows.var(axis=0).sum() / CLUSTERS
    draws = np.array([[drawn(cluster, c, t, 1)[0] for c in range(CLUSTERS)] for t in range(500)])
    estimates = np.einsum("c,ncd->nd", np.bincount(cluster) / N, rows[draws])
    errors = np.sum((estimates - grad(X0)) ** 2, axis=1)
    assert abs(errors.mean() - variance) < 5 * errors.std() / np.sqrt(len(draws))
    assert np.sum((estimates.mean(axis=0) - grad(X0)) ** 2) < 3 * variance / len(draws)
    run.step()
    np.testing.assert_allclose(X0 - run.x, estimates[0], rtol=1e-9)


@pytest.mark.parametrize("inner", [GD(1e-3), ScheduleFreeSGD(1e-3)], ids=repr)
def test_a_cluster_for_every_sample_is_the_whole_gradient(inner):
    run = bl.minimize(SMALL, np.zeros(3), gluster(inner, clusters=6), batch=2, steps=5)
    whole = bl.minimize(SMALL, np.zeros(3), inner, steps=5)
    np.testing.assert_allclose(run.x, whole.x, rtol=1e-12)
    assert sorted(run.state["cluster"]) == list(range(6))


def test_the_wish_for_a_batch_is_that_of_the_inner_rule():
    rule = gluster(AdAdaGrad(1e-3, eta=0.01), clusters=6)
    run = bl.minimize(SMALL, np.zeros(3), rule, batch=bl.Batch(2), steps=3)
    assert list(run.history["batch"][:2]) == [2, 6]


def test_sample_gradients_are_counted_and_bad_numbers_named():
    run = bl.minimize(problem(), X0, gluster(GD(LR), clusters=CLUSTERS, each=2, every=3), batch=1, steps=4)
    assert list(np.diff(run.history["samples"], prepend=0)) == [100 + 10, 10, 10, 100 + 10]
    with pytest.raises(ArgumentError, match="clusters=101, but there are 100 samples"):
        bl.minimize(problem(), X0, gluster(GD(), clusters=101), batch=1)
    with pytest.raises(ArgumentError, match="each=0"):
        gluster(GD(), each=0)
