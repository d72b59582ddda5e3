"""Sums along the first axis of few columns: abreast, with the bits that a column with steps has alone."""

import numpy as np
import pytest

import burlab as bl

rng = np.random.default_rng(3)


def _cases(rows, columns, dtype):
    """Numbers of many sizes, also with what is special."""
    x = (rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-12, 12, (rows, columns))).astype(dtype)
    yield x
    for value in (np.inf, np.nan, -0.0):
        other = x.copy()
        other[-1, 0] = value
        yield other
    yield np.full_like(x, -0.0)


@pytest.mark.parametrize("gear", ["compiled", "replay"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("columns", [2, 3])
@pytest.mark.parametrize("rows", [3, 64, 1001])
def test_few_columns(rows, columns, dtype, gear):
    x = np.zeros((rows, columns), dtype)
    together = bl.compile(lambda x: np.sum(x, 0), x, gear=gear)
    alone = bl.compile(lambda x: np.stack([np.sum(x[:, k]) for k in range(columns)]), x, gear=gear)
    for case in _cases(rows, columns, dtype):
        got = np.asarray(together(case))
        exact = case.astype(np.longdouble).sum(0).astype(dtype)
        np.testing.assert_allclose(got, exact, rtol=2 * np.finfo(dtype).eps)
        assert got.tobytes() == np.asarray(alone(case)).tobytes()
