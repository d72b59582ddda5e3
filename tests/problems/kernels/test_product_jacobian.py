"""Jacobians of residuals over sparse data, beside those over dense rows, and SciPy's least squares with them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse

import burlab as bl
from burlab.errors import ArgumentError

N, D = 60, 12
_rng = np.random.default_rng(8)
_DENSE = np.where(_rng.random((N, D)) < 0.3, _rng.normal(size=(N, D)), 0.0)
_DENSE[[0, 30]] = 0.0
MATRIX, TARGETS = sparse.csr_array(_DENSE), _rng.normal(size=N)
Residual = Callable[..., Any]
PRODUCTS: dict[str, Residual] = {
    "linear": lambda x, a, b: a @ x - b,
    "curved": lambda x, a, b: np.tanh(a @ x) - b,
    "three of a sample": lambda x, a, b: np.stack([a @ x - b, np.sin(b * (a @ x)), 0.1 * b]),
    "scaled rows": lambda x, a, b: np.exp(0.1 * ((b * a) @ x)),
}
OTHERS: dict[str, Residual] = {
    "an entry of x": lambda x, a, b: a @ x - b * x[0],
    "a function of x": lambda x, a, b: a @ (x**2) - b,
}


def both(r: Residual, matrix: Any = MATRIX, **options: Any) -> list[bl.Residuals]:
    return [bl.Residuals(r, (a, TARGETS), **options) for a in (matrix, matrix.toarray())]


@pytest.mark.parametrize("options", [{}, {"loss": "huber"}])
@pytest.mark.parametrize("name", PRODUCTS)
def test_the_jacobian_has_the_entries_of_the_data(name: str, options: Any) -> None:
    ours, dense = both(PRODUCTS[name], **options)
    x = _rng.normal(size=D)
    found, wanted = ours.jacobian(x), dense.jacobian(x)
    assert isinstance(found, sparse.csr_array)
    assert found.shape == wanted.shape
    assert found.nnz == MATRIX.nnz * (len(wanted) // N)
    np.testing.assert_allclose(found.toarray(), wanted, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        ours.jacobian(2 * x, sparse=True).toarray(), dense.jacobian(2 * x), rtol=1e-12, atol=1e-13
    )


@pytest.mark.parametrize("name", OTHERS)
def test_other_residuals_have_a_dense_one(name: str) -> None:
    ours, dense = both(OTHERS[name])
    x = _rng.normal(size=D)
    assert isinstance(ours.jacobian(x), np.ndarray)
    np.testing.assert_allclose(ours.jacobian(x), dense.jacobian(x), rtol=1e-12, atol=1e-13)
    with pytest.raises(ArgumentError, match="sparse=True"):
        ours.jacobian(x, sparse=True)


def test_rows_of_a_subset() -> None:
    ours, dense = both(PRODUCTS["three of a sample"], MATRIX.tocsc())
    x, chosen = _rng.normal(size=D), [5, 3, 5, 30]
    found = ours.subset(chosen).jacobian(x)
    np.testing.assert_allclose(found.toarray(), dense.subset(chosen).jacobian(x), rtol=1e-12, atol=1e-13)


def test_least_squares_of_scipy_takes_it() -> None:
    ours, dense = both(PRODUCTS["curved"])
    found = optimize.least_squares(
        ours.residuals, np.zeros(D), jac=ours.jacobian, tr_solver="lsmr", xtol=1e-14, ftol=1e-14
    )
    wanted = bl.minimize(dense, np.zeros(D), bl.optim.LevenbergMarquardt(), steps=60).x
    np.testing.assert_allclose(found.x, wanted, atol=1e-6)
