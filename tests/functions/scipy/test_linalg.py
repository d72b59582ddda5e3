"""bl.scipy.linalg against SciPy, traced and on arrays, with derivatives against differences to the second order."""

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import burlab as bl
from tests.engines import assert_close

RNG = np.random.default_rng(3)


def everything(la: Any, a: Any, b: Any) -> Any:
    """All functions of a module, by all of their options."""
    triangular = [
        la.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit)
        for trans in (0, "T") for lower in (False, True) for unit in (False, True)
    ]  # fmt: skip
    solutions = [la.cho_solve(la.cho_factor(a @ a.T + a.shape[0], low), b[:, 0]) for low in (False, True)]
    return *triangular, *solutions, la.expm(a), la.expm(a * 1e-3)


@pytest.mark.parametrize("n", [1, 4, 25, 40])
def test_linalg_values_equal_scipy(n: int) -> None:
    a, b = RNG.normal(size=(n, n)) / n + 3 * np.eye(n), RNG.normal(size=(n, 3))
    wanted = everything(scipy.linalg, a, b)
    assert_close(everything(bl.scipy.linalg, a, b), wanted)
    assert_close(bl.jit(lambda a, b: everything(bl.scipy.linalg, a, b))(a, b), wanted)
    assert_close(bl.scipy.linalg.cho_factor(a @ a.T, True)[0], np.linalg.cholesky(a @ a.T))


def test_linalg_derivatives_equal_differences() -> None:
    a, b = RNG.normal(size=(4, 4)) + 3 * np.eye(4), RNG.normal(size=4)
    la = bl.scipy.linalg

    def f(a: Any) -> Any:
        lower = la.solve_triangular(a, b, lower=True)
        upper = la.solve_triangular(a, b, trans=1, unit_diagonal=True)
        return lower * upper + la.cho_solve(la.cho_factor(a @ a.T), b) + la.expm(a / 4)[0]

    bl.check_grads(f, a)
    u = RNG.normal(size=(4, 4))
    bl.check_grads(lambda x: np.sum(bl.grad(lambda y: np.sum(f(y) ** 2))(x) * u), a)


def test_batches_and_edges() -> None:
    many = RNG.normal(size=(3, 4, 4))
    np.testing.assert_allclose(bl.scipy.linalg.expm(many), scipy.linalg.expm(many), rtol=1e-11)
    np.testing.assert_allclose(bl.vmap(bl.scipy.linalg.expm)(many), scipy.linalg.expm(many), rtol=1e-11)
    assert bl.scipy.linalg.expm(np.zeros((0, 0))).shape == (0, 0)
    assert np.isnan(bl.scipy.linalg.expm(np.full((2, 2), np.inf))).all()
    with pytest.raises(bl.errors.ArgumentError, match="trans of solve_triangular"):
        bl.scipy.linalg.solve_triangular(np.eye(2), np.ones(2), trans=3)
