"""The live hyperparameters of a loop."""

from collections.abc import Callable, Iterator, Mapping

from burlab.errors import ArgumentError
from burlab.optim.live_fields import hyper_value
from burlab.runtime.checks.attributes import Attributes
from burlab.runtime.checks.numbers import shown
from burlab.runtime.ranges import Range, number_in


class LoopHypers(Attributes):
    """Hyperparameters by name: `w.hyper["lr"] = 0.01`, or `w.hyper.lr = 0.01`, counts from the next step on.

    One that the loop has from elsewhere, such as a learning rate that PyTorch's scheduler sets, follows that until it
    is set here; then it is held, and `w.hyper["lr"] = None` gives it back.
    """

    def __init__(
        self,
        values: Mapping[str, float],
        ranges: Mapping[str, Range],
        on_set: Callable[[str, float, bool], None],
        on_change: Callable[[str, float], None],
    ) -> None:
        """ranges: of the names that have one. on_change: called for each new value.

        on_set: called for each assignment; with True if it goes on with a drag.
        """
        self._ranges = ranges
        self._values = {name: self.check(name, value, values) for name, value in values.items()}
        self._on_set, self._on_change = on_set, on_change
        for name, value in self._values.items():
            on_change(name, value)
        self._foreign: set[str] = set()  # set by something else at least once
        self._held: set[str] = set()

    def __getitem__(self, name: str) -> float:
        if name not in self._values:
            raise self._unknown(name, self._values)
        return self._values[name]

    def __setitem__(self, name: str, value: float | None) -> None:
        if value is None:
            self._give_back(name)
        else:
            self.drag(name, value, begins=True)

    def drag(self, name: str, value: float, *, begins: bool) -> None:
        """Set a value on the way of a slider: the last one stands for all in timelines.

        Args:
            name: The hyperparameter.
            value: Its value from the next step on.
            begins: Whether it is the first value of the drag.
        """
        number = self.check(name, value, self._values)
        self._held.add(name)
        self._values[name] = number
        self._on_change(name, number)
        self._on_set(name, number, not begins)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __repr__(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in self._values.items())

    @property
    def scheduled(self) -> tuple[str, ...]:
        """The names of those that something else has changed."""
        return tuple(name for name in self._values if name in self._foreign)

    def follows(self, name: str) -> bool:
        """Return True if something else sets it now."""
        return name in self._foreign and name not in self._held

    def check(self, name: str, value: float, known: Mapping[str, float]) -> float:
        """Return the value as a float. Raises ArgumentError for an unknown name or a value out of range."""
        if name not in known:
            raise self._unknown(name, known)
        number = hyper_value(name, value)
        allowed = self._ranges.get(name)
        return number if allowed is None else number_in(allowed, number, f"the hyperparameter {name}")

    def follow(self, name: str, found: float) -> None:
        """Take a value that something else has set, unless one was set here."""
        self._foreign.add(name)
        if name not in self._held:
            self._values[name] = found
            self._on_change(name, found)

    def _give_back(self, name: str) -> None:
        if name not in self._foreign:
            raise ArgumentError(f"nothing but this sets {name}, so it cannot be given back. Set a number.")
        self._held.discard(name)
        self._on_set(name, float("nan"), False)

    def _unknown(self, name: str, known: Mapping[str, float]) -> ArgumentError:
        return ArgumentError(f"this watch has no hyperparameter {shown(name)}; it has {', '.join(known) or 'none'}.")
