"""EM against loops in NumPy: a mixture of categorical variables, and a hidden Markov chain summed path by path."""

import itertools
import re
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ShapeError
from burlab.optim import EM
from tests.run.test_sampler import batches

RNG = np.random.default_rng(6)
DATA = RNG.integers(0, 3, size=(60, 5))
MIXTURE = {"pi": np.log(RNG.dirichlet(np.ones(4))), "theta": np.log(RNG.dirichlet(np.ones(3), size=(4, 5)))}


def mixture(x: Any, row: Any) -> Any:
    terms = np.sum(x["theta"][:, np.arange(5), row], axis=1)
    return -bl.logsumexp(x["pi"] + terms)


def mixture_step(pi: Any, theta: Any, rows: Any, lr: float, smoothing: float) -> tuple[Any, Any]:
    """Responsibilities, then counts: Bishop 2006, section 9.3.3."""
    counts, values = np.zeros_like(pi), np.zeros_like(theta)
    for row in rows:
        r = pi * np.prod([theta[:, d, row[d]] for d in range(5)], axis=0)
        r /= r.sum()
        counts += r / len(rows)
        for d in range(5):
            values[:, d, row[d]] += r / len(rows)
    new_pi = (counts + smoothing) / (counts + smoothing).sum()
    new_theta = (values + smoothing) / (values + smoothing).sum(axis=-1, keepdims=True)
    return (1 - lr) * pi + lr * new_pi, (1 - lr) * theta + lr * new_theta


@pytest.mark.parametrize(("batch", "lr", "smoothing"), [(None, 1.0, 0.0), (None, 1.0, 1e-2), (10, 0.3, 1e-3)])
def test_a_mixture_is_a_loop_in_numpy(batch: int | None, lr: float, smoothing: float) -> None:
    run = bl.minimize(bl.FiniteSum(mixture, DATA), MIXTURE, EM(lr, smoothing), batch=batch, seed=4, steps=20)
    pi, theta = np.exp(MIXTURE["pi"]), np.exp(MIXTURE["theta"])
    for rows in batches("reshuffle", 60, batch, 20, seed=4) if batch else [np.arange(60)] * 20:
        pi, theta = mixture_step(pi, theta, DATA[rows], lr, smoothing)
    np.testing.assert_allclose(np.exp(run.x["pi"]), pi, rtol=1e-10)
    np.testing.assert_allclose(np.exp(run.x["theta"]), theta, rtol=1e-9, atol=1e-14)
    assert np.abs(pi - np.exp(MIXTURE["pi"])).max() > 0.01
    if not smoothing:
        assert np.all(np.diff(run.history["value"]) <= 1e-14)


CHAIN = {
    "emit": np.log(RNG.dirichlet(np.ones(3), size=2)),
    "first": np.log(RNG.dirichlet(np.ones(2))),
    "move": np.log(RNG.dirichlet(np.ones(2), size=2)),
}


def chain(x: Any, row: Any) -> Any:
    """-log p of five observations, by forward sums."""
    alpha = x["first"] + x["emit"][:, row[0]]
    for t in range(1, 5):
        alpha = bl.logsumexp(alpha[:, None] + x["move"], axis=0) + x["emit"][:, row[t]]
    return -bl.logsumexp(alpha)


def test_a_hidden_markov_chain_is_a_sum_over_its_paths() -> None:
    """Baum and Welch's step, with counts over all 32 paths of each sequence."""
    run = bl.minimize(bl.FiniteSum(chain, DATA), CHAIN, EM(smoothing=0.0), steps=5)
    p = {name: np.exp(leaf) for name, leaf in CHAIN.items()}
    for _ in range(5):
        counts = {name: np.zeros_like(leaf) for name, leaf in p.items()}
        for row in DATA:
            weights = {}
            for path in itertools.product(range(2), repeat=5):
                w = p["first"][path[0]] * np.prod([p["emit"][s, o] for s, o in zip(path, row, strict=True)])
                weights[path] = w * np.prod([p["move"][a, b] for a, b in itertools.pairwise(path)])
            total = sum(weights.values())
            for path, w in weights.items():
                counts["first"][path[0]] += w / total
                for s, o in zip(path, row, strict=True):
                    counts["emit"][s, o] += w / total
                for a, b in itertools.pairwise(path):
                    counts["move"][a, b] += w / total
        p = {name: count / count.sum(axis=-1, keepdims=True) for name, count in counts.items()}
    for name, leaf in p.items():
        np.testing.assert_allclose(np.exp(run.x[name]), leaf, rtol=1e-9)


def test_a_leaf_without_rows_is_refused() -> None:
    with pytest.raises(ShapeError, match=re.escape("x0['b'] is one number, but EM needs rows of log-probabilities")):
        bl.minimize(lambda x: np.sum(x["a"]) + x["b"], {"a": np.zeros(2), "b": 0.0}, EM())
