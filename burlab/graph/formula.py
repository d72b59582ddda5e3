"""Scalar operations and their partial derivatives as formulas, written by the C++ structs that state them."""

import ctypes
import re
import threading
from collections.abc import Iterable
from typing import NamedTuple

from burlab import runtime

from .scalar import cpp_type, parsed

LETTERS = "abcdefg"  # of the arguments
MAX_CHARACTERS = 1 << 16  # characters of all formulas of a table
_NUMBER = re.compile(r"\b\d+(\.\d+)?(e[-+]\d+)?\b")
_lock = threading.Lock()
_known: dict[str, "Formulas"] = {}


class Formulas(NamedTuple):
    """value: of the operation, in terms of its arguments a, b, c. partials: by each argument; y is the value."""

    value: str
    partials: tuple[str, ...]


def formulas(name: str) -> Formulas:
    """Formulas of an operation of the table and of its partials. Compiled at the first use: see `load_formulas`.

    >>> formulas("tanh")
    Formulas(value='tanh(a)', partials=('1 - y**2',))
    >>> formulas("mul").partials
    ('b', 'a')
    """
    exact = exact_formulas(name)
    return Formulas(_short(exact.value), tuple(map(_short, exact.partials)))


def exact_formulas(name: str) -> Formulas:
    """Formulas with all digits of their numbers, of which a graph can be made: see `expand_partials.py`.

    >>> formulas("log2").partials, exact_formulas("log2").partials
    (('1.443 / a',), ('1.4426950408889634 / a',))
    """
    load_formulas([name])
    return _known[name]


def _short(formula: str) -> str:
    """The formula with four digits of each number."""
    return _NUMBER.sub(lambda found: f"{float(found[0]):.4g}", formula)


def load_formulas(names: Iterable[str]) -> None:
    """Read the formulas of several operations in one go: one call of the compiler instead of many."""
    with _lock:
        missing = sorted({name for name in names if name not in _known})
        if missing:
            _known.update(_read(missing))


def _read(names: list[str]) -> dict[str, Formulas]:
    table = f"List<{', '.join(map(cpp_type, names))}>{{}}"
    body = (
        "using namespace burlab::ops;"
        ' extern "C" std::int64_t @unit_write(char* text, std::int64_t size)'
        f" {{ return write_formulas({table}, text, size); }}"
    )
    rows = {name: parsed(name).row for name in names}
    headers = ("burlab/ops/formulas.hpp", *sorted({row.header for row in rows.values()}))
    unit = runtime.declare(body, headers, "formulas of operations")
    write = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64)(runtime.address(f"{unit}_write"))
    text = ctypes.create_string_buffer(MAX_CHARACTERS)
    length = write(text, MAX_CHARACTERS)
    assert length < MAX_CHARACTERS
    lines = iter(text.value.decode().splitlines())
    return {
        name: Formulas(next(lines), tuple(next(lines) for _ in range(rows[name].arity * rows[name].differentiable)))
        for name in names
    }
