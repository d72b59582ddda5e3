"""Conversions to narrow dtypes, at every number of float16 and at the ends of the integers."""

from typing import Any

import numpy as np
import pytest

import burlab as bl
from tests.graph.buffers.programs import traced

HALVES = np.sort(np.arange(65536, dtype=np.uint16).view(np.float16).astype(float))
FINITE = HALVES[np.isfinite(HALVES)]
BETWEEN = (FINITE[1:] + FINITE[:-1]) / 2  # where the even one of two is next
ENDS = np.array([65519.9, 65520.0, -65520.0, 1e300, 5e-324, -5e-324, np.inf, -np.inf, np.nan, -0.0])
WHOLE = np.array([0, 1, -1, 127, 128, -128, -129, 255, 256, 65535, 65536, -70000, 2**31, 2**32 - 1, 2**32, -(2**33)])


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.filterwarnings("ignore:overflow")
def test_float16_is_rounded_as_numpy_rounds(kind: str) -> None:
    x = np.concatenate([HALVES, BETWEEN, np.nextafter(BETWEEN, 9e9), np.nextafter(BETWEEN, -9e9), ENDS]).astype(kind)
    got, wanted = traced(lambda x: x.astype(np.float16), x), x.astype(np.float16).astype(np.float32)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


@pytest.mark.parametrize("dtype", "int8 int16 uint8 uint16 uint32 uint64 float16".split())
@pytest.mark.filterwarnings("ignore:overflow")
def test_whole_numbers_and_masks(dtype: str) -> None:
    for x in (WHOLE, WHOLE.astype(np.int32), WHOLE > 0):
        got = traced(lambda x: x.astype(dtype), x)
        np.testing.assert_array_equal(got.astype(float), x.astype(dtype).astype(float))
        assert got.dtype == {"float16": "float32"}.get(dtype, dtype)


@pytest.mark.parametrize("dtype", "int8 int16 float16".split())
def test_floats_are_cut(dtype: str) -> None:
    x = np.array([1.7, -3.2, 100.9, -0.4, 0.0])
    got = traced(lambda x: x.astype(dtype), x)
    np.testing.assert_array_equal(got.astype(float), x.astype(dtype).astype(float))


def test_the_derivative_of_rounding_is_that_of_the_number() -> None:
    x = np.array([1.1, 2.2])
    got = traced(bl.grad(lambda x: np.sum(x.astype(np.float16) ** 2)), x)
    np.testing.assert_array_equal(got, 2 * x.astype(np.float16).astype(np.float32))


@pytest.mark.parametrize("dtype", "int8 uint8 int16 uint16 uint32 uint64 int32 float16".split())
def test_arguments_and_constants_of_every_dtype(dtype: str) -> None:
    a = np.array([1, 2, 3]).astype(dtype)
    x = np.array([0.5, 1.0, 2.0], np.float32 if dtype == "float16" else float)

    def f(a: Any, x: Any) -> Any:
        return np.sum(a * x) + a[0]

    assert bl.compile(f, a, x, gear="replay")(a, x) == f(a, x) == traced(lambda x: f(a, x), x)


def test_attributes_of_arrays() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    for got, wanted in zip(
        traced(lambda x: (x.T, x.mT, x.real * 1.0, x.imag), x), (x.T, x.mT, x.real, x.imag), strict=True
    ):
        np.testing.assert_array_equal(got, wanted)
