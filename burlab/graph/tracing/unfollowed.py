"""Values that later calls cannot check: files, iterators, numbers that a function changes itself."""

import builtins
import io
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from types import FunctionType, GeneratorType, ModuleType
from typing import Any, cast

import numpy as np

from .insides import Reading, field
from .left import place_of
from .mentions import globals_of, names_of

# What reads files, streams and other processes: functions of modules, by the first part of the module's name.
_READERS: dict[str, frozenset[str]] = {
    "numpy": frozenset({"load", "loadtxt", "genfromtxt", "fromfile", "memmap", "fromregex"}),
    "scipy": frozenset({"loadmat", "load_npz", "mmread"}),
    "pandas": frozenset({"read_csv", "read_parquet", "read_json", "read_pickle", "read_excel", "read_table"}),
    "burlab": frozenset({"load", "load_run"}),
    "json": frozenset({"load"}),
    "pickle": frozenset({"load"}),
    "_pickle": frozenset({"load"}),
    "tomllib": frozenset({"load"}),
    "io": frozenset({"open"}),
    "_io": frozenset({"open"}),
    "os": frozenset({"open", "read", "listdir", "scandir", "stat", "popen"}),
    "subprocess": frozenset({"run", "check_output", "getoutput", "Popen"}),
    "urllib": frozenset({"urlopen", "urlretrieve"}),
    "linecache": frozenset({"getline", "getlines"}),
}  # fmt: skip
_METHODS = frozenset({"read_text", "read_bytes"})  # of pathlib's paths
_BUILTINS = frozenset({"open", "input"})


def iterators_in(found: Sequence[Reading]) -> list[tuple[Any, Any]]:
    """The iterators among the captured values, each with its position."""
    return [(x, _state(x)) for x in (r.value for r in found) if isinstance(x, (Iterator, io.IOBase))]


def used_up(iterators: Sequence[tuple[Any, Any]]) -> str:
    """Describe what has advanced since then; empty if nothing has."""
    for iterator, before in iterators:
        if _state(iterator) != before:
            kind = "a file" if isinstance(iterator, io.IOBase) else f"an iterator ({type(iterator).__name__})"
            return f"reads from {kind}, which goes on with each reading,"
    return ""


def numbers_in(found: Sequence[Reading]) -> dict[Any, tuple[str, Any]]:
    """The floats among the captured values, by their places, with their names. Integers are usually counters."""
    return {place_of(r): (str(r.key), r.value) for r in found if r.key is not None and _is_float(r.value)}


def _is_float(x: Any) -> bool:
    return isinstance(x, (float, np.floating))


def written(before: dict[Any, tuple[str, Any]], after: dict[Any, tuple[str, Any]]) -> str:
    """Describe what a function changed itself since then; empty if nothing."""
    for place, (name, value) in before.items():
        now = after.get(place, (name, value))[1]
        if now is not value and now != value:
            return f"changes a number that it can read ({name})"
    return ""


def _state(x: Any) -> Any:
    """Return the position of an iterator; None if it is not readable, as in itertools."""
    if isinstance(x, io.IOBase):
        return x.tell() if not x.closed and x.seekable() else None
    if isinstance(x, GeneratorType):
        frame = cast("Any", x).gi_frame
        return -1 if frame is None else frame.f_lasti, frame is not None and repr(frame.f_locals)
    if isinstance(x, (itertools.count, itertools.repeat)):
        return repr(cast("Any", x))
    if type(x).__module__ == "itertools":
        return object()  # unknown
    try:
        parts = x.__reduce__() if type(x).__module__ == "builtins" else ()
    except TypeError:
        return None
    return tuple(_state(part) if isinstance(part, Iterator) else id(part) for part in _flat(parts))


def _flat(parts: Any) -> list[Any]:
    if isinstance(parts, tuple):
        return [x for part in cast("tuple[Any, ...]", parts) for x in _flat(part)]
    return [parts]


def files_read(functions: Sequence[FunctionType], around: Callable[[FunctionType], list[Any]]) -> str:
    """Describe files that functions read by name; around: the globals and cells of a function."""
    for f in functions:
        names = set(names_of(f.__code__))
        own = {name for name in globals_of(f.__code__) if name in _BUILTINS and name not in f.__globals__}
        values = around(f)
        if own or any(_reads(value, names) for value in values) or (names & _METHODS and any(map(_is_path, values))):
            return "reads a file or a stream"
    return ""


def _is_path(value: object) -> bool:
    return isinstance(value, PurePath) or (isinstance(value, type) and issubclass(value, PurePath))


def _reads(value: object, names: set[str]) -> bool:
    if isinstance(value, ModuleType):
        return not _READERS.get(value.__name__.partition(".")[0], frozenset()).isdisjoint(names)
    if value is builtins.open:
        return True
    module = str(field(value, "__module__") or "").partition(".")[0]
    return callable(value) and field(value, "__name__") in _READERS.get(module, ())
