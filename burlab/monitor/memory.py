"""Bytes of this process, and of arrays."""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from burlab.graph import tree

_STATM = Path("/proc/self/statm")
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def process_bytes() -> int:
    """Bytes of memory that this process holds now (resident set); where the system does not tell, the most so far.

    >>> process_bytes() > 1_000_000
    True
    """
    if _STATM.exists():
        return int(_STATM.read_bytes().split()[1]) * _PAGE
    resource: Any = import_module("resource")
    peak = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak if sys.platform == "darwin" else 1024 * peak


def tree_bytes(arrays: Any) -> int:
    """Bytes of all arrays or tensors in a tree of tuples, lists and dictionaries.

    >>> import numpy as np
    >>> tree_bytes({"w": np.zeros((3, 2)), "b": [np.zeros(2, np.float32), "none"]})
    56
    """
    return sum(int(getattr(leaf, "nbytes", 0)) for leaf in tree.flatten(arrays)[0])
