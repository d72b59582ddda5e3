"""Detection of runs whose point does not change any more."""

from typing import Any

import numpy as np

from burlab.graph import tree

from .curves_of_run import RunCurves

STEPS = 1000  # that must not have moved it
_MAX_ROUNDINGS, _MAX_RATIO = 4, 1e-3


class RunRest:
    """Detects once per branch of a record that a run has settled; after that someone may play it on.

    The rule: none of the last 1,000 steps was longer than four roundings of x, in its norm.
    """

    def __init__(self) -> None:
        self._reported_state: Any = None  # the events and the parent at which it was said

    def check(self, run: Any, lines: RunCurves) -> bool:
        """Return True if the run is to rest now."""
        steps = lines.curves.get("step_norm")
        if not run.can_seek or steps is None or steps.rows < STEPS or run.t < run.length - 1:
            return False
        high = steps.recent(STEPS)
        if high > max(_MAX_RATIO * steps.high, _MAX_RATIO):  # far from it: x, which may be large, is not asked for
            return False
        state = run.parent, [run.hyper[name] for name in run.hyper]
        if state == self._reported_state or not within_rounding(run.x, high):
            return False
        self._reported_state = state
        return True


def within_rounding(x: tree.Tree, longest: float) -> bool:
    """Return True if steps of at most this norm are within the roundings of a point.

    >>> within_rounding(np.array([1e3, 0.0]), 1e-13), within_rounding(np.array([1e-3, 0.0]), 1e-13)
    (True, False)
    """
    return longest <= _MAX_ROUNDINGS * _rounding(x)


def _rounding(x: tree.Tree) -> float:
    """The unit in the last place of a point, in its norm."""
    leaves = [np.asarray(leaf) for leaf in tree.flatten(x)[0]]
    kinds = [np.finfo(leaf.dtype).eps for leaf in leaves if leaf.dtype.kind == "f"] or [0.0]
    return float(max(kinds)) * float(np.sqrt(sum(float(np.sum(np.square(leaf, dtype=np.float64))) for leaf in leaves)))
