"""The page of the symbolic profiler: operations by hand and by torch's counter, memory by the operating system."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.engines import torch_or_skip
from tests.papers.pages import method, whole


def test_operations_are_those_of_a_count_by_hand_and_of_torch():
    torch: Any = torch_or_skip()
    n, widths = 100, [256, 512, 512, 10]
    net = bl.nn.MLP(widths, key=bl.random.key(0))
    images = np.ones((n, 256), np.float32)
    pairs = [a * b for a, b in pairwise(widths)]
    forward = 2 * n * sum(pairs)
    backward = 2 * n * (sum(pairs) + sum(pairs[1:]))  # by the weights, and by all inputs but the images
    for f, wanted in ((lambda net: np.mean(net(images)), forward), (None, forward + backward)):
        program = f or bl.value_and_grad(lambda net: np.mean(net(images)))
        assert bl.counts(program, net).by_operation["contract"].flops == wanted
    from torch.utils.flop_counter import FlopCounterMode

    layers = [torch.nn.Linear(a, b) for a, b in pairwise(widths)]
    with FlopCounterMode(display=False) as counter:
        torch.nn.Sequential(*layers)(torch.ones(n, 256)).mean().backward()
    assert counter.get_total_flops() == forward + backward


def test_the_prediction_is_the_sum_of_the_plan():
    page, x = method("map_profiler"), np.ones((300, 400))
    kernel = bl.compile(lambda x: np.sum(np.tanh(x @ x.T) ** 2), x)
    memory = kernel.memory
    assert page.predicted(kernel) == sum(memory[part] for part in ("activations", "scratch", "gradients", "outputs"))
    assert page.peak(lambda: np.ones(30_000_000).sum()) == pytest.approx(240e6, rel=0.1)


@pytest.mark.full
def test_measured_peaks_are_near_the_predicted_ones(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("burlab.runtime.memory._poison", False)  # nan are written by way of an array as large
    for ratios in whole("map_profiler").trials.values():
        assert 0.9 < np.median(ratios) < 1.1
