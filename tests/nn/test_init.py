"""Initialisers against PyTorch's: the same bounds and deviations, for weights and for kernels."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ShapeError
from tests.engines import torch_or_skip

init = bl.nn.init
KEY = bl.random.key(4)
CASES: list[tuple[Callable[..., Any], str, dict[str, Any]]] = [
    (init.uniform, "uniform_", {}),
    (init.normal, "normal_", {}),
    (init.trunc_normal, "trunc_normal_", {"std": 1.5, "a": -1.0, "b": 2.0}),
    (init.xavier_uniform, "xavier_uniform_", {"gain": 2.0}),
    (init.xavier_normal, "xavier_normal_", {}),
    (init.kaiming_uniform, "kaiming_uniform_", {}),
    (init.kaiming_uniform, "kaiming_uniform_", {"a": 0.3, "mode": "fan_out"}),
    (init.kaiming_normal, "kaiming_normal_", {"nonlinearity": "relu"}),
    (init.kaiming_normal, "kaiming_normal_", {"nonlinearity": "tanh", "mode": "fan_out"}),
    (init.orthogonal, "orthogonal_", {"gain": 1.5}),
    (init.zeros, "zeros_", {}),
    (init.ones, "ones_", {}),
]


@pytest.mark.parametrize("shape", [(300, 500), (500, 300), (5, 6, 24, 200)], ids=str)
@pytest.mark.parametrize(("ours", "name", "options"), CASES)
def test_the_distribution_is_torchs(ours: Any, name: str, options: dict[str, Any], shape: tuple[int, ...]) -> None:
    torch = torch_or_skip()
    torch.manual_seed(0)
    theirs = getattr(torch.nn.init, name)(torch.empty(shape[-1], shape[-2], *shape[:-2]), **options).double().numpy()
    got = ours(KEY, shape, **options)
    assert (got.shape, got.dtype) == (shape, np.float32)
    assert got.mean() == pytest.approx(theirs.mean(), abs=0.02 * max(theirs.std(), 0.1))
    assert got.std() == pytest.approx(theirs.std(), rel=0.02)
    np.testing.assert_allclose(np.quantile(got, [0.02, 0.3, 0.9]), np.quantile(theirs, [0.02, 0.3, 0.9]),
                               atol=0.04 * max(theirs.std(), 1e-3))  # fmt: skip


@pytest.mark.parametrize("shape", [(30, 7), (7, 30), (3, 4, 5)])
def test_orthogonal_is(shape: tuple[int, ...]) -> None:
    q = init.orthogonal(KEY, shape, np.float64).reshape(-1, shape[-1])
    small = q.T @ q if q.shape[0] >= q.shape[1] else q @ q.T
    np.testing.assert_allclose(small, np.eye(len(small)), atol=1e-14)


@pytest.mark.parametrize("name", ["linear", "sigmoid", "tanh", "relu", "leaky_relu", "selu"])
def test_gains_are_torchs(name: str) -> None:
    torch = torch_or_skip()
    assert init.gain(name) == pytest.approx(torch.nn.init.calculate_gain(name))


def test_init_with_wrong_shapes_raises() -> None:
    with pytest.raises(ShapeError, match=r"at least the two axes \[in, out\], none of them empty, got shape \(3,\)"):
        init.xavier_normal(KEY, (3,))
    with pytest.raises(ShapeError, match="at least two axes"):
        init.orthogonal(KEY, (3,))
    with pytest.raises(ArgumentError, match="'gelu' is unknown"):
        init.gain("gelu")
    with pytest.raises(ArgumentError, match='Use "fan_in" or "fan_out"'):
        init.kaiming_normal(KEY, (3, 3), mode="fan")  # type: ignore[arg-type]


def test_the_key_decides() -> None:
    np.testing.assert_array_equal(init.normal(KEY, (5,)), init.normal(KEY, (5,)))
    assert not np.array_equal(init.normal(KEY, (5,)), init.normal(bl.random.key(5), (5,)))
    assert math.isclose(init.uniform(KEY, (20_000,), low=-3, high=1).min(), -3, abs_tol=1e-2)
