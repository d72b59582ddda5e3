"""Gradients of what reads many rows of an array: they lie side by side, and are not added to zeros one by one."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.engines import assert_close, jax_or_skip, on

A = np.random.default_rng(0).normal(size=(12, 6, 4))


def each(np: Any, a: Any) -> Any:
    return sum(np.sum(a[k] ** 3 * k) for k in range(12))


def some(np: Any, a: Any) -> Any:
    """Some rows twice, some never, and blocks of them."""
    rows = sum(np.sum(a[k] ** 3) + np.sum(a[k, :4] ** 2) + np.sum(a[k + 1] ** 2) for k in range(0, 6, 2))
    return rows + sum(np.sum(a[k]) ** 2 for k in range(4)) + np.sum(a[7:9] ** 2) * np.sum(a[10:11])


def inner(np: Any, a: Any) -> Any:
    """Rows of rows, elements, and all at once."""
    return sum(np.sum(a[k, 2] ** 2) * a[k, 3, 1] for k in range(12)) + np.sum(a**3)


def meeting(np: Any, a: Any) -> Any:
    """Blocks that share rows: neighbours, and an element of each."""
    return sum(np.sum(a[k : k + 2] ** 3) * a[k, 0, 0] for k in range(11))


def apart(np: Any, a: Any) -> Any:
    """Arrays that are not contiguous rows: parts of columns, and rows with steps."""
    return sum(np.sum(a[k, :, 1:3] ** 3) for k in range(12)) + sum(np.sum(a[k, ::2] ** 2) for k in range(12))


@pytest.mark.parametrize("function", [each, some, inner, meeting, apart])
def test_gradients_and_products_with_hessians(function: Any) -> None:
    jax = jax_or_skip()

    def both(np: Any, jvp: Any, grad: Any) -> Any:
        return lambda a, v: jvp(grad(on(np, function)), (a,), (v,))

    wanted = jax.jit(both(jax.numpy, jax.jvp, jax.grad))(A, A * 0.5)
    for gear in ("replay", "compiled") if function is inner else ("replay",):
        ours = both(np, bl.jvp, bl.grad)
        assert_close(bl.compile(ours, A, A * 0.5, gear=gear)(A, A * 0.5), wanted, 1e-12)


@pytest.mark.parametrize(("function", "most"), [(each, 0), (some, 30), (inner, 0), (meeting, 11)])
def test_no_row_is_added_to_zeros(function: Any, most: int) -> None:
    graph = bl.compile(bl.grad(on(np, function)), A, gear="replay").graph
    assert sum(n.op == "pad" for n in graph.nodes) <= most


def test_each_row_of_a_matrix_by_its_own_function() -> None:
    x = A.reshape(12, 24)
    f = bl.grad(lambda x: np.sum(np.apply_along_axis(lambda row: np.sum(row**2) * row, 1, x)))
    wanted = 2 * x * x.sum(1, keepdims=True) + (x**2).sum(1, keepdims=True)
    np.testing.assert_allclose(bl.compile(f, x, gear="replay")(x), wanted, rtol=1e-13)
