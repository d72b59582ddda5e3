"""Dtypes of graphs, kernels, files and the gate: one row for each.

With a row, arrays pass the gate, are stored in files, and are named in generated code. To compute in a dtype takes
more: its type in the functions of `cpp/burlab/numbers` and `cpp/burlab/ops`, and a place in `numpy_api/promotion.py`;
for a float a mark in `sentinels.py`, and a value of `Dtype` in `run/abi/summand.hpp`, as optimizers and sums know two
floats only. `tests/graph/test_signatures.py` finds operations without a kernel.

A narrow float is stored and not computed with: arguments, data and constants of that dtype are converted to float32 by
the loop that reads them (`numbers/narrow.hpp`).
"""

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from burlab.errors import ConfigurationError


class KnownDtype(NamedTuple):
    """A dtype: NumPy's name, the type in C++, and the two type codes of the buffer protocol that mean it."""

    name: str
    c_type: str
    codes: bytes


KNOWN_DTYPES = (
    KnownDtype("float32", "float", b"f\0"),
    KnownDtype("float64", "double", b"d\0"),
    KnownDtype("int8", "std::int8_t", b"b\0"),
    KnownDtype("int16", "std::int16_t", b"h\0"),
    KnownDtype("int32", "std::int32_t", b"ii"),
    KnownDtype("int64", "std::int64_t", b"lq"),
    KnownDtype("uint8", "std::uint8_t", b"B\0"),
    KnownDtype("uint16", "std::uint16_t", b"H\0"),
    KnownDtype("uint32", "std::uint32_t", b"II"),
    KnownDtype("uint64", "std::uint64_t", b"LQ"),
    KnownDtype("bool", "bool", b"?\0"),
)
NARROW_FLOATS = (
    KnownDtype("float16", "std::uint16_t", b"e\0"),
    KnownDtype("bfloat16", "std::uint16_t", b"\0\0"),  # of the package ml_dtypes: its arrays have no buffers
)
DTYPES: dict[str, np.dtype[Any]] = {row.name: np.dtype(row.name) for row in KNOWN_DTYPES}
"""NumPy's dtypes by name: those that graphs compute in."""
STORED = frozenset(row.name for row in (*KNOWN_DTYPES, *NARROW_FLOATS))
"""The names of all dtypes that arguments, data and constants may have."""
_HALF = np.dtype(np.float16)


def is_narrow_float(dtype: "np.dtype[Any]") -> bool:
    """Return True for float16 and bfloat16.

    >>> is_narrow_float(np.dtype(np.float16)), is_narrow_float(np.dtype(np.float32))
    (True, False)
    """
    return dtype == _HALF or (dtype.kind == "V" and dtype.name == "bfloat16")


def computed_in(dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    """Return the dtype that graphs compute in for arrays of a dtype: float32 for a narrow float."""
    return DTYPES["float32"] if is_narrow_float(dtype) else dtype


def dtype_of(name: str) -> "np.dtype[Any]":
    """Return the dtype of a name of `STORED`. Raises ConfigurationError where the package of bfloat16 is missing."""
    if name != "bfloat16":
        return DTYPES.get(name, _HALF)
    try:
        return np.dtype(import_module("ml_dtypes").bfloat16)
    except ModuleNotFoundError:
        raise ConfigurationError("bfloat16 needs ml_dtypes, which is not installed: pip install ml_dtypes") from None
