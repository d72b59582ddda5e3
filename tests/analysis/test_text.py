"""Results as text: a few aligned lines, never the arrays that they hold."""

import numpy as np
import pytest

import burlab as bl

PROBLEM = bl.FiniteSum(lambda x, a: (x @ a) ** 2, np.random.default_rng(0).normal(size=(500, 3)))


def boundary():
    grid = np.linspace(0, 1, 50)
    features = np.random.default_rng(1).uniform(size=(200, 2))
    return bl.analysis.Boundary(grid, grid, np.zeros((50, 50)), features, np.arange(200) % 2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: bl.analysis.spectrum(PROBLEM, np.ones(3)), ("largest", "smallest", "trace", "exact")),
        (lambda: bl.analysis.samples(PROBLEM, np.ones(3)), ("norms", "variance", "noise scale", "500")),
        (boundary, ("50 x 50", "0: 100, 1: 100")),
        (lambda: bl.compile(lambda x: np.sum(x**2), np.ones(3)).profile(np.ones(3)), ("phase", "bytes")),
        (
            lambda: bl.sweep(bl.problems.booth(), np.zeros(2), bl.optim.GD(), {"lr": [0.1, 0.01]}, steps=5),
            ("2 of 2 runs done", "optimizer", "0.01"),
        ),
    ],
    ids=["spectrum", "samples", "boundary", "profile", "sweep"],
)
def test_a_result_is_a_table(make, words):
    text = str(make())
    assert all(word in text for word in words), text
    assert "array(" not in text
    assert max(map(len, text.splitlines())) < 160
    assert len(text.splitlines()) < 20
