"""Live numbers of an optimizer: its own `Hyper` fields and those of its parts."""

import copy
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, cast, get_args

import numpy as np

from burlab.errors import ArgumentError, DTypeError
from burlab.runtime.checks.callable import check_takes
from burlab.runtime.checks.numbers import shown

from .field_ranges import Range, range_of
from .optimizer import Hyper, Optimizer

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Live:
    """A live field. name: in a run; path: the fields that lead to it; start: a number or a schedule.

    allowed: range of the number, where one is declared.
    """

    name: str
    path: Path
    start: float | Callable[[Any], Any]
    allowed: Range | None = None

    @property
    def number(self) -> float:
        """The value at the start of a run; NaN for a schedule, which means: follow it."""
        return float("nan") if callable(self.start) else self.start


def live_fields(optimizer: Optimizer) -> list[Live]:
    """Return the live fields, those of the innermost part first, in order. Raises DTypeError unless they are numbers.

    A part is a field's value that is a dataclass itself: the optimizer inside of a wrapper, the set that it projects
    onto. A name that an inner part has already gets the name of its class in front, and those inside of a part with an
    attribute `live_prefix` get that.
    """
    found: dict[str, Live] = {}
    for path, owner, name, prefix in _walk(optimizer, ()):
        whole = prefix + name
        while whole in found:
            whole = f"{prefix}{type(owner).__name__}_{whole.removeprefix(prefix)}"
        start = start_value(whole, getattr(owner, name))
        found[whole] = Live(whole, (*path, name), start, range_of(cast("type[Any]", type(owner)), name))
    return list(found.values())


def ranges_of(optimizer: object) -> dict[str, Range | None]:
    """The ranges of the live fields by name; none for a run that knows no optimizer."""
    return {f.name: f.allowed for f in live_fields(optimizer)} if isinstance(optimizer, Optimizer) else {}


def with_values(part: Any, values: Mapping[Path, Any], path: Path = ()) -> Any:
    """Return a copy with the live fields at these paths replaced. No __init__ runs: it cannot check traced values."""
    changed = copy.copy(part)
    for f in fields(part):
        inside = (*path, f.name)
        if inside in values:
            object.__setattr__(changed, f.name, values[inside])
        elif is_part(inner := getattr(part, f.name)):
            object.__setattr__(changed, f.name, with_values(inner, values, inside))
    return changed


def start_value(name: str, value: object) -> float | Callable[[Any], Any]:
    """A number as a float, a schedule as it is. Raises DTypeError for anything else."""
    if not callable(value) or isinstance(value, type):
        return hyper_value(name, value)
    advice = "A schedule takes t, such as lambda t: 0.1 / (t + 1)."
    check_takes(value, f"the schedule of {name}", "the step alone", advice)
    return value


def hyper_value(name: str, value: object) -> float:
    """A hyperparameter as a float. Raises DTypeError where it is not a real number, ArgumentError where it is NaN."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise DTypeError(
            f"the hyperparameter {name} is {shown(value)}, expected a real number such as 0.01, or, "
            "where it is first given, a schedule such as bl.optim.cosine(0.01, steps=1000)."
        )
    try:
        number = float(cast("Any", value))
        if not math.isnan(number):
            return number
        raise ArgumentError(f"the hyperparameter {name} is NaN, expected a real number such as 0.01.")
    except OverflowError as error:
        raise ArgumentError(
            f"the hyperparameter {name} is a whole number of {len(bin(cast('int', value))) - 2} bits, expected one "
            "that a float64 holds, at most 1.8e308. Pass a smaller one."
        ) from error


def not_below(part: object, least: float, *names: str, strict: bool = False) -> None:
    """Raise ArgumentError where one of these fields is a number below `least`, or NaN; strict: or equal to it."""
    for name in names:
        value = getattr(part, name)
        known = isinstance(value, (int, float, np.integer, np.floating))  # no schedule, no traced value
        if known and not (value > least if strict else value >= least):
            raise ArgumentError(
                f"{name} of {type(part).__name__} is {shown(value)}, expected a number "
                f"{'above' if strict else 'of at least'} {least:g}. Change it."
            )


def _walk(part: Any, path: Path, prefix: str = "") -> Iterator[tuple[Path, Any, str, str]]:
    _check_dataclass(part)
    for f in fields(part):
        if not _is_hyper(f.type) and is_part(inner := getattr(part, f.name)):  # a schedule has no live fields
            yield from _walk(inner, (*path, f.name), getattr(inner, "live_prefix", prefix))
    for f in fields(part):
        if _is_hyper(f.type) and not (_is_optional(f.type) and getattr(part, f.name) is None):
            yield path, part, f.name, prefix


def is_part(value: object) -> bool:
    """Return True for a field's value whose own fields may be live. Of a dataclass that can be called, some must be."""
    if isinstance(value, Optimizer):
        return True
    if not is_dataclass(value) or isinstance(value, type):
        return False
    return not callable(value) or any(_is_hyper(f.type) for f in fields(cast("Any", value)))


def _check_dataclass(part: Any) -> None:
    kind = type(part).__name__
    if not is_dataclass(part):
        raise ArgumentError(
            f"{kind} is not a dataclass, so its fields are unknown. Put @dataclass(frozen=True) above it."
        )
    known = {f.name for f in fields(part)}
    own = vars(type(part)).get("__annotations__", {})
    if unseen := [name for name, annotation in own.items() if _is_hyper(annotation) and name not in known]:
        raise ArgumentError(
            f"{kind} declares {', '.join(unseen)} but only a base class of it is a dataclass. "
            "Put @dataclass(frozen=True) above it too."
        )


def _is_optional(annotation: object) -> bool:
    """`Hyper | None`, also as text."""
    if isinstance(annotation, str):
        return any(part.strip() == "None" for part in annotation.split("|"))
    return type(None) in get_args(annotation)


def _is_hyper(annotation: object) -> bool:
    """`Hyper` or `Hyper | None`, also under `from __future__ import annotations`, where an annotation is its text."""
    if isinstance(annotation, str):
        return any(part.strip().rpartition(".")[2] == "Hyper" for part in annotation.split("|"))
    return annotation is Hyper or Hyper in get_args(annotation)
