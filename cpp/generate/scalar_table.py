"""Write `burlab/graph/scalar_table.py` from what the structs of `cpp/burlab/ops` state: `make pages` runs it."""

import ctypes
from pathlib import Path

from burlab import runtime

FILE = Path(__file__).parents[2] / "burlab/graph/scalar_table.py"
TABLES = (
    "table",
    "rounding",
    "elementary",
    "special",
    "normal",
    "bessel",
    "incomplete",
    "quantiles",
    "formats",
    "shadow",
)
SHORT = ("table", "rounding")  # whose formulas stand in the text of kernels, where they are short; others are called
WIDTH = 120
HEAD = '''"""Scalar operations, as structs of `cpp/burlab/ops` state them: `make pages` writes them."""
# fmt: off

from .scalar_row import ScalarOp

ROWS = (
'''


def facts(table: str) -> list[list[str]]:
    """Return the fields of each operation of a C++ table, as `cpp/burlab/ops/facts.hpp` writes them."""
    short, rows = str(table in SHORT).lower(), "Scalar" if table == "table" else table.capitalize()
    body = (
        'using namespace burlab::ops; extern "C" std::int64_t @unit_write(char* text, std::int64_t size)'
        f" {{ return write_facts<{short}>({rows}{{}}, text, size); }}"
    )
    unit = runtime.declare(body, ("burlab/ops/facts.hpp", f"burlab/ops/{table}.hpp"), "facts of operations")
    write = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p, ctypes.c_int64)(runtime.address(f"{unit}_write"))
    text = ctypes.create_string_buffer(1 << 16)
    assert write(text, len(text)) < len(text)
    return [line.split("\t") for line in text.value.decode().splitlines()]


def row(table: str, fields: list[str]) -> str:
    """Return the Python text of a row, in lines of at most `WIDTH` characters."""
    name, doc, arity, no_lanes, words, *formulas = fields
    arguments = [f'"{name}"', arity, f'"{table}"', *words.split(), *[f'no_lanes="{no_lanes}"'] * bool(no_lanes)]
    if formulas:
        value, integers, *partials = formulas
        partials = [text if set(text) & set("+-*/?(") - {text[:1]} else "" for text in partials]  # not a mere argument
        arguments += [f'formula="{value}"'] * bool(value) + [f'integer_formula="{integers}"'] * bool(integers)
        if any(partials):
            *firsts, last = [f'"{text}"' for text in partials]
            arguments += [f"partials=({firsts[0]}", *firsts[1:], f"{last})"] if firsts else [f"partials=({last},)"]
    lines, line = [], "    ScalarOp("
    for argument in [*(f"{a}," for a in arguments), *documented(doc)]:
        if len(line) + len(argument) + 2 > WIDTH:  # with a bracket at the end
            lines.append(line.rstrip())
            line = " " * 8
        line += f"{argument} "
    return "\n".join([*lines, line.rstrip() + "),"])


def documented(doc: str) -> list[str]:
    """Return the documentation as one argument, in pieces that fit a line each."""
    size = WIDTH - 17
    pieces = [doc[k : k + size] for k in range(0, len(doc), size)]
    return [f'doc="{pieces[0]}"', *(f'"{piece}"' for piece in pieces[1:])]


def text() -> str:
    """Return the text of the file."""
    rows = [row(table, fields) for table in TABLES for fields in facts(table)]
    return HEAD + "\n".join(rows) + "\n)\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
