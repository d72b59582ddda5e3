"""The magic `%%cpp`: cells of C++ in a notebook, whose functions take and return Values.

A cell is compiled in a namespace of its own inside that of the cell before it, so that it sees what earlier cells have
defined, and what it defines hides what had the same name.
"""

import re
from collections.abc import Callable
from itertools import count
from typing import Any, cast

from burlab.errors import ArgumentError, CompileError
from burlab.runtime import compile_text, reflect
from burlab.runtime.quoting import line_directive
from burlab.runtime.wait import shielded

from .cell_function import CellFunction

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
_TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[{}]|\bstatic\b", re.DOTALL)
_CLASS = re.compile(r"\b(?:struct|class|union|enum)\s+(?:class\s+)?([A-Za-z]\w*)")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_notebooks = count(1)


class Cells:
    """The C++ cells of one notebook: what `%%cpp` has compiled, in order."""

    def __init__(self) -> None:
        self._scope = [f"burlab_notebook_{next(_notebooks)}"]
        self._texts: list[str] = []

    def run(self, text: str, name: str = "cell") -> dict[str, Any]:
        """Compile a cell. Returns its functions and classes by name; CompileError leaves everything as it was.

        >>> from burlab.eager import Value
        >>> Cells().run("Value twice(Value x) { return 2 * x; }")["twice"](Value(3.0)).data
        6.0
        """
        if "\0" in text or text.encode("utf-8", "ignore").decode() != text:
            raise CompileError(f"{name}: the text holds a null or half a character, which no C++ has. Leave it out.")
        compile_text(self._includes(text, name), ("burlab/python/cell.hpp",))
        scope = [*self._scope, f"cell_{len(self._scope)}"]
        opening = " ".join(f"namespace {part} {{" for part in scope)
        opening = opening.replace("{", "{ using namespace burlab;", 1)
        # The check stands on the line after the last: a brace that was left open is found there, not at our own text.
        check = "namespace every_brace_above_is_closed {}"
        body = _INCLUDE.sub("", _without_static(text)).rstrip()
        whole = f"{opening}\n{line_directive(1, name)}{body}\n{check}\n{'}' * len(scope)}\n"
        shielded(lambda: self._compile(whole, scope, text))
        return self._with_texts(_definitions(scope, text), scope[1:])

    def _with_texts(self, found: dict[str, Any], cells: list[str]) -> dict[str, Any]:
        """Classes know the text that defines them, with all that it may use, and their names in it: see `operation`."""
        text = "".join(f"namespace {cell} {{\n{body}\n" for cell, body in zip(cells, self._texts, strict=True))
        whole = f'#include "burlab/python/cell.hpp"\nusing namespace burlab;\n{text}{"}" * len(cells)}'
        for name, thing in found.items():
            if isinstance(thing, type):
                cast("Any", thing).__burlab_text__ = whole, "::".join((*cells, name))
        return found

    def _compile(self, whole: str, scope: list[str], text: str) -> None:
        """Compile and step on: an interrupt must not come in between, since nothing can be declared twice."""
        compile_text(whole)
        self._scope = scope
        self._texts.append(text)

    def _includes(self, text: str, name: str) -> str:
        """The cell's `#include` lines by themselves, for they must not stand inside a namespace."""
        found = ((text[: m.start()].count("\n") + 1, m[0]) for m in _INCLUDE.finditer(text))
        return "".join(f"{line_directive(number, name)}{line}\n" for number, line in found)


def _without_static(text: str) -> str:
    """`inline` for `static` outside of braces: Cling destroys a static object twice if a later text has used it."""
    depth = 0

    def word(found: re.Match[str]) -> str:
        nonlocal depth
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        return "inline" if found[0] == "static" and depth == 0 else found[0]

    return _TOKEN.sub(word, text)


def _definitions(scope: list[str], text: str) -> dict[str, Any]:
    namespace = reflect(*scope)
    found: dict[str, Any] = {}
    for name in {*dir(namespace), *_CLASS.findall(text)}:
        thing = None if name.startswith("_") else getattr(namespace, name, None)
        if isinstance(thing, type):
            found[name] = thing
        elif type(thing).__name__ in ("CPPOverload", "TemplateProxy"):
            found[name] = CellFunction(name, thing)
    return found


def cell_magic(shell: Any) -> Callable[[str, str], None]:
    """The magic `%%cpp [name]` of an IPython shell: a cell of C++20 that sees burlab's headers and the cells before it.

    name: what compiler messages call the cell. Its functions and classes land in the notebook's namespace.
    """
    cells = Cells()

    def cpp(line: str, cell: str) -> None:
        name = line.strip() or "cell"
        if not _NAME.fullmatch(name):
            raise ArgumentError(f"%%cpp takes the name of the cell, such as `%%cpp kernels`, not {name!r}.")
        try:
            shell.user_ns.update(cells.run(cell, name))
        except CompileError as error:
            raise error.with_traceback(None) from None  # the message is all that concerns the user

    cpp.__doc__ = cell_magic.__doc__
    return cpp
