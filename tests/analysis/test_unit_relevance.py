"""Relevance by its formula in NumPy, and networks without units against masks of these."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.analysis import prune, relevance
from burlab.errors import ArgumentError, ShapeError

rng = np.random.default_rng(4)
X, CLASSES = rng.normal(size=(6, 5)), np.array([0, 2, 1, 1, 0, 2])


def mlp(**options: Any) -> bl.nn.MLP:
    return bl.nn.MLP([5, 7, 6, 3], key=bl.random.key(2), dtype=np.float64, **options)


def by_hand(net: bl.nn.MLP, x: Any, target: int, epsilon: float, act: Any) -> list[Any]:
    """Of one sample, entry by entry: the relevance of the inputs of each layer, and of its output."""
    inputs, sums = [x], []
    for layer in net.layers:
        bias = 0 if layer.bias is None else layer.bias
        sums.append(inputs[-1] @ layer.weight + bias)
        inputs.append(act(sums[-1]))
    r = np.where(np.arange(len(sums[-1])) == target, sums[-1], 0.0)
    found = [r]
    for layer, a, z in zip(net.layers[::-1], inputs[-2::-1], sums[::-1], strict=True):
        passed = np.zeros(len(a))
        for j in range(len(a)):
            for k in range(len(z)):
                passed[j] += a[j] * layer.weight[j, k] * r[k] / (z[k] + (epsilon if z[k] >= 0 else -epsilon))
        r = passed
        found.insert(0, r)
    return found


@pytest.mark.parametrize("epsilon", [1e-6, 0.3])
@pytest.mark.parametrize(("activation", "act"), [("relu", lambda z: np.maximum(z, 0)), ("tanh", np.tanh)])
def test_relevance_is_that_of_the_formula(activation: str, act: Any, epsilon: float) -> None:
    net = mlp(activation=activation)
    found = relevance(net, X, CLASSES, epsilon=epsilon)
    assert list(found) == ["input", "layers.0", "layers.1", "layers.2"]
    for row, target in enumerate(CLASSES):
        for name, wanted in zip(found, by_hand(net, X[row], target, epsilon, act), strict=True):
            np.testing.assert_allclose(found[name][row], wanted, rtol=1e-9, atol=1e-12)


def test_without_biases_each_layer_has_the_score() -> None:
    net = mlp(bias=False)
    scores = net(X)[np.arange(6), CLASSES]
    for found in relevance(net, X, CLASSES, epsilon=1e-13).values():
        np.testing.assert_allclose(found.sum(axis=1), scores, rtol=1e-8)


def test_a_network_without_units_is_the_masked_one() -> None:
    net = mlp()
    scores = {"layers.0": rng.random(7), "layers.1": rng.random(6)}
    small = prune(net, scores, keep=0.6)
    cut = np.sort(np.concatenate([*scores.values()]))[-8]
    a = np.maximum(X @ net.layers[0].weight + net.layers[0].bias, 0) * (scores["layers.0"] >= cut)
    b = np.maximum(a @ net.layers[1].weight + net.layers[1].bias, 0) * (scores["layers.1"] >= cut)
    np.testing.assert_allclose(small(X), b @ net.layers[2].weight + net.layers[2].bias, rtol=1e-12)
    assert sum(layer.weight.shape[1] for layer in small.layers[:-1]) == 8


def test_a_layer_keeps_one_unit_and_ties_go_to_the_first() -> None:
    small = prune(mlp(bias=False), {"layers.0": np.ones(7), "layers.1": np.zeros(6)}, keep=0.25)
    assert [layer.weight.shape for layer in small.layers] == [(5, 3), (3, 1), (1, 3)]
    np.testing.assert_array_equal(small.layers[0].weight, mlp(bias=False).layers[0].weight[:, :3])


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: relevance(3, X, 0), ArgumentError, "model of relevance is 3, expected a layer"),  # type: ignore[arg-type]
        (lambda: relevance(mlp(), X, 3), ArgumentError, "targets of relevance are not all integers from 0 to 2"),
        (lambda: relevance(mlp(), X, [0, 1]), ShapeError, r"targets of shape \(2,\) for scores of shape \(6, 3\)"),
        (lambda: relevance(mlp(), X[0], 0), ShapeError, r"x of relevance has shape \(5,\)"),
        (lambda: relevance(mlp(), X, 0, epsilon=0.0), ArgumentError, "epsilon of relevance"),
        (lambda: relevance(bl.nn.RMSNorm(5, dtype=np.float64), X, 0), ArgumentError, "none for RMSNorm at itself"),
        (lambda: relevance(bl.nn.Dropout(0.1), X, 0), ArgumentError, r"found no bl\.nn\.Linear in a Dropout"),
        (lambda: prune(bl.nn.Linear(2, 2, key=bl.random.key(0)), {}, 0.5), ArgumentError, "model of prune is"),  # type: ignore[arg-type]
        (lambda: prune(mlp(), {"layers.0": np.ones(7)}, 0.5), ArgumentError, r"scores of prune have none of layers\.1"),
        (lambda: prune(mlp(), {"layers.0": np.ones(6)}, 0.5), ShapeError, r"\(6,\), expected \(7,\)"),
        (lambda: prune(mlp(), {"layers.0": np.ones(7), "layers.1": np.ones(6)}, 0.0), ArgumentError, "keep of prune"),
    ],
)
def test_wrong_arguments_are_refused(call: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind, match=text):
        call()
