"""Models in finite sums and runs: a GPT learns, per-sample gradients are what they say, dropout replays bit for bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.graph import tree
from tests.engines import assert_close

nn = bl.nn
KEY = bl.random.key(6)
DATA = bl.data.text(block=8)
VOCABULARY = len(DATA.vocabulary)


def small(**options: Any) -> Any:
    return nn.GPT(VOCABULARY, 8, 12, 3, 2, key=KEY, **options)


def loss(model: Any, x: Any, y: Any) -> Any:
    return nn.cross_entropy(model(x), y)


def noisy(model: Any, x: Any, y: Any, *, key: Any) -> Any:
    return nn.cross_entropy(model(x, key=key), y)


def leaves(model: Any) -> list[Any]:
    return tree.flatten(model)[0]


def test_a_gpt_learns_in_float32() -> None:
    problem = bl.FiniteSum(loss, (DATA.features, DATA.targets))
    model, some = small(), np.arange(0, len(problem), 5000)
    before = problem.value(model, some)
    run = bl.minimize(problem, model, bl.optim.Adam(1e-2), batch=16, steps=20)
    assert isinstance(run.x, nn.GPT)
    assert {leaf.dtype for leaf in leaves(run.x)} == {np.dtype(np.float32)}
    assert problem.value(run.x, some) < before - 0.5


def test_gradients_of_samples_and_of_their_mean() -> None:
    """Of a batch that no tile divides."""
    problem, picked = bl.FiniteSum(loss, (DATA.features, DATA.targets)), np.array([5, 77_000, 9, 5, 300_001])
    model = small(dtype=np.float64)
    one = bl.compile(bl.grad(loss), model, DATA.features[0], DATA.targets[0])
    singles = [leaves(one(model, DATA.features[k], DATA.targets[k])) for k in picked]
    rows = leaves(problem.per_sample_grads(model, picked))
    for got, wanted in zip(rows, zip(*singles, strict=True), strict=True):
        assert_close(got, np.stack(wanted), 1e-12)
    for got, wanted in zip(leaves(problem.grad(model, picked)), zip(*singles, strict=True), strict=True):
        assert_close(got, np.mean(wanted, axis=0), 1e-12)


def test_a_run_with_dropout_resumes_bit_for_bit(tmp_path: Path) -> None:
    """From a file, and from a step of the past: what is dropped is a function of seed, step and sample."""
    problem = bl.FiniteSum(noisy, (DATA.features, DATA.targets))
    run = bl.minimize(problem, small(dropout=0.2), bl.optim.AdamW(1e-3), batch=5, seed=3, steps=12)
    run.save(tmp_path / "gpt.burlab")
    middle = run.x
    run.step(9)
    loaded = bl.load_run(tmp_path / "gpt.burlab", (DATA.features, DATA.targets))
    loaded.step(9)
    assert isinstance(loaded.x, nn.GPT)
    assert loaded.x.blocks[1].attention.drop.rate == 0.2
    for a, b in zip(leaves(run.x), leaves(loaded.x), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(run.history["value"], loaded.history["value"])
    run.seek(12)
    for a, b in zip(leaves(run.x), leaves(middle), strict=True):
        np.testing.assert_array_equal(a, b)


def test_dropout_has_its_rate() -> None:
    drop, x = nn.Dropout(0.3), np.linspace(1, 2, 100_000)
    y = drop(x, key=KEY)
    kept = y != 0
    assert kept.mean() == pytest.approx(0.7, abs=0.01)
    np.testing.assert_allclose(y[kept], x[kept] / 0.7, rtol=1e-12)
    np.testing.assert_array_equal(bl.jit(lambda x, k: drop(x, key=k))(x, KEY), y)
    assert not np.array_equal(drop(x, key=bl.random.key(7)), y)
    slope = bl.grad(lambda x: np.sum(drop(x, key=KEY) ** 2))(x)
    np.testing.assert_allclose(slope, 2 * y * kept / 0.7, rtol=1e-12)
    assert drop(x) is x
    assert nn.Dropout(0.0)(x, key=KEY) is x
    assert drop(x.astype(np.float32), key=KEY).dtype == np.float32


def test_without_a_key_nothing_is_dropped() -> None:
    plain, dropping = small(dtype=np.float64), small(dtype=np.float64, dropout=0.5)
    np.testing.assert_array_equal(plain(DATA.features[0]), dropping(DATA.features[0]))
    assert not np.array_equal(plain(DATA.features[0]), dropping(DATA.features[0], key=KEY))


def test_samples_of_a_batch_drop_for_themselves() -> None:
    """The parts of a model, and the samples, draw different masks from one key."""
    drop = nn.Dropout(0.5)
    rows = bl.vmap(lambda k: drop(np.ones(64), key=bl.random.fold_in(KEY, k)))(np.arange(20))
    assert len({row.tobytes() for row in rows}) == 20
