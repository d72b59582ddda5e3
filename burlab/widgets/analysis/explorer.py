"""Planes of a loss, each refined while a page shows it. Knows no screen."""

import threading
import weakref
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any

from burlab.analysis import Landscape, refinements
from burlab.analysis.flat_objective import FlatObjective
from burlab.run.loop.lifetime import at_end

from .trail import RunTrail

PLANES = {
    "axes": "both parameters",
    "random": "random directions",
    "path": "axes of the path",
    "curvature": "top eigenvectors",
}
_EXIT_SECONDS = 2.0  # seconds that a plane may still take when Python ends
_PAUSE_FACTOR = 25  # times as long as a plane took to be made, until a run that leaves it gets another one


class Explorer:
    """Computes a problem over planes. Each `explore` starts a new thread and stops the one before.

    problem, x, indices: as for `burlab.analysis.landscape`. changed: called, in that thread, when something new is
    there to be shown. computing: whether the new plane has no points yet. left: the step of a run at which its path had
    left the plane before, so that this one was made; -1 for a plane that was asked for. why: what went wrong.
    """

    def __init__(self, problem: Any, x: Any, indices: Any, changed: Callable[[], None]) -> None:
        self._problem, self._x, self._indices = problem, x, indices
        self._changed = changed
        self._is_run = hasattr(problem, "history") and x is None
        self._trail = RunTrail(problem)
        self._thread: threading.Thread | None = None
        self._plane = ("random", 0)  # and its seed
        self._found: Landscape | None = None
        self._rests = 0.0  # until when the plane stays where a run leaves it
        self.computing = False
        self.refinements = 0  # landscapes that were found so far
        self.left = -1
        self.why = ""

    @property
    def planes(self) -> list[str]:
        """The planes that this problem has."""
        two = FlatObjective.of(self._problem, self._x, self._indices).x.size == 2
        fitting = {"axes": two, "random": True, "path": self._is_run, "curvature": True}
        return [plane for plane in PLANES if fitting[plane]]

    @property
    def found(self) -> Landscape | None:
        """The finest landscape so far, of the plane before until the new one has its first points; None before any.

        Its path ends at the run's point at the last `explore` or `follow`.
        """
        found = self._found
        return found if found is None else self._trail.over(found)

    @property
    def step(self) -> int:
        """The step of the run at the last `explore` or `follow`; -1 before it."""
        return self._trail.step

    def explore(self, plane: str, seed: int = 0) -> None:
        """Compute a plane through the run's present point, coarse at first."""
        self._plane, self.left = (plane, seed), -1
        if self._is_run:
            self._trail.update()
        self._begin()

    def follow(self) -> bool:
        """Read the run's point and return True if it has changed. A path that leaves the plane gets another one.

        That is as the one before, from where the run is, and not sooner than after 25 times the time that one took.
        """
        if not self._is_run or self._found is None or not self._trail.update():
            return False
        busy = self._thread is not None and self._thread.is_alive()
        if not busy and monotonic() > self._rests and not self._found.holds(self._trail.last):
            self.left = self._trail.step
            self._begin()
        return True

    def wait(self) -> None:
        """Wait until the plane has its finest resolution."""
        if self._thread is not None:
            self._thread.join()

    def _begin(self) -> None:
        self.computing, self.why = True, ""
        self._thread = threading.Thread(target=self._refine, args=self._plane, name="burlab explorer", daemon=True)
        _threads.add(self._thread)
        self._thread.start()

    def _refine(self, plane: str, seed: int) -> None:
        me, start = threading.current_thread(), monotonic()
        try:
            steps: Iterator[Landscape] = refinements(
                self._problem, self._x, plane=plane, seed=seed, indices=self._indices
            )
            for finer in steps:
                if self._thread is not me or _ending:
                    return
                self._found = finer
                self.refinements += 1
                self.computing = False
                self._changed()
        except Exception as error:  # said in the view, which lives on
            if self._thread is me:
                self.computing, self.why = False, f"{type(error).__name__}: {error}"
                self._changed()
        finally:
            self._rests = monotonic() + _PAUSE_FACTOR * (monotonic() - start)


_threads: "weakref.WeakSet[threading.Thread]" = weakref.WeakSet()
_ending: list[bool] = []


@at_end
def _wait_for_all() -> None:
    _ending.append(True)
    for thread in list(_threads):
        if thread.is_alive():
            thread.join(_EXIT_SECONDS)
