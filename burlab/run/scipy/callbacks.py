"""The callbacks of SciPy: functions of a problem, which wait until the run may go on."""

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from burlab.errors import BurlabError
from burlab.run.record.tables import KINDS
from burlab.runtime.coerce import Array

from .log import Measured
from .rows import GrowingTable
from .scipy_objective import ScipyObjective

_STATM = Path("/proc/self/statm")
MIN_GAP, MAX_GAP = 1e6, 1e9  # nanoseconds; these and the next as in `cpp/burlab/run/record/traces.hpp`
COST_GAPS, DENSITY = 200, 256


class StepCosts:
    """Writes a sample now and then, each the mean of the steps since the last one."""

    def __init__(self, traces: GrowingTable, step: int, elapsed: float) -> None:
        """step, elapsed: the run's position, in steps and nanoseconds of running."""
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
        self._due = elapsed + max(min(max(elapsed / DENSITY, MIN_GAP), MAX_GAP), COST_GAPS * cost)


def _resident() -> float:
    """Bytes of the process in memory; nan if the system does not report them."""
    try:
        return int(_STATM.read_bytes().split()[1]) * float(os.sysconf("SC_PAGESIZE"))
    except (OSError, IndexError, ValueError):
        return math.nan


class Callbacks:
    """Value, gradient and curvature at a flat x. samples: used so far. spent: nanoseconds, by the clock `elapsed`.

    wait: called before an evaluation and between slices of a long one; returns when the run may go on. fail: called
    with what an evaluation raised; the evaluation is tried again when the run goes on.
    """

    def __init__(
        self,
        objective: ScipyObjective,
        wait: Callable[[], None],
        fail: Callable[[Exception], None],
        elapsed: Callable[[], float],
        samples: int,
    ) -> None:
        self.samples = samples
        self.spent = 0.0
        self._elapsed = elapsed
        self._objective = objective
        self._wait = wait
        self._fail = fail
        self._known: dict[bytes, tuple[float, float]] = {}  # value and gradient norm, since the last point

    def value(self, x: Array) -> float:
        """The value."""
        return self._evaluate(self._objective.value, x)

    def value_and_grad(self, x: Array) -> tuple[float, Array]:
        """The value and the gradient, shape (d,)."""
        value, gradient = self._evaluate(self._objective.value_and_grad, x)
        self._known[x.tobytes()] = value, float(np.linalg.norm(gradient))
        return value, gradient

    def hvp(self, x: Array, v: Array) -> Array:
        """The Hessian times v, shape (d,)."""
        return self._evaluate(self._objective.hvp, x, v)

    def hessian(self, x: Array) -> Array:
        """The Hessian, shape (d, d)."""
        return np.stack([self.hvp(x, unit) for unit in np.eye(x.size)])

    def measure(self, x: Array) -> Measured:
        """A point for the record. SciPy has probably evaluated it; an evaluation only for the record is not counted."""
        known = self._known.get(x.tobytes())
        if known is None:
            value, gradient = self._evaluate(self._objective.value_and_grad, x, counts=False)
            known = value, float(np.linalg.norm(gradient))
        self._known.clear()
        return Measured(x, *known)

    def _evaluate(self, query: Callable[..., Any], *vectors: Array, counts: bool = True) -> Any:
        while True:
            self._wait()
            began = self._elapsed()
            try:
                answer = query(*vectors, self._wait)
            except BurlabError as error:
                self._fail(error)
            else:
                self.spent += self._elapsed() - began
                self.samples += self._objective.samples if counts else 0
                return answer
