"""Dtypes of graphs, kernels, files and the gate: one row for each.

With a row, arrays pass the gate, are stored in files, and are named in generated code. To compute in a dtype takes
more: its type in the functions of `cpp/burlab/numbers` and `cpp/burlab/ops`, and a place in `numpy_api/promotion.py`;
for a float a mark in `sentinels.py`, and a value of `Dtype` in `run/abi/summand.hpp`, as optimizers and sums know two
floats only. `native_dtype` makes float16 float32. `tests/graph/test_signatures.py` finds operations without a kernel.
"""

from typing import Any, NamedTuple

import numpy as np


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
DTYPES: dict[str, np.dtype[Any]] = {row.name: np.dtype(row.name) for row in KNOWN_DTYPES}
"""NumPy's dtypes by name."""
