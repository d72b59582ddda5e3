"""A loop of the user's own, watched: what it logs, what is turned while it runs, and where it waits."""

import math
import threading
from collections import deque
from collections.abc import Mapping
from time import perf_counter_ns
from types import TracebackType
from typing import Any

from burlab.errors import ArgumentError, StatusError
from burlab.run.record.history import Event
from burlab.run.record.stop import Stopped
from burlab.runtime.checks.numbers import shown, whole
from burlab.runtime.coerce import Array
from burlab.runtime.ranges import Range

from .columns import Columns
from .gate import Gate, LoopEnd
from .journal import FIXED, Cursor, Journal
from .knobs import Knobs
from .memory import MemorySamples, process_bytes, tree_bytes
from .probe import Probe
from .screen import WatchScreen, open_screen

_LOOK = 50_000_000  # nanoseconds between two looks at messages, memory and terminal
_OWN = ("title", "hyper")  # attributes of every watch, beside those of the class
_EVENTS = 10_000  # changes of hyperparameters that are kept, the last ones


class Monitor:
    """What `burlab.watch` gives: inside of `with` stands the loop, which calls `log` in every step.

    Any thread may pause the loop, let it do steps, stop it, turn its hyperparameters, and read what it has logged.

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
    ) -> None:
        """ranges: of the hyperparameters that cannot be any number. The rest is said at `burlab.watch`."""
        for name in hypers:
            if name in (*FIXED, *_OWN) or name.startswith("_") or hasattr(type(self), name):
                raise ArgumentError(
                    f"no hyperparameter can be called {shown(name)}: a watch has that itself. Rename it."
                )
        self.title = title
        self._journal = Journal(hypers, whole(history_bytes, "history_bytes", 0))
        self.hyper = Knobs(hypers, ranges, self._turned, self._journal.turn)
        self._show = show
        self._probe: Probe | None = None
        self._gate = Gate()
        self._screen: WatchScreen | None = None
        self._thread: int | None = None  # of the loop, inside of `with`
        self._pauses = 0
        self._begun = 0  # when the clock of the rows would have started, had there been no rests
        self._next_look = 0
        self._events: deque[Event] = deque(maxlen=_EVENTS)
        self._tracked: dict[str, int] = {}
        self._traces = MemorySamples()
        self._stopped: Stopped | None = None

    def fit(self, probe: Probe) -> "Monitor":
        """Have something look into the loop."""
        self._probe = probe
        return self

    def __enter__(self) -> "Monitor":
        if self._thread is not None:
            raise StatusError("a loop stands inside of this watch already. Make another one: bl.watch(...).")
        self._begun = perf_counter_ns() - self._journal.time
        self._stopped = None
        self._next_look = 0
        self._thread = threading.get_ident()
        if self._show is not False:
            self._screen = open_screen(self, wanted=self._show)
        if self._probe is not None:
            self._probe.attach(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        """The loop has ended. What it raised goes on, but for the end that `stop` asked for."""
        asked = isinstance(error, LoopEnd) and error.gate is self._gate
        try:
            if self._probe is not None:
                self._probe.detach()
        finally:
            self._thread = None
            self._gate = Gate()
            self._stopped = _ending(self.t, None if asked else error, asked)
            if self._screen is not None:
                self._screen.close()
                self._screen = None
        return asked

    def log(self, step: int | None = None, /, **values: Any) -> None:
        """Write a row: numbers by name. Where the loop is paused, wait here.

        step: from 0 on, never falling; it may be left out, and is counted then. A step may have several rows. values:
        real numbers, and arrays or tensors with one entry; one that is computed elsewhere, as by JAX or on a GPU, is
        waited for. Names may be new at any time. loss, grad_norm and val_loss are other names of value, gradient_norm
        and validation_value. nan and inf are kept, and the panel says where they began.

        An interrupt (KeyboardInterrupt) ends the wait at once. Raises ArgumentError for a step that goes back and for
        a name that is taken, DTypeError for what is no number, StatusError outside of `with`.
        """
        now = perf_counter_ns()
        if self._thread is None:
            raise self._outside()
        if self._probe is not None:
            step, values = self._probe.completed(step, values)
        memory = math.nan
        if looks := now >= self._next_look:
            self._next_look = now + _LOOK
            memory = process_bytes()
            if self._screen is not None:
                self._screen.poll()
        new = self._journal.write(step, now - self._begun, memory, values)
        if looks:
            self._traces.take(self.t - 1, memory, self._known())
        if new and self._gate.shut:
            self._begun += self._gate.passes(self._look)

    def track(self, **trees: Any) -> None:
        """Show the bytes of arrays or tensors, in trees of tuples, lists and dictionaries, as parts of the memory.

        Only their size is kept. >>> w.track(parameters=params, optimizer_state=state)
        """
        self._tracked |= {name: tree_bytes(tree) for name, tree in trees.items()}

    def pause(self) -> None:
        """Have the loop rest when it next logs a step; until then it goes on with the step that it is in."""
        self._pauses += 1
        if self._stopped is None:
            self._gate.turn(0)

    @property
    def pauses(self) -> int:
        """How often the loop was told to rest."""
        return self._pauses

    def step(self, n: int = 1) -> None:
        """Let a loop that rests do n steps; then it rests again. Returns at once."""
        n = whole(n, "n", 1)
        self._check_goes_on()
        self._gate.turn(n)

    def resume(self) -> None:
        """Let a loop that rests go on. Returns at once."""
        self._check_goes_on()
        self._gate.turn(None)

    def start(self, steps: int | None = None) -> None:
        """What a panel says: `step`, or `resume`."""
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
        """The same: there is nothing ahead."""
        return self._journal.t

    @property
    def running(self) -> bool:
        """Whether the loop is doing steps now."""
        return self._thread is not None and not self._gate.resting

    @property
    def stopped(self) -> Stopped | None:
        """How the loop has ended: "finished", "stopped", "interrupted" or "error"; None before that."""
        return self._stopped

    @property
    def remark(self) -> str:
        """What else someone who looks should know."""
        said: list[str] = []
        if self._thread is None and self._stopped is None:
            said.append("The loop has not begun")
        if self._thread is not None and self._gate.shut and not self._gate.free and not self._gate.resting:
            said.append("It rests when it next logs a step")
        said += [f"{name} was nan or inf first at step {step:,}" for name, step in self._journal.non_finite.items()]
        return "; ".join(said)

    @property
    def history(self) -> Columns:
        """What was logged, with times, memory and hyperparameters."""
        return self._journal.read()

    @property
    def events(self) -> list[Event]:
        """The hyperparameters that were turned from outside of the loop, in order: the last 10,000."""
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
        """Bytes by what they are for, and their "total": of the process, and of tensors on other devices.

        What is tracked, or known of a model; history: what was logged; other: the rest of the process.
        """
        known = self._known()
        known["other"] = max(process_bytes() - sum(known.values()), 0)
        return known | {"total": sum(known.values())}

    @property
    def traces(self) -> dict[str, Array]:
        """The memory over the steps, sampled: up to 20 times a second, 2,048 samples at most, as columns of one length.

        step: of the sample, int64. resident: bytes of the process. Then bytes as in `memory`, by what they are for:
        what is tracked, or known of a model, and history.

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
    ) -> tuple[dict[str, Array], Cursor, bool]:
        """What was written since `cursor`, as `Run.tail` gives it."""
        return self._journal.tail(cursor, columns, most)

    def at(self, step: int) -> dict[str, float] | None:
        """What was logged at a step, by column; None where it has no row, or its row was merged with others."""
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
        elif name.startswith("_") or name in _OWN:
            super().__setattr__(name, value)
        else:
            raise AttributeError(
                f"{shown(name)} is no hyperparameter of this watch, which has {', '.join(self.hyper) or 'none'}. "
                f"Name it at the start: bl.watch({name}={shown(value)})."
            )

    def __repr__(self) -> str:
        value = "" if math.isnan(self.last_value) else f", value {self.last_value:.6g}"
        return f"<Monitor at step {self.t}{value}{', ' * bool(len(self.hyper))}{self.hyper}>"

    def __reduce_ex__(self, _: Any) -> Any:
        raise StatusError("a watch is bound to its loop and cannot be copied or pickled. w.history.frame() can.")

    def _known(self) -> dict[str, int]:
        """Bytes by what they are for, as far as that is known."""
        return {**self._tracked, **(self._probe.memory() if self._probe else {}), "history": self._journal.nbytes}

    def _look(self) -> None:
        if self._screen is not None:
            self._screen.poll()

    def _turned(self, name: str, value: float) -> None:
        """Note what someone else than the loop has set."""
        if threading.get_ident() != self._thread:
            self._events.append(Event(self.t, name, value))

    def _check_goes_on(self) -> None:
        if self._stopped is not None:
            raise StatusError(f"{self._stopped.message} It cannot go on; run it again.")

    def _outside(self) -> StatusError:
        when = "before" if self._stopped is None else "after"
        return StatusError(
            f"log was called {when} the `with` block of this watch. The loop stands inside: with bl.watch(...) as w: "
            "for step in range(n): ...; w.log(step, value=...)."
        )


def _ending(t: int, error: BaseException | None, asked: bool) -> Stopped:
    after = f"after step {t - 1:,}" if t else "before its first step"
    if asked:
        return Stopped("stopped", t, f"The loop was stopped {after}.")
    if error is None:
        return Stopped("finished", t, f"The loop has ended {after}.")
    if isinstance(error, KeyboardInterrupt):
        return Stopped("interrupted", t, f"The loop was interrupted {after}.")
    text = f"{error}".strip().split("\n")[0]
    return Stopped("error", t, f"The loop has failed {after}: {type(error).__name__}{': ' * bool(text)}{text}")
