"""Settings that all runs of a sweep or a race share, and how one of these runs is opened."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burlab.errors import ArgumentError
from burlab.graph import tree
from burlab.problems import FiniteSum
from burlab.problems.batch import BlockShuffle
from burlab.problems.functions_of_numbers import keywords_at, validation_of_numbers, with_numbers_of
from burlab.run import Opener, Run, Stop
from burlab.transforms import jit, random
from burlab.typing import ArrayLike

from .trials import Trial

Problem = FiniteSum | Callable[..., Any]
Sampler = str | BlockShuffle | ArrayLike | Callable[..., Any] | None
"""As for `minimize`."""
MAX_BYTES = 256 << 20  # of all histories together, and of all keyframes
MIN_BYTES = 1 << 20  # of the record of each run of a sweep
REPORTS = 20  # of the value of a run, to a search that may stop it
LONE_BLOCK = 100  # steps between two reports of a run whose number of steps is not known


@dataclass(frozen=True, slots=True)
class Setting:
    """Settings of many runs of one problem.

    problem, batch, sampler, stop: as for `minimize`. start: gives x0 for a seed. seeds: each once. steps: of each run,
    None for as many as `stop` allows. runs: how many there are. more: other arguments of `minimize` by name.
    problem, start, batch, sampler and steps may be functions of hyperparameters, which `TrialSettings` fills in.
    """

    problem: Problem
    start: Callable[[int], tree.Tree]
    batch: Any
    stop: Stop
    seeds: tuple[int, ...]
    sampler: Sampler = None
    steps: Any = None
    runs: int = 1
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def opener(self, **memory: int) -> Opener:
        """Return an opener of runs; those that differ by numbers alone share compiled code. memory: limits in bytes."""
        return Opener(self.problem, batch=self.batch, sampler=self.sampler, stop=self.stop, **memory, **self.more)

    def opening(self) -> Callable[[Trial], Run]:
        """Return a function that gives the run of a trial at step 0."""
        share = share_of_memory(self.runs, MIN_BYTES)
        opener = self.opener(history_bytes=share, keyframe_bytes=share)
        return lambda trial: opener.open(self.start(trial.seed), trial.optimizer, trial.seed)

    def begin(self, run: Run) -> None:
        """Let a run do the steps that it has left, in the background."""
        run.start(None if self.steps is None else max(self.steps - run.t, 0))

    def begin_block(self, run: Run) -> None:
        """Let a run step in the background as far as to its next report."""
        target = self.target
        block = LONE_BLOCK if target is None else max(-(-target // REPORTS), 1)
        steps = block - run.t % block
        run.start(steps if target is None else min(steps, max(target - run.t, 0)))

    def is_between_blocks(self, run: Run) -> bool:
        """Return True if a run that rests is not at its end."""
        return run.stopped is None and (self.target is None or run.t < self.target)

    @property
    def target(self) -> int | None:
        """The step at which runs end at the latest; None if it is not known."""
        return min((n for n in (self.steps, self.stop.steps) if n is not None), default=None)

    @property
    def validation(self) -> Any:
        """The second problem, if there is one."""
        return self.more.get("validation")

    def validating(self) -> Callable[[Run], float] | None:
        """Return a function that gives the validation value of a run, over all samples; None without validation."""
        second = self.validation
        if second is None:
            return None
        if isinstance(self.problem, FiniteSum):
            second = validation_of_numbers(second, self.problem.oracle.numbers)
        if not isinstance(second, FiniteSum):
            function = jit(second)
            return lambda run: float(function(run.x))
        key = random.key(0) if second.oracle.keyed else None
        numbers = self.problem.oracle.numbers if isinstance(self.problem, FiniteSum) else None
        if numbers is None:
            return lambda run: float(second.value(run.x, key=key))
        last = with_numbers_of(second, numbers)

        def value(run: Run) -> float:
            read = keywords_at(last, run.engine.numbers(), run.engine.loss_state())
            return float(last.value(run.x, key=key, **read))

        return value


def share_of_memory(runs: int, least: int) -> int:
    """Return the bytes of the record of each run where so many runs share the memory."""
    return max(MAX_BYTES // max(runs, 1), least)


@dataclass(frozen=True, slots=True)
class Always:
    """One start for all seeds."""

    x0: tree.Tree

    def __call__(self, _seed: int) -> tree.Tree:
        """The start."""
        return self.x0


def check_problem(problem: Problem) -> None:
    """Raise ArgumentError unless it is a problem."""
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
