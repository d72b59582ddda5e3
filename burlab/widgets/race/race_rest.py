"""Whether a race that plays has come to where no racer moves any more."""

from typing import Any

import numpy as np

from burlab.experiments import Race
from burlab.run import Run
from burlab.run.record.digest import Digest
from burlab.widgets.panel.run_rest import STEPS, moves_no_more

_COLUMN = "step_norm"


class RaceRest:
    """Says once per field of racers that it has settled; after that someone may play it on.

    The rule is that of a run's panel, for every run that has not come to its end: none of its last 1,000 steps was
    longer than four roundings of x, in its norm.
    """

    def __init__(self) -> None:
        self._said_of: Any = None

    def look(self, race: Race, seconds: float) -> bool:
        """Whether to let the race rest now. seconds: of reading, at most."""
        racers = list(race.racers.values())
        state = [(racer.name, [_knobs(run) for run in racer.runs]) for racer in racers]
        if state == self._said_of:
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
        self._said_of = state
        return True


def _knobs(run: Run) -> list[float | None]:
    return [None if run.hyper.follows(name) else run.hyper[name] for name in run.hyper]


def _rests(run: Run, digest: Digest) -> bool:
    if not run.can_seek or run.t < max(run.length - 1, STEPS):
        return False
    recent = digest.high[np.searchsorted(digest.steps, run.t - STEPS) :]
    return bool(recent.size) and moves_no_more(run.x, float(recent.max()))
