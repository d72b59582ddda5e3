"""Content of objects of the language and of libraries that no code mentions by name.

The functions in a partial, the dictionary behind a view, what a method is bound to, the results that a cache keeps.
"""

import ctypes
import gc
import mmap
import os
import weakref
from array import array as packed
from collections.abc import Iterator
from contextvars import ContextVar
from functools import _lru_cache_wrapper as Cache, partial  # pyright: ignore[reportPrivateUsage] - it has no other name
from types import BuiltinMethodType, CellType, CodeType, FunctionType, MethodType, MethodWrapperType, ModuleType
from typing import Any, NamedTuple, cast

import numpy as np

from .owners import first_part, is_of_burlab

# Where no numbers for functions are kept, but much that changes from call to call.
_QUIET = frozenset(
    "logging threading asyncio concurrent warnings re typing abc inspect importlib IPython ipykernel ipywidgets "
    "matplotlib plotly tqdm rich cppyy".split()
)
_C_NUMBER = ctypes.c_double.__mro__[1]
MEMORIES = (bytearray, memoryview, packed, mmap.mmap, ctypes.Array, ctypes.Structure, ctypes.Union, _C_NUMBER)
# What holds nothing that could change.
PLAIN = (int, float, bool, str, bytes, complex, type(None), CodeType, range)
_KNOWN = (ModuleType, type, np.ndarray, np.generic, dict, list, tuple, set, frozenset, FunctionType, MethodType)
_BOUND = (BuiltinMethodType, MethodWrapperType)


class Reading(NamedTuple):
    """A value that a function reads, and its origin.

    container: a dictionary, a list, a tuple, a deque or an array of objects (then `key` is the place in it), a class or
    a function (its attribute `key`), a closure cell, what gives another value each time that it is asked, or None if it
    is fixed. size: of a container that is read as a whole, else -1.
    """

    container: Any
    key: Any
    value: Any
    size: int = -1


def insides(value: Any) -> list[Reading]:
    """Return the contents of an object that are neither attributes nor items."""
    if is_of_burlab(value):
        return []
    if isinstance(value, ContextVar):
        return [Reading(value, "get", cast("ContextVar[Any]", value).get(None))]
    if isinstance(value, Cache):
        results = _cached_results(value)
        whole = Reading(value, "version", _version(value, results))
        return [whole, *(Reading(None, None, result) for result in results.values() if type(result) not in PLAIN)]
    if isinstance(value, weakref.ref):
        return [Reading(value, "referent", cast("weakref.ref[Any]", value)())]
    if isinstance(value, CellType):
        return [Reading(value, None, value.cell_contents)]
    if isinstance(value, _BOUND):
        return [Reading(None, None, cast("Any", value).__self__)]
    if isinstance(value, (partial, np.ufunc)) or (
        not isinstance(value, (*_KNOWN, *MEMORIES, Iterator)) and attributes_of(value) is None
    ):
        # of an object of C code: a view of a dictionary, an attrgetter, a ufunc that was made of a function
        return [Reading(None, None, x) for x in gc.get_referents(value) if not isinstance(x, (type, ModuleType))]
    return []


def field(value: object, name: str) -> Any:
    """An attribute, None where there is none; objects whose __getattr__ raises whatever it likes have none."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def attributes_of(value: object) -> "dict[str, Any] | None":
    """The attributes of an object by their names, if it has a dictionary of them."""
    found = field(value, "__dict__")
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def is_quiet(kind: type[Any]) -> bool:
    """Return True for classes whose objects hold no numbers for functions: loggers, locks, figures, widgets."""
    return first_part(str(kind.__module__)) in _QUIET


def environment() -> Any:
    """The dictionary behind os.environ."""
    whole: Any = os.environ
    return whole._data  # noqa: SLF001 - a look-up in it is one in a dictionary, which the gate can do


_versions: "weakref.WeakKeyDictionary[Any, tuple[int, dict[int, Any]]]" = weakref.WeakKeyDictionary()


def _cached_results(cache: Any) -> dict[int, Any]:
    """Return all results that a `functools.lru_cache` holds now, by their identities."""
    found: dict[int, Any] = {}
    for x in gc.get_referents(cache):
        if isinstance(x, FunctionType):  # after the results comes the function
            break
        if isinstance(x, dict):
            found.update({id(y): y for y in cast("dict[Any, Any]", x).values() if not _is_link(y)})
        elif not isinstance(x, type):
            found[id(x)] = x
    return found


def _is_link(x: object) -> bool:
    return type(x).__name__ == "_lru_list_elem"


def _version(cache: Any, results: dict[int, Any]) -> int:
    """Another number as soon as one of the results that a cache had is gone; that others join them changes none."""
    version, before = _versions.get(cache, (0, {}))
    if not before.keys() <= results.keys():
        version += 1
    _versions[cache] = version, results
    return version
