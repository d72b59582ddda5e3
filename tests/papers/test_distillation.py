"""The page of knowledge distillation: its gradient steps are a loop in NumPy, and its claim holds."""

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS, RATE, T, WEIGHT = 20, 0.1, 4.0, 0.9


def softmax(scores: Array) -> Array:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def test_the_method_is_a_loop_in_numpy():
    page = method("distillation")
    images, labels = page.images[:50].astype(np.float64), page.labels[:50]
    teacher = np.random.default_rng(0).normal(size=(50, 10)) * 3
    net = bl.nn.Linear(64, 10, key=bl.random.key(0), dtype=np.float64)
    problem = bl.FiniteSum(page.soft, (images, labels, teacher))
    run = bl.minimize(problem, net, bl.optim.GD(RATE), batch=8, seed=1, steps=STEPS)
    w, b = np.asarray(net.weight), np.asarray(net.bias)
    w = w if w.shape == (64, 10) else w.T
    for rows in batches("reshuffle", 50, 8, STEPS, seed=1):
        scores = images[rows] @ w + b
        slopes = WEIGHT * T * (softmax(scores / T) - softmax(teacher[rows] / T))
        slopes += (1 - WEIGHT) * (softmax(scores) - np.eye(10)[labels[rows]])
        w, b = w - RATE * images[rows].T @ slopes / 8, b - RATE * slopes.mean(axis=0)
    got = np.asarray(run.x.weight)
    np.testing.assert_allclose(got if got.shape == (64, 10) else got.T, w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.x.bias, b, rtol=1e-9, atol=1e-12)


@pytest.mark.full
def test_a_teacher_helps_where_labels_are_few():
    trials = whole("distillation").trials
    assert np.all(trials["teacher"][:, 0] > trials["labels"][:, 0] + 0.05)
    assert np.all(trials["teacher, all samples"][:, 0] > trials["labels"].max(axis=1))
