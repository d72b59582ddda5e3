"""Warnings about what a trace would freeze: random numbers that a function draws, clocks and files that it reads."""

import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from burlab.graph.origin import user_line

from .insides import Reading, field
from .mentions import globals_of, imports_of, names_of, optional_names, package_of, texts_of
from .reach import functions_of, readings
from .unfollowed import files_read, iterators_in, numbers_in, used_up, written

# Sources without readable state: modules, and the names in them that return another number each time.
_CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
_EACH_TIME: dict[str, frozenset[str]] = {
    "time": frozenset(f"{clock}{ns}" for ns in ("", "_ns") for clock in _CLOCKS),
    "datetime": frozenset({"now", "today", "utcnow"}),
    "secrets": frozenset({"randbelow", "randbits", "token_bytes", "choice", "token_hex"}),
    "random": frozenset({"SystemRandom"}),
    "uuid": frozenset({"uuid1", "uuid4"}),
    "os": frozenset({"urandom", "getrandom"}),
    "posix": frozenset({"urandom", "getrandom"}),
}  # fmt: skip
_KINDS = {"numpy.random": ("Generator", "RandomState"), "random": ("Random",)}
_FRESH = 623  # the state of NumPy's global generator before the first draw
# NumPy's makers of generators of the function's own
_MAKERS = frozenset({"default_rng", "RandomState", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"})


class _Warnings(threading.local):
    count: int = 0  # warnings so far: a trace around another does not repeat what that one said


_warnings = _Warnings()


def frozen_count() -> int:
    """Return how many traces of this thread have frozen numbers that another trace would draw or read anew."""
    return _warnings.count


def watched(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call f; warn if it drew random numbers, read a clock, or read something that later calls cannot check."""
    absent = "numpy.random" not in sys.modules  # it takes 15 ms to import, and then nobody has a generator of it
    around = readings([f])
    generators, iterators, numbers = _generators(around), iterators_in(around), numbers_in(around)
    before, count_before = [_state(g) for g in generators], _warnings.count
    result = f(*args, **kwargs)
    drawn = [g for g, b in zip(generators, before, strict=True) if _state(g) != b and not _may_be_of_others(g, f)]
    if absent and "numpy.random" in sys.modules and _state(np.random)[0] != _FRESH:
        drawn.append(np.random)
    own = all(hasattr(g, "getstate") for g in drawn)
    functions = functions_of([f])
    if what := f"draws from {'random' if own else 'np.random'}" if drawn else _each_time(functions):
        _warn(f, count_before, what, "drawn", "Pass random numbers in, or a key: bl.random.normal(key, shape).")
    elif what := used_up(iterators) or files_read(functions, _around) or written(numbers, numbers_in(readings([f]))):
        _warn(f, count_before, what, "read", "Pass them in as arguments.")
    return result


def _warn(f: Callable[..., Any], count_before: int, what: str, how: str, advice: str) -> None:
    if count_before != _warnings.count:
        return
    _warnings.count += 1
    code = getattr(f, "__code__", None)
    file, line = (code.co_filename, code.co_firstlineno) if code is not None else user_line() or ("", 0)
    name = getattr(f, "__name__", type(f).__name__)
    message = f"{name} {what} while it is traced: the numbers {how} now are frozen into the kernel. {advice}"
    warnings.warn_explicit(message, UserWarning, file, line)


def _generators(around: Sequence[Reading]) -> list[Any]:
    """The generators that a function can reach, also by a method of theirs; NumPy's and Python's own ones first."""
    kinds = tuple(kind for module, names in _KINDS.items() for kind in _loaded(module, names))
    found: list[Any] = [sys.modules[module] for module in _KINDS if module in sys.modules]
    return found + [reading.value for reading in around if kinds and isinstance(reading.value, kinds)]


def _may_be_of_others(generator: object, f: Callable[..., Any]) -> bool:
    """Return True if another thread may have drawn: from Python's own generator, which f never names."""
    if threading.active_count() == 1 or generator is not sys.modules.get("random"):
        return False
    drawing = {name for name in dir(generator) if getattr(getattr(generator, name), "__self__", None) is not None}
    drawing.add("random")
    return all(drawing.isdisjoint(names_of(reached.__code__)) for reached in functions_of([f]))


def _loaded(module: str, names: tuple[str, ...]) -> list[type]:
    return [getattr(sys.modules[module], name) for name in names] if module in sys.modules else []


def _state(generator: Any) -> Any:
    if not isinstance(generator, ModuleType) and hasattr(generator, "bit_generator"):
        return repr(generator.bit_generator.state)
    if isinstance(generator, tuple(_loaded("random", ("SystemRandom",)))):
        return None
    if hasattr(generator, "getstate"):  # Python's own
        return generator.getstate()
    whole = generator.get_state(legacy=False)
    state = whole["state"]
    return state["pos"], state["key"].tobytes(), whole["has_gauss"]


def _each_time(functions: Sequence[FunctionType]) -> str:
    """Describe calls by name whose result no state determines."""
    for reached in functions:
        names = names_of(reached.__code__)
        if _makes_a_generator(reached):
            return "draws from np.random"
        if any(_differs(value, names) for value in _around(reached)):
            return "reads a clock or the system's random numbers"
    return ""


def _makes_a_generator(f: FunctionType) -> bool:
    """Return True if a function mentions a maker of NumPy's: not a text, nor another function of that name."""
    code, around = f.__code__, f.__globals__
    named = _MAKERS.intersection(names_of(code)).difference(set(texts_of(code)).difference(optional_names(code)))
    others = {name for name in globals_of(code) if name in around and not _is_of_random(around[name])}
    return not named <= others


def _is_of_random(value: object) -> bool:
    return str(field(value, "__module__") or "").startswith("numpy.random")


def _around(f: FunctionType) -> list[Any]:
    cells = [cell.cell_contents for cell in f.__closure__ or () if _filled(cell)]
    imported = [sys.modules[name] for name in imports_of(f.__code__, package_of(f)) if name in sys.modules]
    return [f.__globals__[name] for name in globals_of(f.__code__) if name in f.__globals__] + cells + imported


def _differs(value: object, names: tuple[str, ...]) -> bool:
    if isinstance(value, ModuleType):
        return not _EACH_TIME.get(value.__name__, frozenset()).isdisjoint(names)
    system = tuple(_loaded("random", ("SystemRandom",)))
    if isinstance(field(value, "__self__"), system) or isinstance(value, system):
        return True
    module = str(field(value, "__module__") or "")
    if module == "datetime" and isinstance(value, type):
        return not _EACH_TIME["datetime"].isdisjoint(names)
    return callable(value) and field(value, "__name__") in _EACH_TIME.get(module, ())


def _filled(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
