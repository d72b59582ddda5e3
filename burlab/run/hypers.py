"""The live hyperparameters of a run."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from burlab.errors import ArgumentError
from burlab.optim import Optimizer, SciPy
from burlab.optim.batches import BATCH
from burlab.optim.live_fields import hyper_value, ranges_of
from burlab.problems.finite_sum import FiniteSum
from burlab.run.record.engine import Engine
from burlab.runtime.checks.attributes import Attributes
from burlab.runtime.checks.numbers import shown
from burlab.runtime.ranges import Range, number_in


def hyper_ranges(problem: object, optimizer: Optimizer | SciPy | None, batch: int) -> dict[str, Range | None]:
    """Return the numbers that hyperparameters may have, by name: of the batch, of the loss and of the optimizer."""
    numbers = problem.oracle.numbers if isinstance(problem, FiniteSum) else None
    of_loss = {} if numbers is None else numbers.ranges
    return {BATCH: Range(1.0, float(batch)), **of_loss, **ranges_of(optimizer)}


class Hypers(Attributes):
    """The live hyperparameters of a run: `run.hyper["lr"] = 0.01`, or `run.hyper.lr = 0.01`, counts from the next step.

    A number replaces the schedule; `run.hyper["lr"] = None` returns to it. Reading gives the value of the next step.
    """

    def __init__(
        self,
        engine: Engine,
        change: Callable[[int, float, bool | None], None],
        schedules: Mapping[str, Callable[[Any], Any]],
        allowed: Callable[[], Mapping[str, Range | None]],
    ) -> None:
        self._engine = engine
        self._change = change
        self._schedules = schedules
        self._allowed = allowed

    def __getitem__(self, name: str) -> float:
        value = self._engine.hyper(self._index(name))
        if math.isnan(value) and name == BATCH:
            return self._engine.size()
        if math.isnan(value) and name in self._schedules:
            return float(self._schedules[name](self._engine.view().step))
        return value

    def __setitem__(self, name: str, value: float | None) -> None:
        self._put(name, value, None)

    def drag(self, name: str, value: float, *, begins: bool) -> None:
        """Set a value on the way of a slider. All values of a drag count, and in timelines the last stands for them.

        Args:
            name: The hyperparameter.
            value: Its value from the next step on.
            begins: Whether it is the first value of the drag.

        >>> import numpy as np, burlab as bl
        >>> run = bl.minimize(lambda x: np.sum(x**2), np.ones(1), bl.optim.GD(0.1))
        >>> run.hyper.drag("lr", 0.2, begins=True); run.step(); run.hyper.drag("lr", 0.3, begins=False)
        >>> [(event.step, event.value, event.passing) for event in run.events]
        [(0, 0.2, True), (1, 0.3, False)]
        """
        self._put(name, value, begins)

    def _put(self, name: str, value: float | None, begins: bool | None) -> None:
        number = self.check(name, value)
        self._change(self._index(name), math.nan if number is None else number, begins)

    def check(self, name: str, value: float | None) -> float | None:
        """Return the value as a float. Raises ArgumentError for an unknown name or a value out of range."""
        self._index(name)
        if value is not None:
            number = hyper_value(name, value)
            allowed = self.range_of(name)
            return number if allowed is None else number_in(allowed, number, f"the hyperparameter {name}")
        if name not in self._schedules:
            raise ArgumentError(
                f"{name} has no schedule to follow. Give the optimizer one when you create it, or pass a number."
            )
        return None

    def range_of(self, name: str) -> Range | None:
        """Return the range that a hyperparameter may be in; None where any number will do."""
        return self._allowed().get(name)

    @property
    def scheduled(self) -> tuple[str, ...]:
        """The names of those that have a schedule."""
        return tuple(name for name in self.keys() if name in self._schedules)

    def follows(self, name: str) -> bool:
        """Return True if a hyperparameter follows its schedule now."""
        return name in self._schedules and math.isnan(self._engine.hyper(self._index(name)))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def keys(self) -> tuple[str, ...]:
        """The names, in the order of the optimizer's fields."""
        return self._engine.hypers

    def __repr__(self) -> str:
        return ", ".join(f"{name}={self[name]:g}" for name in self)

    def _index(self, name: str) -> int:
        if name not in self.keys():
            raise ArgumentError(f"the optimizer has no live field {shown(name)}; it has {', '.join(self) or 'none'}.")
        return self.keys().index(name)
