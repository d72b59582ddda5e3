"""The page of ZO2: its steps are those of the formula in NumPy and have the bits of MeZO, and its claim holds."""

from pathlib import Path

import numpy as np
import pytest

import burlab as bl
from tests.papers.pages import method, whole

COUNT, LR, EPS, STEPS = 2, 1e-4, 1e-3, 20


def test_weights_in_a_file_move_as_those_in_memory(tmp_path: Path):
    page = method("zo2")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(COUNT, *page.shape)) / 32
    inputs, target = rng.normal(size=(2, 3, 256))
    x.tofile(file := tmp_path / "weights")
    values = page.zo2(file, COUNT, inputs, lambda h: np.mean((h - target) ** 2), LR, EPS, STEPS)

    def f(x: np.ndarray) -> float:
        h = inputs
        for first, second in x:
            h = h + np.tanh(h @ first) @ second
        return float(np.mean((h - target) ** 2))

    begun = x.copy()
    for t in range(STEPS):
        key = bl.random.fold_in(bl.random.key(0), t)
        z = np.stack([bl.random.normal(bl.random.fold_in(key, k), (page.size,)) for k in range(COUNT)])
        z = z.reshape(x.shape)
        ahead, behind = f(x + EPS * z), f(x - EPS * z)
        x = x - LR * (ahead - behind) / (2 * EPS) * z
        np.testing.assert_allclose(values[t], (ahead + behind) / 2, rtol=1e-9)
    found = np.fromfile(file).reshape(x.shape)
    assert np.abs(x - begun).max() > 1e-4
    np.testing.assert_allclose(found, x, rtol=1e-9, atol=1e-10)


@pytest.mark.full
def test_the_bits_are_those_of_mezo_and_memory_does_not_grow(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("burlab.runtime.memory._poison", False)  # nan are written by way of an array as large
    page = whole("zo2")
    assert all(page.equal)
    assert np.all(page.trials["ZO2"][:, -1] < 0.5 * page.weights[-1])
    assert np.all(page.trials["MeZO"] > 2 * page.weights)
