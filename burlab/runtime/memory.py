"""The memory of this machine. An allocation that needs more raises, with its size, before it is tried."""

import ctypes
import math
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from burlab.errors import AllocationError

ADDRESSABLE = 1 << 47  # bytes that a process can name on the CPUs of today
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container
_MIN_BYTES = 1 << 17  # bytes: less is not worth the time, a tenth of a millisecond
_trim: Any = getattr(ctypes.CDLL(None), "malloc_trim", None)
_poison = os.environ.get("BURLAB_POISON", "0") not in ("", "0")
_PATTERN = np.array([0x7FFADEED7FEADEED], np.uint64)  # of `kernels/poison.hpp`
_COUNTABLE = 200  # bits of a number that is written out
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_REMEDY = "Use smaller sizes or batches, or take parts one after the other (bl.scan)"


@cache
def physical() -> int:
    """Bytes of memory that the machine has, or that the container around this process may use."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for file in map(Path, _LIMITS):
        text = file.read_text().strip() if file.exists() else ""
        found += [int(text)] if text.isdigit() else []
    return min(found)


def volume(shape: tuple[int, ...]) -> int:
    """Elements of an array, its empty axes left out: what has to be countable even where nothing is stored.

    >>> volume((2, 3)), volume((2, 0, 3))
    (6, 6)
    """
    return math.prod(shape) or math.prod(size for size in shape if size)


def spoken(nbytes: int) -> str:
    """A number of bytes in words.

    >>> spoken(800), spoken(24 * 2**40), spoken(2**90)
    ('800 bytes', '24.0 TiB', '1073741824.0 EiB')
    >>> spoken(10**5000)
    '2^16609 bytes'
    """
    if nbytes.bit_length() > _COUNTABLE:
        return f"2^{nbytes.bit_length() - 1} bytes"
    power = min(max(nbytes.bit_length() - 1, 0) // 10, len(_UNITS) - 1)
    return f"{nbytes / 1024**power:.1f} {_UNITS[power]}" if power else f"{nbytes} bytes"


def too_large(what: str, nbytes: int) -> AllocationError:
    """The error for what needs more bytes than there are. what: the beginning of a sentence, such as "the result"."""
    all_there_is = spoken(physical())
    return AllocationError(f"{what} takes {spoken(nbytes)}; the memory here has {all_there_is} in all. {_REMEDY}.")


def check_fits(nbytes: int, what: str) -> None:
    """Raise AllocationError for more bytes than the machine has."""
    if nbytes > physical():
        raise too_large(what, nbytes)


def rounded(nbytes: int) -> int:
    """Bytes, rounded up to whole lines of 64, which is how memory is laid out on both sides.

    >>> rounded(0), rounded(1), rounded(64)
    (0, 64, 64)
    """
    return -(-nbytes // 64) * 64


def empty(shape: tuple[int, ...], dtype: "np.dtype[Any]", what: str) -> "np.ndarray[Any, Any]":
    """np.empty, or AllocationError."""
    nbytes = math.prod(shape) * dtype.itemsize
    check_fits(nbytes, what)
    try:
        array = np.empty(shape, dtype)
    except MemoryError:
        raise too_large(what, nbytes) from None
    if _poison and nbytes:
        block, whole = array.reshape(-1).view(np.uint8), nbytes // 8 * 8
        block[:whole].view(np.uint64)[:] = _PATTERN
        block[whole:] = _PATTERN.view(np.uint8)[: nbytes - whole]
    return array


def give_back(nbytes: int) -> None:
    """Return to the system what was freed, after arrays of so many bytes; malloc would keep arrays of a few megabytes.

    Where there is no malloc_trim, nothing happens.
    """
    if nbytes >= _MIN_BYTES and _trim is not None:
        _trim(0)


def poisons() -> bool:
    """Return True if new memory is filled with nan, so that tests see which part was never written."""
    return _poison
