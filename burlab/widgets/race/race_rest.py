"""Detection of races in which no point changes any more."""

from typing import Any

import numpy as np

from burlab.experiments import Race
from burlab.run import Run
from burlab.run.record.digest import Digest
from burlab.widgets.panel.run_rest import STEPS, within_rounding

_COLUMN = "step_norm"


class RaceRest:
    """Detects once per set of racers that it has settled; after that someone may play it on.

    The rule is that of a run's panel, for every run that has not come to its end: none of its last 1,000 steps was
    longer than four roundings of x, in its norm.
    """

    def __init__(self) -> None:
        self._reported_state: Any = None

    def check(self, race: Race, seconds: float) -> bool:
        """Return True if the race is to rest now. seconds: of reading, at most."""
        racers = list(race.racers.values())
        state = [(racer.name, [_knobs(run) for run in racer.runs]) for racer in racers]
        if state == self._reported_state:
            return False
        going = [racer for racer in racers if not racer.finished]
        read = [racer.read(_COLUMN, seconds / len(going)) for racer in going]
        rests = all(
            run.stopped is not None or _rests(run, digest)
            for racer in going
            for run, digest in zip(racer.runs, racer.digests[_COLUMN], strict=True)
        )
        if not (going and all(read) and rests):
            return False
        self._reported_state = state
        return True


def _knobs(run: Run) -> list[float | None]:
    return [None if run.hyper.follows(name) else run.hyper[name] for name in run.hyper]


def _rests(run: Run, digest: Digest) -> bool:
    if not run.can_seek or run.t < max(run.length - 1, STEPS):
        return False
    recent = digest.high[np.searchsorted(digest.steps, run.t - STEPS) :]
    return bool(recent.size) and within_rounding(run.x, float(recent.max()))
