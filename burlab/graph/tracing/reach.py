"""How far a function reaches: what it and the functions that it calls can read from around themselves.

Globals and closure cells, by the names that code mentions; attributes of modules, classes and objects, by the same
names; everything in the tuples, lists and dictionaries on the way, and in objects of classes of one's own.
"""

import sys
import sysconfig
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import lru_cache, partial
from types import CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, NamedTuple, cast

import numpy as np

_LIBRARIES = ("numpy", "burlab", "scipy", "builtins", "math")
_PATHS = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_SILENT = frozenset({"__init__", "__new__", "__repr__", "__str__", "__eq__", "__hash__", "__reduce__"})
_FUNCTIONS = (FunctionType, MethodType, partial)
_HELD = {UserDict: ("data",), UserList: ("data",), ChainMap: ("maps",)}  # what only methods of a library name
ITEMS = (tuple, list, dict, set, frozenset, deque)


class Reading(NamedTuple):
    """A value that a function reads, and where from.

    container: a dictionary, a list, a tuple, a deque or an array of objects (then `key` is the place in it), a class
    (its attribute `key`), a closure cell, or None if it is fixed. size: of a container that is read as a whole, else
    -1.
    """

    container: Any
    key: Any
    value: Any
    size: int = -1


def readings(functions: Iterable[Callable[..., Any]]) -> list[Reading]:
    """Everything that functions, and the functions that they call, read from around themselves."""
    return _Walk(functions).found


def functions_of(functions: Iterable[Callable[..., Any]]) -> list[FunctionType]:
    """The functions of Python code that are reached."""
    return _Walk(functions).functions


class _Walk:
    """One walk: the names that code mentions meet the modules, classes and objects that have attributes."""

    def __init__(self, functions: Iterable[Callable[..., Any]]) -> None:
        self.found: list[Reading] = []
        self.functions: list[FunctionType] = []
        self._seen: set[int] = set()
        self._kept: list[Any] = []  # what is made on the way, lest another object take its address
        self._names: dict[str, None] = {}
        self._holders: list[tuple[Any, Mapping[str, Any]]] = []
        self._waiting: list[Any] = []  # functions and readings
        for f in functions:
            self._call(f)
        while self._waiting:
            self._enter(self._waiting.pop())

    def _is_new(self, x: Any) -> bool:
        if id(x) in self._seen:
            return False
        self._seen.add(id(x))
        self._kept.append(x)
        return True

    def _read(self, container: Any, key: Any, value: Any) -> None:
        self._waiting.append(Reading(container, key, value))

    def _enter(self, reading: Reading) -> None:
        """Note what was read, and go on from it."""
        value = reading.value
        kind = cast("type[Any]", type(value))
        if isinstance(value, (ModuleType, type)) and not is_own(_module_of(value)):
            return
        self.found.append(reading)
        if isinstance(value, ModuleType):
            if self._is_new(value):
                self._hold(vars(value), vars(value))
        elif isinstance(value, type):
            self._classes(cast("type[Any]", value))
        elif is_called(value):
            self._call(value)
        elif (_has_items(value) or is_object(value)) and self._is_new(value):
            if _has_items(value):
                self._items(value)
            if kind not in ITEMS and is_object(value):
                self._object(value, kind)

    def _items(self, value: Any) -> None:
        items = cast("Any", value.reshape(-1).tolist() if isinstance(value, np.ndarray) else value)
        self.found.append(Reading(value, None, None, len(items)))
        pairs: Iterable[tuple[Any, Any]] = ()  # the items of a set have no place
        if isinstance(value, dict):
            pairs = cast("dict[Any, Any]", value).items()
        elif not isinstance(value, (set, frozenset)):
            pairs = enumerate(cast("list[Any]", items))
        for key, item in pairs:
            self._read(value, key, item)

    def _object(self, value: Any, kind: type[Any]) -> None:
        own: dict[str, Any] | None = getattr(value, "__dict__", None)
        if is_own(kind.__module__) or is_dataclass(value):
            if own is not None:
                self.found.append(Reading(own, None, None, len(own)))  # an attribute more may hide one of the class
                for name, attribute in own.items():
                    self._read(own, name, attribute)
            for slot in {s for c in kind.__mro__ for s in _slots(c)} - {"__dict__", "__weakref__"}:
                if hasattr(value, slot):
                    self._read(value, slot, getattr(value, slot))
            self._classes(kind)
        elif isinstance(own, dict):
            for name in _HELD.get(kind, ()):
                self._read(own, name, own[name])
            self._hold(own, own)

    def _classes(self, kind: type[Any]) -> None:
        """The attributes of a class, and what its operators read, which no code mentions by name."""
        for one in kind.__mro__:
            if not is_own(one.__module__) or not self._is_new(one):
                continue
            self._hold(one, vars(one))
            for name, value in vars(one).items():
                if name.startswith("__") and name not in _SILENT and isinstance(value, FunctionType):
                    self._read(one, name, value)

    def _hold(self, container: Any, attributes: Mapping[str, Any]) -> None:
        self._holders.append((container, attributes))
        for name in self._names:
            self._meet(name, container, attributes)

    def _meet(self, name: str, container: Any, attributes: Mapping[str, Any]) -> None:
        if name in attributes:
            value = attributes[name]
            for inner in _unwrapped(value):
                self._read(container, name, inner)

    def _call(self, f: Any) -> None:
        """What one function can reach by name."""
        reads = getattr(f, "__burlab_reads__", None)
        if reads is not None:  # a transform of other functions
            for g in reads:
                self._call(g)
        elif not self._is_new(f):
            return
        elif isinstance(f, MethodType):
            self._read(None, None, f.__func__)
            self._read(None, None, f.__self__)
        elif isinstance(f, partial):
            whole = cast("partial[Any]", f)
            for part in (whole.func, whole.args, whole.keywords):
                self._read(None, None, part)
        elif isinstance(f, FunctionType):
            self._code(f)
        elif is_own(type(f).__module__) or is_dataclass(f):  # an object with __call__
            self._seen.discard(id(f))
            self._read(None, None, f)

    def _code(self, f: FunctionType) -> None:
        self.functions.append(f)
        for name in names_of(f.__code__):
            if name in f.__globals__:
                self._read(f.__globals__, name, f.__globals__[name])
            if name not in self._names:
                self._names[name] = None
                for holder in self._holders:
                    self._meet(name, *holder)
        for default in (*(f.__defaults__ or ()), *(f.__kwdefaults__ or {}).values()):
            self._read(None, None, default)
        for cell in f.__closure__ or ():
            try:
                self._read(cell, None, cell.cell_contents)
            except ValueError:  # not filled yet
                continue


def is_called(value: Any) -> bool:
    """Whether a value is a function whose own surroundings count."""
    if isinstance(value, np.ufunc):
        return False
    if isinstance(value, _FUNCTIONS) and is_own(str(getattr(cast("Any", value), "__module__", ""))):
        return True
    return not isinstance(value, type) and hasattr(cast("Any", value), "__burlab_reads__")


def _has_items(value: Any) -> bool:
    """Whether a value holds others, of any kind, by place or key."""
    return isinstance(value, ITEMS) or (isinstance(value, np.ndarray) and cast("Any", value).dtype.hasobject)


def is_object(value: Any) -> bool:
    """Whether a value is an object that is filled by users: not one of NumPy's, SciPy's or the language's own."""
    return is_dataclass(value) or not str(type(value).__module__).startswith(_LIBRARIES)


@lru_cache(maxsize=4096)
def is_own(module: str) -> bool:
    """Whether a module, by its name, is the user's: neither burlab's nor of an installed library."""
    if module.startswith(_LIBRARIES) or module in sys.builtin_module_names:
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is None or not (file.startswith(_PATHS) or "site-packages" in file or "dist-packages" in file)


@lru_cache(maxsize=4096)
def names_of(code: CodeType) -> tuple[str, ...]:
    """All names that a function and those defined inside of it look up, also those written out for getattr."""
    inner = [name for part in code.co_consts if isinstance(part, CodeType) for name in names_of(part)]
    texts = [part for part in code.co_consts if isinstance(part, str) and part.isidentifier()]
    return tuple(dict.fromkeys((*code.co_names, *texts, *inner)))


def _module_of(value: Any) -> str:
    return str(value.__name__ if isinstance(value, ModuleType) else value.__module__)


def _slots(kind: type[Any]) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _unwrapped(value: Any) -> list[Any]:
    """The functions in a property, a classmethod or a staticmethod, or the value itself."""
    if isinstance(value, property):
        return [f for f in (value.fget,) if f is not None]
    if isinstance(value, (classmethod, staticmethod)):
        return [cast("Any", value).__func__]
    return [] if isinstance(value, MappingProxyType) else [value]
