"""The structure of functions and values: equal for functions that were created again with equal constants.

`closure.py` compares a function with what it was at an earlier call, and other functions by identity. Here a function
is its code and what it reads, an object of a user's class is its class and its attributes. So a loss that a factory
makes for each problem has the program of the first one.
"""

import weakref
from abc import ABC
from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from functools import partial
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Generic, Protocol, cast

import numpy as np

from burlab.graph.node import Node
from burlab.graph.tree import TreeDef

from .closure import content_with
from .insides import PLAIN, Reading
from .owners import first_part, is_of_burlab_function, is_own, is_own_function
from .reach import is_called, readings

Structure = tuple[Any, ...]
_ROOTS = (object, Generic, Protocol, ABC)
"""Classes of the language that hold nothing."""


class Weak:
    """An object compared by identity, and not kept alive; one that is gone equals nothing.

    >>> class Layer: pass
    >>> layer, other = Layer(), Layer()
    >>> Weak(layer) == Weak(layer), Weak(layer) == Weak(other)
    (True, False)
    """

    __slots__ = ("_number", "_value")

    def __init__(self, value: object) -> None:
        self._number = id(value)
        try:
            self._value: Callable[[], object] = weakref.ref(value)
        except TypeError:  # of C code and small, as a ufunc
            self._value = partial(_itself, value)

    def __eq__(self, other: object) -> bool:
        value = self._value()
        return isinstance(other, Weak) and value is not None and value is other._value()

    def __hash__(self) -> int:
        return self._number


def structure_of(values: Iterable[Any]) -> Structure:
    """The structure of values, of functions with all that they read, as they are now: hashable.

    Arrays count by their numbers, what nobody can look into by identity. It keeps no object of a user's alive.

    >>> def scaled(c):
    ...     return lambda x: c * x
    >>> structure_of([scaled(2.0)]) == structure_of([scaled(2.0)])
    True
    >>> structure_of([scaled(2.0)]) == structure_of([scaled(3.0)])
    False
    """
    places: dict[int, int] = {}
    return tuple(_named(reading, places) for reading in readings((), values, inside_burlab=True))


def _named(reading: Reading, places: dict[int, int]) -> Any:
    """The structure of one captured value, with its name or place if it has one."""
    part = _part(reading, places)
    return (reading.key, part) if isinstance(reading.key, (str, int)) else part


def _part(reading: Reading, places: dict[int, int]) -> Any:
    """The structure of one captured value. places: the number of each object so far, by identity."""
    value = reading.value
    kind = cast("type[Any]", type(value))
    if reading.size >= 0 or (kind in PLAIN and kind is not CodeType):
        return content_with(reading, Weak)
    if kind is TreeDef:
        return value
    place = places.setdefault(id(value), len(places))
    if isinstance(value, (CodeType, ModuleType, Node)):
        return Weak(value)
    if _is_followed(value, kind):
        return Weak(kind), place
    found = content_with(reading, Weak)
    if found is None:
        return place
    return (Weak(kind), found) if isinstance(value, np.ndarray) and kind is not np.ndarray else found


def _is_followed(value: Any, kind: type[Any]) -> bool:
    """Return True for what is compared by its insides, which follow it among the readings."""
    if kind is FunctionType:
        return is_own_function(value) or is_of_burlab_function(value)
    if kind is MethodType:
        return True
    if kind is partial:
        return not isinstance(value.func, type)
    if is_called(value) or not _is_plain(kind):
        return False
    return all(base in _ROOTS or _is_plain(base) or first_part(base.__module__) == "burlab" for base in kind.__mro__)


def _is_plain(kind: type[Any]) -> bool:
    """Return True for a class whose objects hold nothing but attributes, all of which are read."""
    module: Any = kind.__module__
    return is_dataclass(kind) or (isinstance(module, str) and is_own(module))


def _itself(value: object) -> object:
    return value
