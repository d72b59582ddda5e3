"""The page of SSDTrain: steps with residuals on the disk are those of the formula in NumPy, and its claim holds."""

from pathlib import Path

import numpy as np
import pytest

from burlab.typing import Array
from tests.papers.pages import method, whole

RATE = 0.5


def gradient(weights: list[Array], x: Array) -> list[Array]:
    """The gradient of the mean of the squared outputs, layer by layer in reverse."""
    inputs = [x]
    for w in weights:
        inputs.append(np.tanh((np.sin(inputs[-1]) * np.exp(-(inputs[-1] ** 2))) @ w))
    g, slopes = 2 * inputs[-1] / inputs[-1].size, list[Array]()
    for w, a, y in zip(reversed(weights), reversed(inputs[:-1]), reversed(inputs[1:]), strict=True):
        e = np.exp(-(a**2))
        g = g * (1 - y**2)
        slopes.append((np.sin(a) * e).T @ g)
        g = (g @ w.T) * (np.cos(a) - 2 * a * np.sin(a)) * e
    return slopes[::-1]


def test_steps_with_a_disk_are_those_of_the_formula_and_have_the_bits_of_memory(tmp_path: Path):
    page = method("ssdtrain")
    weights, x = page.example(4, 0, 512, 64)  # arrays of 256 KB, from which on they go to the disk
    wanted = weights
    kernels = [page.gradient((weights, x), folder) for folder in (None, tmp_path)]
    for _ in range(20):
        plain, spilled = (kernel.value_and_grad(weights, x)[1] for kernel in kernels)
        for a, b in zip(plain, spilled, strict=True):
            np.testing.assert_array_equal(a, b)
        weights = [w - RATE * g for w, g in zip(weights, spilled, strict=True)]
        wanted = [w - RATE * g for w, g in zip(wanted, gradient(wanted, x), strict=True)]
    for found, exact in zip(weights, wanted, strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-12)


@pytest.mark.full
def test_less_memory_is_resident(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("burlab.runtime.memory._poison", False)  # nan are written by way of an array as large
    page = whole("ssdtrain")
    assert all(page.equal)
    assert np.all(page.trials["disk"][:, -1] < 0.7 * page.trials["memory"][:, -1])
