"""The page of attention of triples: loops, the truncated series of exp in PyTorch, and its claims."""

import math
from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.engines import torch_or_skip
from tests.papers.pages import method, whole

STEPS, RATE, DEGREE = 20, 0.05, 3


def test_attention_is_a_loop_over_triples():
    page = method("triple_attention")
    q, k1, k2, v1, v2 = page.inputs(5, 3, 1.0, 0)
    for i in range(5):
        top, bottom = np.zeros(3), 0.0
        for j in range(5):
            for m in range(5):
                weight = math.exp(sum(q[i, c] * k1[j, c] * k2[m, c] for c in range(3)) / 3)
                top, bottom = top + weight * v1[j] * v2[m], bottom + weight
        np.testing.assert_allclose(page.exact(q, k1, k2, v1, v2)[i], top / bottom, rtol=1e-12)


def test_the_polynomial_learns_as_the_series_of_exp_does_in_torch():
    t, page = torch_or_skip(), method("triple_attention")
    start, target = page.inputs(6, 3, 1.5, 1), np.random.default_rng(2).normal(size=(6, 3))
    fast = page.fast

    def objective(x: Any) -> Any:
        return np.mean((fast(*x, DEGREE) - target) ** 2)

    run = bl.minimize(objective, start, bl.optim.GD(RATE), steps=STEPS)
    leaves = [t.tensor(a) for a in start]
    for _ in range(STEPS):
        leaves = [leaf.detach().requires_grad_() for leaf in leaves]
        q, k1, k2, v1, v2 = leaves
        s = t.einsum("id,jd,ld->ijl", q, k1, k2) / 3
        weights: Any = sum(s**k / math.factorial(k) for k in range(DEGREE + 1))
        found = t.einsum("ijl,jd,ld->id", weights, v1, v2) / weights.sum((1, 2))[:, None]
        slopes = t.autograd.grad(((found - t.tensor(target)) ** 2).mean(), leaves)
        leaves = [leaf - RATE * slope for leaf, slope in zip(leaves, slopes, strict=True)]
    for got, wanted, first in zip(run.x, leaves, start, strict=True):
        np.testing.assert_allclose(got, wanted.detach().numpy(), rtol=1e-9, atol=1e-12)
        assert np.abs(got - first).max() > 1e-4


@pytest.mark.full
def test_the_error_has_a_threshold_and_the_time_is_less_than_cubic():
    page = whole("triple_attention")
    values = page.trials["degree 4"]
    assert np.all(values[:, page.bounds < 0.6] < 1e-8)
    assert np.all(values[:, page.bounds > 2.5] > 1e-2)
    assert np.all(page.trials["degree 6"][:, page.bounds < 1.1] < page.trials["degree 2"][:, page.bounds < 1.1])
    x = page.inputs(256, 4, 1.0, 0)
    exact, fast = (bl.counts(page.kernels[name], *x).flops for name in ("gradient of exact", "gradient of degree 4"))
    assert fast < exact / 10
