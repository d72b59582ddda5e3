"""The page of polarized gates: its steps are those of PyTorch with gates by hand, and its claim holds."""

import numpy as np
import pytest

import burlab as bl
from tests.engines import torch_or_skip
from tests.papers.pages import method, whole
from tests.run.test_sampler import batches

STEPS, PENALTY, TARGET, MU = 20, 0.7, 0.4, 1.3


def test_steps_are_those_of_torch():
    torch = torch_or_skip()
    page = method("polarization")
    begin = page.start(1, [64, 9, 7, 10])
    run = bl.minimize(page.polarized(PENALTY, TARGET, MU), begin, bl.optim.GD(0.1), batch=32, seed=2, steps=STEPS)

    def tensors(linear):
        return [torch.tensor(np.array(leaf), requires_grad=True) for leaf in (linear.weight, linear.bias)]

    layers, gates = ([tensors(linear) for linear in begin[name]] for name in ("layers", "gates"))
    flat = [leaf for pair in (*gates, *layers) for leaf in pair]
    for rows in batches("reshuffle", 1300, 32, STEPS, seed=2):
        h, labels, parts, opened = torch.tensor(page.x[rows]), torch.tensor(page.y[rows]), 0.0, []
        for (w, b), (u, c) in zip(layers, gates, strict=False):
            soft = torch.sigmoid(h @ u + c)
            gate = (soft > 0.5).double().detach() + soft - soft.detach()
            h = torch.relu(h @ w + b) * gate
            m = gate.mean(dim=0)
            parts, opened = parts + PENALTY * (m * (1 - m)).mean(), [*opened, m]
        w, b = layers[-1]
        loss = (
            torch.nn.functional.cross_entropy(h @ w + b, labels)
            + parts
            + MU * (torch.cat(opened).mean() - TARGET).abs()
        )
        for leaf, g in zip(flat, torch.autograd.grad(loss, flat), strict=True):
            leaf.data -= 0.1 * g
    found = [leaf for name in ("gates", "layers") for linear in run.x[name] for leaf in (linear.weight, linear.bias)]
    for got, leaf in zip(found, flat, strict=True):
        np.testing.assert_allclose(got, leaf.detach().numpy(), rtol=1e-9, atol=1e-12)
    shares = [np.mean(gate) for gate in page.scores(run.x, page.x)[1]]
    assert 0 < min(shares) <= max(shares) < 1


@pytest.mark.full
def test_gates_decide_under_the_penalty_and_can_be_fixed():
    page = whole("polarization")
    assert np.all(np.diff(page.undecided, axis=1) < 0)
    gates, fixed = page.accuracy["gates"], page.accuracy["fixed channels"]
    assert np.all(fixed[:, 0] < gates[:, 0] - 0.1)
    assert np.all(fixed[:, -1] > gates[:, -1] - 0.02)
