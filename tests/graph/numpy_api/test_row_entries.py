"""One entry of each row: NumPy's values, and nothing as large as the matrix where entries are enough."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import IndexRangeError
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import trace
from tests.graph.buffers.programs import traced

N, WIDTH = 17, 3
r = np.random.default_rng(1)
A, B = r.normal(size=(2, N, WIDTH))
TALL = r.normal(size=(N + 4, WIDTH))
MIXED = r.permutation(N)
EACH = np.arange(N)
Entries = Callable[[Any, Any, Any], Any]


def log_softmax(x: Any, np: Any, axis: int = -1) -> Any:
    return x - np.log(np.sum(np.exp(x), axis=axis, keepdims=True))


WITHOUT_MATRIX: dict[str, Entries] = {
    "diagonal": lambda a, b, np: np.diagonal(a @ b.T),
    "above": lambda a, b, np: np.diagonal(a @ b.T, 3),
    "below": lambda a, b, np: np.diagonal(b @ a.T, -2),
    "of a wide one": lambda a, b, np: np.diagonal(a @ TALL.T, 6),
    "of a high one": lambda a, b, np: np.diagonal(TALL @ b.T, 1),
    "past the end": lambda a, b, np: np.diagonal(a @ b.T, N + 2),
    "transposed": lambda a, b, np: np.diagonal(np.tanh((a @ b.T / 0.7).T) + 1, 2),
    "scaled": lambda a, b, np: np.diagonal(np.exp(a @ b.T / 4 + b[:, 0]) * np.sum(a, axis=1)[:, None], 1),
    "diag": lambda a, b, np: np.diag(a @ b.T),
    "trace": lambda a, b, np: np.trace(a @ b.T),
    "einsum": lambda a, b, np: np.einsum("ii->i", np.einsum("ik,jk->ji", a, b)),
    "index": lambda a, b, np: (a @ b.T)[EACH, EACH],
    "along an axis": lambda a, b, np: np.take_along_axis(a @ b.T, EACH[None, :], axis=0),
    "along the other": lambda a, b, np: np.take_along_axis(a @ b.T, EACH[:, None], axis=1),
    "stacked": lambda a, b, np: np.diagonal(np.stack([a, b]) @ np.stack([b, b]).transpose(0, 2, 1), axis1=1, axis2=2),
}
OTHERS: dict[str, Entries] = {
    "rows": lambda a, b, np: np.diagonal(log_softmax(a @ b.T, np)),
    "columns": lambda a, b, np: np.diagonal(log_softmax(a @ b.T, np, 0)),
    "mixed": lambda a, b, np: log_softmax(a @ b.T, np)[EACH, MIXED],
    "mixed along an axis": lambda a, b, np: np.take_along_axis(log_softmax(a @ b.T, np), MIXED[:, None], axis=1),
    "a letter in both": lambda a, b, np: np.diagonal(np.einsum("ik,ij->ij", a, b[:, :2])),
    "of a number each": lambda a, b, np: np.diagonal(a[:, :1] + 0 * (a @ b.T)[0]),
    "of memory": lambda a, b, np: np.diagonal(np.cumsum(a @ b.T, axis=0), -1),
    "of a vector": lambda a, b, np: np.take_along_axis(log_softmax(a[0] * b[0], np), np.array([2]), -1),
    "of one row": lambda a, b, np: np.take_along_axis(log_softmax(a[:1] * b[:1], np), np.array([[1]]), axis=1),
    "of three axes": lambda a, b, np: np.diagonal(np.exp(a[:, None] * b), 1, 0, 1),
}


@pytest.mark.parametrize("name", [*WITHOUT_MATRIX, *OTHERS])
def test_entries_are_those_of_numpy(name: str) -> None:
    entries = {**WITHOUT_MATRIX, **OTHERS}[name]
    np.testing.assert_allclose(traced(lambda a, b: entries(a, b, np), A, B), entries(A, B, np), rtol=1e-12, atol=1e-15)
    bl.check_grads(lambda a, b: np.sum(np.sin(entries(a, b, np))), (A, B), order=2)


@pytest.mark.parametrize("name", WITHOUT_MATRIX)
def test_a_diagonal_of_a_product_is_a_product_of_rows(name: str) -> None:
    entries = WITHOUT_MATRIX[name]
    graph = simplify(trace(bl.grad(lambda a, b: np.sum(np.sin(entries(a, b, np)))), (A, B)).graph)
    assert max(n.size for n in graph.nodes) < N * N


def test_logarithms_of_all_entries_are_not_computed_for_one_of_each_row() -> None:
    graph = trace(lambda a, b: log_softmax(a @ b.T, np)[EACH, MIXED], (A, B)).graph
    assert not [n for n in graph.nodes if n.op == "sub" and n.size == N * N]


def test_an_index_out_of_range_is_found_where_all_of_a_row_is_one_number() -> None:
    def same(a: Any, index: Any) -> Any:
        rows = np.broadcast_to(a, (N, WIDTH)) * np.broadcast_to(a, (N, WIDTH))
        return np.take_along_axis(rows, index[:, None], axis=1)

    a = A[:, :1]
    assert np.array_equal(bl.jit(same)(a, EACH % WIDTH), a * a)
    with pytest.raises(IndexRangeError):
        bl.jit(same)(a, EACH)
