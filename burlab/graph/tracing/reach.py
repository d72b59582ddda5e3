"""The reach of a function: all that it and the functions that it calls can read from around themselves.

Globals and closure cells, by the names that code mentions; attributes of modules, classes and functions, by the same
names; everything in the tuples, lists and dictionaries on the way, and in objects.
"""

import builtins
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np

from burlab.runtime.plain import lends_array

from .insides import PLAIN, Reading, attributes_of, environment, field, insides, is_quiet
from .mentions import (
    globals_of,
    imports_of,
    makes_names,
    names_of,
    optional_names,
    package_of,
    reads_namespaces,
    texts_of,
)
from .owners import is_of_arrays, is_of_burlab, is_of_burlab_function, is_own, is_own_function

_SILENT = frozenset({"__init__", "__new__", "__repr__", "__str__", "__eq__", "__hash__", "__reduce__"})
_BUILTINS = vars(builtins)
_ENVIRONMENT = frozenset({"environ", "environb", "getenv", "getenvb"})
_ENVIRONMENT_READERS = (os.getenv, getattr(os, "getenvb", os.getenv))
_IMPORTERS = frozenset({"import_module", "__import__", "modules"})
_NOTEBOOK = frozenset({"In", "Out", "get_ipython", "exit", "quit"})  # they change with every cell
_MAX_OBJECTS = 500  # of libraries, in one walk, all attributes of which count; of others those that code mentions
ITEMS = (tuple, list, dict, set, frozenset, deque)


class Absent:
    """The value under a name that nothing has yet."""


ABSENT = Absent()


def readings(
    functions: Iterable[Callable[..., Any]], values: Iterable[Any] = (), inside_burlab: bool = False
) -> list[Reading]:
    """Everything that functions, and the functions that they call, read from around themselves.

    values: objects that are read as well. inside_burlab: whether code and closures of burlab's own functions count,
    which nobody changes: they tell one function from another.
    """
    return _Walk(functions, values, inside_burlab=inside_burlab).found


def functions_of(functions: Iterable[Callable[..., Any]]) -> list[FunctionType]:
    """The functions of the user's code that are reached by names that code mentions."""
    return _Walk(functions, named_only=True).functions


class _Walk:
    """One walk: the names that code mentions meet the modules, classes and objects that have attributes."""

    def __init__(
        self,
        functions: Iterable[Callable[..., Any]],
        values: Iterable[Any] = (),
        named_only: bool = False,
        inside_burlab: bool = False,
    ) -> None:
        """named_only: leave out what is only there for names that code makes at run time, of which most are unread."""
        self._named_only, self._inside_burlab = named_only, inside_burlab
        self.found: list[Reading] = []
        self.functions: list[FunctionType] = []
        self._seen: set[int] = set()
        self._retained: list[Any] = []  # retains temporary objects, so that no other object gets their address
        self._names: dict[str, None] = {}
        self._optional: set[str] = set()  # names that need not be there
        self._holders: list[tuple[Any, Mapping[str, Any]]] = []
        self._waiting: list[Reading] = []
        self._all = False  # whether names are made at run time: then all that a holder has counts
        self._objects = 0
        for f in functions:
            self._call(f)
        for value in values:
            self._read(None, None, value)
        while self._waiting:
            self._enter(self._waiting.pop())

    def _is_new(self, x: object) -> bool:
        if id(x) in self._seen:
            return False
        self._seen.add(id(x))
        self._retained.append(x)
        return True

    def _read(self, container: Any, key: object, value: object) -> None:
        self._waiting.append(Reading(container, key, value))

    def _enter(self, reading: Reading) -> None:
        """Record a captured value, and continue from it."""
        value = reading.value
        self.found.append(reading)
        if type(value) in PLAIN or value is ABSENT:
            return
        if isinstance(value, ModuleType):
            if is_own(value.__name__) and self._is_new(value):
                self._hold(vars(value), vars(value))
                self._meet("__getattr__", vars(value), vars(value))
        elif isinstance(value, type):
            self._classes(cast("type[Any]", value))
        elif is_called(value):
            self._call(value)
        elif self._is_new(value):
            self._waiting += insides(value)
            if _has_items(value):
                self._items(value)
            if type(value) not in ITEMS:
                self._object(value, cast("type[Any]", type(value)))

    def _items(self, value: Any) -> None:
        items = cast("Any", value.reshape(-1).tolist() if isinstance(value, np.ndarray) else value)
        self.found.append(Reading(value, None, None, len(items)))
        pairs: Iterable[tuple[Any, Any]] = ()  # the items of a set have no place
        if isinstance(value, dict):
            pairs = cast("dict[Any, Any]", value).items()
        elif isinstance(value, (set, frozenset)):
            for item in cast("set[Any]", value):
                self._read(None, None, item)
        else:
            pairs = enumerate(cast("list[Any]", items))
        for key, item in pairs:
            self._read(value, key, item)

    def _object(self, value: object, kind: type[Any]) -> None:
        """The attributes of an object, whoever reads them: the methods of its class mention other names."""
        own = attributes_of(value)
        if own is not None and (_is_own_class(kind) or is_dataclass(value) or kind is SimpleNamespace):
            self.found.append(Reading(own, None, None, len(own)))  # an attribute more may hide one of the class
        if _is_own_class(kind) or is_dataclass(value):
            self._attributes(value, kind, own or {})
            self._classes(kind)
        elif is_of_burlab(value) or own is None or _lends_numbers(value, kind):
            return
        elif is_quiet(kind) or self._objects >= _MAX_OBJECTS:
            self._hold(own, own)
        else:
            self._objects += 1
            self._attributes(value, kind, own)

    def _attributes(self, value: object, kind: type[Any], own: dict[str, Any]) -> None:
        container: Any = value if isinstance(value, threading.local) else own  # another thread has another dictionary
        for name, attribute in own.items():
            self._read(container, name, attribute)
        for slot in sorted({s for c in kind.__mro__ for s in _slots(c)} - {"__dict__", "__weakref__"}):
            if (attribute := field(value, slot)) is not None:
                self._read(value, slot, attribute)

    def _classes(self, kind: type[Any]) -> None:
        """The attributes of a class, and what its operators read, which no code mentions by name."""
        for one in (*kind.__mro__, *cast("Any", type(kind)).__mro__):
            if not _is_own_class(one) or not self._is_new(one):
                continue
            self._hold(one, vars(one))
            for name, value in vars(one).items():
                if name.startswith("__") and name not in _SILENT and isinstance(value, (FunctionType, classmethod)):
                    self._meet(name, one, vars(one))

    def _hold(self, container: object, attributes: Mapping[str, Any]) -> None:
        self._holders.append((container, attributes))
        for name in [*attributes] if self._all else [*self._names]:
            self._meet(name, container, attributes)

    def _meet(self, name: str, container: object, attributes: Mapping[str, Any]) -> None:
        if name in attributes:
            for inner in _unwrapped(attributes[name]):
                self._read(container, name, inner)
        elif name in self._optional:
            self._read(container, name, ABSENT)

    def _mention(self, code: CodeType) -> None:
        """Match the names in the code with objects that have attributes."""
        optional = {name for name in optional_names(code) if name not in self._optional}
        self._optional |= optional
        for name in names_of(code):
            if name not in self._names or name in optional:
                self._names[name] = None
                for holder in self._holders:
                    self._meet(name, *holder)

    def _call(self, f: object) -> None:
        """Collect what one function can reach by name."""
        if reads := _reads_of(f):  # a transform of other functions
            for g in reads:
                self._call(g)
        elif not self._is_new(f):
            return
        elif isinstance(f, MethodType):
            self._read(None, None, f.__func__)
            self._read(None, None, f.__self__)
        elif isinstance(f, FunctionType):
            self._function(f)
        else:  # an object with __call__, a partial, a cache
            self._seen.discard(id(f))
            self._read(None, None, f)

    def _function(self, f: FunctionType) -> None:
        """Cells, defaults and attributes of any function: the wrappers of libraries keep there what they wrap."""
        if is_of_arrays(f):
            if self._inside_burlab and is_of_burlab_function(f):
                self._of_burlab(f)
            return
        if f in _ENVIRONMENT_READERS:
            self._read(None, None, environment())
        self._closure(f)
        if is_own_function(f):
            self._code(f)
            self._hold(f.__dict__, f.__dict__)
        elif (wrapped := f.__dict__.get("__wrapped__")) is not None:
            self._read(f.__dict__, "__wrapped__", wrapped)

    def _of_burlab(self, f: FunctionType) -> None:
        """The code and the closure of a function of burlab's own, or what it names in their place."""
        self._read(f, "__code__", f.__code__)
        parts = f.__dict__.get("__burlab_structure__")
        if parts is None:
            self._closure(f)
        else:
            self._read(None, None, parts)

    def _closure(self, f: FunctionType) -> None:
        """The defaults and the cells of a function."""
        if f.__defaults__:
            self._read(f, "__defaults__", f.__defaults__)
        if f.__kwdefaults__:
            self._read(f, "__kwdefaults__", f.__kwdefaults__)
        for cell in f.__closure__ or ():
            try:
                self._read(cell, None, cell.cell_contents)
            except ValueError:  # not filled yet
                continue

    def _code(self, f: FunctionType) -> None:
        code, around = f.__code__, f.__globals__
        self.functions.append(f)
        self._read(f, "__code__", code)
        namespace = globals_of(code)
        for name in names_of(code):
            if name in around:
                self._read(around, name, around[name])
            elif name in namespace and name in _BUILTINS:
                self._read(around, name, ABSENT)  # it may be hidden later
        self._mention(code)
        for name in self._modules(f):
            if name in sys.modules:
                self._read(sys.modules, name, sys.modules[name])
        if not _ENVIRONMENT.isdisjoint(names_of(code)):
            self._read(None, None, environment())
        if makes_names(code) and not self._named_only:
            self._take_all()
        if reads_namespaces(code) and self._is_new(around):
            public = {k: v for k, v in around.items() if not k.startswith("_") and k not in _NOTEBOOK}
            self._hold(around, public)

    def _modules(self, f: FunctionType) -> Iterable[str]:
        """The names of modules that a function imports when it runs."""
        yield from imports_of(f.__code__, package_of(f))
        if not _IMPORTERS.isdisjoint(names_of(f.__code__)):
            yield from texts_of(f.__code__)

    def _take_all(self) -> None:
        """From now on all attributes count, not only those that code mentions."""
        if not self._all:
            self._all = True
            for container, attributes in self._holders[:]:
                for name in [*attributes]:
                    self._meet(name, container, attributes)


def is_called(value: object) -> bool:
    """Return True for a function whose own surroundings count."""
    if isinstance(value, (FunctionType, MethodType)):
        return True
    return not isinstance(value, type) and bool(_reads_of(value))


def _reads_of(value: object) -> tuple[Any, ...]:
    """The functions that a transform of burlab's reads for."""
    found = field(value, "__burlab_reads__")
    return cast("tuple[Any, ...]", found) if isinstance(found, tuple) else ()


def _has_items(value: object) -> bool:
    """Return True if a value holds others, of any kind, by place or key."""
    return isinstance(value, ITEMS) or (isinstance(value, np.ndarray) and cast("Any", value).dtype.hasobject)


def _lends_numbers(value: object, kind: type[Any]) -> bool:
    """Return True if all that counts of an object are the numbers of the array that it lends."""
    return kind in (np.ndarray, np.memmap) or (not isinstance(value, np.ndarray) and lends_array(kind))


def _is_own_class(kind: type[Any]) -> bool:
    module: Any = kind.__module__  # of some classes of C code it is a descriptor
    return isinstance(module, str) and is_own(module)


def _slots(kind: type[Any]) -> list[str]:
    """The attributes that a class has slots for; private ones are named after it."""
    slots = vars(kind).get("__slots__", ())
    private = f"_{kind.__name__.lstrip('_')}"
    return [
        f"{private}{slot}" if slot.startswith("__") and not slot.endswith("__") else slot
        for slot in ((slots,) if isinstance(slots, str) else tuple(slots))
    ]


def _unwrapped(value: object) -> list[Any]:
    """The functions in a property, a classmethod or a staticmethod, or the value itself."""
    if isinstance(value, property):
        return [f for f in (value.fget,) if f is not None]
    if isinstance(value, (classmethod, staticmethod)):
        return [cast("Any", value).__func__]
    return [value]
