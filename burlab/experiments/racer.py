"""A racer: an optimizer with a run for every seed, or an existing run."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError, ShapeError, StatusError
from burlab.graph import tree
from burlab.optim import Optimizer, SciPy
from burlab.run import Run
from burlab.run.record.digest import Digest
from burlab.run.record.recorder import FLOPS
from burlab.runtime.checks.numbers import shown

from .setting import Setting, share_of_memory

Entry = Optimizer | SciPy | Run | Sequence[Run]
"""What may race."""
MIN_HISTORY_BYTES = 8 << 20  # of each run


@dataclass(eq=False, slots=True)
class Racer:
    """A participant of a race. runs: one for each seed; none if it could not start. colour: its place in the palette.

    optimizer: None of a run whose file does not hold it.
    error: the exception that it raised at its start or at a later step.
    """

    name: str
    colour: int
    optimizer: Optimizer | SciPy | None
    runs: tuple[Run, ...] = ()
    digests: dict[str, list[Digest]] = field(default_factory=dict[str, list[Digest]])
    error: Exception | None = None

    @property
    def step(self) -> int:
        """The steps that each of its runs has done, at least."""
        return min((run.t for run in self.runs), default=0)

    @property
    def flops(self) -> float:
        """Floating-point operations of a run so far, the mean over the seeds; NaN before rows are read."""
        digests = next(iter(self.digests.values()), list[Digest]())
        totals = [digest.cost(FLOPS)[-1] for digest in digests if digest.steps.size]
        return float(np.mean(totals)) if totals else math.nan

    @property
    def failures(self) -> list[str]:
        """The messages of the runs that failed."""
        stops = [run.stopped for run in self.runs]
        return [stop.message for stop in stops if stop is not None and stop.failed]

    @property
    def failed(self) -> bool:
        """Return True if none of its runs can go on."""
        return self.error is not None or len(self.failures) == len(self.runs)

    @property
    def finished(self) -> bool:
        """Return True if all of its runs have ended by themselves."""
        return self.failed or all(run.stopped is not None for run in self.runs)

    @property
    def message(self) -> str:
        """The reason why it ended; "" while it races."""
        if self.error is not None:
            return str(self.error)
        failures = self.failures
        if not failures:
            stops = [run.stopped.message for run in self.runs if run.stopped is not None]
            return stops[0] if len(stops) == len(self.runs) else ""
        share = "" if len(self.runs) == 1 else f"{len(failures)} of {len(self.runs)} seeds failed. "
        return share + failures[0]

    def state(self, column: str) -> Any:
        """Return the state that its curves depend on: equal to an earlier one if nothing was read since."""
        digests = [(id(digest), digest.version) for digest in self.digests.get(column, [])]
        return self.name, digests, [(run.t, run.running, run.stopped) for run in self.runs], self.failed

    def read(self, column: str, seconds: float) -> bool:
        """Bring the digests of a column up to date, in so many seconds; True if all was read."""
        known = self.digests.setdefault(column, [])
        if [digest.recorder for digest in known] != [run.engine for run in self.runs]:  # new, or begun again elsewhere
            self.digests[column] = [run.digest(column) for run in self.runs]
        done = [digest.read(seconds / len(self.runs)) for digest in self.digests[column]]
        return all(done)


def open_racer(name: str, entry: Entry, colour: int, setting: Setting, crowd: int) -> Racer:
    """Return a racer at its start, or with the reason why it cannot start. crowd: runs that share the memory."""
    if runs := runs_of(entry):
        return Racer(name, colour, runs[0].optimizer, runs)
    optimizer = cast("Optimizer | SciPy", entry)  # as `check_entry` has found
    racer = Racer(name, colour, optimizer)
    try:
        opener = setting.opener(history_bytes=share_of_memory(crowd, MIN_HISTORY_BYTES))
        racer.runs = tuple(opener.open(setting.start(seed), optimizer, seed) for seed in setting.seeds)
    except Exception as error:  # also of an optimizer of the user's while it is traced
        racer.error = error
    return racer


def check_entry(name: str, entry: Entry, setting: Setting, others: Sequence[Racer]) -> None:
    """Raise ArgumentError or ShapeError where this cannot be a racer, in the user's words."""
    if not isinstance(name, str) or not name.strip():  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(
            f"the name of a racer must be text, as in {{'Adam': bl.optim.Adam(1e-2)}}; got {shown(name)}."
        )
    if any(name == other.name for other in others):
        raise ArgumentError(f"there is a racer {shown(name)} already. Give this one another name, or drop the first.")
    if runs := runs_of(entry):
        for run in runs:
            _check_run(name, run, setting, others)
    elif not isinstance(entry, (Optimizer, SciPy)):
        hint = f"Call it: bl.optim.{entry.__name__}()." if isinstance(entry, type) else "Pass bl.optim.Adam(lr=1e-3)."
        raise ArgumentError(f"the racer {shown(name)} is {shown(entry)}, expected an optimizer or a run. {hint}")


def runs_of(entry: Entry) -> tuple[Run, ...]:
    """Return the runs of an entry: one, or a list or tuple of them; none if it is something else."""
    if isinstance(entry, Run):
        return (entry,)
    listed = tuple(cast("Any", entry)) if isinstance(entry, (list, tuple)) else ()
    return listed if all(isinstance(run, Run) for run in listed) else ()


def _check_run(name: str, run: Run, setting: Setting, others: Sequence[Racer]) -> None:
    if run.problem is not setting.problem:
        raise ArgumentError(
            f"the run {shown(name)} minimizes {shown(run.problem)}, but the race is on {shown(setting.problem)}. "
            "Race runs of the very same problem object."
        )
    shapes, start = shapes_of(run.x), shapes_of(setting.start(setting.seeds[0]))
    if shapes != start:
        raise ShapeError(
            f"the run {shown(name)} has x of shapes {shapes}, but x0 has {start}. Race runs of one dimension."
        )
    if any(run is other for racer in others for other in racer.runs):
        raise ArgumentError(
            f"the run {shown(name)} is already in the race under another name. Pass run.fork() for a second one."
        )
    if run.ended:
        raise StatusError(
            f"the run {shown(name)} was stopped for good. Race another one, such as run.fork() before that."
        )


def shapes_of(x: tree.Tree) -> list[tuple[int, ...]]:
    """The shapes of all leaves."""
    return [np.shape(leaf) for leaf in tree.flatten(x)[0]]
