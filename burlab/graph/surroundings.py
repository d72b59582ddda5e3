"""What a function reads from around itself: globals, closure cells, and what the functions that it calls read.

A trace freezes these values into its graph, so a changed one needs another trace. In a notebook that is every day: a
constant is changed in one cell, a helper function is defined again in another.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import is_dataclass
from functools import lru_cache, partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, cast

import numpy as np

from burlab.runtime.gate import Guard

_LIBRARIES = ("numpy", "burlab", "scipy", "builtins", "math")
_NUMBERS = (int, float, bool, str, bytes, complex, type(None))
_SMALL = 1024  # elements: smaller arrays are compared by content, larger ones by identity
_MANY = 64  # items: smaller tuples, lists and dicts are looked into


class Same:
    """An object compared by identity, and kept alive so that no other can take its address."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Reading(NamedTuple):
    """A value that a function reads, and where from: a dictionary and key, a closure cell, or None if it is fixed."""

    container: Any
    key: str | None
    value: Any


def surroundings(functions: Iterable[Callable[..., Any]]) -> tuple[Any, ...]:
    """The values that functions read from around themselves now: hashable, empty where they read libraries only.

    Numbers, strings, arrays of up to 1,024 elements, and short tuples, lists and dicts of them count by content, all
    else by identity: a change inside of a large array or of an object is not seen.

    >>> scale = 2.0
    >>> surroundings([lambda x: scale * x])
    ((<class 'float'>, 2.0),)
    """
    found: list[Any] = []
    for reading in _readings(functions):
        _note(reading.value, found)
    return tuple(found)


def guards(functions: Iterable[Callable[..., Any]]) -> list[Guard] | None:
    """What must be unchanged for `surroundings` to be equal, as the gate can check it; None where it cannot.

    It asks for the same objects where `surroundings` asks for equal ones, and cannot look into lists and dictionaries.
    """
    result: list[Guard] = []
    for reading in _readings(functions):
        if not _guard(reading, result):
            return None
    return result


def _guard(reading: Reading, result: list[Guard]) -> bool:
    found: list[Any] = []
    _note(reading.value, found)
    if not found:
        return True
    value, kind = reading.value, cast("type[Any]", type(reading.value))
    content = None
    if issubclass(kind, np.ndarray) and not isinstance(found[0], Same):
        if not value.flags.c_contiguous:
            return False
        content = value.tobytes()
    elif kind in (list, dict) or (
        kind is tuple and not all(_guard(Reading(None, None, item), result) for item in value)
    ):
        return False
    result.append(Guard(*reading, content))
    return True


def _readings(functions: Iterable[Callable[..., Any]]) -> Iterator[Reading]:
    """Everything that functions, and the functions that they call, read from around themselves."""
    seen: set[int] = set()
    waiting = list(functions)
    while waiting:
        f = waiting.pop()
        reads = getattr(f, "__burlab_reads__", None)
        if reads is not None:  # a transform of other functions
            waiting.extend(reads)
        elif id(f) not in seen:
            seen.add(id(f))
            for reading in _read_by(f):
                yield reading
                waiting.extend(_called(reading.value))


def _read_by(f: Any) -> list[Reading]:
    """What one function can reach by name."""
    if isinstance(f, MethodType):
        return [Reading(None, None, f.__func__), Reading(None, None, f.__self__)]
    if isinstance(f, partial):
        whole = cast("partial[Any]", f)
        return [Reading(None, None, part) for part in (whole.func, whole.args, whole.keywords)]
    if not isinstance(f, FunctionType):  # an object with __call__
        call, own = type(f).__call__, cast("dict[str, Any]", getattr(f, "__dict__", {}))
        if not isinstance(call, FunctionType):
            return []
        # The dictionary too, which no guard can look into: an attribute may be added that hides one of the class.
        return [Reading(None, None, part) for part in (call, own, *own.values())]
    found = [Reading(f.__globals__, name, f.__globals__[name]) for name in _names(f.__code__) if name in f.__globals__]
    for cell in f.__closure__ or ():
        try:
            found.append(Reading(cell, None, cell.cell_contents))
        except ValueError:  # not filled yet
            continue
    return found


@lru_cache(maxsize=4096)
def _names(code: CodeType) -> tuple[str, ...]:
    """All names that a function and those defined inside of it look up."""
    inner = [name for part in code.co_consts if isinstance(part, CodeType) for name in _names(part)]
    return tuple(dict.fromkeys((*code.co_names, *inner)))


def _called(value: Any) -> list[Any]:
    """The functions in a value whose own surroundings count."""
    kind = cast("type[Any]", type(value))
    if kind in (tuple, list, dict) and len(value) <= _MANY:
        return [f for item in (value.values() if kind is dict else value) for f in _called(item)]
    if issubclass(kind, (ModuleType, type, np.ufunc)):
        return []
    is_ours = _is_ours(value) and issubclass(kind, (FunctionType, MethodType, partial))
    return [value] if is_ours or hasattr(value, "__burlab_reads__") else []


def _is_ours(value: Any) -> bool:
    return not str(getattr(value, "__module__", "")).startswith(_LIBRARIES)


def _note(value: Any, found: list[Any]) -> None:
    """Add what of a value counts: something hashable, nothing for what belongs to a library."""
    kind = cast("type[Any]", type(value))
    if issubclass(kind, (ModuleType, type, np.ufunc)):
        return
    if _called(value) and kind not in (tuple, list, dict):
        found.append(Same(value))
    elif kind in _NUMBERS or issubclass(kind, np.generic):
        found.append((kind, value))
    elif issubclass(kind, np.ndarray):
        small = value.size <= _SMALL and value.dtype != object
        found.append((value.shape, value.dtype, value.tobytes()) if small else Same(value))
    elif kind in (tuple, list, dict) and len(value) <= _MANY:
        found.append((kind, tuple(value) if kind is dict else len(value)))
        for item in value.values() if kind is dict else value:
            _note(item, found)
    elif _is_ours(value) or is_dataclass(value):  # a layer, an optimizer: of the library, but filled by the user
        found.append(Same(value))
