"""Partial derivatives by the entries of columns: those of dense rows, for losses of products and others."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import burlab as bl
from burlab.problems.kernels.product_loss import ProductLoss
from burlab.problems.point import as_point

N, D = 90, 20
_rng = np.random.default_rng(5)


def matrix_of(dtype: str = "float64") -> Any:
    """Columns of no, few and many entries; rows without any."""
    dense = np.where(_rng.random((N, D)) < _rng.random(D) ** 2, _rng.normal(size=(N, D)), 0.0)
    dense[[0, 40]] = 0.0
    dense[:, 3], dense[:, 5] = 0.0, _rng.normal(size=N)
    return sparse.csr_array(dense.astype(dtype))


MATRIX, LABELS, SCALES = matrix_of(), np.sign(_rng.normal(size=N)), _rng.random((N, 2))
Loss = Callable[..., Any]
PRODUCTS: dict[str, Loss] = {
    "logistic": lambda x, a, b, c: np.logaddexp(0.0, -b * (a @ x)),
    "with an array of each sample": lambda x, a, b, c: np.sum(np.sin(c * (a @ x) - b)),
    "with functions of entries": lambda x, a, b, c: 0.5 * (np.arctan(a) @ x - b) ** 2,
    "scaled rows": lambda x, a, b, c: np.cosh((b * a) @ x),
}
OTHERS: dict[str, Loss] = {
    "two products": lambda x, a, b, c: (a @ x) * ((a**2) @ x),
    "an entry of x": lambda x, a, b, c: (a @ x - b) ** 2 + x[0],
    "a function of x": lambda x, a, b, c: (a @ np.sin(x) - b) ** 2,
    "the norm of the row": lambda x, a, b, c: (a @ x) ** 2 * np.sum(a**2),
}
REGULARIZERS: list[Any] = [None, lambda x: 0.05 * np.sum(x**2), lambda x: np.sum(x[1:] * x[:-1]) ** 2]


def problems(loss: Loss, regularizer: Any = None, matrix: Any = MATRIX) -> list[bl.FiniteSum]:
    return [bl.FiniteSum(loss, (a, LABELS, SCALES), regularizer) for a in (matrix, matrix.toarray())]


def parts(problem: bl.FiniteSum) -> ProductLoss | None:
    source = problem.oracle.products(as_point(np.zeros(D), "x"))
    return source and source.found


@pytest.mark.parametrize("regularizer", REGULARIZERS)
@pytest.mark.parametrize("name", [*PRODUCTS, *OTHERS])
def test_entries_are_those_of_dense_rows(name: str, regularizer: Any) -> None:
    ours, dense = problems((PRODUCTS | OTHERS)[name], regularizer)
    assert (parts(ours) is None) == (name in OTHERS)
    x = _rng.normal(size=D)
    for chosen in ([5], [3], [0, 19, 5, 5, 3]):
        np.testing.assert_allclose(
            ours.partial_grad(x, chosen), dense.grad(x)[chosen], rtol=1e-12, atol=1e-13, err_msg=str(chosen)
        )


def test_rows_of_a_subset_and_columns_of_scipy() -> None:
    loss, x = PRODUCTS["logistic"], _rng.normal(size=D)
    ours, dense = problems(loss, matrix=MATRIX.tocsc())
    for one, other in ((ours, dense), (ours.subset([7, 5, 7, 40]), dense.subset([7, 5, 7, 40]))):
        assert parts(one) is not None
        np.testing.assert_allclose(one.partial_grad(x, [5, 2]), other.grad(x)[[5, 2]], rtol=1e-12, atol=1e-13)


def test_single_precision() -> None:
    ours, dense = (
        bl.FiniteSum(lambda x, a, b: np.logaddexp(0, -b * (a @ x)), (a, LABELS.astype(np.float32)))
        for a in (matrix_of("float32"), MATRIX.toarray().astype(np.float32))
    )
    x = _rng.normal(size=D).astype(np.float32)
    found = ours.partial_grad(x, [5])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, ours.grad(x)[[5]], rtol=1e-5)
    assert dense.grad(x).shape == (D,)


DESCENTS = {
    "one": bl.optim.CoordinateDescent(0.3),
    "a pass": bl.optim.CoordinateDescent(0.3, coordinates=D),
    "by smoothness": bl.optim.CoordinateDescent(1.0, tuple(1.0 + np.arange(D)), coordinates=7),
    "lasso": bl.optim.CoordinateDescent(0.3, coordinates=D, penalty=bl.optim.l1(0.02)),
}


@pytest.mark.parametrize(
    ("kind", "name"),
    [*((kind, "logistic") for kind in DESCENTS), *(("a pass", name) for name in (*PRODUCTS, *OTHERS)[1:])],
)
def test_coordinate_descent_goes_where_it_goes_over_dense_rows(kind: str, name: str) -> None:
    ours, dense = problems((PRODUCTS | OTHERS)[name], REGULARIZERS[1])
    runs = [bl.minimize(p, np.full(D, 0.01), DESCENTS[kind], steps=12, seed=3) for p in (ours, dense)]
    np.testing.assert_allclose(runs[0].x, runs[1].x, rtol=1e-12, atol=1e-13)
    runs[0].seek(5)
    runs[1].seek(5)
    np.testing.assert_allclose(runs[0].x, runs[1].x, rtol=1e-12, atol=1e-13)


def test_a_second_problem_has_its_own_columns() -> None:
    """A traced update holds the data, so that of another problem is traced anew."""
    loss, rule = PRODUCTS["logistic"], DESCENTS["a pass"]
    first = bl.minimize(problems(loss)[0], np.zeros(D), rule, steps=5).x
    second = bl.minimize(problems(loss, matrix=2 * MATRIX)[0], np.zeros(D), rule, steps=5).x
    np.testing.assert_allclose(second, bl.minimize(problems(loss, matrix=2 * MATRIX)[1], np.zeros(D), rule, steps=5).x)
    assert np.max(np.abs(first - second)) > 1e-3


def test_the_lasso_is_that_of_scikit_learn() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is the second engine")
    ours = bl.FiniteSum(lambda x, a, b: 0.5 * (a @ x - b) ** 2, (MATRIX, LABELS))
    squares = np.maximum(np.asarray(MATRIX.multiply(MATRIX).sum(0)).ravel() / N, 1e-3)
    rule = bl.optim.CoordinateDescent(1.0, tuple(squares), coordinates=D, penalty=bl.optim.l1(0.02))
    wanted = linear_model.Lasso(0.02, fit_intercept=False, tol=1e-14, max_iter=20_000).fit(MATRIX, LABELS).coef_
    np.testing.assert_allclose(bl.minimize(ours, np.zeros(D), rule, steps=3000).x, wanted, atol=1e-9)
    assert 0 < np.count_nonzero(wanted) < D


def test_margins_at_other_rows_are_not_read() -> None:
    problem = problems(PRODUCTS["logistic"])[0]
    loss, x = parts(problem), _rng.normal(size=D)
    assert loss is not None
    margins, dense, wanted = MATRIX @ x, MATRIX.toarray(), problem.grad(x)

    def both(margins: Any, x: Any, j: Any) -> Any:
        return loss.slope(margins, x, j), loss.margins_after(margins, j, 0.5)

    compiled = bl.jit(both)
    for j in range(D):
        here = dense[:, j] != 0
        slope, moved = compiled(np.where(here, margins, np.nan), x, np.array(j))
        np.testing.assert_allclose(slope, wanted[j], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(moved, np.where(here, margins + 0.5 * dense[:, j], np.nan), rtol=1e-12)
