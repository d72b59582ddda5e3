"""The choices of a sweep: optimizers, and values or ranges of their hyperparameters and of arguments of `minimize`."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from burlab.errors import ArgumentError
from burlab.runtime.checks.numbers import real, shown, truth, whole

from .optimizer_fields import (
    EXAMPLE,
    Entry,
    Optimizers,
    checked_name,
    checked_optimizer,
    field_paths,
    optimizer_with,
)
from .trials import Trial, plain_value

DIRECT = ("batch", "steps")  # arguments of `sweep` that may be hyperparameters, unless the optimizer has such a field


@dataclass(frozen=True, slots=True)
class Between:
    """A range of a hyperparameter, which a search draws from: `bl.sweep(..., search=)`.

    Args:
        low, high: Both ends, which may be drawn.
        log: True if the logarithm is uniform, so that each power of ten has the same share; low is then above 0.
        whole: True for whole numbers.

    Raises:
        ArgumentError: For ends that are no finite numbers, or in the wrong order.

    >>> import burlab as bl
    >>> [round(bl.Between(1e-4, 1.0, log=True).at(u), 6) for u in (0.0, 0.5, 1.0)]
    [0.0001, 0.01, 1.0]
    >>> [bl.Between(1, 4, whole=True).at(u) for u in (0.0, 0.3, 0.6, 0.99)]
    [1, 2, 3, 4]
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        for name in ("log", "whole"):
            truth(getattr(self, name), f"{name} of Between")
        for name in ("low", "high"):
            end: Any = getattr(self, name)
            if self.whole:
                whole(end, f"{name} of Between", -(2**53), 2**53)
            elif math.isinf(real(end, f"{name} of Between")):
                raise ArgumentError(f"{name} of Between is {end}, expected a finite number.")
        if self.low >= self.high:
            raise ArgumentError(f"Between goes from {self.low} to {self.high}. Pass the smaller number first.")
        if self.log and self.low <= 0:
            raise ArgumentError(f"Between(log=True) begins at {self.low}, expected a number above 0.")

    def at(self, u: float) -> float | int:
        """Return the number at a place of the range.

        Args:
            u: From 0 to 1; uniform ones give the distribution.

        Returns:
            A float, or an int where `whole` is True.
        """
        low, high = (self.low - 0.5, self.high + 0.5) if self.whole else (self.low, self.high)
        found = math.exp(math.log(low) + u * math.log(high / low)) if self.log else low + u * (high - low)
        inside = min(max(found, self.low), self.high)
        return math.floor(inside + 0.5) if self.whole else float(inside)


Choices = Sequence[Any] | Between
"""The values of a hyperparameter to try, or the range to draw them from."""


class Space:
    """The choices of a sweep.

    optimizers: by name. hypers: choices by name. Names of `DIRECT`, and those that arguments of the call depend on, are
    part of every run; the others of the runs of those optimizers that have such a field.
    """

    def __init__(
        self, optimizers: Mapping[str, Entry], hypers: Mapping[str, Choices], dependents: Sequence[str]
    ) -> None:
        """dependents: names that arguments of the call depend on. Raises ArgumentError for a name that nobody has."""
        self.optimizers, self.hypers = optimizers, hypers
        self._shared = frozenset((*DIRECT, *dependents))
        self._paths = {name: field_paths(entry) for name, entry in optimizers.items()}
        owned = {hyper for paths in self._paths.values() for hyper in paths}
        if missing := [hyper for hyper in hypers if hyper not in owned and hyper not in self._shared]:
            known = "; ".join(f"{name}: {', '.join(paths)}" for name, paths in self._paths.items())
            raise ArgumentError(f"no optimizer has a hyperparameter {shown(missing[0])}. There are, of {known}.")
        if lost := [name for name in dependents if name not in hypers]:
            raise ArgumentError(
                f"an argument of the sweep depends on {shown(lost[0])}, which is not among hypers. Pass its values, "
                f"such as {{{shown(lost[0])}: [16, 64]}}."
            )

    @staticmethod
    def of(optimizers: Optimizers, hypers: Any, dependents: Iterable[str]) -> "Space":
        """Check what a user passes. Raises ArgumentError."""
        return Space(_named_optimizers(optimizers), _checked_choices(hypers), tuple(dependents))

    @property
    def ranges(self) -> tuple[str, ...]:
        """The names of hyperparameters that have a range."""
        return tuple(name for name, choices in self.hypers.items() if isinstance(choices, Between))

    def names(self, optimizer: str) -> list[str]:
        """Return the hyperparameters of an optimizer's runs, in order."""
        return [hyper for hyper in self.hypers if hyper in self._shared or hyper in self._paths[optimizer]]

    def optimizer(self, name: str, chosen: Mapping[str, Any]) -> Entry:
        """Return an optimizer with its part of the chosen values. Raises ArgumentError."""
        own = {hyper: value for hyper, value in chosen.items() if hyper in self._paths[name]}
        return optimizer_with(name, self.optimizers[name], own)

    def ends(self) -> list[Trial]:
        """Return the trials of the first and the last choices of each optimizer. Raises ArgumentError for bad ones."""
        found: list[Trial] = []
        for name in self.optimizers:
            for u in (0.0, 1.0):
                chosen = {hyper: _end(self.hypers[hyper], u) for hyper in self.names(name)}
                found.append(Trial(len(found), name, self.optimizer(name, chosen), chosen, 0))
        return found


def _end(choices: Choices, u: float) -> Any:
    return choices.at(u) if isinstance(choices, Between) else choices[-1 if u else 0]


def _named_optimizers(optimizers: Optimizers) -> dict[str, Entry]:
    if isinstance(optimizers, Mapping):
        given = dict(cast("Mapping[Any, Any]", optimizers))
    else:
        listed = list(cast("Any", optimizers)) if isinstance(optimizers, (list, tuple)) else [optimizers]
        kinds = [(entry if isinstance(entry, type) else type(entry)).__name__ for entry in listed]
        given = {
            name: checked_optimizer(f"the optimizer {shown(name)}", entry)
            for name, entry in zip(kinds, listed, strict=True)
        }
        if len(given) < len(listed):
            raise ArgumentError(f"several optimizers are of one class. Give them names: {EXAMPLE}.")
    if not given:
        raise ArgumentError(f"optimizers is empty, expected them by name, such as {EXAMPLE}.")
    return {
        checked_name(name): checked_optimizer(f"the optimizer {shown(name)}", entry) for name, entry in given.items()
    }


def _checked_choices(hypers: Any) -> dict[str, Choices]:
    if hypers is None:
        return {}
    if not isinstance(hypers, Mapping):
        raise ArgumentError(f"hypers is {shown(hypers)}, expected values by name, such as {{'lr': [0.1, 0.01]}}.")
    found: dict[str, Choices] = {}
    for name, values in cast("Mapping[Any, Any]", hypers).items():
        if isinstance(values, Between):
            found[name] = values
            continue
        if not isinstance(values, (list, tuple, range, np.ndarray)) or not len(cast("Any", values)):
            raise ArgumentError(
                f"hypers[{shown(name)}] is {shown(values)}, expected a list of values, such as [0.1, 0.01]."
            )
        plain = [plain_value(value) for value in cast("Any", values)]
        if any(isinstance(value, float) and math.isnan(value) for value in plain):
            raise ArgumentError(f"hypers[{shown(name)}] must not hold NaN. Take it out.")
        found[name] = plain
    return found
