"""Whole numbers and masks as floats: exact, and too small to count in the norm of a vector that holds them.

A run steps one vector of floats. An integer or mask in x travels in it as digits, of 16 bits in a float32 and of 32
bits in a float64, with a factor of a power of 2. Both functions take arrays and traced values.
"""

from typing import Any

import numpy as np

from burlab.typing import Shape

_FORMS = {np.dtype(np.float32): (16, 2.0**-100), np.dtype(np.float64): (32, 2.0**-300)}  # bits of a digit, its unit


def digits_shape(shape: Shape, kind: "np.dtype[Any]", dtype: "np.dtype[Any]") -> Shape:
    """Return the shape of the digits of an array, whose first axis counts them.

    >>> digits_shape((3,), np.dtype(np.int64), np.dtype(np.float32))
    (4, 3)
    """
    return (max(1, 8 * kind.itemsize // _FORMS[dtype][0]), *shape)


def to_digits(x: Any, kind: "np.dtype[Any]", dtype: "np.dtype[Any]") -> Any:
    """Return the digits of an array of a kind, as floats of a dtype.

    >>> x = np.array([-3, 1 << 40])
    >>> from_digits(to_digits(x, x.dtype, np.dtype(np.float32)), x.dtype).tolist()
    [-3, 1099511627776]
    """
    width, unit = _FORMS[dtype]
    whole, mask = x.astype(np.uint64), np.uint64(2**width - 1)
    count = digits_shape((), kind, dtype)[0]
    return np.stack([((whole >> np.uint64(width * k)) & mask).astype(dtype) * dtype.type(unit) for k in range(count)])


def from_digits(digits: Any, kind: "np.dtype[Any]", axis: int = 0) -> Any:
    """Return the array of a kind with these digits. axis: the one that counts them."""
    width, unit = _FORMS[digits.dtype]
    parts = (digits * digits.dtype.type(1 / unit)).astype(np.uint64)
    count = parts.shape[axis]
    whole: Any = np.take(parts, 0, axis=axis)
    for k in range(1, count):
        whole = whole | (np.take(parts, k, axis=axis) << np.uint64(width * k))
    return whole != 0 if kind.kind == "b" else whole.astype(kind)
