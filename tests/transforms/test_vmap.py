"""vmap: every spelling batched equals a loop; axes; errors."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import ArgumentError, ShapeError
from tests.engines import assert_close
from tests.graph.spellings import Spelling
from tests.graph.spellings_of_arrays import ALL

X, M = np.arange(3.0), np.arange(12.0).reshape(3, 4)


def batched(spelling: Spelling, flags: tuple[bool, ...]) -> tuple[list[Any], list[Any]]:
    """The arguments with a leading axis of two samples where flagged, and the samples."""
    other = [a * 0.75 - 0.1 if np.asarray(a).dtype.kind == "f" else np.flip(a) for a in spelling.args]
    samples = [spelling.args, tuple(b if f else a for a, b, f in zip(spelling.args, other, flags, strict=True))]
    return [np.stack([a, b]) if f else a for a, b, f in zip(*samples, flags, strict=True)], samples


@pytest.mark.parametrize("start", range(0, len(ALL), 40))
def test_every_spelling_batches(start: int) -> None:
    """With all arguments mapped, and with the first alone."""
    part = ALL[start : start + 40]
    cases = [(s, flags) for s in part for flags in {(True,) * len(s.args), (True,) + (False,) * (len(s.args) - 1)}]

    def run(args: Any) -> Any:
        return [
            bl.vmap(lambda *a, s=s: s.f(np, *a), tuple(0 if f else None for f in flags))(*row)
            for (s, flags), row in zip(cases, args, strict=True)
        ]

    args = [batched(*case)[0] for case in cases]
    for (s, flags), got in zip(cases, bl.compile(run, args, gear="replay")(args), strict=True):
        wanted = np.stack([np.asarray(s.f(np, *sample)) for sample in batched(s, flags)[1]])
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-13, err_msg=s.name)
        assert got.shape == wanted.shape


def test_vmap_takes_in_axes_and_out_axes() -> None:
    f = lambda x, y: x * 2 + y  # noqa: E731
    np.testing.assert_array_equal(bl.vmap(f, in_axes=(0, None))(M, np.ones(4)), M * 2 + 1)
    np.testing.assert_array_equal(bl.vmap(f, in_axes=(1, 0), out_axes=1)(M, np.arange(4.0)), M * 2 + np.arange(4.0))
    np.testing.assert_array_equal(bl.vmap(f, in_axes=(-1, None), out_axes=-1)(M, 1.0), M * 2 + 1)
    np.testing.assert_array_equal(bl.vmap(np.sum, in_axes=1)(M), M.sum(0))
    assert bl.vmap(lambda x: (x, np.outer(x, x)), out_axes=1)(M)[1].shape == (4, 3, 4)


def test_vmap_takes_trees_and_static_arguments() -> None:
    out = bl.vmap(lambda p, n: {"y": p["a"] * n + p["b"][0]}, in_axes=(0, None))({"a": X, "b": [X * 2]}, 3)
    np.testing.assert_array_equal(out["y"], X * 5)


def test_results_that_do_not_depend_are_repeated() -> None:
    a, b = bl.vmap(lambda x: (np.ones(2), x))(X)
    np.testing.assert_array_equal(a, np.ones((3, 2)))
    np.testing.assert_array_equal(b, X)


def test_a_traced_index_is_mapped() -> None:
    i = np.array([2, 0, 1, -1])
    np.testing.assert_array_equal(bl.vmap(lambda i: bl.asarray(M)[i])(i), M[i])
    np.testing.assert_array_equal(bl.vmap(lambda r, i: r[i])(M, i[:3]), M[np.arange(3), i[:3]])
    with pytest.raises(IndexError):
        bl.vmap(lambda r, i: r[i])(M, np.array([0, 4, 0]))


def test_one_and_no_samples() -> None:
    np.testing.assert_array_equal(bl.vmap(bl.grad(lambda x: np.sum(x**2)))(M[:1]), 2 * M[:1])
    assert bl.vmap(bl.grad(lambda x: np.sum(x**2)))(M[:0]).shape == (0, 4)


def test_per_sample_gradients_sum_to_the_gradient() -> None:
    def loss(w: Any, x: Any) -> Any:
        return np.tanh(x @ w) ** 2

    w = np.array([0.1, -0.2, 0.3, 0.4])
    rows = bl.vmap(bl.grad(loss), in_axes=(None, 0))(w, M / 10)
    assert rows.shape == (3, 4)
    assert_close(rows.sum(0), bl.grad(lambda w: np.sum(bl.vmap(loss, (None, 0))(w, M / 10)))(w))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: bl.vmap(np.add)(X, M[:2]), ShapeError, "one size, got 3 .*, 2 "),
        (lambda: bl.vmap(np.add, in_axes=(0,))(X, X), ArgumentError, "in_axes for 1 arguments, add was called with 2"),
        (lambda: bl.vmap(np.sin)(1.0), ShapeError, "no axis to map"),
        (lambda: bl.vmap(np.sin, in_axes=None)(X), ShapeError, "got none"),
        (lambda: bl.vmap(np.sin, in_axes=2)(X), np.exceptions.AxisError, "out of bounds"),
    ],
)
def test_vmap_with_wrong_arguments_raises(call: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words):
        call()
