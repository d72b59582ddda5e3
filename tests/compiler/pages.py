"""Arrays behind which no memory may be touched."""

import ctypes
import mmap

import numpy as np


def at_the_end_of_a_page(array):
    """A copy with memory behind it that nobody may read or write."""
    pages = -(-array.nbytes // mmap.PAGESIZE)
    memory = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + pages * mmap.PAGESIZE), mmap.PAGESIZE, 0) == 0
    copy = np.frombuffer(memory, array.dtype, array.size, pages * mmap.PAGESIZE - array.nbytes).reshape(array.shape)
    copy[...] = array
    return copy
