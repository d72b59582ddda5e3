"""The dtypes of results: of every function of NumPy that can be traced, over all dtypes and kinds of second numbers."""

import warnings
from typing import Any

import numpy as np
import pytest

import burlab as bl
from burlab.errors import BurlabError
from burlab.graph.node import FUNCTIONS
from burlab.graph.numpy_api.promotion import PrecisionWarning
from burlab.graph.tracing.trace import trace
from burlab.runtime.dtypes import computed_in
from tests.graph.dtype_words import ALONE, BY_COMPLEX, CONCRETE, MATRICES, WITHOUT_NUMBERS, Word, names
from tests.graph.integers import DTYPES as WHOLE, answer, ufuncs

DTYPES = (*WHOLE, "float32", "float64")
NUMBERS: dict[str, Any] = {"1": 1, "2.5": 2.5, "True": True} | {
    f"np.{name}": np.dtype(name).type(2 if name != "bool" else 1) for name in DTYPES
}
PAIRS = {**ufuncs(2), **{f"{name} turned": (lambda x, s, f=f: f(s, x)) for name, f in ufuncs(2).items()}}
VECTOR, MATRIX = np.array([1, 2, 3, 0, 2, 1]), np.array([[2, 1, 0], [1, 3, 1], [0, 1, 2]])
OTHERS = set("gradient histogram percentile nanpercentile quantile nanquantile ediff1d".split())
OTHERS |= {"select", "linalg.cholesky", "linalg.matrix_power"}
"""Words that are known to have other dtypes somewhere: of masks, or where a second number is wider than the array."""


def dtypes(f: Word, *args: Any) -> Any:
    """Return the dtypes of a traced function's results; None where it is refused by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        try:
            return [y.dtype for y in trace(f, args).graph.outputs]
        except BurlabError:
            return None


def numpys(f: Word, *args: Any) -> Any:
    """Return the dtypes of NumPy's results; None where NumPy raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = answer(f, *args)
    return None if found is None else [computed_in(np.asarray(y).dtype) for y in found]


def differing(table: dict[str, Word], *args: Any) -> dict[str, Any]:
    """The words of a table whose results have other dtypes than NumPy's, or that are taken where NumPy refuses."""
    found: dict[str, Any] = {}
    for name, f in table.items():
        got, wanted = dtypes(f, *args), numpys(f, *args)
        if got is not None and got != wanted and name not in OTHERS:
            found[name] = got, wanted
    return found


def test_every_function_is_in_a_table() -> None:
    words = {f"{f.__module__}.{f.__name__}".removeprefix("numpy.") for f in FUNCTIONS}
    words = {word for word in words if not f"{word} ".startswith(BY_COMPLEX)}
    rows = names(ALONE) | names(CONCRETE) | names(MATRICES)
    assert words - WITHOUT_NUMBERS == rows, "each function of NumPy has a row in tests/graph/dtype_words.py"


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_an_array(dtype: str) -> None:
    assert differing(ALONE, VECTOR.astype(dtype)) == {}
    assert differing(MATRICES, MATRIX.astype(dtype)) == {}


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_an_array_and_a_number(dtype: str) -> None:
    x = VECTOR.astype(dtype)
    for number, s in NUMBERS.items():
        beside = {name: (lambda x, f=f, s=s: f(x, s)) for name, f in (CONCRETE | PAIRS).items()}
        assert differing(beside, x) == {}, number


def test_traced_number_with_float32_stays_float32() -> None:
    """Words that are made of several operations, of which some see the converted number alone."""
    x = np.array([1.0, 2.0], np.float32)
    for word in (np.hypot, np.logaddexp, np.arctan2, np.maximum, np.float_power):
        value = bl.jit(lambda x, s: word(x, s))(x, 2.0)  # noqa: B023, PLW0108
        assert value.dtype == word(x, 2.0).dtype, word
        np.testing.assert_allclose(value, word(x, 2.0), rtol=1e-6)
