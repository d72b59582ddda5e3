"""`SparseLinear` against the dense matrix that it stands for."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError

rng = np.random.default_rng(0)


def layer(density: float = 0.3, **options: Any) -> Any:
    given = {"key": bl.random.key(1), "dtype": np.float64} | options
    return bl.nn.SparseLinear(6, 4, density=density, **given)


@pytest.mark.parametrize("shape", [(6,), (3, 6), (2, 3, 6)])
@pytest.mark.parametrize("bias", [True, False])
def test_values_and_derivatives_are_those_of_the_matrix(shape: Any, bias: bool) -> None:
    ours, x = layer(bias=bias), rng.normal(size=shape)
    b = ours.bias if bias else np.zeros(4)
    wanted = x @ ours.dense() + b
    np.testing.assert_allclose(ours(x), wanted, rtol=1e-12)
    np.testing.assert_allclose(bl.jit(lambda m, x: m(x))(ours, x), wanted, rtol=1e-12)
    by_weight = bl.grad(lambda w, x: np.sum(np.sin(ours.replace(weight=w)(x))), (0, 1))(ours.weight, x)
    back = np.cos(wanted)
    dense = x.reshape(-1, 6).T @ back.reshape(-1, 4)
    np.testing.assert_allclose(by_weight[0], dense[ours.rows, ours.columns], rtol=1e-12)
    np.testing.assert_allclose(by_weight[1], back @ ours.dense().T, rtol=1e-12)


def test_a_run_trains_the_weights_of_fixed_links_as_a_mask_does() -> None:
    ours, x, y = layer(), rng.normal(size=(20, 6)), rng.normal(size=(20, 4))
    problem = bl.FiniteSum(lambda m, x, y: np.mean((m(x) - y) ** 2), (x, y))
    run = bl.minimize(problem, ours, bl.optim.GD(0.1), steps=20)
    mask, w, b = ours.dense() != 0, ours.dense(), ours.bias
    for _ in range(20):
        back = 2 * (x @ w + b - y) / y.size
        w, b = w - 0.1 * mask * (x.T @ back), b - 0.1 * back.sum(axis=0)
    np.testing.assert_allclose(run.x.dense(), w, rtol=1e-10)
    np.testing.assert_allclose(run.x.bias, b, rtol=1e-10)
    np.testing.assert_array_equal(run.x.rows, ours.rows)


@pytest.mark.parametrize(("density", "links"), [(1.0, 24), (0.5, 12), (0.01, 1)])
def test_links_are_distinct_and_as_many_as_the_density_says(density: float, links: int) -> None:
    ours = layer(density, dtype=np.float32)
    places = {*zip(ours.rows.tolist(), ours.columns.tolist(), strict=True)}
    assert len(places) == links == ours.weight.size
    assert all(0 <= row < 6 and 0 <= column < 4 for row, column in places)
    assert ours.weight.dtype == np.float32
    assert ours.rows.dtype == ours.columns.dtype == np.int32
    assert np.abs(ours.weight).max() <= (density * 6) ** -0.5


def test_all_links_are_as_likely() -> None:
    counts = np.zeros((6, 4))
    for seed in range(400):
        ours = layer(0.25, key=bl.random.key(seed))
        counts[ours.rows, ours.columns] += 1
    assert counts.sum() == 400 * 6
    assert 60 < counts.min() <= counts.max() < 145  # 100 each; the deviation is 8.7


def test_an_operation_counts_for_each_link() -> None:
    ours = layer(0.5, bias=False)
    assert bl.counts(ours, rng.normal(size=6)).flops == 2 * 12
    assert bl.counts(ours, rng.normal(size=(5, 6))).flops == 5 * 2 * 12


def test_what_does_not_fit_is_refused() -> None:
    for density in (0.0, 1.5, np.nan):
        with pytest.raises(ArgumentError, match="density of SparseLinear"):
            layer(density)
    with pytest.raises(ShapeError, match="SparseLinear expects x of shape"):
        layer()(np.ones(5))
    with pytest.raises(DTypeError, match="SparseLinear has parameters of float64"):
        layer()(np.ones(6, np.float32))
    with pytest.raises(ArgumentError, match="needs a key"):
        layer(key=None)
