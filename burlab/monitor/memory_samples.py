"""Bytes that a loop holds in memory, by purpose, sampled over its steps."""

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from burlab.graph import tree
from burlab.runtime.coerce import Array

_STATM = Path("/proc/self/statm")
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def process_bytes() -> int:
    """Bytes of memory that this process holds now (resident set), or its peak where the system reports no more.

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


MAX_SAMPLES = 2048


class MemorySamples:
    """At most MAX_SAMPLES samples over the steps of a loop: when full, every second one is dropped and the rate halved.

    >>> samples = MemorySamples()
    >>> for step in range(5000):
    ...     samples.take(step, 1e6, {"parameters": 8 * step})
    >>> columns = samples.read()
    >>> columns["step"][:3], len(columns["step"]), columns["parameters"][-1]
    (array([0, 4, 8]), 1250, np.int64(39968))
    """

    def __init__(self) -> None:
        self._rows: list[tuple[int, float, Mapping[str, int]]] = []
        self._every = 1
        self._offered = 0

    def take(self, step: int, resident: float, kinds: Mapping[str, int]) -> None:
        """Offer a sample. resident: bytes of the process; kinds: of arrays, by what they are for."""
        if self._offered % self._every == 0:
            self._rows.append((step, resident, kinds))
        self._offered += 1
        if len(self._rows) > MAX_SAMPLES:  # another thread may be reading the old list
            self._rows, self._every = self._rows[::2], 2 * self._every

    def read(self) -> dict[str, Array]:
        """The samples as columns of one length: step, int64; resident, float64; int64 by kind, 0 before."""
        rows = list(self._rows)
        names = dict.fromkeys(name for _, _, kinds in reversed(rows) for name in kinds)
        return {
            "step": np.array([step for step, _, _ in rows], np.int64),
            "resident": np.array([resident for _, resident, _ in rows], np.float64),
            **{name: np.array([kinds.get(name, 0) for _, _, kinds in rows], np.int64) for name in names},
        }
