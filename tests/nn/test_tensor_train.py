"""`TensorTrainLinear` against the matrix that it stands for, entry by entry."""

import re
from itertools import product
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, DTypeError, ShapeError

rng = np.random.default_rng(0)
TensorTrain = bl.nn.TensorTrainLinear


def layer(**options: Any) -> Any:
    made = TensorTrain([2, 3], [3, 2], **{"rank": 4, "key": bl.random.key(1), "dtype": np.float64} | options)
    return made.replace(ranks=tuple(np.where(rng.random(d.size) < 0.3, 0.005, d + 0.1 * rng.normal(size=d.size))
                                    for d in made.ranks))  # fmt: skip


def by_loops(ours: Any) -> Any:
    """The product of matrices that defines each entry of a tensor train."""
    modes = [core.shape[1] for core in ours.cores]
    scales = [np.diag([x if x > 0.01 else 0.0 for x in d]) for d in (*ours.ranks, np.ones(1))]
    entries = []
    for index in product(*map(range, modes)):
        row = np.ones((1, 1))
        for core, scale, i in zip(ours.cores, scales, index, strict=True):
            row = row @ core[:, i] @ scale
        entries.append(row.item())
    return np.reshape(entries, (6, 6))


@pytest.mark.parametrize("shape", [(6,), (5, 6), (2, 3, 6)])
@pytest.mark.parametrize("bias", [True, False])
def test_values_and_derivatives_are_those_of_the_matrix(shape: Any, bias: bool) -> None:
    ours, x = layer(bias=bias), rng.normal(size=shape)
    matrix = by_loops(ours)
    np.testing.assert_allclose(ours.dense(), matrix, rtol=1e-12, atol=1e-15)
    wanted = x @ matrix + (ours.bias if bias else 0.0)
    np.testing.assert_allclose(ours(x), wanted, rtol=1e-11)
    np.testing.assert_allclose(bl.jit(lambda m, x: m(x))(ours, x), wanted, rtol=1e-11)
    slopes, by_x = bl.grad(lambda m, x: np.sum(np.sin(m(x))), (0, 1))(ours, x)
    np.testing.assert_allclose(by_x, np.cos(wanted) @ matrix.T, rtol=1e-10, atol=1e-13)
    flat, structure = bl.tree.flatten(ours)
    value = lambda leaves: np.sum(np.sin(x @ by_loops(m := bl.tree.unflatten(structure, leaves))  # noqa: E731
                                        + (m.bias if bias else 0.0)))  # fmt: skip
    for k, slope in enumerate(bl.tree.leaves(slopes)):
        step = rng.normal(size=slope.shape)
        low, high = (value([a + (s * step if k == j else 0) for j, a in enumerate(flat)]) for s in (-1e-6, 1e-6))
        np.testing.assert_allclose(np.sum(slope * step), (high - low) / 2e-6, rtol=1e-6, atol=1e-7)


def test_trimmed_is_the_same_matrix_with_fewer_numbers() -> None:
    ours = layer()
    less = ours.trimmed()
    np.testing.assert_allclose(less.dense(), ours.dense(), rtol=1e-12, atol=1e-15)
    kept = [1, *(int(np.sum(d > 0.01)) for d in ours.ranks), 1]
    shapes = [(kept[k], n, kept[k + 1]) for k, n in enumerate((2, 3, 3, 2))]
    assert [core.shape for core in less.cores] == shapes
    assert sum(core.size for core in less.cores) == ours.size() == less.size() < sum(c.size for c in ours.cores)
    assert bl.jit(lambda m: m.size())(ours) == ours.size()
    off = ours.replace(ranks=tuple(0 * d for d in ours.ranks))
    assert off.size() == 0
    assert not np.any(off.trimmed().dense())
    assert off.trimmed().size() == 2 + 3 + 3 + 2


def test_entries_start_with_the_variance_of_a_linear_layer_and_ranks_are_bounded() -> None:
    options: Any = {"key": bl.random.key(3), "dtype": np.float64}
    squares = [np.mean(TensorTrain([8, 8], [8, 8], rank=6, key=bl.random.key(k)).dense() ** 2) for k in range(40)]
    assert np.mean(squares) == pytest.approx(1 / (3 * 64), rel=0.15)
    assert [d.size for d in TensorTrain([2, 8], [8, 2], rank=6, **options).ranks] == [2, 6, 2]
    one = TensorTrain([5], [3], rank=9, **options)
    assert [core.shape for core in one.cores] == [(1, 5, 3), (3, 3, 1)]
    assert np.linalg.matrix_rank(TensorTrain([4, 4], [4, 4], rank=3, **options).dense()) == 3


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: TensorTrain(64, [8, 8], rank=2, key=None), ArgumentError, "inputs=64 must be a list of modes"),
        (lambda: TensorTrain([8], "ab", rank=2, key=None), ArgumentError, "outputs='ab' must be a list of modes"),
        (lambda: TensorTrain([8], [], rank=2, key=None), ArgumentError, "outputs=[] must be a list of modes"),
        (lambda: TensorTrain([8, 0], [8], rank=2, key=None), ArgumentError, "a mode of inputs=0 must be"),
        (lambda: TensorTrain([8], [8], rank=0, key=None), ArgumentError, "rank=0 must be a positive integer"),
        (lambda: layer(key=None), ArgumentError, "needs a key"),
        (lambda: layer(threshold=-1), ArgumentError, "threshold of TensorTrainLinear"),
        (lambda: layer()(np.ones(5)), ShapeError, "TensorTrainLinear expects x of shape (..., 6)"),
        (lambda: layer()(np.ones(6, np.float32)), DTypeError, "TensorTrainLinear has parameters of float64"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        call()
