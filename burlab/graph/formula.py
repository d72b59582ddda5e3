"""Scalar operations and their partial derivatives as formulas, written by the C++ structs that state them."""

import ctypes
import threading
from collections.abc import Iterable
from typing import NamedTuple

from burlab import runtime

from .scalar import cpp_type, parsed

MAX_CHARACTERS = 1 << 16  # characters of all formulas of a table
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
    load_formulas([name])
    return _known[name]


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
