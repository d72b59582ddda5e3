"""`with_rule`: guided backpropagation, relevance propagation and sampled products against NumPy by hand."""

import re
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ShapeError
from burlab.nn.ruled_layers import RuledLayer

nn = bl.nn
RNG = np.random.default_rng(11)
NET = nn.MLP([5, 8, 6, 3], key=bl.random.key(2), dtype=np.float64)
X = RNG.normal(size=5)
EPSILON, GAMMA = 1e-3, 0.25


def forward(x: Any) -> list[Any]:
    """What enters each Linear layer of NET, and the result."""
    entries = [x]
    for k, layer in enumerate(NET.layers):
        z = entries[-1] @ layer.weight + layer.bias
        entries.append(np.maximum(z, 0.0) if k < 2 else z)
    return entries


def guided(g: Any, y: Any, x: Any) -> Any:
    return np.where((x > 0) & (g > 0), g, 0.0)


def lrp_epsilon(g: Any, y: Any, layer: Any, x: Any) -> Any:
    share = g / (y + EPSILON * np.where(y >= 0, 1.0, -1.0))
    return None, x * (share @ layer.weight.T)


def lrp_gamma(g: Any, y: Any, layer: Any, x: Any) -> Any:
    weight = layer.weight + GAMMA * np.maximum(layer.weight, 0.0)
    return None, x * ((g / (x @ weight)) @ weight.T)


def passed_on(g: Any, y: Any, x: Any) -> Any:
    return g


def test_guided_backpropagation() -> None:
    """Springenberg et al. 2015, arXiv:1412.6806: only positive signals pass a relu, in both directions."""
    model = nn.with_rule(NET, guided, "activation")
    np.testing.assert_array_equal(model(X), NET(X))
    entries = forward(X)
    g = np.eye(3)[1]
    for k in (2, 1, 0):
        g = NET.layers[k].weight @ g
        g = np.where((entries[k] > 0) & (g > 0), g, 0.0) if k else g
    for gear in ("replay", "compiled"):
        got = bl.compile(bl.grad(lambda x: model(x)[1]), X, gear=gear)(X)
        np.testing.assert_allclose(got, g, rtol=1e-13)
    assert np.abs(g - bl.grad(lambda x: NET(x)[1])(X)).max() > 1e-3


@pytest.mark.parametrize("rule", [lrp_epsilon, lrp_gamma])
def test_relevance_propagation(rule: Any) -> None:
    """Bach et al. 2015; Montavon et al. 2019, section 10.2: R_j = sum_k a_j w_jk / (e + sum a_j w_jk) R_k."""
    model = nn.with_rule(nn.with_rule(NET, rule, nn.Linear), passed_on, "activation")
    entries = forward(X)
    relevance = np.eye(3)[2] * entries[-1]
    got = bl.vjp(model, X)[1](relevance)
    got = got[0] if isinstance(got, tuple) else got
    for k in (2, 1, 0):
        layer, a = NET.layers[k], entries[k]
        weight = layer.weight + (GAMMA * np.maximum(layer.weight, 0.0) if rule is lrp_gamma else 0.0)
        z = a @ weight + (layer.bias if rule is lrp_epsilon else 0.0)
        z = z + EPSILON * np.where(z >= 0, 1.0, -1.0) if rule is lrp_epsilon else z
        relevance = np.array([sum(a[j] * weight[j, m] / z[m] * relevance[m] for m in range(z.size))
                              for j in range(a.size)])  # fmt: skip
    np.testing.assert_allclose(got, relevance, rtol=1e-11)
    if rule is lrp_gamma:  # without biases nothing is lost
        np.testing.assert_allclose(np.sum(got), entries[-1][2], rtol=1e-11)


def test_sampled_products_of_one_layer() -> None:
    """The gradient of a weight from some rows of a batch, as in WTA-CRS: Liu et al. 2023, arXiv:2305.15265."""
    rows = np.array([0, 3])

    def sampled(g: Any, y: Any, layer: Any, x: Any) -> Any:
        weight = x[rows].T @ g[rows] * (len(x) / len(rows))
        return layer.replace(weight=weight, bias=np.sum(g, axis=0)), g @ layer.weight.T

    batch = RNG.normal(size=(6, 5))
    model = nn.with_rule(NET, sampled, "layers.1")
    assert isinstance(model.layers[1], RuledLayer)
    assert model.layers[0] is NET.layers[0]
    assert model.layers[1].base.weight is NET.layers[1].weight
    loss = lambda model, x: np.sum(model(x) ** 2)  # noqa: E731
    got, wanted = bl.grad(loss)(model, batch), bl.grad(loss)(NET, batch)
    hidden = np.maximum(batch @ NET.layers[0].weight + NET.layers[0].bias, 0.0)
    z = hidden @ NET.layers[1].weight + NET.layers[1].bias
    g = (2 * NET(batch) @ NET.layers[2].weight.T) * (z > 0)
    np.testing.assert_allclose(got.layers[1].base.weight, hidden[rows].T @ g[rows] * 3, rtol=1e-12)
    for k in (0, 2):
        np.testing.assert_allclose(got.layers[k].weight, wanted.layers[k].weight, rtol=1e-12)
    np.testing.assert_allclose(got.layers[1].base.bias, wanted.layers[1].bias, rtol=1e-12)
    problem = bl.FiniteSum(lambda m, x: np.sum(m(x) ** 2), (batch,))
    ruled = nn.with_rule(NET, lambda g, y, layer, x: (None, g @ layer.weight.T), "layers.1")
    slopes = problem.grad(ruled)
    assert not np.any(slopes.layers[1].base.weight)
    np.testing.assert_allclose(slopes.layers[0].weight, problem.grad(NET).layers[0].weight, rtol=1e-12)


def test_maps_batches_second_derivatives_and_new_rules() -> None:
    model = nn.with_rule(NET, lrp_epsilon, lambda path: path.startswith("layers"))
    batch = RNG.normal(size=(4, 5))
    slopes = bl.vmap(bl.grad(lambda x: model(x)[0]))(batch)
    for x, slope in zip(batch, slopes, strict=True):
        np.testing.assert_allclose(slope, bl.grad(lambda x: model(x)[0])(x), rtol=1e-12)
    twice = nn.with_rule(model, lambda g, y, layer, x: (None, g @ layer.weight.T), nn.Linear)
    assert not isinstance(twice.layers[0].base, RuledLayer)
    np.testing.assert_allclose(bl.grad(lambda x: twice(x)[0])(X), bl.grad(lambda x: NET(x)[0])(X), rtol=1e-13)
    square = nn.with_rule(NET.layers[0], lambda g, y, layer, x: (None, g @ layer.weight.T * x**2), nn.Linear)
    total = lambda x: np.sum(square(x))  # noqa: E731
    hessian = bl.jacobian(bl.grad(total))(X)
    np.testing.assert_allclose(hessian, np.diag(2 * X * NET.layers[0].weight.sum(axis=1)), rtol=1e-12, atol=1e-14)
    gpt = nn.with_rule(nn.GPT(key=bl.random.key(0)), lambda g, y, layer, x: (None, g @ layer.weight.T), "qkv")
    assert sum(isinstance(block.attention.qkv, RuledLayer) for block in gpt.blocks) == 6


@pytest.mark.parametrize(
    ("rule", "targets", "says"),
    [
        (guided, "layers.9", "chooses no layer of a MLP: its layers are itself (MLP), layers.0 (Linear)"),
        (guided, nn.Conv2d, "activation (relu)"),
        (guided, None, "targets must say which layers"),
        (guided, int, "expected subclasses of bl.nn.Layer alone"),
        (guided, (nn.Linear, "a"), "expected subclasses of bl.nn.Layer alone"),
        (guided, 3, "ends of paths"),
        (3, "activation", "function"),
    ],
)
def test_what_is_not_there_is_refused(rule: Any, targets: Any, says: str) -> None:
    with pytest.raises(bl.BurlabError, match=re.escape(says)):
        nn.with_rule(NET, rule, targets)


def test_wrong_cotangents_are_refused_by_the_name_of_the_layer() -> None:
    for rule, says in (
        (lambda g, y, layer, x: g, "the rule of Linear layers.1 must give 2 cotangents, one per argument, got 1"),
        (lambda g, y, layer, x: (None, g), "the rule of Linear layers.1: cotangent 1 must have shape (8,), got (6,)"),
        (lambda g, y, layer, x: (g, x), "the rule of Linear layers.1: cotangent 0 must have the structure"),
    ):
        model = nn.with_rule(NET, rule, "layers.1")
        with pytest.raises(ShapeError, match=re.escape(says)):
            bl.grad(lambda x, m=model: m(x)[0])(X)
    with pytest.raises(ArgumentError, match="numbers of a tape"):
        nn.with_rule(NET, lrp_epsilon, nn.Linear)(np.array([bl.Value(1.0)] * 5))
