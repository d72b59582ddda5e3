"""`Monarch` against the dense matrix that it stands for, the Fourier transform, and singular values."""

import re
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError

rng = np.random.default_rng(0)
Monarch = bl.nn.Monarch


def layer(**options: Any) -> Any:
    return Monarch(6, 4, **{"blocks": 2, "key": bl.random.key(1), "dtype": np.float64} | options)


def by_loops(ours: Any) -> Any:
    """The paper's product of two block-diagonal matrices with a permutation between them, entry by entry."""
    blocks, middle, part = ours.right.shape
    matrix = np.zeros((blocks * part, blocks * ours.left.shape[1]))
    for r in range(blocks):
        for s in range(part):
            for k in range(middle):
                for p in range(ours.left.shape[1]):
                    matrix[r * part + s, p * middle + k] = ours.left[k, p, r] * ours.right[r, k, s]
    return matrix


@pytest.mark.parametrize("shape", [(6,), (3, 6), (2, 3, 6)])
@pytest.mark.parametrize("bias", [True, False])
def test_values_and_derivatives_are_those_of_the_matrix(shape: Any, bias: bool) -> None:
    ours, x = layer(bias=bias), rng.normal(size=shape)
    matrix = by_loops(ours)
    np.testing.assert_allclose(ours.dense(), matrix, rtol=1e-14)
    wanted = x @ matrix + (ours.bias if bias else 0.0)
    np.testing.assert_allclose(ours(x), wanted, rtol=1e-12)
    np.testing.assert_allclose(bl.jit(lambda m, x: m(x))(ours, x), wanted, rtol=1e-12)
    by_layer, by_x = bl.grad(lambda m, x: np.sum(np.sin(m(x))), (0, 1))(ours, x)
    back = np.cos(wanted)
    dense = (x.reshape(-1, 6).T @ back.reshape(-1, 4)).reshape(2, 3, 2, 2)  # r, s, p, k
    np.testing.assert_allclose(by_layer.right, np.einsum("rspk,kpr->rks", dense, ours.left), rtol=1e-11)
    np.testing.assert_allclose(by_layer.left, np.einsum("rspk,rks->kpr", dense, ours.right), rtol=1e-11)
    np.testing.assert_allclose(by_x, back @ matrix.T, rtol=1e-11)


@pytest.mark.parametrize("m", [2, 3, 4, 8])
def test_the_fourier_transform_is_a_monarch_matrix(m: int) -> None:
    n = m * m
    digits = np.arange(n).reshape(m, m).T.ravel()  # the input in the order (s r)
    fourier = np.fft.fft(np.eye(n))
    ours = Monarch.nearest(fourier[digits], blocks=m)
    x = rng.normal(size=n) + 1j * rng.normal(size=n)
    np.testing.assert_allclose(ours(x[digits]), np.fft.fft(x), rtol=1e-12, atol=1e-12 * n)
    assert ours.right.size + ours.left.size == 2 * m**3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_nearest_matrix_is_at_the_distance_of_the_other_singular_values(dtype: Any) -> None:
    weight, bias = rng.normal(size=(12, 20)).astype(dtype), rng.normal(size=20)
    ours = Monarch.nearest(weight, blocks=4, bias=bias)
    assert ours.right.dtype == ours.left.dtype == ours.bias.dtype == dtype
    lost = 0.0
    for r in range(4):
        for k in range(4):
            lost += np.sum(np.linalg.svd(weight[3 * r : 3 * r + 3, k::4], compute_uv=False)[1:] ** 2)
    np.testing.assert_allclose(np.sum((ours.dense() - weight) ** 2), lost, rtol=1e-9 if dtype is np.float64 else 1e-4)
    for field in ("right", "left"):  # no step improves it
        slope = bl.grad(lambda a, f=field: np.sum((ours.replace(**{f: a}).dense() - weight) ** 2))(getattr(ours, field))
        assert np.abs(slope).max() < (1e-12 if dtype is np.float64 else 1e-4)
    again = Monarch.nearest(ours.dense(), blocks=4)
    np.testing.assert_allclose(again.dense(), ours.dense(), rtol=1e-4 if dtype is np.float32 else 1e-10)


def test_one_block_is_a_matrix_of_rank_one_and_numbers_are_of_both_factors() -> None:
    ours = layer(blocks=1)
    assert np.linalg.matrix_rank(ours.dense()) == 1
    assert bl.nn.count(Monarch(1024, 1024, blocks=32, key=bl.random.key(0), bias=False)) == 2 * 32**3


def test_outputs_start_with_the_variances_of_a_linear_layer() -> None:
    x = rng.normal(size=(200, 256))
    options: Any = {"key": bl.random.key(3), "dtype": np.float64, "bias": False}
    ours, theirs = Monarch(256, 256, blocks=16, **options), bl.nn.Linear(256, 256, **options)
    assert np.std(ours(x)) == pytest.approx(np.std(theirs(x)), rel=0.05)


def test_steps_need_two_products_of_blocks() -> None:
    ours = Monarch(64, 64, blocks=8, key=bl.random.key(0), bias=False)
    assert bl.counts(ours, np.ones(64, np.float32)).flops == 2 * 2 * 8**3


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: layer(blocks=4), ArgumentError, "blocks=4 of Monarch must divide inputs=6 and outputs=4"),
        (lambda: layer(blocks=0), ArgumentError, "blocks=0 must be a positive integer"),
        (lambda: layer(key=None), ArgumentError, "needs a key"),
        (lambda: layer()(np.ones(5)), ShapeError, "Monarch expects x of shape (..., 6)"),
        (lambda: layer()(np.ones(6, np.float32)), DTypeError, "Monarch has parameters of float64"),
        (lambda: Monarch.nearest(np.ones(4), blocks=2), ShapeError, "has shape (4,), expected (in, out)"),
        (lambda: Monarch.nearest(np.ones((4, 6)), blocks=4), ArgumentError, "must divide inputs=4 and outputs=6"),
        (lambda: Monarch.nearest(np.full((4, 4), np.nan), blocks=2), ArgumentError, "not finite"),
        (lambda: Monarch.nearest(np.empty((0, 4)), blocks=2), ArgumentError, "inputs=0"),
        (lambda: Monarch.nearest(np.eye(4), blocks=2, bias=[1.0]), ShapeError, "shape (1,), expected (4,)"),
        (lambda: Monarch.nearest("a", blocks=2), DTypeError, "weight of Monarch.nearest"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        call()
