"""Runs of a sweep in this process: as many at once as there are to be, each on its own C++ thread."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any

from burlab.run import Run

from .rows import Outcome, ended, failed
from .setting import Setting
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
        due, values, opened = deque(trials), self._setting.values(), self._setting.opening()
        going: list[tuple[Trial, Run]] = []
        try:
            while due or going:
                while due and len(going) < self._threads:
                    trial = due.popleft()
                    try:
                        run = self.paused.pop(trial.number, None) or opened(trial)
                        self._setting.begin(run)
                    except Exception as error:  # also what an optimizer of the user's raises while it is traced
                        yield Outcome(failed(trial, error), None, error)
                    else:
                        going.append((trial, run))
                for trial, run in tuple(going):
                    if run.rests(_WAIT):
                        going.remove((trial, run))
                        yield _outcome(trial, run, values)
        finally:
            for trial, run in going:
                run.pause()
                self.paused[trial.number] = run


def _outcome(trial: Trial, run: Run, values: Callable[[Any], tuple[float, float | None]]) -> Outcome:
    try:
        return Outcome(ended(trial, run, values), run)
    except Exception as error:  # of a kernel, of a predicate, of the value at the last point
        return Outcome(failed(trial, error, run), run, error)
