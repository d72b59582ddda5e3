"""The protocol of a panel's subject: a `Run`, or a user's loop that reports its steps."""

from collections.abc import Iterator
from typing import Any, Protocol

from burlab.runtime.coerce import Array

from .history import Event
from .stop import Stopped


class LiveHypers(Protocol):
    """Live hyperparameters by name. None returns one to its schedule."""

    def __getitem__(self, name: str) -> float: ...

    def __setitem__(self, name: str, value: float | None) -> None: ...

    def __iter__(self) -> Iterator[str]: ...

    def drag(self, name: str, value: float, *, begins: bool) -> None:
        """Set a value on the way of a slider: the last one stands for all in timelines."""
        ...

    @property
    def scheduled(self) -> tuple[str, ...]:
        """The names of those that have a schedule or another source."""
        ...

    def follows(self, name: str) -> bool:
        """Return True if a schedule or another source sets it now."""
        ...


class ObservedLoop(Protocol):
    """A process that advances step by step, writes rows, and can be paused. Thread-safe; orders return at once.

    can_seek: whether it can go back in its record, and branch off. problem, optimizer: what it was given, if anything.
    """

    can_seek: bool
    problem: Any
    optimizer: Any

    @property
    def parent(self) -> Any:
        """The one that this one branched from, if any."""
        ...

    @property
    def title(self) -> str:
        """A short title; "" if problem and optimizer describe it."""
        ...

    @property
    def remark(self) -> str:
        """A further message for the panel, or ""."""
        ...

    @property
    def t(self) -> int:
        """Steps done."""
        ...

    @property
    def length(self) -> int:
        """The step after the last one that has a row."""
        ...

    @property
    def running(self) -> bool:
        """Return True if it is doing steps now."""
        ...

    @property
    def pauses(self) -> int:
        """Number of orders to pause so far."""
        ...

    @property
    def stopped(self) -> Stopped | None:
        """The reason why it came to rest by itself."""
        ...

    @property
    def hyper(self) -> LiveHypers:
        """The live hyperparameters."""
        ...

    @property
    def events(self) -> list[Event]:
        """Changes of hyperparameters, in order."""
        ...

    @property
    def memory(self) -> dict[str, int]:
        """Bytes by purpose, their "total", and of a run the "peak", the largest total so far."""
        ...

    @property
    def path(self) -> tuple[Array, Array] | None:
        """Steps and points in one or two dimensions; None for others."""
        ...

    def tail(
        self,
        cursor: Any = None,
        columns: tuple[str, ...] | None = None,
        *,
        most: int | None = None,
    ) -> tuple[dict[str, Array], Any, bool]:
        """Return the rows since `cursor`: see `burlab.run.record.live.rows_since`."""
        ...

    def at(self, step: int) -> dict[str, float] | None:
        """Return the row of a step; None if unknown."""
        ...

    def start(self, steps: int | None = None) -> None:
        """Continue for so many steps, or until it is paused."""
        ...

    def pause(self) -> None:
        """Rest at the step reached."""
        ...
