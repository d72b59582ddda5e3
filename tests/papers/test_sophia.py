"""The page of Sophia: its steps are loops in NumPy and JAX's Hessian products, and its claim holds."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.typing import Array
from tests.engines import jax_or_skip
from tests.papers.pages import method, whole

STEPS, RATE = 12, 0.03


def logits(jnp: Any, x: Any, images: Any) -> Any:
    return jnp.tanh(images @ x[:768].reshape(64, 12)) @ x[768:].reshape(12, 10)


@pytest.mark.parametrize("name", ["SophiaG", "SophiaH"])
def test_the_method_is_a_loop_in_jax(name: str):
    jax = jax_or_skip()
    jnp, page = jax.numpy, method("sophia")
    images, labels = page.data[0][:30].astype(np.float64), page.data[1][:30]
    start = 0.3 * np.random.default_rng(0).normal(size=768 + 120)

    def of_sample(x: Any, image: Any, label: Any) -> Any:
        return bl.nn.cross_entropy(logits(np, x, image), label)

    def resampled(x: Any, image: Any, label: Any, key: Any) -> Any:
        return page.resampled(lambda image: logits(np, x, image), image, label, key)

    def loss(x: Any, targets: Any) -> Any:
        scores = logits(jnp, x, images)
        return jnp.mean(jax.scipy.special.logsumexp(scores, axis=1) - scores[jnp.arange(30), targets])

    def drawn(x: Array, key: Array) -> Array:
        """The labels that the model draws: of each sample by the key of its place."""
        scores = logits(np, x, images)
        shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        return np.array([bl.random.choice(bl.random.fold_in(key, i), 10, p=shares[i]) for i in range(30)])

    gradient = jax.grad(loss)
    x, m, h = start, np.zeros(888), np.zeros(888)
    gamma, floor = (0.05, 1e-8) if name == "SophiaG" else (0.01, 1e-8)
    for t in range(STEPS):
        key = bl.random.fold_in(bl.random.key(0), t)
        m = 0.965 * m + 0.035 * np.asarray(gradient(x, labels))
        rate = RATE / 2 * (1 + np.cos(np.pi * t / page.total))
        used = h  # the estimate of this step counts from the next one on
        if t % 10 == 0:
            if name == "SophiaG":
                h = 0.99 * h + 0.01 * 30 * np.asarray(gradient(x, drawn(x, key))) ** 2
            else:
                u = np.asarray(bl.random.rademacher(key, (888,), np.float64))
                h = 0.99 * h + 0.01 * u * np.asarray(jax.jvp(lambda x: gradient(x, labels), (x,), (u,))[1])
        x = x - rate * np.clip(m / (1 - 0.965 ** (t + 1)) / np.maximum(gamma * used, floor), -1, 1)
    problem = bl.FiniteSum(of_sample, (images, labels), resampled=resampled)
    run = bl.minimize(problem, start, page.methods[name], steps=STEPS)
    np.testing.assert_allclose(run.x, x, rtol=1e-8, atol=1e-11)


@pytest.mark.full
def test_sophia_is_no_faster_than_adam_here_and_curvature_matters_little():
    trials = whole("sophia").trials
    middle, end = ({name: losses[:, k] for name, losses in trials.items()} for k in (9, -1))
    assert np.all(middle["SophiaG"] > middle["Adam"])
    assert 0.5 < np.mean(end["SophiaG"]) / np.mean(end["Adam"]) < 2
    assert 0.5 < np.mean(end["SophiaG"]) / np.mean(end["without curvature"]) < 2
