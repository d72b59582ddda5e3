"""What a trace would freeze without a word: random numbers that a function draws, and clocks that it reads."""

import dis
import sys
import threading
import warnings
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from burlab.graph.origin import user_line

from .reach import functions_of, names_of, readings

# What has no state to look at: modules, and the names in them that give another number each time.
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
_FRESH = 623  # where NumPy's global generator stands before the first draw
_MAKERS = frozenset({"default_rng", "RandomState"})  # of generators of the function's own


class _Said(threading.local):
    count: int = 0  # warnings so far: a trace around another does not repeat what that one said


_said = _Said()


def watched(f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call f; warn where it drew random numbers or read a clock."""
    absent = "numpy.random" not in sys.modules  # it takes 15 ms to import, and then nobody has a generator of it
    generators = _generators(f)
    before, said = [_state(g) for g in generators], _said.count
    result = f(*args, **kwargs)
    drawn = [g for g, b in zip(generators, before, strict=True) if _state(g) != b and not _may_be_of_others(g, f)]
    if absent and "numpy.random" in sys.modules and _state(np.random)[0] != _FRESH:
        drawn.append(np.random)
    own = all(hasattr(g, "getstate") for g in drawn)
    what = f"draws from {'random' if own else 'np.random'}" if drawn else _each_time(f)
    if what and said == _said.count:
        _said.count += 1
        code = getattr(f, "__code__", None)
        file, line = (code.co_filename, code.co_firstlineno) if code is not None else user_line() or ("", 0)
        warnings.warn_explicit(
            f"{getattr(f, '__name__', type(f).__name__)} {what} while it is traced: the numbers drawn now are "
            "frozen into the kernel. Pass random numbers in, or a key: bl.random.normal(key, shape).",
            UserWarning,
            file,
            line,
        )
    return result


def _generators(f: Callable[..., Any]) -> list[Any]:
    """The generators that a function can reach, also by a method of theirs; NumPy's and Python's own ones first."""
    kinds = tuple(kind for module, names in _KINDS.items() for kind in _loaded(module, names))
    found: list[Any] = [sys.modules[module] for module in _KINDS if module in sys.modules]
    for reading in readings([f]) if kinds else ():
        for value in (reading.value, getattr(reading.value, "__self__", None)):
            if isinstance(value, kinds):
                found.append(value)  # noqa: PERF401 - it reads better so
    return found


def _may_be_of_others(generator: Any, f: Callable[..., Any]) -> bool:
    """Whether another thread may have drawn: from Python's own generator, of which the function's code says nothing."""
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


def _each_time(f: Callable[..., Any]) -> str:
    """What a function does by name that no state tells, in words."""
    for reached in functions_of([f]):
        names = names_of(reached.__code__)
        if not _MAKERS.isdisjoint(names):
            return "draws from np.random"
        if any(_differs(value, names) for value in _around(reached)):
            return "reads a clock or the system's random numbers"
    return ""


def _around(f: FunctionType) -> list[Any]:
    cells = [cell.cell_contents for cell in f.__closure__ or () if _filled(cell)]
    return [f.__globals__[name] for name in _globals_of(f.__code__) if name in f.__globals__] + cells


@lru_cache(maxsize=4096)
def _globals_of(code: CodeType) -> tuple[str, ...]:
    """The global names that a function and those inside of it look up: not attributes, as the T of x.T."""
    own = [i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    inner = (name for part in code.co_consts if isinstance(part, CodeType) for name in _globals_of(part))
    return tuple(dict.fromkeys((*own, *inner)))


def _differs(value: Any, names: tuple[str, ...]) -> bool:
    if isinstance(value, ModuleType):
        return not _EACH_TIME.get(value.__name__, frozenset()).isdisjoint(names)
    system = tuple(_loaded("random", ("SystemRandom",)))
    if isinstance(getattr(value, "__self__", None), system) or isinstance(value, system):
        return True
    module = str(getattr(value, "__module__", ""))
    if module == "datetime" and isinstance(value, type):
        return not _EACH_TIME["datetime"].isdisjoint(names)
    return callable(value) and getattr(cast("Any", value), "__name__", "") in _EACH_TIME.get(module, ())


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
