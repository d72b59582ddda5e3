"""The page of RaftMLP: its network is one of PyTorch, trained step by step, and its claim holds."""

import numpy as np
import pytest

import burlab as bl
from tests.engines import torch_or_skip
from tests.nn.test_raft_mlp import raft_mlp
from tests.papers.pages import method, whole

STEPS, RATE = 20, 0.05


def test_the_network_is_one_of_torch():
    t, page = torch_or_skip(), method("raft_mlp")
    x, digits = page.pictures[:4].astype(np.float64), page.digits[:4]
    start = page.network(0, page.raft_block, np.float64)
    run = bl.minimize(bl.FiniteSum(page.loss, (x, digits)), start, bl.optim.GD(RATE), steps=STEPS)
    flat, structure = bl.tree.flatten(start)
    leaves = [t.tensor(leaf, requires_grad=True) for leaf in flat]

    def logits(picture):
        model = bl.tree.unflatten(structure, leaves)
        y = picture @ model["pixels"].weight + model["pixels"].bias
        for block in model["blocks"]:
            y = raft_mlp(t, bl.tree.leaves(block), y, 2)
        norm = model["norm"]
        y = t.nn.functional.layer_norm(y, (page.channels,), norm.weight, norm.bias).mean((0, 1))
        return y @ model["head"].weight + model["head"].bias

    for _ in range(STEPS):
        value = t.nn.functional.cross_entropy(t.stack([logits(p) for p in t.tensor(x)]), t.tensor(digits))
        slopes = t.autograd.grad(value, leaves)
        leaves = [(a - RATE * g).detach().requires_grad_() for a, g in zip(leaves, slopes, strict=True)]
    for got, wanted in zip(bl.tree.leaves(run.x), leaves, strict=True):
        np.testing.assert_allclose(got, wanted.detach().numpy(), rtol=1e-9, atol=1e-12)
    before, after = (net["blocks"][0].vertical.layers[0].weight for net in (start, run.x))
    assert np.abs(after - before).max() > 1e-4


@pytest.mark.full
def test_a_quarter_of_the_numbers_comes_close_to_the_mixer():
    page = whole("raft_mlp")
    mixer, raft = page.trials.values()
    assert np.all(raft[:, -1] > mixer[:, -1] - 0.04)
    numbers = {name: bl.nn.count(page.network(0, block)) for name, block in page.blocks.items()}
    assert numbers["RaftMLP"] < numbers["Mixer"] / 4
