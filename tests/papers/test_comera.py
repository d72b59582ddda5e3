"""The page of CoMERA: both stages are those of a program in PyTorch, and its claim holds."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.engines import torch_or_skip
from tests.papers.pages import method, whole

STEPS, RATE = 20, 0.05


def objective(t: Any, layers: Any, x: Any, digits: Any, late: bool) -> Any:
    """Of a batch: each matrix is one Einstein sum of its cores."""
    h, active, size = x, [], 0
    for cores, ranks, bias in layers[:2]:
        scaled = [core * t.where(d > 0.01, d, 0.0) for core, d in zip(cores, [*ranks, t.ones(1)], strict=True)]
        h = (h @ t.einsum("aib,bjc,ckd,dle->ijkl", *scaled).reshape(x.shape[1] if h is x else 256, 256) + bias).relu()
        active += [d[d > 0.01] for d in ranks]
        kept = [1, *(len(d) for d in active[-3:]), 1]
        size += sum(a * core.shape[1] * b for a, core, b in zip(kept, cores, kept[1:], strict=False))
    weight, bias = layers[2]
    loss = t.nn.functional.cross_entropy(h @ weight + bias, digits)
    mean = t.cat(active).mean()
    if not late:
        return loss + 0.01 * mean
    return 0.1 * loss + 0.01 * mean + (mean if (loss - 0.05) / loss < (size - 2500) / size else loss)


@pytest.mark.full
@pytest.mark.parametrize("stage", ["early", "late"])
def test_both_stages_are_those_of_torch(stage: str):
    t, page = torch_or_skip(), method("comera")
    x, digits = page.pixels[:40].astype(np.float64), page.digits[:40]
    start = page.tensor_trains(0, np.float64)
    few = tuple(np.where(np.arange(d.size) < 3, 0.011, d) for d in start[0].ranks)  # which end within the steps
    start = (start[0].replace(ranks=few), *start[1:])
    run = bl.minimize(bl.BatchLoss(getattr(page, stage), (x, digits)), start, bl.optim.GD(RATE), steps=STEPS)
    flat, structure = bl.tree.flatten(start)
    leaves = [t.tensor(leaf, requires_grad=True) for leaf in flat]
    for _ in range(STEPS):
        first, second, last = bl.tree.unflatten(structure, leaves)
        layers = [*((m.cores, m.ranks, m.bias) for m in (first, second)), (last.weight, last.bias)]
        value = objective(t, layers, t.tensor(x), t.tensor(digits), stage == "late")
        slopes = t.autograd.grad(value, leaves)
        leaves = [(a - RATE * g).detach().requires_grad_() for a, g in zip(leaves, slopes, strict=True)]
    for got, wanted in zip(bl.tree.leaves(run.x), leaves, strict=True):
        np.testing.assert_allclose(got, wanted.detach().numpy(), rtol=1e-9, atol=1e-12)
    assert run.x[0].size() != start[0].size()


@pytest.mark.full
def test_layers_shrink_to_a_fifteenth_and_keep_their_accuracy():
    page = whole("comera")
    accuracies = {name: np.array(values) for name, values in page.accuracies.items()}
    assert np.all(page.left["tensor trains"][:, -1] < 81_920 / 15)
    assert np.all(accuracies["trimmed"] > accuracies["dense"] - 0.015)
    np.testing.assert_allclose(accuracies["trimmed"], accuracies["late"], atol=0.003)
