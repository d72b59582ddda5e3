"""Drags of a slider: many changes of a hyperparameter that belong together."""

from dataclasses import replace

from .history import Event


class Drags:
    """Beginnings of drags of hyperparameters. Changes of a drag took effect one by one; its last one stands for all.

    >>> drags = Drags()
    >>> drags.note("lr", 10, begins=True)
    >>> log = [Event(10, "lr", 0.2), Event(12, "mu", 0.5), Event(15, "lr", 0.3)]
    >>> [event.passing for event in drags.marked(log)]
    [True, False, False]
    """

    def __init__(self) -> None:
        self._begun: dict[str, list[tuple[int, bool]]] = {}  # by name: steps, and whether a drag began there or ended

    def note(self, name: str, step: int, *, begins: bool | None) -> None:
        """Note a change.

        Args:
            name: The hyperparameter.
            step: Where the run was.
            begins: True for the first change of a drag, False for further ones, None for a change by itself.
        """
        known = self._begun.setdefault(name, [])
        if begins or (begins is None and known and known[-1][1]):
            known.append((step, begins is True))

    def cut(self, step: int) -> None:
        """Forget what began after a step."""
        self._begun = {name: [entry for entry in known if entry[0] <= step] for name, known in self._begun.items()}

    def copy(self) -> "Drags":
        """Return another one, with the same drags."""
        other = Drags()
        other._begun = {name: list(known) for name, known in self._begun.items()}
        return other

    def marked(self, events: list[Event]) -> list[Event]:
        """Return events with `passing` set for those that a later one of the same drag stands for.

        Args:
            events: The changes, in order.
        """
        last: dict[str, tuple[int, int]] = {}  # by name: position of its last event, and of the drag
        found = list(events)
        for k, event in enumerate(events):
            known = self._begun.get(event.name, [])
            drag = sum(step <= event.step for step, _ in known) - 1
            before, of = last.get(event.name, (-1, -1))
            if drag >= 0 and known[drag][1] and of == drag:
                found[before] = replace(found[before], passing=True)
            last[event.name] = k, drag
        return found
