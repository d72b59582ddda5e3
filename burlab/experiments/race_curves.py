"""Curves of the racers of a race on a common axis, from what they have written so far, and their bytes."""

from collections.abc import Sequence
from typing import Any

from burlab.problems import FiniteSum
from burlab.problems.batch import Batch

from .curves import Curves, curves_of, minimum_of
from .racer import Racer
from .setting import Setting

_SMOOTH = 0.05  # of the way to a point, whose mean it shows where batches make values noisy
_SIZES = ("parameters", "gradients", "activations", "optimizer_state", "scratch")  # bytes of a run but of its record


class RaceCurves:
    """The curves of the racers. The last ones are cached, as a panel draws them several times."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._known: tuple[Any, dict[str, Curves]] = None, {}

    @property
    def smoothing(self) -> float:
        """The part of the way over which values are averaged, because their batches are drawn."""
        problem, batch = self._setting.problem, self._setting.batch
        n = len(problem) if isinstance(problem, FiniteSum) else 1
        return _SMOOTH if isinstance(batch, Batch) or (batch is not None and batch < n) else 0.0

    def read(self, racers: Sequence[Racer], against: str, of: str, rests: bool) -> dict[str, Curves]:
        """Return the curves of the rows read so far, above the known minimum of a test function.

        Args:
            racers: of the race.
            against: the axis, as for `Race.standings`, but for "bytes".
            of: a column of the history.
            rests: whether no racer steps now.

        Returns:
            The curves by name.
        """
        state = against, of, rests, [(racer.name, racer.state(of)) for racer in racers]
        known, found = self._known
        if known != state or against == "seconds":  # of which there are more while rows are the same
            share = self.smoothing if of == "value" else 0.0
            least = minimum_of(self._setting.problem, of)
            found = {r.name: curves_of(r, against, of, share, ends=rests).above(least) for r in racers}
            self._known = state, found
        return found


def sizes_of(racers: Sequence[Racer]) -> dict[str, float]:
    """Return the bytes of each racer besides its record, for one seed."""
    return {
        racer.name: float(sum(n for kind, n in racer.runs[0].memory.items() if kind in _SIZES))
        for racer in racers
        if racer.runs
    }
