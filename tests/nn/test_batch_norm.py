"""Batch normalization against PyTorch, in training and evaluation; what is refused."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, BurlabError, ShapeError

RNG = np.random.default_rng(4)
WIDTH = 5
RUNNING = {"mean": RNG.normal(size=WIDTH), "variance": 1 + RNG.random(WIDTH)}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(7, WIDTH), (4, 3, WIDTH), (2, 3, 2, WIDTH)])
@pytest.mark.parametrize("training", [True, False])
def test_values_statistics_and_gradients_are_those_of_torch(training: bool, shape: Any, dtype: Any) -> None:
    torch: Any = pytest.importorskip("torch", reason="PyTorch, the second engine, is not installed: make peers")
    x, v = (RNG.normal(size=shape).astype(dtype) for _ in range(2))
    running = {name: leaf.astype(dtype) for name, leaf in RUNNING.items()}
    options: Any = {"momentum": 0.3, "eps": 1e-3}

    def normed(x: Any) -> Any:
        y, new = bl.nn.batch_norm(x, running, training=training, **options)
        return np.sum(v * y), (y, new)

    gradient, (y, new) = bl.grad(normed, has_aux=True)(x)
    given = torch.tensor(np.moveaxis(x, -1, 1), requires_grad=True)  # PyTorch has the width second
    mean, variance = (torch.tensor(running[name]) for name in ("mean", "variance"))
    there = torch.nn.functional.batch_norm(given, mean, variance, training=training, **options)
    (slope,) = torch.autograd.grad(torch.sum(torch.tensor(np.moveaxis(v, -1, 1)) * there), [given])
    close: Any = {"rtol": 1e-12, "atol": 1e-13} if dtype == np.float64 else {"rtol": 2e-5, "atol": 2e-5}
    np.testing.assert_allclose(y, np.moveaxis(there.detach().numpy(), 1, -1), **close)
    np.testing.assert_allclose(gradient, np.moveaxis(slope.numpy(), 1, -1), **close)
    np.testing.assert_allclose(new["mean"], mean.numpy(), **close)
    np.testing.assert_allclose(new["variance"], variance.numpy(), **close)
    assert y.dtype == new["mean"].dtype == new["variance"].dtype == dtype
    plain, same = bl.nn.batch_norm(x, running, training=training, **options)
    np.testing.assert_allclose(plain, y, **close)
    np.testing.assert_allclose(same["variance"], new["variance"], **close)


def test_a_sample_alone_in_evaluation() -> None:
    x = RNG.normal(size=(6, WIDTH))
    rows = [bl.nn.batch_norm(row, RUNNING, training=False)[0] for row in x]
    np.testing.assert_allclose(rows, bl.nn.batch_norm(x, RUNNING, training=False)[0], rtol=1e-14)


X = np.ones((4, WIDTH))
REFUSED = [
    (lambda: bl.nn.batch_norm(X[:1], RUNNING, training=True), ShapeError, "at least 2 values .* a bl.BatchLoss"),
    (lambda: bl.nn.batch_norm(X[0], RUNNING, training=True), ShapeError, r"x of shape \(5,\)"),
    (lambda: bl.nn.batch_norm(X[:, :2], RUNNING, training=False), ShapeError, r"running\['mean'\] has shape \(5,\)"),
    (lambda: bl.nn.batch_norm(1.0, RUNNING, training=False), ShapeError, r"x has shape \(\)"),
    (lambda: bl.nn.batch_norm(X, {"mean": X[0]}, training=True), ArgumentError, "running is"),
    (lambda: bl.nn.batch_norm(X, 3.0, training=True), ArgumentError, "running is 3.0"),  # pyright: ignore[reportArgumentType] - on purpose
    (lambda: bl.nn.batch_norm(X, RUNNING, training=True, momentum=2.0), ArgumentError, "momentum"),
    (lambda: bl.nn.batch_norm(X, RUNNING, training=True, eps=-1.0), ArgumentError, "eps"),
    (lambda: bl.nn.batch_norm(X, RUNNING, training="yes"), ArgumentError, "training"),  # pyright: ignore[reportArgumentType] - on purpose
]


@pytest.mark.parametrize(("bad", "error", "words"), REFUSED)
def test_what_does_not_fit_is_refused(bad: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as found:
        bad()
    assert isinstance(found.value, BurlabError)
