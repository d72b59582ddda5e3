"""The protocol of what a panel shows: a `Run`, or a loop of the user's own that reports its steps."""

from collections.abc import Iterator
from typing import Any, Protocol

from burlab.runtime.coerce import Array

from .history import Event
from .stop import Stopped


class Knobs(Protocol):
    """Live hyperparameters by name. None gives one back to its schedule."""

    def __getitem__(self, name: str) -> float: ...

    def __setitem__(self, name: str, value: float | None) -> None: ...

    def __iter__(self) -> Iterator[str]: ...

    @property
    def scheduled(self) -> tuple[str, ...]:
        """The names of those that something else turns while nobody does."""
        ...

    def follows(self, name: str) -> bool:
        """Whether one is turned by something else now."""
        ...


class Subject(Protocol):
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
        """What it is, in a few words; "" where problem and optimizer say that."""
        ...

    @property
    def remark(self) -> str:
        """What someone who looks should know and its other properties do not say; "" for nothing."""
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
        """Whether it is doing steps now."""
        ...

    @property
    def pauses(self) -> int:
        """Number of orders to pause so far."""
        ...

    @property
    def stopped(self) -> Stopped | None:
        """Why it came to rest by itself."""
        ...

    @property
    def hyper(self) -> Knobs:
        """What can be turned."""
        ...

    @property
    def events(self) -> list[Event]:
        """What was turned, in order."""
        ...

    @property
    def memory(self) -> dict[str, int]:
        """Bytes by what they are for, and their "total"."""
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
        """What was written since `cursor`: see `burlab.run.record.live.rows_since`."""
        ...

    def at(self, step: int) -> dict[str, float] | None:
        """What was written at a step; None where that is not known."""
        ...

    def start(self, steps: int | None = None) -> None:
        """Continue for so many steps, or until it is paused."""
        ...

    def pause(self) -> None:
        """Rest at the step reached."""
        ...
