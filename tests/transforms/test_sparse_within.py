"""Sparse derivatives inside of traced functions, and of products with sparse matrices: against dense ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import burlab as bl
from burlab.errors import TraceError

_rng = np.random.default_rng(3)
MATRIX = sparse.random_array((40, 60), density=0.03, rng=_rng, format="csr")
X = _rng.normal(size=60)


def chain(x: Any) -> Any:
    return x[1:] * x[:-1] ** 2 - 1.0


def tilted(x: Any) -> Any:
    return np.sin(MATRIX @ x) * x[:40]


def gathered(x: Any) -> Any:
    return x[np.array([0, 3, -1, 2, 3])] ** 3 + x[:5]


@pytest.mark.parametrize("f", [chain, tilted, gathered])
def test_a_jacobian_within_a_function_meets_words_of_sparse_arrays(f: Any) -> None:
    def of(jacobian: Any) -> Any:
        def g(x: Any) -> Any:
            j = jacobian(f)(x)
            return j.T @ f(x) * np.linalg.norm(j) + (j @ x) @ f(x)

        return g

    ours, dense = of(bl.sparse_jacobian), of(bl.jacobian)
    np.testing.assert_allclose(bl.jit(ours)(X), bl.jit(dense)(X), 1e-11, 1e-11)
    np.testing.assert_allclose(bl.jacobian(ours)(X), bl.jacobian(dense)(X), 1e-9, 1e-9)


def test_a_hessian_within_a_function() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.cos(MATRIX @ x)) + np.sum(x[0] * x[1:] ** 3)

    found = bl.jit(lambda x: bl.sparse_hessian(f)(x) @ x)(X)
    np.testing.assert_allclose(found, bl.hvp(f)(X, X), 1e-11, 1e-11)


def test_its_matrix_is_a_result_of_scipys() -> None:
    found = bl.jit(bl.sparse_jacobian(chain))(X)
    assert isinstance(found, sparse.csr_array)
    assert found.nnz == 2 * 59
    np.testing.assert_allclose(found.toarray(), bl.jacobian(chain)(X))


def test_a_rule_that_reads_a_jacobian() -> None:
    @dataclass(frozen=True)
    class OfResiduals(bl.optim.Optimizer):
        lr: bl.optim.Hyper = 0.01

        def update(self, g: Any, state: Any, x: Any, t: Any) -> Any:
            return x - self.lr * (bl.sparse_jacobian(chain)(x).T @ chain(x)), state

    def half(x: Any) -> Any:
        return 0.5 * np.sum(chain(x) ** 2)

    run = bl.minimize(half, X / 5, OfResiduals(), steps=30)
    wanted = bl.minimize(half, X / 5, bl.optim.GD(0.01), steps=30)
    np.testing.assert_allclose(run.x, wanted.x, 1e-12)


def test_indices_that_are_arguments_are_refused() -> None:
    def f(x: Any, i: Any) -> Any:
        return bl.sparse_jacobian(lambda x: x[i] ** 2)(x) @ x

    with pytest.raises(TraceError, match="depends on indices that are arguments"):
        bl.jit(f)(X, np.array([1, 2]))


def test_patterns_of_products_are_those_of_the_matrix() -> None:
    assert np.array_equal(bl.sparse_jacobian(lambda x: np.exp(MATRIX @ x))(X).indices, MATRIX.indices)
    assert bl.sparse_jacobian(lambda y: MATRIX.T @ y)(np.ones(40)).nnz == MATRIX.nnz
    wide = bl.sparse_jacobian(lambda x: np.sin(MATRIX @ x))(_rng.normal(size=(60, 3)))
    assert (wide.shape, wide.nnz) == ((120, 180), 3 * MATRIX.nnz)
    gram = bl.sparse_hessian(lambda x: np.sum(np.cos(MATRIX @ x)))(X)
    assert gram.nnz == (MATRIX.T @ MATRIX).nnz
    np.testing.assert_allclose(gram.toarray(), bl.hessian(lambda x: np.sum(np.cos(MATRIX @ x)))(X), 1e-12, 1e-12)

    def by_entries(v: Any, x: Any) -> Any:
        return (v[:, None] * MATRIX) @ x

    assert bl.sparse_jacobian(by_entries)(np.ones(40), X).nnz == 40
    assert bl.sparse_jacobian(by_entries, argnums=1)(np.ones(40), X).nnz == MATRIX.nnz
