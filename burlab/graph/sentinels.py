"""Numbers in memory in place of traced entries, which no computation gives by chance.

C code that reads such an array past all protocols of NumPy gets them. They are looked for where a known array meets a
traced one: a quiet nan keeps its payload through arithmetic.
"""

import struct
import threading
from typing import Any

import numpy as np

_INTEGER = 0x7AB0B1AB
_PAYLOADS = {
    np.dtype(np.float64): struct.unpack("<d", struct.pack("<Q", 0x7FF8B0B1AB1AB0B1))[0],
    np.dtype(np.float32): np.array([0x7FD0B1AB], np.uint32).view(np.float32)[0],
}  # fmt: skip
_BITS = {np.dtype(np.float64): (np.uint64, 0x7FF8B0B1AB1AB0B1), np.dtype(np.float32): (np.uint32, 0x7FD0B1AB)}


class _Thread(threading.local):
    used: bool = False


_thread = _Thread()


def poison(dtype: "np.dtype[Any]") -> Any:
    """Return the number that represents a traced entry in memory of a dtype."""
    _thread.used = True
    if dtype.kind == "c":
        return complex(_PAYLOADS[np.dtype(np.float64)], _PAYLOADS[np.dtype(np.float64)])
    return _PAYLOADS.get(dtype, _INTEGER if dtype.itemsize >= 4 else 0)  # few bits are no mark


def is_poisoned(array: "np.ndarray[Any, Any]") -> bool:
    """Return True if numbers that represent traced entries were read or used."""
    if not _thread.used or array.dtype.kind not in "fiuc":
        return False
    if array.dtype.kind == "c":
        return is_poisoned(array.real) or is_poisoned(array.imag)
    if array.dtype.kind in "iu":
        return array.dtype.itemsize >= 4 and bool((array == _INTEGER).any())
    if array.dtype not in _BITS or not np.isnan(array).any():
        return False
    kind, bits = _BITS[array.dtype]
    sign = np.array(~np.zeros((), kind) >> np.ones((), kind))
    return bool(((np.ascontiguousarray(array).view(kind) & sign) == bits).any())
