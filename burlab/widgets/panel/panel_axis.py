"""The axis below the curves of a panel: steps, or what a run has spent when each of them has ended."""

import math
from typing import Any

import numpy as np

from burlab.experiments.curves import label_of, place
from burlab.run.record.digest import Digest
from burlab.widgets.live.fields import one_of

from .curves_of_run import RunCurves
from .pyramid import NOTHING, Series

STEP, _SECONDS = "step", "seconds"
AXES = STEP, "samples", _SECONDS, "flops"


def offered(run: Any) -> tuple[str, ...]:
    """Return the axes of a run; of a watched loop only steps and seconds are known."""
    return AXES if hasattr(run, "digest") else (STEP, _SECONDS)


class CostColumn:
    """The cost of a run up to the end of each step: the column of its history, read as that grows.

    version: changes with the costs.
    """

    def __init__(self, line: RunCurves, against: str) -> None:
        self.line = line
        self._against = against
        self._digest: Digest | None = None
        self._steps: Series = NOTHING
        self._costs: Series = NOTHING
        self.version = 0

    def read(self, seconds: float = math.inf) -> bool:
        """Take new rows, and return True if these were all. seconds: after which the rest is left."""
        run, done = self.line.run, True
        if not hasattr(run, "digest"):
            steps, costs = self.line.stamps.all_points()
        else:
            digest = self._digest
            if digest is None or digest.recorder is not run.engine:  # it has begun elsewhere
                digest = self._digest = run.digest()
            done = digest.read(seconds)
            steps, costs = digest.steps, place(digest, self._against)
        if not (np.array_equal(steps, self._steps) and np.array_equal(costs, self._costs)):
            self._steps, self._costs = steps, costs
            self.version += 1
        return done

    def at(self, steps: Series) -> Series:
        """Return the costs of steps; what comes before or after the record has those of its ends, and no record 0."""
        if not self._steps.size:
            return np.zeros_like(steps)
        return np.interp(steps, self._steps, self._costs)

    def step_at(self, cost: float) -> float:
        """Return the step at a cost: the last of several, a fraction between two, the end of the record behind all."""
        if not self._steps.size or cost > self._costs[-1]:
            return float(self.line.run.length)
        return float(np.interp(cost, self._costs, self._steps))


class PanelAxis:
    """The axis that someone has chosen for the curves of a run and of its parents. They are computed over steps.

    against: one of `AXES`.
    """

    def __init__(self) -> None:
        self.against = STEP
        self._costs: list[CostColumn] = []  # of the run, and of its parents

    def choose(self, against: Any, lines: list[RunCurves]) -> None:
        """Choose an axis for a run, the first of these lines, and its parents. Raises ArgumentError for another one."""
        against = one_of(against, offered(lines[0].run), "the axis")
        if against != self.against:
            self.against, self._costs = against, []
            self.read(lines, 0.0)  # a piece: `read` goes on

    def read(self, lines: list[RunCurves], seconds: float = math.inf) -> bool:
        """Read what has been spent in the rows of these lines, as `CostColumn.read`."""
        if self.against == STEP:
            return True
        known = {costs.line: costs for costs in self._costs}
        self._costs = [known.get(line) or CostColumn(line, self.against) for line in lines]
        done = [costs.read(seconds) for costs in self._costs]
        return all(done)

    @property
    def label(self) -> str:
        """The label of the axis."""
        return label_of(self.against)

    @property
    def unit(self) -> str:
        """The unit of the axis."""
        return "s" if self.against == _SECONDS else ""

    @property
    def version(self) -> tuple[tuple[CostColumn, int], ...]:
        """A key that changes when steps get other places."""
        return tuple((costs, costs.version) for costs in self._costs)

    def places(self, steps: Series, line: RunCurves | None = None) -> Series:
        """Return where steps lie on the axis, of the shape of `steps`. line: whose they are; None for the run."""
        if not self._costs:
            return steps
        return next((costs for costs in self._costs if costs.line is line), self._costs[0]).at(steps)

    def step_at(self, place: float) -> float:
        """Return the step of the run that lies at a place of the axis, a fraction between two of them."""
        return self._costs[0].step_at(place) if self._costs else place
