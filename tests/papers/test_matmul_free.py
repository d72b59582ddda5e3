"""The page of MatMul-free models: its model is one of PyTorch, trained step by step, and its claim holds."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.engines import torch_or_skip
from tests.nn.test_ternary import bit_linear, mlgru
from tests.papers.pages import method, whole

STEPS, RATE = 20, 0.1


def mean_loss(t: Any, page: Any, model: Any, tokens: Any, following: Any) -> Any:
    """Of some windows. model: trees of tensors in the structure of the page's."""
    low = t.softmax(model["low"], 0)
    floors = t.cumsum(low, 0) - low[0]
    total = 0
    for window, wanted in zip(tokens, following, strict=True):
        x = model["tokens"].weight[window]
        for j in range(page.depth):
            norms = [norm.weight for norm in model["norms"][2 * j : 2 * j + 2]]
            normed = norms[0] * x / t.sqrt(t.mean(x**2, 1, keepdim=True) + model["norms"][0].eps)
            x = x + mlgru(t, bl.tree.leaves(model["mixers"][j]), normed, floors[j])
            normed = norms[1] * x / t.sqrt(t.mean(x**2, 1, keepdim=True) + model["norms"][0].eps)
            up, down = (bl.tree.leaves(model[name][j]) for name in ("up", "down"))
            both = bit_linear(t, up[0], up[1], normed)
            gated = t.nn.functional.silu(both[:, : page.hidden]) * both[:, page.hidden :]
            x = x + bit_linear(t, down[0], down[1], gated)
        normed = model["norms"][-1].weight * x / t.sqrt(t.mean(x**2, 1, keepdim=True) + model["norms"][0].eps)
        total = total + t.nn.functional.cross_entropy(normed @ model["head"].weight + model["head"].bias, wanted)
    return total / len(tokens)


@pytest.mark.full
def test_the_model_is_one_of_torch():
    t, page = torch_or_skip(), method("matmul_free")
    tokens, following = page.text[:2, :6], page.following[:2, :6]
    start = page.matmul_free(bl.random.key(0), np.float64)
    run = bl.minimize(bl.FiniteSum(page.loss, (tokens, following)), start, bl.optim.GD(RATE), steps=STEPS)
    leaves, structure = bl.tree.flatten(start)
    leaves = [t.tensor(leaf, requires_grad=True) for leaf in leaves]
    for _ in range(STEPS):
        model = bl.tree.unflatten(structure, leaves)
        slopes = t.autograd.grad(mean_loss(t, page, model, t.tensor(tokens).long(), t.tensor(following).long()), leaves)
        leaves = [(a - RATE * g).detach().requires_grad_() for a, g in zip(leaves, slopes, strict=True)]
    for got, wanted in zip(bl.tree.leaves(run.x), leaves, strict=True):
        np.testing.assert_allclose(got, wanted.detach().numpy(), rtol=1e-9, atol=1e-11)
    assert np.abs(run.x["mixers"][1].forget.weight - start["mixers"][1].forget.weight).max() > 1e-3


@pytest.mark.full
def test_the_loss_comes_close_to_that_of_a_transformer():
    transformer, free = whole("matmul_free").trials.values()
    assert np.all(free[:, -1] < transformer[:, -1] + 0.1)
    assert np.all(free[:, 1] < transformer[:, 1])
