"""Runs of a sweep in this process: as many at once as there are to be, each on its own C++ thread."""

from collections import deque
from collections.abc import Generator, Sequence

from burlab.run import Run

from .setting import Setting
from .trials import Trial

_WAIT = 0.005  # seconds for which one run is waited for while others may end


def carry_out(
    setting: Setting, trials: Sequence[Trial], threads: int, paused: dict[int, Run]
) -> Generator[tuple[Trial, Run | Exception]]:
    """Let trials run, and give each as it ends: its run at rest, or what it ran into before its first step.

    paused: runs that were begun before, by number, which go on; and those that an interrupt leaves.
    """
    due = deque(trials)
    going: list[tuple[Trial, Run]] = []
    try:
        while due or going:
            while due and len(going) < threads:
                trial = due.popleft()
                try:
                    run = paused.pop(trial.number, None) or setting.open(trial)
                    setting.begin(run)
                except Exception as error:  # also what an optimizer of the user's raises while it is traced
                    yield trial, error
                else:
                    going.append((trial, run))
            for trial, run in tuple(going):
                if run.rests(_WAIT):
                    going.remove((trial, run))
                    yield trial, run
    finally:
        for trial, run in going:
            run.pause()
            paused[trial.number] = run
