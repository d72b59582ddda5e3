"""SophiaG: step for step in NumPy with labels drawn by the samples' keys, and the diagonal that it estimates."""

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError
from burlab.optim import SophiaG
from tests.optim.theory import FEATURES, LABELS, MU, X0, D, N, grads, loss

RULE = SophiaG(0.02, b1=0.8, b2=0.9, eps=1e-3, gamma=0.5, weight_decay=0.1, every=3)


def resampled(x, a, b, key):
    drawn = np.where(bl.random.uniform(key, (), x.dtype) < bl.sigmoid(a @ x), 1.0, -1.0)
    return loss(x, a, drawn)


def problem(**options):
    data = (FEATURES, LABELS)
    return bl.FiniteSum(loss, data, lambda x: MU / 2 * (x @ x), resampled=resampled, **options)


def drawn_grads(x, key):
    """Of all samples, each with the label that the model draws by the key of its place, without the regularizer."""
    uniform = np.array([bl.random.uniform(bl.random.fold_in(key, i), ()) for i in range(N)])
    labels = np.where(uniform < 1 / (1 + np.exp(-FEATURES @ x)), 1.0, -1.0)
    return -(labels / (1 + np.exp(labels * (FEATURES @ x))))[:, None] * FEATURES


def test_sophia_g_takes_the_steps_of_its_paper():
    run = bl.minimize(problem(), X0, RULE, steps=7, seed=5)
    x, m, h = X0, np.zeros(D), np.zeros(D)
    for t in range(7):
        m = 0.8 * m + 0.2 * grads(x).mean(axis=0)
        step = np.clip(m / (1 - 0.8 ** (t + 1)) / np.maximum(0.5 * h, 1e-3), -1, 1) + 0.1 * x
        if t % 3 == 0:
            g = drawn_grads(x, bl.random.fold_in(bl.random.key(5), t)).mean(axis=0)
            h = 0.9 * h + 0.1 * N * g * g
        x = x - 0.02 * step
    np.testing.assert_allclose(run.x, x, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(run.state["h"], h, rtol=1e-10)
    assert run.counts["samples"] == 7 * N + 3 * N


def test_the_mean_of_the_estimate_is_the_diagonal_of_the_gauss_newton_matrix():
    """Of a logistic regression, that of the Hessian without the regularizer: within 5 standard deviations."""
    rule = SophiaG(0.0, b2=0.0, every=1)
    start = 0.3 * np.ones(D)
    run, drawn = bl.minimize(problem(), start, rule), []
    for _ in range(1500):
        run.step()
        drawn.append(run.state["h"])
    s = 1 / (1 + np.exp(-FEATURES @ start))
    diagonal = np.mean((s * (1 - s))[:, None] * FEATURES**2, axis=0)
    deviation = np.std(drawn, axis=0) / np.sqrt(len(drawn))
    assert np.all(np.abs(np.mean(drawn, axis=0) - diagonal) < 5 * deviation)
    assert np.all(deviation > 0)


def test_sophia_g_takes_weighted_samples_and_parts_of_x():
    p = np.linspace(1, 2, N) / np.linspace(1, 2, N).sum()
    run = bl.minimize(problem(), X0, RULE, batch=8, sampler=p, steps=4)
    assert np.isfinite(run.x).all()
    whole = bl.minimize(problem(), X0, RULE, batch=8, steps=4).x
    split = bl.FiniteSum(
        lambda x, a, b: loss(x["w"], a, b) + 0 * x["b"][0],
        (FEATURES, LABELS),
        lambda x: MU / 2 * (x["w"] @ x["w"]),
        resampled=lambda x, a, b, key: resampled(x["w"], a, b, key) + 0 * x["b"][0],
    )
    tree = {"w": X0, "b": np.zeros(1)}
    part = bl.minimize(split, tree, RULE, batch=8, steps=4, trainable={"w": True, "b": False})
    np.testing.assert_allclose(part.x["w"], whole, rtol=1e-12)


def test_a_problem_without_such_labels_is_refused():
    with pytest.raises(ArgumentError, match="resampled"):
        bl.minimize(bl.FiniteSum(loss, (FEATURES, LABELS)), X0, SophiaG(), steps=1)
    with pytest.raises(ArgumentError, match="resampled cannot be called with x, a sample and a key"):
        bl.FiniteSum(loss, (FEATURES, LABELS), resampled=loss)
    with pytest.raises(ArgumentError, match="every of SophiaG is 0"):
        SophiaG(every=0)
