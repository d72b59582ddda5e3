"""Runs of a sweep in this process: as many at once as there are to be, each on its own C++ thread, or in lanes."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from typing import Any

from burlab.run import Run

from .rows import Outcome, ended, failed
from .setting import Setting
from .together import Group, Groups
from .trials import Trial

_WAIT = 0.005  # seconds for which one run is waited for while others may end


class Here:
    """Lets runs step in this process. paused: those that an interrupt has left, by number; they go on when it does."""

    def __init__(self, setting: Setting, threads: int) -> None:
        self._setting = setting
        self._threads = threads
        self.paused: dict[int, Run] = {}

    def carry_out(self, trials: Sequence[Trial]) -> Generator[Outcome]:
        """Let trials run, and give each as it ends."""
        due, validating, opened = deque(trials), self._setting.validating(), self._setting.opening()
        groups = Groups(self._setting.target, len(due))
        going: list[tuple[Trial, Run]] = []
        together: list[Group] = []
        try:
            while due or going or together:
                while due and len(going) + len(together) < self._threads:
                    if (group := groups.found(due, opened, self.paused)) is not None:
                        together.append(group)
                    elif (lost := self._begin(due.popleft(), opened, going)) is not None:
                        yield lost
                for trial, run in tuple(going):
                    if run.rests(_WAIT):
                        going.remove((trial, run))
                        yield _outcome(trial, run, validating)
                for group in tuple(together):
                    if group.rests(_WAIT):
                        together.remove(group)
                        self._part(group, due)
        finally:
            self._leave(going, together, due)

    def _begin(self, trial: Trial, opened: Callable[[Trial], Run], going: list[tuple[Trial, Run]]) -> Outcome | None:
        """Let the run of a trial step, and add it to those that do; what has come of it where it cannot begin."""
        try:
            run = self.paused.pop(trial.number, None) or opened(trial)
            self._setting.begin(run)
        except Exception as error:  # also what an optimizer of the user's raises while it is traced
            return Outcome(failed(trial, error), None, error)
        going.append((trial, run))
        return None

    def _leave(self, going: Sequence[tuple[Trial, Run]], together: Sequence[Group], due: deque[Trial]) -> None:
        with ExitStack() as rest:  # all are told to, though another interrupt ends the wait for one
            for group in together:
                rest.callback(self._stop, group, due)
            for trial, run in going:
                self.paused[trial.number] = run
                rest.callback(run.pause)

    def _stop(self, group: Group, due: deque[Trial]) -> None:
        group.pause()
        self._part(group, due)

    def _part(self, group: Group, due: deque[Trial]) -> None:
        """Let each run of a group go on by itself, as one that was paused."""
        for trial, run in reversed(group.pairs):
            self.paused[trial.number] = run
            due.appendleft(trial)


def _outcome(trial: Trial, run: Run, validating: Callable[[Any], float] | None) -> Outcome:
    try:
        return Outcome(ended(trial, run, validating), run)
    except Exception as error:  # of a kernel, of a predicate, of the value at the last point
        return Outcome(failed(trial, error, run), run, error)
