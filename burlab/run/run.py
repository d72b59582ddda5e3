"""A run: one optimizer on one problem, paused at step 0 until its first step."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal, SupportsIndex

from burlab.compiler.inspection.profile import Profile
from burlab.errors import ArgumentError, StatusError
from burlab.graph import tree
from burlab.optim import Optimizer, SciPy
from burlab.optim.number_formats import Formats
from burlab.problems.finite_sum import FiniteSum
from burlab.problems.point import Point
from burlab.problems.trainable import Trainable
from burlab.run.loop.continued_loop import ContinuedLoop
from burlab.run.record.drags import Drags
from burlab.run.record.engine import Engine

from .family import Family
from .hypers import Hypers, hyper_ranges
from .predicate import Observer
from .readings import Readings
from .reopening import reopened
from .rounded_run import Reopening, continued
from .step_profile import profile
from .stepping import MOMENT, Stepping


class Run(Stepping):
    """A run of an optimizer on a problem, as `burlab.minimize` returns it.

    Steps run in a C++ thread; the same seed gives the same bits. After `stop`, what would step raises StatusError.

    >>> import numpy as np, burlab as bl
    >>> run = bl.minimize(lambda x: np.sum((x - 1.0) ** 2), np.zeros(2), bl.optim.GD(0.25))
    >>> run.step(2); run.hyper["lr"] = 0.5; run.step(1)
    >>> run.t, run.x, run.events
    (3, array([1., 1.]), [Event(step=2, name='lr', value=0.5)])
    """

    title = remark = ""  # of an `ObservedLoop`: a run is described by problem and optimizer

    def __init__(
        self,
        engine: Engine,
        start: Point | Trainable,
        schedules: Mapping[str, Callable[[Any], Any]],
        problem: FiniteSum | Callable[..., Any] | None,
        optimizer: Optimizer | SciPy | None,
        reopening: Reopening | None = None,
    ) -> None:
        """reopening: opens a run of the same kind at another start; None of a loaded run."""
        if not hasattr(engine, "hypers"):
            raise ArgumentError("a Run is made by bl.minimize(problem, x0, optimizer). Call that.")
        super().__init__(engine, start, problem, optimizer)
        self._schedules = schedules
        self._reopening = reopening
        self.family = Family(self)

    @property
    def parent(self) -> "Run | None":
        """The run that this one branched from, by `fork` or by a change in its past: then it holds the old record."""
        return self.family.parent

    @property
    def hyper(self) -> Hypers:
        """The live hyperparameters, by name: read them, and change them between two steps."""
        # Not stored: a run must end with its last reference.
        allowed = lambda: hyper_ranges(self.problem, self.optimizer, self._engine.batch)  # noqa: E731
        return Hypers(self._engine, self._change, self._schedules, allowed)

    @property
    def state(self) -> tree.Tree:
        """The state of the optimizer: a copy of the tree that its rule returned last.

        Raises StatusError while the run does steps, and where the optimizer is SciPy's.

        >>> import numpy as np, burlab as bl
        >>> bl.minimize(lambda x: np.sum(x**2), np.ones(2), bl.optim.Momentum(0.1), steps=1).state
        {'v': array([2., 2.])}
        """
        if self.running:
            raise StatusError("the state has several parts that change with every step. Call run.pause() first.")
        return self._engine.state()

    def profile(self) -> Profile:
        """Nanoseconds and bytes of each step of the kernels in one step of the run, in one thread.

        A fork of the run is measured at its current point, in the fastest of some steps; the run itself does not
        change. First come rows for what needs no sample, then the sums over all tiles of the batch. The rest of the
        step (samples, sums over tiles, norms, validation, the record) is the residual. Raises StatusError with SciPy.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(np.tanh(x)), np.ones(100), bl.optim.Adam())
        >>> p = run.profile(); p.nanoseconds("update") > 0, p.total == sum(row.nanoseconds for row in p.rows)
        (True, True)
        """
        with self._stepping():
            self._rest()
            return profile(self._engine)

    @property
    def can_restart(self) -> bool:
        """Return True if it can begin again at another point: if it was not loaded from a file."""
        return self._reopening is not None

    def restart(self, x0: tree.Tree) -> None:
        """Begin again at another point, with the hyperparameters as they are: rest at step 0 of a new record.

        Args:
            x0: The start, of the same form as the first one. The record so far stays in `parent`.

        Raises:
            StatusError: The run was loaded from a file, or was stopped for good.
            ShapeError: x0 has another form.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25), steps=4)
        >>> run.restart(np.array([8.0])); run.step(2); run.t, run.x, run.parent.length
        (2, array([2.]), 4)
        """
        with self._stepping():
            self.pause()
            other = reopened(self, self._present_reopening(), x0)
            self._go_on(other.engine, other)
            self.family.x0 = self.x

    @property
    def reopening(self) -> Reopening | None:
        """Opener of runs of the same kind at another start, or in other formats; None of a loaded run."""
        return self._reopening

    @property
    def formats(self) -> Formats | None:
        """The formats of the numbers of the next step; None: those of x0's dtype.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(np.sum, np.ones(1), bl.optim.GD(0.1), formats=bl.Formats(compute="bfloat16"))
        >>> run.formats.compute, run.fork(formats=None).formats
        ('bfloat16', None)
        """
        return self._engine.formats

    @property
    def formats_from(self) -> dict[int, Formats | None]:
        """The formats of all recorded steps, by the step from which on they hold.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(np.sum, np.ones(1), bl.optim.GD(0.1), steps=5)
        >>> run.change_formats(bl.Formats(compute="e4m3"))
        >>> {step: formats and formats.summary for step, formats in run.formats_from.items()}
        {0: None, 5: 'compute e4m3'}
        """
        return dict(self._engine.formats_from)

    def fork(self, *, formats: Formats | Literal["same"] | None = "same", **hypers: float) -> "Run":
        """Return another run, at rest at the same step, with some hyperparameters or the formats of numbers changed.

        Args:
            formats: `bl.Formats` of its steps from here on, which are compiled; None: those of x0's dtype.
            hypers: New values of live hyperparameters, by name.

        Returns:
            The fork, with the record up to here. With nothing changed its next steps have the bits of this run's. In
            other formats it begins at `iterate` with the optimizer's state, both rounded to the nearest numbers; with
            `Formats.master`, x stays as it is.

        Raises:
            ArgumentError: The problem or the optimizer cannot compute in these formats.
            StatusError: The run was loaded from a file.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25), steps=2)
        >>> other = run.fork(lr=0.5); other.step(); other.x, run.t
        (array([0.]), 2)
        >>> coarse = run.fork(formats=bl.Formats(params="int8", master=False)); coarse.x, coarse.t
        (array([0.]), 2)
        """
        changes = {name: self.hyper.check(name, value) for name, value in hypers.items()}
        if formats in ("same", self.formats):
            other = self._with(self._engine.fork())
        else:
            engine, opened = continued(self, self._start, formats)
            other = opened._with(engine, self._drags)  # noqa: SLF001 - a run's own
        self.family.adopt(other)
        for name, value in changes.items():
            other.hyper[name] = value
        other.engine.settle()
        return other

    def change_formats(self, formats: Formats | None) -> None:
        """Go on in other formats of numbers from here. The record so far stays in `parent`, and here up to this step.

        Going back to an earlier step, and on from there, does the recorded steps in the formats that they had.

        Args:
            formats: See `fork`.

        Raises:
            ArgumentError: The problem or the optimizer cannot compute in these formats.
            StatusError: The run was loaded from a file, or was stopped for good.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25), steps=2)
        >>> run.change_formats(bl.Formats(params="int8", master=False)); run.step(); run.x
        array([0.])
        >>> run.seek(1); run.x, run.formats, run.length
        (array([0.5]), None, 3)
        """
        with self._stepping():
            self.pause()
            if formats != self.formats:
                engine, opened = continued(self, self._start, formats)
                self._go_on(engine, opened)

    def compile_formats(self, formats: Formats | None) -> None:
        """Compile all that `change_formats` needs, for a thread beside the run, which rests and does not change.

        Args:
            formats: See `fork`.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.25), steps=2)
        >>> run.compile_formats(bl.Formats(compute="e4m3")); run.formats is None
        True
        """
        continued(self, self._start, formats)

    def __reduce_ex__(self, _: SupportsIndex) -> Any:
        raise StatusError(
            "a run is a thread and its memory, which cannot be copied or pickled. run.fork() is another run from here, "
            "run.save(path) a file that bl.load_run reads."
        )

    def _with(self, engine: Engine, drags: Drags | None = None) -> "Run":
        other = Run(engine, self._start, self._schedules, self.problem, self.optimizer, self._reopening)
        other._drags = (drags or self._drags).copy()
        return other

    def _go_on(self, engine: Engine, like: "Run") -> None:
        """Take another engine, of a run like another one; the record so far is that of a new parent."""
        line, drags = self._with(self._engine), self._drags.copy()
        line.family.inherit(self.family)
        Readings.__init__(self, engine, like._start, like.problem, like.optimizer)  # noqa: SLF001 - a run's own
        self._reopening = like.reopening
        self._observer = Observer(engine) if engine.stop.when else None
        if self.t:
            self._drags = drags
            self._drags.cut(self.t)
        line.family.adopt(self)
        self._breakpoints.cut(self.t)
        self._arm()

    def _present_reopening(self) -> Reopening | None:
        """Return the opener of runs in the formats of the present step."""
        return self._reopening and self._reopening.in_formats(self.formats)

    def _leave_later_formats(self) -> Engine:
        """Leave the steps in later formats, which a change in the past of their begin makes another line.

        Return the engine that keeps them.
        """
        old, self._reopening = self._engine, self._present_reopening()
        self._engine = old.fork()
        if self._reopening is not None:
            self.problem, self.optimizer = self._reopening.minimized
        self._observer = Observer(self._engine) if self._engine.stop.when else None
        self._arm()
        return old

    def _change(self, index: int, value: float, begins: bool | None) -> None:
        self._stepping()
        at = self.t
        rests = self._engine.view().rests
        if isinstance(self._engine, ContinuedLoop) and self._engine.is_back:
            old = self._leave_later_formats()
            self._engine.set(index, value)
        else:
            old = self._engine.set(index, value)
        if rests:
            self._engine.settle()  # so that what is read next knows of it; a run that steps is not waited for
            self._breakpoints.cut(self.t)
        if old is not None:  # it was in its past
            self._breakpoints.cut(old.view().step)
            line = self._with(old)
            line.family.inherit(self.family)
            line.family.adopt(self)
            self._drags.cut(at)
        self._drags.note(self._engine.hypers[index], at, begins=begins)

    def __repr__(self) -> str:
        value = self.row_value(MOMENT) if self.t else math.nan
        known = "" if math.isnan(value) else f"{self.value_name} {value:.6g}, "
        return f"<Run at step {self.t}, {known}{self.hyper}>"
