"""The page of learned compressible subspaces: its steps are a loop in NumPy, and its claim holds."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.papers import networks
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS, WARM, RATE, BETA, LEAST = 20, 12, 0.1, 0.7, 0.05
Vector = np.ndarray[Any, Any]


def drawn(t: int) -> tuple[float, float]:
    """The place on the line and the density of a step, by the key that `through` gives."""
    key = bl.random.fold_in(bl.random.fold_in(bl.random.key(2), t), -1)
    which, end, inside = bl.random.uniform(key, (3,))
    a = (LEAST if end < 0.5 else 1.0) if which < 0.5 else LEAST + (1 - LEAST) * inside
    return a, a + (1 - a) * max(1 - t / WARM, 0)


def mask_of(k: int, w: Vector, density: float) -> Vector:
    """The first layer is dense; of others the smallest are cut."""
    mask = np.ones(w.size, bool)
    if k > 0:
        mask[np.argsort(np.abs(w).ravel(), kind="stable")[: int((1 - density) * w.size)]] = False
    return mask.reshape(w.shape)


def pull(one: list[Vector], two: list[Vector]) -> list[Vector]:
    """The gradient of the squared cosine by the first."""
    s, p, q = (sum(np.sum(a * b) for a, b in zip(u, v, strict=True)) for u, v in ((one, two), (one, one), (two, two)))
    return [2 * s / (p * q) * b - 2 * s**2 / (p**2 * q) * a for a, b in zip(one, two, strict=True)]


def test_steps_are_a_loop_in_numpy():
    page = method("lcs")
    nets = [bl.nn.MLP([64, 9, 8, 10], key=bl.random.key(k), dtype=np.float64) for k in (3, 4)]
    rule = bl.optim.through(bl.optim.GD(RATE), page.Line(WARM, LEAST, BETA))
    run = bl.minimize(page.problem, dict(zip(("one", "two"), nets, strict=True)), rule, batch=32, seed=2, steps=STEPS)
    one, two = ([leaf.copy() for pair in zip(*networks.parameters(net), strict=True) for leaf in pair] for net in nets)
    places = []
    for t, rows in enumerate(batches("reshuffle", 1300, 32, STEPS, seed=2)):
        a, density = drawn(t)
        places.append(a)
        net = [(1 - a) * u + a * v for u, v in zip(one, two, strict=True)]
        masks = [mask_of(k, w, density) for k, w in enumerate(net[::2])]
        used = [w * m for w, m in zip(net[::2], masks, strict=True)]
        of_weights, of_biases = networks.gradients(used, net[1::2], page.x[rows], page.y[rows])
        g = [leaf for w, m, b in zip(of_weights, masks, of_biases, strict=True) for leaf in (w * m, b)]
        pulls = pull(one, two), pull(two, one)
        one = [u - RATE * ((1 - a) * s + BETA * c) for u, s, c in zip(one, g, pulls[0], strict=True)]
        two = [v - RATE * (a * s + BETA * c) for v, s, c in zip(two, g, pulls[1], strict=True)]
    assert {LEAST, 1.0} < set(places), "both ends are drawn, and places inside"
    for name, wanted in (("one", one), ("two", two)):
        for got, leaf in zip(bl.tree.leaves(run.x[name]), wanted, strict=True):
            np.testing.assert_allclose(got, leaf, rtol=1e-9, atol=1e-13)


@pytest.mark.full
def test_the_line_stands_cuts_that_a_dense_network_does_not():
    trials = whole("lcs").trials
    assert np.all(trials["one line"][:, :3] > trials["dense, then cut"][:, :3])
    assert np.all(trials["one line"] > trials["one network each"] - 0.03)
