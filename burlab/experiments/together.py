"""Runs of a sweep in the lanes of one kernel: which of them can, and the thread that lets them step."""

from collections import deque
from collections.abc import Callable, Sequence

from burlab.run import Run
from burlab.run.lanes import WIDTH, LaneKernel, Lanes
from burlab.run.loop.loop import Loop
from burlab.run.loop.setup import Setup
from burlab.runtime.flag import Flag, Thread

from .trials import Trial

Pair = tuple[Trial, Run]
LEAST = 1 << 22  # steps of all runs together for which what is compiled is worth it
_FEW = 4  # runs below which lanes are no faster


class Groups:
    """Finds runs that can step together, with their kernels."""

    def __init__(self, target: int | None, runs: int) -> None:
        """target: the step that they are to come to, None if nobody knows. runs: of the sweep."""
        self._target = target if target is not None and target * runs >= LEAST else None
        self._kernels: dict[int, tuple[Setup, LaneKernel | None]] = {}  # by the id of the step that runs share

    def found(self, due: deque[Trial], opened: Callable[[Trial], Run], known: dict[int, Run]) -> "Group | None":
        """Runs from the front of `due`, which they leave; None where the first ones do not go together.

        known: runs that are open, by number, and are not to be opened again; what was opened in vain is added.
        """
        pairs: list[Pair] = []
        loops: list[Loop] = []
        kernel: LaneKernel | None = None
        while self._target is not None and len(pairs) < min(WIDTH, len(due)):
            trial = due[len(pairs)]
            if trial.number in known:
                break
            try:
                run = known[trial.number] = opened(trial)
            except Exception:  # it is opened again by itself, and then says why it cannot be
                break
            loop = run.engine
            if not isinstance(loop, Loop):
                break
            kernel = self._kernel(loop) if kernel is None else kernel
            if kernel is None or not kernel.serves(loop.setup):
                break
            pairs.append((trial, run))
            loops.append(loop)
        if kernel is None or self._target is None or len(pairs) < _FEW:
            return None
        for trial, _ in pairs:
            due.popleft()
            del known[trial.number]
        return Group(pairs, Lanes(kernel, loops), self._target)

    def _kernel(self, loop: Loop) -> LaneKernel | None:
        key = id(loop.setup.update)
        if key not in self._kernels:
            self._kernels[key] = loop.setup, LaneKernel.of(loop.setup)
        return self._kernels[key][1]


class Group:
    """Runs that step together until all are done or few are left; then each is at rest, to go on by itself."""

    def __init__(self, pairs: Sequence[Pair], lanes: Lanes, target: int) -> None:
        self.pairs = pairs
        self._lanes = lanes
        self._target = target
        self._leave = Flag()
        self._thread = Thread(self._work, "burlab lanes", daemon=False)
        self._thread.start()

    def rests(self, seconds: float) -> bool:
        """Wait, at most so many seconds, until they are done; whether they are."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def pause(self) -> None:
        """Let them rest where they are."""
        self._leave.set()
        self._thread.join()

    def _work(self) -> None:
        lanes = self._lanes
        while lanes.step < self._target and lanes.runs >= _FEW and not self._leave.is_set():
            lanes.advance(self._target)
