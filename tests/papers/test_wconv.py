"""The page of wConv: its network is a plain one of PyTorch whose taps have the rates Phi^2; its claim was not seen."""

import numpy as np
import pytest

import burlab as bl
from tests.engines import torch_or_skip
from tests.papers.pages import method, whole

STEPS, RATE, RHO = 20, 0.2, 0.7


def test_a_density_is_a_rate_for_each_tap():
    t, page = torch_or_skip(), method("wconv")
    noisy, clean = page.noisy[:6].astype(np.float64), page.clean[:6].astype(np.float64)
    start = page.network(0, np.float64)
    run = bl.minimize(bl.FiniteSum(page.loss(RHO), (noisy, clean)), start, bl.optim.GD(RATE), steps=STEPS)
    phi = t.tensor([[RHO**2, RHO, RHO**2], [RHO, 1.0, RHO], [RHO**2, RHO, RHO**2]], dtype=t.float64)
    leaves = []
    for layer in start:
        leaves += [t.tensor(np.moveaxis(layer.weight, (2, 3), (1, 0)).copy()) * phi, t.tensor(layer.bias)]
    rates = [RATE * phi**2, RATE] * 3
    for _ in range(STEPS):
        leaves = [leaf.detach().requires_grad_() for leaf in leaves]
        x = t.tensor(noisy)
        for k in range(3):
            x = t.nn.functional.conv2d(x.relu() if k else x, *leaves[2 * k : 2 * k + 2], padding=1)
        slopes = t.autograd.grad(((x - t.tensor(clean)) ** 2).mean(), leaves)
        leaves = [leaf - rate * slope for leaf, rate, slope in zip(leaves, rates, slopes, strict=True)]
    for k, layer in enumerate(run.x):
        weight = (leaves[2 * k] / phi).detach().numpy()
        np.testing.assert_allclose(layer.weight, np.moveaxis(weight, (1, 0), (2, 3)), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(layer.bias, leaves[2 * k + 1].detach().numpy(), rtol=1e-9, atol=1e-12)
        assert np.abs(layer.weight - start[k].weight).max() > 1e-3


@pytest.mark.full
def test_densities_below_one_are_worse_and_others_gain_little():
    page = whole("wconv")
    for values in page.trials.values():
        gains = values - values[:, [page.plain]]
        assert np.all(gains[:, page.densities < 1] < 0)
        assert not np.any(np.all(gains > 0.1, axis=0))
