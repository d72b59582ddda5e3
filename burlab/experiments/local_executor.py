"""Runs of a sweep in this process: as many at once as `threads`, each on its own C++ thread, or in lanes."""

from collections import deque
from collections.abc import Generator, Sequence
from contextlib import ExitStack

from burlab.run import Run
from burlab.run.lanes import WIDTH, KernelLanes, LaneKernel
from burlab.run.loop.loop import RunLoop
from burlab.run.loop.setup import Setup
from burlab.runtime.flag import Flag, Thread

from .dependents import TrialSettings
from .sweep_rows import TrialOutcome, ended, failed, pruned, value_of
from .trial_source import TrialSource
from .trials import Trial

Pair = tuple[Trial, Run]
MIN_STEPS = 1 << 22  # of all runs together, for which compiling lanes is worth it
MIN_LANES = 4  # runs below which lanes are no faster


class LaneGroups:
    """Finds runs that can step together, with their kernels."""

    def __init__(self, settings: TrialSettings, runs: int) -> None:
        """runs: of the sweep that are due."""
        target = settings.target
        self._settings = settings
        self._target = target if target is not None and target * runs >= MIN_STEPS else None
        self._kernels: dict[int, tuple[Setup, LaneKernel | None]] = {}  # by the id of the step that runs share

    def found(self, due: deque[Trial], known: dict[int, Run]) -> "LaneGroup | None":
        """Runs from the front of `due`, which they leave; None where the first ones do not go together.

        known: open runs by number, which are reused; runs opened in vain are added.
        """
        pairs: list[Pair] = []
        loops: list[RunLoop] = []
        kernel: LaneKernel | None = None
        while self._target is not None and len(pairs) < min(WIDTH, len(due)):
            trial = due[len(pairs)]
            if trial.number in known:
                break
            try:
                if self._settings.of(trial) is not self._settings.setting:
                    break
                run = known[trial.number] = self._settings.open(trial)
            except Exception:  # it is opened again alone, and its row then has the reason
                break
            loop = run.engine
            if not isinstance(loop, RunLoop):
                break
            kernel = self._kernel(loop) if kernel is None else kernel
            if kernel is None or not kernel.serves(loop.setup):
                break
            pairs.append((trial, run))
            loops.append(loop)
        if kernel is None or self._target is None or len(pairs) < MIN_LANES:
            return None
        for trial, _ in pairs:
            due.popleft()
            del known[trial.number]
        return LaneGroup(pairs, KernelLanes(kernel, loops), self._target)

    def _kernel(self, loop: RunLoop) -> LaneKernel | None:
        key = id(loop.setup.update)
        if key not in self._kernels:
            self._kernels[key] = loop.setup, LaneKernel.of(loop.setup)
        return self._kernels[key][1]


class LaneGroup:
    """Runs that step together until all are done or few are left; then each is at rest, to go on by itself."""

    def __init__(self, pairs: Sequence[Pair], lanes: KernelLanes, target: int) -> None:
        self.pairs = pairs
        self._lanes = lanes
        self._target = target
        self._leave = Flag()
        self._thread = Thread(self._work, "burlab lanes", daemon=False)
        self._thread.start()

    def rests(self, seconds: float) -> bool:
        """Wait, at most so many seconds, until they are done; True if they are."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def pause(self) -> None:
        """Let them rest where they are."""
        self._leave.set()
        self._thread.join()

    def _work(self) -> None:
        lanes = self._lanes
        while lanes.step < self._target and lanes.runs >= MIN_LANES and not self._leave.is_set():
            lanes.advance(self._target)


_WAIT = 0.005  # seconds for which one run is waited for while others may end


class LocalExecutor:
    """Lets runs step in this process. paused: those that an interrupt has left, by number."""

    def __init__(self, settings: TrialSettings, threads: int) -> None:
        self._settings = settings
        self._threads = threads
        self.paused: dict[int, Run] = {}

    def carry_out(self, source: TrialSource) -> Generator[TrialOutcome]:
        """Let trials run, and give each as it ends."""
        due = source.due
        groups = LaneGroups(self._settings, len(due))
        going: list[tuple[Trial, Run]] = []
        together: list[LaneGroup] = []
        try:
            while going or together or source.refill():
                while len(going) + len(together) < self._threads and source.refill():
                    if (group := groups.found(due, self.paused)) is not None:
                        together.append(group)
                    elif (failure := self._begin(due.popleft(), source, going)) is not None:
                        yield failure
                for trial, run in tuple(going):
                    if run.rests(_WAIT) and (outcome := self._outcome(trial, run, source)) is not None:
                        going.remove((trial, run))
                        yield outcome
                for group in tuple(together):
                    if group.rests(_WAIT):
                        together.remove(group)
                        self._part(group, due)
        finally:
            self._leave(going, together, due)

    def _begin(self, trial: Trial, source: TrialSource, going: list[tuple[Trial, Run]]) -> TrialOutcome | None:
        """Let the run of a trial step, and add it to `going`; the outcome if it cannot start."""
        try:
            run = self.paused.pop(trial.number, None) or self._settings.open(trial)
            setting = self._settings.of(trial)
            if source.reports:
                setting.begin_block(run)
            else:
                setting.begin(run)
        except Exception as error:  # also what an optimizer of the user's raises while it is traced
            return TrialOutcome(failed(trial, error), None, error)
        going.append((trial, run))
        return None

    def _outcome(self, trial: Trial, run: Run, source: TrialSource) -> TrialOutcome | None:
        """The result of a run that rests; None if it goes on."""
        try:
            setting, validating = self._settings.of(trial), self._settings.validating(trial)
            if source.reports and setting.is_between_blocks(run):
                if source.is_hopeless(trial, run.t, value_of(run, validating)):
                    return TrialOutcome(pruned(ended(trial, run, validating)), run)
                setting.begin_block(run)
                return None
            return TrialOutcome(ended(trial, run, validating), run)
        except Exception as error:  # of a kernel, of a predicate, of the value at the last point
            return TrialOutcome(failed(trial, error, run), run, error)

    def _leave(self, going: Sequence[tuple[Trial, Run]], together: Sequence[LaneGroup], due: deque[Trial]) -> None:
        with ExitStack() as rest:  # all are paused, though another interrupt ends the wait for one
            for group in together:
                rest.callback(self._stop, group, due)
            for trial, run in going:
                self.paused[trial.number] = run
                rest.callback(run.pause)

    def _stop(self, group: LaneGroup, due: deque[Trial]) -> None:
        group.pause()
        self._part(group, due)

    def _part(self, group: LaneGroup, due: deque[Trial]) -> None:
        """Let each run of a group go on by itself, as one that was paused."""
        for trial, run in reversed(group.pairs):
            self.paused[trial.number] = run
            due.appendleft(trial)
