"""What a function reads from around itself: globals, closure cells, and what the functions that it calls read.

A trace freezes these values into its graph, so a changed one needs another trace. In a notebook that is every day: a
constant is changed in one cell, a helper function is defined again in another.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

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


def surroundings(functions: Iterable[Callable[..., Any]]) -> tuple[Any, ...]:
    """The values that functions read from around themselves now: hashable, empty where they read libraries only.

    Numbers, strings, arrays of up to 1,024 elements, and short tuples, lists and dicts of them count by content, all
    else by identity: a change inside of a large array or of an object is not seen.

    >>> scale = 2.0
    >>> surroundings([lambda x: scale * x])
    ((<class 'float'>, 2.0),)
    """
    found: list[Any] = []
    seen: set[int] = set()
    waiting = list(functions)
    while waiting:
        f = waiting.pop()
        reads = getattr(f, "__burlab_reads__", None)
        if reads is not None:  # a transform of other functions
            waiting.extend(reads)
        elif id(f) not in seen:
            seen.add(id(f))
            for value in _read_by(f):
                _note(value, found, waiting)
    return tuple(found)


def _read_by(f: Any) -> list[Any]:
    """The values that one function can reach by name."""
    if isinstance(f, MethodType):
        return [f.__func__, f.__self__]
    if isinstance(f, partial):
        whole = cast("partial[Any]", f)
        return [whole.func, whole.args, whole.keywords]
    if not isinstance(f, FunctionType):  # an object with __call__
        call, own = type(f).__call__, cast("dict[str, Any]", getattr(f, "__dict__", {}))
        return [call, *own.values()] if isinstance(call, FunctionType) else []
    values = [f.__globals__[name] for name in _names(f.__code__) if name in f.__globals__]
    for cell in f.__closure__ or ():
        try:
            values.append(cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    return values


@lru_cache(maxsize=4096)
def _names(code: CodeType) -> tuple[str, ...]:
    """All names that a function and those defined inside of it look up."""
    inner = [name for part in code.co_consts if isinstance(part, CodeType) for name in _names(part)]
    return tuple(dict.fromkeys((*code.co_names, *inner)))


def _note(value: Any, found: list[Any], waiting: list[Any]) -> None:
    kind = cast("type[Any]", type(value))
    ours = not str(getattr(value, "__module__", "")).startswith(_LIBRARIES)
    if issubclass(kind, (ModuleType, type, np.ufunc)):
        return
    if hasattr(value, "__burlab_reads__") or (ours and issubclass(kind, (FunctionType, MethodType, partial))):
        found.append(Same(value))
        waiting.append(value)
    elif kind in _NUMBERS or issubclass(kind, np.generic):
        found.append((kind, value))
    elif issubclass(kind, np.ndarray):
        small = value.size <= _SMALL and value.dtype != object
        found.append((value.shape, value.dtype, value.tobytes()) if small else Same(value))
    elif kind in (tuple, list, dict) and len(value) <= _MANY:
        found.append((kind, tuple(value) if kind is dict else len(value)))
        for item in value.values() if kind is dict else value:
            _note(item, found, waiting)
    elif ours:
        found.append(Same(value))
