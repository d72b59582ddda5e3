"""Extremes and their positions against NumPy: every length of a row at which the kernels change, ties, nan and inf."""

import numpy as np
import pytest

import burlab as bl
from tests.engines import GEARS

LENGTHS = [1, 2, 7, 8, 15, 16, 17, 31, 63, 64, 65, 127, 128, 130, 511, 512, 513, 700, 2047, 2049, 4095, 4097, 6200]
DTYPES = ["float64", "float32", "int64", "int32", "bool"]


def rows(n, dtype, seed=0):
    """Rows of n numbers: few different ones, so that there are ties; then with one nan, several, nothing else."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-5, 5, size=(12, n)).astype(dtype)
    if x.dtype.kind == "f":
        x[1] = np.linspace(0, 1, n)
        x[2] = np.linspace(1, 0, n)
        x[3, rng.integers(n)] = np.nan
        x[4, rng.integers(n, size=3)] = np.nan
        x[5] = np.nan
        x[6, -1] = np.nan
        x[7, 0] = np.nan
        x[8, rng.integers(n)] = np.inf
        x[9] = -np.inf
        x[10, n // 2 :] = -np.inf
    return x


def extremes(x, axis):
    return np.max(x, axis), np.min(x, axis), np.argmax(x, axis), np.argmin(x, axis)


def agree(x, axis, gear):
    kernel = bl.compile(lambda x: extremes(x, axis), x, gear=gear)
    for ours, numpys in zip(kernel(x), extremes(x, axis), strict=True):
        np.testing.assert_array_equal(ours, numpys)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", LENGTHS)
def test_along_rows(n, dtype):
    agree(rows(n, dtype), 1, "replay")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 65, 513])
def test_down_columns(n, dtype):
    agree(np.ascontiguousarray(rows(n, dtype).T), 0, "replay")


@pytest.mark.parametrize("width", [3, 4, 5, 8, 17, 100, 512, 513, 1023, 1025, 2100])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_down_columns_of_any_width(width, dtype):
    agree(rows(width, dtype, seed=1), 0, "replay")


@pytest.mark.parametrize("gear", GEARS)
@pytest.mark.parametrize("axis", [0, 1, 2, (0, 2), (0, 1), (1, 2), (0, 1, 2), None])
def test_along_axes_in_between(axis, gear):
    x = np.random.default_rng(2).integers(-9, 9, size=(7, 66, 5)).astype(float)
    x[3, 40, 2] = np.nan
    for array in (x, np.moveaxis(x, 0, 2), x[::2, ::3]):
        kernel = bl.compile(lambda x: (np.max(x, axis), np.min(x, axis)), array, gear=gear)
        for ours, numpys in zip(kernel(array), (np.max(array, axis), np.min(array, axis)), strict=True):
            np.testing.assert_array_equal(ours, numpys)
        if axis is None or isinstance(axis, int):
            agree(array, axis, gear)


@pytest.mark.parametrize("place", range(0, 70, 3))
def test_the_first_of_zeros_of_both_signs_is_meant(place):
    x = np.full((2, 70), -1.0)
    x[0, place], x[0, 69] = -0.0, 0.0
    x[1, place], x[1, 69] = np.nan, np.nan
    assert bl.jit(lambda x: np.argmax(x, 1))(x).tolist() == [place, place]
