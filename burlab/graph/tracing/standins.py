"""While a function is traced, NumPy's constructors give the code of users arrays that take traced entries.

Its other functions, and np.r_ and np.c_, take lists of traced values meanwhile.

The names in NumPy's module are exchanged while any thread traces; so are bare names in the globals and closures of the
function that is traced (`from numpy import zeros`). The stand-ins look at the thread and at the caller: other threads,
NumPy, SciPy and burlab itself get what NumPy gives.
"""

import functools
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import CellType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from burlab.graph.buffers.lists import joined, listed
from burlab.graph.buffers.making import RULES
from burlab.graph.handles import Level, level, one_level_deeper
from burlab.typing import Index

from .reach import readings

_LIBRARIES = frozenset(
    "numpy scipy burlab jax jaxlib torch pandas sklearn autograd matplotlib plotly numba cppyy optree IPython".split()
)


def _caller() -> str:
    """The module that called a stand-in."""
    frame = sys._getframe(2)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - inspect's own way takes longer
    return str(frame.f_globals.get("__name__", ""))


class _Standin:
    """A function of NumPy's while a function is traced. In tables it is the original: a module may be imported then."""

    def __init__(self, original: Callable[..., Any], rule: Callable[..., Any]) -> None:
        functools.update_wrapper(self, original, updated=())
        self._original, self._make = original, rule(original)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if level() is None or _caller().partition(".")[0] in _LIBRARIES:
            return self._original(*args, **kwargs)
        return self._make(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return other is self or other is self._original

    def __hash__(self) -> int:
        return hash(self._original)


class _Ufunc(_Standin):
    """A ufunc, with its methods and attributes; isinstance treats it as one of NumPy's."""

    __class__: Any = property(lambda _self: np.ufunc)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._original, name)
        return _Standin(found, listed) if name in _METHODS else found


_METHODS = frozenset("reduce accumulate reduceat outer".split())


class _Brackets:
    """np.r_ and np.c_ while a function is traced."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def __getitem__(self, key: Index) -> Any:
        plain = level() is None or _caller().partition(".")[0] in _LIBRARIES
        return self._original[key] if plain else joined(self._original, key)

    def __len__(self) -> int:
        return 0


class _Place(NamedTuple):
    """A name in a module of NumPy's, its object, and its object while a function is traced."""

    module: ModuleType
    name: str
    original: Any
    standin: Any


def _places() -> list[_Place]:
    """All names that are exchanged: constructors, functions that look for arrays of other kinds, and ufuncs."""
    found = [_Place(np, name, f := getattr(np, name), _Standin(f, rule)) for name, rule in RULES.items()]
    for module in (np, np.linalg, np.fft):
        for name, f in vars(module).items():
            if hasattr(f, "_implementation") and not (module is np and name in RULES):
                found.append(_Place(module, name, f, _Standin(f, listed)))
    found += [_Place(np, name, f, _Ufunc(f, listed)) for name, f in vars(np).items() if isinstance(f, np.ufunc)]
    return found + [_Place(np, name, f := getattr(np, name), _Brackets(f)) for name in ("r_", "c_")]


_PLACES = _places()
_NAMES = {module: {p.name: p.standin for p in _PLACES if p.module is module} for module in (np, np.linalg, np.fft)}
_ORIGINALS = {module: {p.name: p.original for p in _PLACES if p.module is module} for module in _NAMES}
_BY_IDENTITY = {id(place.original): place.standin for place in _PLACES}


class _Exchanged:
    """The exchanged values, for all threads: they are put back when no thread traces any more."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.traces = 0
        self.names: list[tuple[Any, Any, Any, Any]] = []  # container, key, old object, new object


_exchanged = _Exchanged()


@contextmanager
def traced_arrays(f: Callable[..., Any]) -> Generator[Level]:
    """While f is traced, the constructors that it calls give arrays that take traced entries."""
    with _exchanged.lock:
        _exchanged.traces += 1
        if _exchanged.traces == 1:
            for module, names in _NAMES.items():
                vars(module).update(names)
    try:
        _exchange_bare_names(f)
        with one_level_deeper() as current:
            yield current
    finally:
        with _exchanged.lock:
            _exchanged.traces -= 1
            if not _exchanged.traces:
                _restore()


def _exchange_bare_names(f: Callable[..., Any]) -> None:
    for reading in readings([f]):
        standin = _BY_IDENTITY.get(id(reading.value))
        if standin is None or not _is_namespace(reading.container):
            continue
        with _exchanged.lock:
            _put(reading.container, reading.key, standin)
            _exchanged.names.append((reading.container, reading.key, reading.value, standin))


def _is_namespace(container: object) -> bool:
    """Return True for a closure cell or the globals of a module: dictionaries of users are left alone."""
    return isinstance(container, CellType) or (isinstance(container, dict) and "__builtins__" in container)


def _restore() -> None:
    for module, names in _NAMES.items():
        held, originals = vars(module), _ORIGINALS[module]
        held.update({name: originals[name] for name, standin in names.items() if held.get(name) is standin})
    for container, key, original, standin in reversed(_exchanged.names):
        held = container.cell_contents if isinstance(container, CellType) else container.get(key)
        if held is standin:
            _put(container, key, original)
    _exchanged.names.clear()


def _put(container: Any, key: object, value: object) -> None:
    if isinstance(container, CellType):
        container.cell_contents = value
    else:
        container[key] = value
