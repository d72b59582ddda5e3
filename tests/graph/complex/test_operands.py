"""Complex arrays meet Python's numbers and arrays of every dtype: the dtypes and values are NumPy's."""

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.graph.numpy_api.promotion import PrecisionWarning

RNG = np.random.default_rng(3)
NUMBERS = (2, 0, -3, True, 2.5, 0.5, 1j, 2 + 0j, 1.5 - 2j)
DTYPES = [np.dtype(code) for code in "?bhilBHILfdFD"]
ARRAYS = [RNG.integers(1, 5 if dtype.kind != "b" else 2, size=(2, 3)).astype(dtype) for dtype in DTYPES]
SCALARS = [dtype.type(1 if dtype.kind == "b" else 3) for dtype in DTYPES]
OPERANDS: list[Any] = [*NUMBERS, *ARRAYS, *SCALARS]
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        f.__name__: f
        for f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.eq, operator.ne)
    },
    **{f.__name__: f for f in (np.float_power, np.isclose, np.outer, np.kron, np.inner, np.append)},
    "where": lambda x, y: np.where(np.ones((2, 3), bool), x, y),
    "tensordot": lambda x, y: np.tensordot(x, y, 0),
    "vdot": lambda x, y: np.vdot(x if np.ndim(x) else x * np.ones(6, bool), y if np.ndim(y) else y * np.ones(6, bool)),
}


def all_of(x: Any, y: Any) -> dict[str, Any]:
    return {name: f(x, y) for name, f in OPERATIONS.items() if name != "vdot" or np.ndim(x) == np.ndim(y)}


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("other", OPERANDS, ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', x)}")
@pytest.mark.filterwarnings("ignore:(divide|invalid)")
def test_values_and_dtypes_are_numpys(dtype: Any, other: Any) -> None:
    z = (RNG.normal(size=(2, 3)) + 1j * RNG.normal(size=(2, 3))).astype(dtype)
    single = np.result_type(dtype, other) == np.complex64
    for f in (lambda z: all_of(z, other), lambda z: all_of(other, z)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrecisionWarning)
            got, wanted = bl.compile(f, z, gear="replay")(z), f(z)
        for name, value in wanted.items():
            assert got[name].dtype == value.dtype, name
            known = ~np.isnan(value)  # a power of 0 may have a limit where NumPy says nan
            np.testing.assert_allclose(got[name][known], value[known], rtol=2e-5 if single else 1e-6, err_msg=name)


@pytest.mark.parametrize("number", NUMBERS)
def test_pythons_numbers_widen_nothing(number: Any) -> None:
    """No warning says that double precision has come in."""
    z = np.array([1 + 2j, -0.5 + 1j], np.complex64)
    for f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.eq):
        with warnings.catch_warnings():
            warnings.simplefilter("error", PrecisionWarning)
            bl.compile(lambda z, f=f: (f(z, number), f(number, z)), z, gear="replay")


def test_powers_of_zero_are_their_limits() -> None:
    """1 where the exponent is 0, 0 where its real part is positive, and no number elsewhere, as in NumPy."""
    exponents = np.array([0, 0.5, 1 + 1j, 2.5 - 1j, 1j, -0.5, -1 + 2j])
    got = bl.compile(lambda z, w: z**w, np.zeros(7, complex), exponents, gear="replay")(np.zeros(7, complex), exponents)
    np.testing.assert_array_equal(got, [1, 0, 0, 0, *[complex(np.nan, np.nan)] * 3])
