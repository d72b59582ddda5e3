"""The page of M-FAC: its steps are those of the dense matrix, and its claim holds."""

import numpy as np
import pytest

import burlab as bl
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS, DAMPING, MEMORY, RATE = 20, 1e-3, 8, 0.1


def test_the_method_is_a_loop_with_the_dense_matrix():
    page = method("m_fac")
    features, labels = page.data_of(0)
    x, last = np.zeros(40), np.zeros((0, 40))
    for t, rows in enumerate(batches("reshuffle", len(labels), 32, STEPS, seed=2)):
        a, b = features[rows], labels[rows]
        g = -(b / (1 + np.exp(b * (a @ x)))) @ a / len(rows) + 1e-4 * x
        last = np.concatenate([last, g[None]])[-MEMORY:]
        fisher = DAMPING * np.eye(40) + last.T @ last / MEMORY
        x = x - RATE / 2 * (1 + np.cos(np.pi * t / page.total)) * np.linalg.solve(fisher, g)
    rule = page.methods["M-FAC, m = 8"]
    run = bl.minimize(page.problem_of(0), np.zeros(40), rule, batch=32, seed=2, steps=STEPS)
    np.testing.assert_allclose(run.x, x, rtol=1e-8, atol=1e-11)


@pytest.mark.full
def test_it_beats_sgd_with_little_memory():
    end = {name: gaps[:, -1] for name, gaps in whole("m_fac").trials.items()}
    assert np.all(end["M-FAC, m = 8"] < 0.7 * end["SGD"])
    assert np.all(end["M-FAC, m = 64"] < 0.7 * end["SGD"])
