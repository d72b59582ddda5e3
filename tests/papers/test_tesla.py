"""The page of TESLA: its gradient is a loop in NumPy, constant in memory, and its claim holds."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ShapeError
from burlab.typing import Array
from tests.papers.pages import method, whole

T, RATE, CLASSES = 6, 0.3, np.array([0, 2, 1, 2])
rng = np.random.default_rng(0)
W0, GOAL, X = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.normal(size=(4, 5))


def loss(w: Array, samples: Array) -> Array:
    return np.mean(bl.nn.cross_entropy(samples @ w, CLASSES))


def shares(scores: Array) -> Array:
    found = np.exp(scores - scores.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def slope(w: Array, samples: Array) -> Array:
    """Of the mean cross-entropy by w."""
    return samples.T @ (shares(samples @ w) - np.eye(3)[CLASSES]) / len(samples)


def mixed(w: Array, samples: Array, along: Array) -> Array:
    """d/dX <along, slope(w, X)>, by hand: slope is X' (p - y) / n, and dp = (diag p - p p') dz."""
    p, z = shares(samples @ w), samples @ along
    pulled = p * (z - np.sum(p * z, axis=1, keepdims=True))
    return ((p - np.eye(3)[CLASSES]) @ along.T + pulled @ w.T) / len(samples)


def tesla(samples: Array, rate: Any) -> tuple[Any, Array, Any]:
    """Value and both gradients, from equations 9 and 10."""
    points = [W0]
    for _ in range(T):
        points.append(points[-1] - rate * slope(points[-1], samples))
    total = np.sum([slope(w, samples) for w in points[:-1]], axis=0)
    away, scale = rate * total + GOAL - W0, np.sum((W0 - GOAL) ** 2)
    by_samples = 2 * rate / scale * np.sum([mixed(w, samples, away) for w in points[:-1]], axis=0)
    return np.sum((points[-1] - GOAL) ** 2) / scale, by_samples, 2 / scale * np.sum(away * total)


def test_twenty_steps_are_a_loop_in_numpy():
    problem = bl.problems.dataset_distillation(loss, [(W0, GOAL)], T)
    run = bl.minimize(problem, {"samples": X, "rate": np.array(RATE)}, bl.optim.GD(0.05))
    samples, rate = X, RATE
    for _ in range(20):
        value, by_samples, by_rate = tesla(samples, rate)
        np.testing.assert_allclose(problem.value(run.x), value, rtol=1e-10)
        samples, rate = samples - 0.05 * by_samples, rate - 0.05 * by_rate
        run.step()
    np.testing.assert_allclose(run.x["samples"], samples, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.x["rate"], rate, rtol=1e-9)


def test_one_step_is_the_exact_gradient():
    """Nothing is left out where no later weights exist, but that of the factor beta."""
    net, page = method("tesla").network(0), method("tesla")
    goal = bl.tree.map(lambda w: w + 0.1, net)
    problem = bl.problems.dataset_distillation(page.synthetic_loss, [(net, goal)], 1)
    x, samples = {"samples": page.images[:10], "rate": np.array(0.3)}, page.images[:10]

    def end(samples: Array) -> Array:
        slopes = bl.grad(page.synthetic_loss)(net, samples)
        return np.sum((bl.tree.ravel(net) - 0.3 * bl.tree.ravel(slopes) - bl.tree.ravel(goal)) ** 2)

    wanted = bl.grad(end)(samples) / np.sum((bl.tree.ravel(net) - bl.tree.ravel(goal)) ** 2)
    np.testing.assert_allclose(problem.grad(x)["samples"], wanted, rtol=1e-9, atol=1e-13)


def test_memory_does_not_grow_with_the_steps():
    x = {"samples": X, "rate": np.array(RATE)}
    runs = [
        bl.minimize(bl.problems.dataset_distillation(loss, [(W0, GOAL)], steps), x, bl.optim.GD(0.1))
        for steps in (3, 50)
    ]
    assert runs[0].memory["activations"] == runs[1].memory["activations"]
    assert runs[0].memory["scratch"] == runs[1].memory["scratch"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"segments": []}, ArgumentError, "segments is"),
        ({"segments": [(W0, W0)]}, ArgumentError, "segment 0 ends where it begins"),
        ({"segments": [(W0, GOAL), (W0, GOAL[:2])]}, ShapeError, "segment 1 has arrays of shapes"),
        ({"segments": [(W0, GOAL), ({"w": W0}, GOAL)]}, ShapeError, "segment 1 has another structure"),
        ({"segments": [(W0, np.nan * W0)]}, ArgumentError, "segment 0 of segments has numbers"),
        ({"segments": [W0]}, ArgumentError, "segment 0 is"),
        ({"steps": 0}, ArgumentError, "steps=0"),
        ({"loss": lambda w: 0.0}, ArgumentError, "loss"),
    ],
)
def test_bad_arguments_are_refused(given, error, message):
    arguments = {"loss": loss, "segments": [(W0, GOAL)], "steps": 3} | given
    with pytest.raises(error, match=message):
        bl.problems.dataset_distillation(**arguments)


def test_other_points_are_refused():
    with pytest.raises(ArgumentError, match='"samples": X, "rate": beta'):
        bl.problems.dataset_distillation(loss, [(W0, GOAL)], 3).value(X)


@pytest.mark.full
def test_memory_is_constant_and_ten_samples_teach_more():
    page = whole("tesla")
    assert np.all(page.accuracies[:, 1] > page.accuracies[:, 0] + 0.05)
    assert np.ptp(page.trials["TESLA"]) == 0
    assert page.trials["unrolled"][0, -1] > 5 * page.trials["TESLA"][0, -1]
