"""Samples of what steps of a minimizer of SciPy cost, in the columns of `burlab.run.record.traces`."""

import math
import os
import time
from pathlib import Path

from burlab.run.record.tables import KINDS

from .rows import Trail

_STATM = Path("/proc/self/statm")
_LEAST, _MOST, _GAPS, _DENSITY = 1e6, 1e9, 200, 256  # as in `cpp/burlab/run/record/traces.hpp`


class Costs:
    """Writes a sample now and then, each the mean of the steps since the last one."""

    def __init__(self, traces: Trail, step: int, elapsed: float) -> None:
        """step, elapsed: where the run is, in steps and nanoseconds of running."""
        self._traces = traces
        self._due = 0.0
        self._since = step, elapsed, 0.0

    def add(self, step: int, elapsed: float, function: float, nbytes: dict[str, int]) -> None:
        """A step is done. elapsed, function: nanoseconds of running, and of evaluating, so far."""
        before, began, evaluated = self._since
        if elapsed < self._due:
            return
        start = time.perf_counter_ns()
        steps = step + 1 - before
        inside = (function - evaluated) / steps
        update = max((elapsed - began) / steps - inside, 0.0)
        resident, kinds = _resident(), [nbytes[kind] for kind in KINDS]
        cost = time.perf_counter_ns() - start
        self._traces.append((step, elapsed, math.nan, inside, update, 0.0, cost, resident, *kinds))
        self._since = step + 1, elapsed, function
        self._due = elapsed + max(min(max(elapsed / _DENSITY, _LEAST), _MOST), _GAPS * cost)


def _resident() -> float:
    """Bytes of the process in memory; nan where the system does not say."""
    try:
        return int(_STATM.read_bytes().split()[1]) * float(os.sysconf("SC_PAGESIZE"))
    except (OSError, IndexError, ValueError):
        return math.nan
