"""The monitor of a user's loop: its log, its live hyperparameters, and where it waits."""

import math
import threading
from collections import deque
from collections.abc import Mapping
from time import perf_counter_ns
from types import TracebackType
from typing import Any, Protocol

from burlab.errors import ArgumentError, StatusError
from burlab.run.record.history import Event
from burlab.run.record.sinks import Sink
from burlab.run.record.stop import Stopped
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.coerce import Array
from burlab.runtime.displayed import Displayed
from burlab.runtime.ranges import Range

from .columns import LoopHistory
from .foreign_numbers import as_number
from .journal import FIXED, Journal, JournalCursor
from .knobs import LoopHypers
from .memory_samples import MemorySamples, process_bytes, tree_bytes
from .pause_gate import Gate, LoopEnd
from .screen import WatchScreen, open_screen

REFRESH_NANOSECONDS = 50_000_000  # between two refreshes of messages, memory and terminal
INSTANCE_ATTRIBUTES = ("title", "hyper")
MAX_EVENTS = 10_000  # the last changes of hyperparameters


class Probe(Protocol):
    """Measures the steps of a loop that a library does, and sets its hyperparameters."""

    def attach(self, monitor: "Monitor") -> None:
        """Start measuring a loop."""
        ...

    def detach(self) -> None:
        """End measuring."""
        ...

    def completed(self, step: int | None, values: dict[str, Any]) -> tuple[int | None, dict[str, Any]]:
        """Return the step of logged values, and the values with the measured ones."""
        ...

    def memory(self) -> dict[str, int]:
        """Return bytes by purpose."""
        ...


class Monitor(Displayed):
    """The context manager around a loop that calls `log` in every step: the result of `burlab.watch`.

    Any thread may pause the loop, let it do steps, stop it, set its hyperparameters, and read its log.

    >>> import burlab as bl
    >>> x = 1.0
    >>> with bl.watch(lr=0.25) as w:
    ...     for step in range(3):
    ...         w.log(step, value=x**2)
    ...         x -= w.lr * 2 * x
    >>> w.t, w.history["value"], w.stopped.message
    (3, array([1.    , 0.25  , 0.0625]), 'The loop has ended after step 2.')
    """

    can_seek = False
    problem = optimizer = parent = path = None  # a `Run` may have them

    def __init__(
        self,
        title: str,
        hypers: Mapping[str, float],
        ranges: Mapping[str, Range],
        *,
        show: bool | None,
        history_bytes: int,
        to: Any = None,
    ) -> None:
        """ranges: of the hyperparameters that have one. For the other arguments see `burlab.watch`."""
        for name in hypers:
            if name in (*FIXED, *INSTANCE_ATTRIBUTES) or name.startswith("_") or hasattr(type(self), name):
                raise ArgumentError(
                    f"no hyperparameter can be called {shown(name)}: a watch has that itself. Rename it."
                )
        self.title = title
        self._journal = Journal(hypers, whole(history_bytes, "history_bytes", 0))
        self.hyper = LoopHypers(hypers, ranges, self._note_change, self._journal.set_hyper)
        self._show = show
        self._sink = None if to is None else Sink(to)
        self._probe: Probe | None = None
        self._gate = Gate()
        self._screen: WatchScreen | None = None
        self._thread: int | None = None  # of the loop, inside of `with`
        self._pauses = 0
        self._start = 0  # nanoseconds: start of the loop, later by the time that it rested
        self._next_refresh = 0
        self._events: deque[Event] = deque(maxlen=MAX_EVENTS)
        self._tracked: dict[str, int] = {}
        self._traces = MemorySamples()
        self._stopped: Stopped | None = None

    def fit(self, probe: Probe) -> "Monitor":
        """Attach a probe, which measures the steps."""
        self._probe = probe
        return self

    def __enter__(self) -> "Monitor":
        if self._thread is not None:
            raise StatusError("this watch already has a running loop. Create another one: bl.watch(...).")
        self._start = perf_counter_ns() - self._journal.time
        self._stopped = None
        self._next_refresh = 0
        self._thread = threading.get_ident()
        if self._show is not False:
            self._screen = open_screen(self, wanted=self._show)
        if self._probe is not None:
            self._probe.attach(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        """End the loop. Its exception is raised again, except for LoopEnd after `stop`."""
        requested = isinstance(error, LoopEnd) and error.gate is self._gate
        try:
            if self._probe is not None:
                self._probe.detach()
        finally:
            self._thread = None
            self._gate = Gate()
            self._stopped = _ending(self.t, None if requested else error, requested)
            if self._screen is not None:
                self._screen.close()
                self._screen = None
        return requested

    def log(self, step: int | None = None, /, **values: Any) -> None:
        """Write a row: numbers by name. Where the loop is paused, wait here; an interrupt ends the wait at once.

        Args:
            step: A number from 0 on that never falls; None counts. A step may have several rows.
            values: Real numbers, and arrays or tensors with one entry; one that is computed elsewhere, as by JAX or on
                a GPU, is waited for. Names may be new at any time. loss, grad_norm and val_loss are other names of
                value, gradient_norm and validation_value. nan and inf are stored, and the panel shows where they began.

        Raises:
            ArgumentError: The step goes back, or a name is taken.
            DTypeError: A value is not a number.
            StatusError: The call is outside of `with`.
        """
        now = perf_counter_ns()
        if self._thread is None:
            raise self._outside()
        if self._probe is not None:
            step, values = self._probe.completed(step, values)
        memory = math.nan
        if refreshes := now >= self._next_refresh:
            self._next_refresh = now + REFRESH_NANOSECONDS
            memory = process_bytes()
            if self._screen is not None:
                self._screen.poll()
        new = self._journal.write(step, now - self._start, memory, values)
        if self._sink is not None:
            numbers = {name: as_number(name, value) for name, value in values.items()}
            self._sink.write(self.t - 1, numbers | {name: self.hyper[name] for name in self.hyper})
        if refreshes:
            self._traces.take(self.t - 1, memory, self._known())
        if new and self._gate.shut:
            self._start += self._gate.passes(self._refresh)

    def track(self, **trees: Any) -> None:
        """Show the bytes of arrays or tensors, in trees of tuples, lists and dictionaries, as parts of the memory.

        Only their size is stored.

        Args:
            trees: Trees by the name of the part: `w.track(parameters=params, optimizer_state=state)`.
        """
        self._tracked |= {name: tree_bytes(tree) for name, tree in trees.items()}

    def pause(self) -> None:
        """Have the loop rest when it next logs a step; until then it goes on with the step that it is in."""
        self._pauses += 1
        if self._stopped is None:
            self._gate.allow(0)

    @property
    def pauses(self) -> int:
        """Number of calls of `pause` so far."""
        return self._pauses

    def step(self, n: int = 1) -> None:
        """Let a loop that rests do n steps; then it rests again. Returns at once.

        Args:
            n: The number of steps, at least 1.

        Raises:
            StatusError: The loop has ended.
        """
        n = whole(n, "n", 1)
        self._check_goes_on()
        self._gate.allow(n)

    def resume(self) -> None:
        """Let a loop that rests go on. Returns at once."""
        self._check_goes_on()
        self._gate.allow(None)

    def start(self, steps: int | None = None) -> None:
        """Do `step(steps)`, or `resume()` if None.

        Args:
            steps: The number of steps; None for no end.
        """
        self.resume() if steps is None else self.step(steps)

    def stop(self) -> None:
        """End the loop when it next logs a step: it leaves `with`, and the program goes on after that."""
        if self._stopped is None:
            self._gate.end()

    @property
    def t(self) -> int:
        """The step after the last one that was logged."""
        return self._journal.t

    @property
    def length(self) -> int:
        """The same: the record ends at the current step."""
        return self._journal.t

    @property
    def running(self) -> bool:
        """Return True if the loop is doing steps now."""
        return self._thread is not None and not self._gate.resting

    @property
    def stopped(self) -> Stopped | None:
        """The end of the loop: "finished", "stopped", "interrupted" or "error"; None before that."""
        return self._stopped

    @property
    def remark(self) -> str:
        """A message for the panel, such as where nan was logged first; "" for none."""
        notes: list[str] = []
        if self._thread is None and self._stopped is None:
            notes.append("The loop has not started")
        if self._thread is not None and self._gate.shut and not self._gate.free and not self._gate.resting:
            notes.append("It rests when it next logs a step")
        notes += [f"{name} was nan or inf first at step {step:,}" for name, step in self._journal.non_finite.items()]
        return "; ".join(notes)

    @property
    def history(self) -> LoopHistory:
        """Logged metrics, with times, memory and hyperparameters."""
        return self._journal.read()

    @property
    def events(self) -> list[Event]:
        """The last 10,000 changes of hyperparameters from outside of the loop, in order."""
        return list(self._events)

    @property
    def non_finite(self) -> dict[str, int]:
        """The columns in which nan or inf was logged, each with the first such step."""
        return dict(self._journal.non_finite)

    @property
    def last_value(self) -> float:
        """The value (or loss) that was logged last; NaN before that."""
        return self._journal.last_value

    @property
    def memory(self) -> dict[str, int]:
        """Bytes by purpose, and their "total": of the process, and of tensors on other devices.

        By name what `track` was given, or the parts of a model; history: the log; other: the rest of the process.
        """
        known = self._known()
        known["other"] = max(process_bytes() - sum(known.values()), 0)
        return known | {"total": sum(known.values())}

    @property
    def traces(self) -> dict[str, Array]:
        """The memory over the steps, sampled: up to 20 times a second, 2,048 samples at most, as columns of one length.

        step: of the sample, int64. resident: bytes of the process. Then bytes as in `memory`, by purpose.

        >>> import numpy as np, burlab as bl
        >>> with bl.watch() as w:
        ...     w.track(table=np.zeros(100))
        ...     w.log(value=1.0)
        >>> w.traces["table"], bool(w.traces["resident"][0] > 1e6)
        (array([800]), True)
        """
        return self._traces.read()

    def tail(
        self,
        cursor: Any = None,
        columns: tuple[str, ...] | None = None,
        *,
        most: int | None = None,
    ) -> tuple[dict[str, Array], JournalCursor, bool]:
        """Return the rows since a cursor, as `Run.tail` does.

        Args:
            cursor: The second result of the last call; None for the start.
            columns: Names of columns; None for all.
            most: The largest number of entries; None for all.

        Returns:
            Columns by name, shape (n,), float64; the next cursor; and True if the rows begin anew, because entries
            were merged or this is the first call.
        """
        return self._journal.tail(cursor, columns, most)

    def at(self, step: int) -> dict[str, float] | None:
        """Return the metrics logged at a step, by column; None if it has no row, or its row was merged with others."""
        return self._journal.at(step)

    def __getattr__(self, name: str) -> float:
        """A hyperparameter: `w.lr` is `w.hyper["lr"]`."""
        hyper = self.__dict__.get("hyper", ())
        if name in hyper:
            return hyper[name]
        raise AttributeError(
            f"a watch has no attribute {shown(name)}; its hyperparameters are {', '.join(hyper) or 'none'}."
        )

    def __setattr__(self, name: str, value: Any) -> None:
        """`w.lr = 0.1` is `w.hyper["lr"] = 0.1`."""
        if name in self.__dict__.get("hyper", ()):
            self.hyper[name] = value
        elif name.startswith("_") or name in INSTANCE_ATTRIBUTES:
            super().__setattr__(name, value)
        else:
            raise AttributeError(
                f"expected a hyperparameter of this watch ({', '.join(self.hyper) or 'none'}), got {shown(name)}. "
                f"Name it at the start: bl.watch({name}={shown(value)})."
            )

    def __repr__(self) -> str:
        value = "" if math.isnan(self.last_value) else f", value {self.last_value:.6g}"
        return f"<Monitor at step {self.t}{value}{', ' * bool(len(self.hyper))}{self.hyper}>"

    def __reduce_ex__(self, _: Any) -> Any:
        raise StatusError("a watch is bound to its loop and cannot be copied or pickled. w.history.frame() can.")

    def _known(self) -> dict[str, int]:
        """Return bytes by purpose, but for the rest of the process."""
        return {**self._tracked, **(self._probe.memory() if self._probe else {}), "history": self._journal.nbytes}

    def _refresh(self) -> None:
        if self._screen is not None:
            self._screen.poll()

    def _note_change(self, name: str, value: float, goes_on: bool) -> None:
        """Note a change by another thread than the loop's. goes_on: whether it stands for the last one, too."""
        if threading.get_ident() != self._thread:
            if goes_on and self._events and self._events[-1].name == name:
                self._events.pop()
            self._events.append(Event(self.t, name, value))

    def _check_goes_on(self) -> None:
        if self._stopped is not None:
            raise StatusError(f"{self._stopped.message} It cannot go on; run it again.")

    def _outside(self) -> StatusError:
        when = "before" if self._stopped is None else "after"
        return StatusError(
            f"log was called {when} the `with` block of this watch. Put the loop inside: with bl.watch(...) as w: "
            "for step in range(n): ...; w.log(step, value=...)."
        )


def _ending(t: int, error: BaseException | None, requested: bool) -> Stopped:
    after = f"after step {t - 1:,}" if t else "before its first step"
    if requested:
        return Stopped("stopped", t, f"The loop was stopped {after}.")
    if error is None:
        return Stopped("finished", t, f"The loop has ended {after}.")
    if isinstance(error, KeyboardInterrupt):
        return Stopped("interrupted", t, f"The loop was interrupted {after}.")
    text = f"{error}".strip().split("\n")[0]
    return Stopped("error", t, f"The loop has failed {after}: {type(error).__name__}{': ' * bool(text)}{text}")
