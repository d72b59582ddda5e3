"""What all runs of a sweep have in common, and how one of them is opened."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.problems import FiniteSum
from burlab.problems.batch import Batch
from burlab.run import Opener, Run, Stop
from burlab.transforms import jit, random

from .trials import Trial

_HISTORY, _KEYFRAMES, _LEAST = 256 << 20, 256 << 20, 1 << 20  # bytes for all runs together, and for each at least


@dataclass(frozen=True, slots=True)
class Setting:
    """start: gives x0 for a seed. steps: of each run, None for as many as `stop` allows. runs: how many there are.

    more: what `minimize` is told besides, by name. The others are as for `minimize`.
    """

    problem: Any
    start: Callable[[int], tree.Tree]
    batch: int | Batch | None
    sampler: Any
    steps: int | None
    stop: Stop
    runs: int
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def opening(self) -> Callable[[Trial], Run]:
        """What gives the run of a trial, at step 0. Runs that differ by numbers alone share what is compiled."""
        history, keyframes = max(_HISTORY // self.runs, _LEAST), max(_KEYFRAMES // self.runs, _LEAST)
        opener = Opener(
            self.problem, batch=self.batch, sampler=self.sampler, stop=self.stop,
            history_bytes=history, keyframe_bytes=keyframes, **self.more,
        )  # fmt: skip
        return lambda trial: opener.open(self.start(trial.seed), trial.optimizer, trial.seed)

    def begin(self, run: Run) -> None:
        """Let a run do the steps that it has left, in the background."""
        run.start(None if self.steps is None else max(self.steps - run.t, 0))

    @property
    def target(self) -> int | None:
        """The step that runs come to where nothing ends them before; None where nobody says."""
        return min((n for n in (self.steps, self.stop.steps) if n is not None), default=None)

    @property
    def validation(self) -> Any:
        """The second problem, if there is one."""
        return self.more.get("validation")

    def validating(self) -> Callable[[tree.Tree], float] | None:
        """What gives the value of the validation at a point, over all samples; None where there is none."""
        second = self.validation
        if second is None:
            return None
        if not isinstance(second, FiniteSum):
            function = jit(second)
            return lambda x: float(function(x))
        key = random.key(0) if second.oracle.keyed else None
        return lambda x: float(second.value(x, key=key))


@dataclass(frozen=True, slots=True)
class Always:
    """One start for all seeds."""

    x0: tree.Tree

    def __call__(self, _seed: int) -> tree.Tree:
        """The start."""
        return self.x0


def check_problem(problem: Any) -> None:
    """Raise ArgumentError where it is none."""
    if not isinstance(problem, FiniteSum) and not callable(problem):
        raise ArgumentError(
            f"problem is a {type(problem).__name__}, expected a bl.FiniteSum or a function of x alone, as for minimize."
        )


def check_ends(setting: Setting) -> None:
    """Raise ArgumentError where runs would go on for ever."""
    stop = setting.stop
    criteria = (stop.steps, stop.seconds, stop.grad_norm, stop.value, stop.when)
    ends = hasattr(setting.sampler, "__len__") and not isinstance(setting.sampler, str)  # with a table of samples
    if setting.steps is None and not ends and all(limit is None for limit in criteria):
        raise ArgumentError(
            "neither steps nor stop says when a run of the sweep ends. Pass steps=1000 or stop=bl.Stop(grad_norm=1e-6)."
        )


def numbers_of(x: tree.Tree) -> list[np.ndarray[Any, Any]]:
    """The leaves of a point."""
    return [np.asarray(leaf) for leaf in tree.flatten(x)[0]]
