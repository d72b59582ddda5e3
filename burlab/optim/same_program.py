"""Comparison of optimizers: one traced update serves those that differ in live numbers alone."""

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, cast

from burlab.graph.tracing.function_structure import Weak

from .live_fields import Path, is_part, live_fields
from .optimizer import Optimizer

_METHODS = ("init", "update", "output", "batch_size")
_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def same_program(one: Optimizer, other: Optimizer) -> bool:
    """Return True if two optimizers differ in live numbers alone, which are inputs of a traced update.

    Values that cannot be compared for sure, such as arrays, count as different unless they are one object.
    """
    mine, theirs = live_fields(one), live_fields(other)
    if [(field.name, field.path) for field in mine] != [(field.name, field.path) for field in theirs]:
        return False
    starts = ((a.start, b.start) for a, b in zip(mine, theirs, strict=True))
    planned = all(a is b for a, b in starts if callable(a) or callable(b))
    return planned and _same(one, other, {field.path for field in mine}, ())


def _same(one: Any, other: Any, live: Collection[Path], path: Path) -> bool:
    """Return True if two values are equal but at the live paths."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, _PLAIN):
        return repr(one) == repr(other)  # repr distinguishes 0.0 from -0.0
    if type(one) is tuple:
        mine, theirs = cast("tuple[Any, ...]", one), cast("tuple[Any, ...]", other)
        return len(mine) == len(theirs) and all(_same(a, b, (), ()) for a, b in zip(mine, theirs, strict=True))
    if not is_dataclass(one) or isinstance(one, type):
        return False
    held, others = _attributes(one), _attributes(other)
    return held.keys() == others.keys() and all(
        (*path, name) in live or _same(value, others[name], live, (*path, name)) for name, value in held.items()
    )


def _attributes(part: Any) -> Mapping[str, Any]:
    """All attributes of an object: its fields, and others."""
    return {f.name: getattr(part, f.name) for f in fields(part)} | getattr(part, "__dict__", {})


class OptimizerProgram(NamedTuple):
    """The program of an optimizer: all that a traced update consists of, but for live numbers.

    key: hashable, and holds no object alive. values: the rest, as methods of a user's class, arrays and schedules.
    """

    key: tuple[Any, ...]
    values: tuple[Any, ...]


def program_of(optimizer: Optimizer) -> OptimizerProgram:
    """Return the program of an optimizer, with those of its parts."""
    starts = {field.path: field.start for field in live_fields(optimizer)}
    key: list[Any] = []
    values: list[Any] = []
    _collect(optimizer, starts, (), key, values)
    return OptimizerProgram(tuple(key), tuple(values))


def _collect(part: Any, starts: Mapping[Path, Any], path: Path, key: list[Any], values: list[Any]) -> None:
    kind = cast("type[Any]", type(part))
    key.append((path, Weak(kind), getattr(part, "per_leaf", None)))
    values += [kind, *(method for name in _METHODS if (method := getattr(kind, name, None)) is not None)]
    for name, value in _attributes(part).items():
        inside = (*path, name)
        if inside in starts and not callable(starts[inside]):
            key.append((inside, "live"))
        elif isinstance(value, _PLAIN):
            key.append((inside, type(value), repr(value)))  # repr distinguishes 0.0 from -0.0
        elif is_part(value):
            _collect(value, starts, inside, key, values)
        else:
            key.append((inside, len(values)))
            values.append(value)
