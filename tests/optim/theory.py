"""The problem on which bounds of papers are checked: logistic regression with 100 samples of very different size."""

import numpy as np

import burlab as bl

N, D, MU = 100, 20, 0.05
_rng = np.random.default_rng(4)
FEATURES = _rng.normal(size=(N, D)) * np.exp(0.5 * _rng.normal(size=(N, 1))) / 2
LABELS = np.sign(FEATURES @ _rng.normal(size=D) + 0.5 * _rng.normal(size=N))
L = float(np.linalg.eigvalsh(FEATURES.T @ FEATURES / (4 * N))[-1]) + MU
SMOOTHNESS = np.sum(FEATURES**2, axis=1) / 4 + MU  # of each sample, with the regularizer
L_MAX, L_MEAN_SQUARE = float(SMOOTHNESS.max()), float(np.sqrt(np.mean(SMOOTHNESS**2)))
X0 = np.zeros(D)


def loss(x, a, b):
    return np.logaddexp(0, -b * (a @ x))


def problem():
    return bl.FiniteSum(loss, (FEATURES, LABELS), lambda x: MU / 2 * (x @ x))


def grads(x):
    """The gradients of all samples, regularizer included, shape (N, D)."""
    return -(LABELS / (1 + np.exp(LABELS * (FEATURES @ x))))[:, None] * FEATURES + MU * x


def value(x):
    return float(np.mean(np.logaddexp(0, -LABELS * (FEATURES @ x))) + MU / 2 * (x @ x))


def grad(x):
    return grads(x).mean(axis=0)


def minimizer():
    """By Newton's method."""
    x = X0
    for _ in range(30):
        s = 1 / (1 + np.exp(LABELS * (FEATURES @ x)))
        h = (FEATURES * (s * (1 - s))[:, None]).T @ FEATURES / N + MU * np.eye(D)
        x = x - np.linalg.solve(h, grad(x))
    return x


def descended(lr, k):
    """|x_k - x*|^2 of gradient descent: estimates without bias follow it on average, so a longer step ends nearer."""
    x = X0
    for _ in range(k):
        x = x - lr * grad(x)
    return np.sum((x - STAR) ** 2)


STAR = minimizer()
GAP = value(X0) - value(STAR)
