"""The protocol between a `Run` and its engine: a loop in C++ (`loop.py`), or a minimizer in Python."""

from collections.abc import Mapping
from typing import Protocol

from burlab.errors import StatusError
from burlab.graph import tree
from burlab.optim.number_formats import Formats
from burlab.runtime.coerce import Array

from .breakpoints import Breakpoint
from .feed import Feed
from .recorder import Recorder
from .stop import Stop

COLUMNS = ("step", "value", "gradient_norm", "step_norm", "samples", "flops", "time")  # then the hyperparameters


class Engine(Recorder, Protocol):
    """An optimizer on a problem, at rest at step 0. Any thread may call it; orders return at once.

    hypers: names of the live hyperparameters. queries: of its rule, in addition to the gradient of each step.
    stop: when it rests by itself. has_gradient: whether a gradient is computed in each step; else its norm is nan.
    takes_all: whether the value of a row is of all samples; is_exact: and at the optimizer's output point.
    averages: whether that point is another one than x. value_at: the point of values in words, where the rule names it.
    can_seek: whether it stores keyframes, to go back in its record. formats: of the numbers of the present step.
    """

    hypers: tuple[str, ...]
    queries: tuple[str, ...]
    stop: Stop
    has_gradient: bool
    takes_all: bool
    is_exact: bool
    averages: bool
    value_at: str
    can_seek: bool

    @property
    def formats(self) -> Formats | None:
        """The formats of the numbers of the present step; None: those of x0's dtype."""
        ...

    @property
    def formats_from(self) -> Mapping[int, Formats | None]:
        """The formats by the step from which on they hold."""
        ...

    def aim(self, target: int) -> None:
        """Order: run until `target` steps are done. A failure is forgotten and its step tried again."""
        ...

    def pause(self) -> None:
        """Order: rest as soon as possible; a step in flight is abandoned, and done again later."""
        ...

    def seek(self, step: int) -> None:
        """Order: go to a step of the record, at most its length."""
        ...

    def rests(self, seconds: float) -> bool:
        """Wait until it rests, at most this long and at most 50 ms."""
        ...

    def check(self) -> None:
        """Raise the error of the last step, if it failed: once, or until it is tried again."""
        ...

    def end(self) -> None:
        """Stop permanently and wait for the end: computed results stay readable."""
        ...

    def settle(self) -> None:
        """Wait until changes of hyperparameters are taken over."""
        ...

    def read(self) -> Array:
        """A copy of the flat x, between two steps."""
        ...

    def output(self) -> Array:
        """A copy of the optimizer's flat output point: x, unless it defines another one."""
        ...

    def state(self) -> tree.Tree:
        """A copy of the optimizer's state, at rest. Raises StatusError if it cannot be read."""
        ...

    def loss_state(self) -> tree.Tree:
        """A copy of the state of the loss, at rest; None of a loss without."""
        ...

    def hyper(self, index: int) -> float:
        """A hyperparameter, as the next step will use it."""
        ...

    def size(self) -> float:
        """Return the number of samples of the next step."""
        ...

    def set(self, index: int, value: float) -> "Engine | None":
        """Order: give a hyperparameter a value, from the next step on. In the past, a new line begins there.

        The answer is then an engine that rests and keeps the old line as it was.
        """
        ...

    def fork(self) -> "Engine":
        """A copy of this engine, at rest at its step, without later rows."""
        ...

    def arm(self, points: Mapping[int, Breakpoint]) -> None:
        """Order: replace all breakpoints, by number. The reader of the feed tests those with a predicate."""
        ...

    def norm_column(self, of: str) -> int:
        """The column of the record that holds this norm: see `Stop.of`. Raises ArgumentError if there is none."""
        ...

    def feed(self) -> Feed:
        """The rows from now on, and those that were not taken yet."""
        ...

    def last_value(self) -> float:
        """The value in the last row of the record; NaN if there is none."""
        ...

    def measured(self, seconds: float = ...) -> float | None:
        """The value in the row of the current step, computed if needed; None if it is unavailable, or after a timeout.

        It is evaluated once, while the engine rests, and counts nowhere.
        """
        ...

    def evaluated(self) -> float | None:
        """The value over all samples at the optimizer's output point; None if it is unavailable."""
        ...

    def numbers(self) -> tuple[float, ...]:
        """Return what the loss reads at this step: hyperparameters, NaN where scheduled, and t; () for nothing."""
        ...

    def nbytes(self) -> dict[str, int]:
        """Bytes by purpose, their "total", and of a run the "peak", the largest total so far."""
        ...


def check_can_seek(engine: Engine, what: str) -> None:
    """Raise StatusError for what needs keyframes if an engine stores none."""
    if not engine.can_seek:
        raise StatusError(
            f"{what} needs keyframes, and this run stores none. Pass bl.minimize a keyframe_bytes above 0."
        )
