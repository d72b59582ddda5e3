"""Updates of long vectors run in chunks, with the bits of an update of all at once."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.graph.tracing.trace_cache import forget_traces
from burlab.optim import chunk
from burlab.run.loop import update

OPTIMIZERS = {
    "sgd": bl.optim.GD(0.1),
    "adam": bl.optim.Adam(lr=bl.optim.cosine(1e-2, steps=20)),
    "decayed": bl.optim.AdamW(lr=1e-2, weight_decay=0.1),
}


def train(optimizer: Any, dimension: int, dtype: str) -> bl.Run:
    forget_traces()
    targets = np.random.default_rng(0).normal(size=(2, dimension)).astype(dtype)
    problem = bl.FiniteSum(lambda x, target: np.sum((x - target) ** 2 * 0.5), targets)
    return bl.minimize(problem, np.zeros(dimension, dtype), optimizer, steps=20)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_chunks_change_no_bit(monkeypatch: pytest.MonkeyPatch, name: str, dtype: str):
    lengths: list[int] = []
    made = chunk.chunked

    def seen(graph: Any, dimension: int) -> Any:
        short = made(graph, dimension)
        lengths.append(0 if short is None else short.outputs[0].size)
        return short

    monkeypatch.setattr(update, "chunked", seen)
    short = train(OPTIMIZERS[name], 10_007, dtype)
    assert lengths == [chunk.CHUNK]
    monkeypatch.setattr(update, "chunked", lambda graph, dimension: None)
    whole = train(OPTIMIZERS[name], 10_007, dtype)
    np.testing.assert_array_equal(short.x, whole.x)
    for column in ("value", "gradient_norm", "step_norm"):
        np.testing.assert_array_equal(short.history[column], whole.history[column])


def test_entries_that_mix_are_taken_together(monkeypatch: pytest.MonkeyPatch):
    found: list[Any] = []
    made = chunk.chunked
    monkeypatch.setattr(update, "chunked", lambda graph, d: found.append(made(graph, d)))
    run = train(bl.optim.clip_by_norm(bl.optim.GD(0.1), 1.0), 10_007, "float64")
    assert found == [None]
    np.testing.assert_allclose(run.history["step_norm"], 0.1, rtol=1e-7)
    train(bl.optim.GD(0.1), 4 * chunk.CHUNK - 1, "float64")
    assert found == [None, None], "short vectors are no worse at once"


@pytest.mark.parametrize("scale", [0.0, 1e-42, 1e-25, 1e-12, 1.0, 1e12, 1e25])
@pytest.mark.parametrize("dimension", [100, 128, 300, 9000])
def test_norms_of_floats_are_right_at_any_scale(scale: float, dimension: int):
    slope = (np.random.default_rng(1).normal(size=dimension) * scale).astype(np.float32)
    slope[50:180] = 0
    run = bl.minimize(lambda x: np.sum(slope * x), np.zeros(dimension, np.float32), bl.optim.GD(1.0), steps=1)
    norm = np.linalg.norm(slope.astype(np.float64))
    np.testing.assert_allclose(run.history["gradient_norm"], norm, rtol=1e-6)
    np.testing.assert_allclose(run.history["step_norm"], norm, rtol=1e-6)


def test_norms_show_what_is_not_finite():
    slope = np.ones(300, np.float32)
    slope[70] = np.inf
    with pytest.warns(RuntimeWarning, match="the gradient norm inf"):
        run = bl.minimize(lambda x: np.sum(slope * x), np.ones(300, np.float32), bl.optim.GD(1e-3), steps=1)
    assert run.history["gradient_norm"][0] == np.inf
