"""The magic `%%cpp`: cells of C++ in a notebook, whose functions take and return Values.

A cell is compiled in a namespace of its own inside that of the cell before it, so that it sees what earlier cells have
defined, and what it defines hides what had the same name.
"""

import re
from collections.abc import Callable
from itertools import count
from typing import Any, cast

from burlab.errors import ArgumentError, CompileError
from burlab.runtime import DeadlyText, compile_text, hide_macros, reflect, try_text
from burlab.runtime.checks.numbers import shown
from burlab.runtime.quoting import line_directive
from burlab.runtime.wait import shielded

from .cell_function import CellFunction
from .cell_preprocessor import burlab_headers, directive, expanded, has_own_headers, headers, macros
from .cell_shape import ADVICE, unsure
from .cell_tokens import Token, tokens

_STATIC = re.compile(r"\bstatic\b")
_CLASS = re.compile(r"\b(?:struct|class|union|enum)\s+(?:class\s+)?([A-Za-z]\w*)")
_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_notebooks = count(1)
# What ends the process when it is thrown, where the compiler sees it: it is an error in cells.
_STRICTER = '#pragma clang diagnostic push\n#pragma clang diagnostic error "-Wexceptions"'
_AS_BEFORE = "#pragma clang diagnostic pop"
_THROWS = "[-Werror,-Wexceptions]"
_CATCH = (
    "An exception that leaves a function of `noexcept`, or a destructor, ends the process: catch it inside, or write "
    "`noexcept(false)`"
)
_IN_HEADERS = (
    "A header may hold no statement outside of functions; what else it is of which the compiler dies is found by "
    "including parts of it"
)
_IN_CELL = "It is the initializer of a variable, which runs now, or a text of which the compiler dies"


class Cells:
    """The C++ cells of one notebook: what `%%cpp` has compiled, in order."""

    def __init__(self) -> None:
        self._scope = [f"burlab_notebook_{next(_notebooks)}"]
        self._texts: list[str] = []
        self._numbers = count(1)

    def run(self, text: str, name: str = "cell") -> dict[str, Any]:
        """Compile a cell. Returns its functions and classes by name; CompileError leaves everything as it was.

        >>> from burlab.eager import Value
        >>> Cells().run("Value twice(Value x) { return 2 * x; }")["twice"](Value(3.0)).data
        6.0
        """
        if "\0" in text or text.encode("utf-8", "ignore").decode() != text:
            raise CompileError(f"{name}: the text holds a null or half a character, which no C++ has. Leave it out.")
        text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
        row = tokens(text, name)
        # Before the cell, whose macros they do not see.
        compile_text("", ("burlab/python/cell.hpp", *burlab_headers(row)))
        included = headers(row, name)
        try:
            if has_own_headers(row):
                try_text(included)
            compile_text(included, users=True)
        except DeadlyText as error:
            raise CompileError(f"{name}: error: {error}, in what this cell includes. {_IN_HEADERS}.") from None
        doubtful = _declarations_alone(text, row, name)
        scope = [*self._scope, f"cell_{next(self._numbers)}"]  # a cell that fails at run time leaves its namespace
        opening = " ".join(f"namespace {part} {{" for part in scope)
        opening = opening.replace("{", "{ using namespace burlab;", 1)
        # The check stands on the line after the last: a brace that was left open is found there, not at our own text.
        check = "namespace every_brace_above_is_closed {}"
        body = _changed(text, row, doubtful, name).rstrip()
        whole = f"{_STRICTER}\n{opening}\n{line_directive(1, name)}{body}\n{check}\n{'}' * len(scope)}\n{_AS_BEFORE}\n"
        try:
            try_text(whole)
            shielded(lambda: self._compile(whole, scope, text))
            hide_macros(macros(row))
        except DeadlyText as error:
            raise CompileError(f"{name}: error: {error}. {_IN_CELL}.") from None
        except CompileError as error:
            if _THROWS in str(error):
                raise CompileError(f"{error}\n{_CATCH}.") from None
            if any(f"{name}:{line}:" in str(error) for line in doubtful.values()):
                raise CompileError(f"{error}\n{ADVICE}.") from None
            raise
        return self._with_texts(_definitions(scope, text), scope[1:])

    def _with_texts(self, found: dict[str, Any], cells: list[str]) -> dict[str, Any]:
        """Classes know the text that defines them, with all that it may use, and their names in it: see `operation`."""
        text = "".join(f"namespace {cell} {{\n{body}\n" for cell, body in zip(cells, self._texts, strict=True))
        whole = f'#include "burlab/python/cell.hpp"\nusing namespace burlab;\n{text}{"}" * len(cells)}'
        for name, thing in found.items():
            if isinstance(thing, type) and not issubclass(thing, int):  # an enum is a number, and takes no attributes
                cast("Any", thing).__burlab_text__ = whole, "::".join((*cells, name))
        return found

    def _compile(self, whole: str, scope: list[str], text: str) -> None:
        """Compile and step on: an interrupt must not come in between, since nothing can be declared twice."""
        compile_text(whole, users=True)
        self._scope = scope
        self._texts.append(text)


def _declarations_alone(text: str, row: list[Token], name: str) -> dict[int, int]:
    """Refuse what is not a declaration; gives offset and line of what only the compiler can tell from an expression."""
    found, places = expanded(text, row, name)
    return {places[index].start: places[index].line for index in unsure(found, name) if index in places}


def _changed(text: str, row: list[Token], doubtful: dict[int, int], name: str) -> str:
    """The text as it is compiled, line by line where it was.

    `#include` lines are out, which do not stand in a namespace. `inline` is for `static` outside of braces: Cling
    destroys a static object twice if a later text has used it. An empty attribute has an expression refused.
    """
    parts: list[str] = []
    last = depth = 0
    for token in row:
        parts.append(text[last : token.start])
        last = token.end
        depth += (token.text == "{") - (token.text == "}")
        if token.start in doubtful:
            column = token.start - text.rfind("\n", 0, token.start) - 1
            parts.append(f"\n__attribute__(())\n{line_directive(token.line, name)}{' ' * column}")
        if directive(token) == "include":
            parts.append("\n" * token.text.count("\n"))
        elif depth == 0 and token.kind in ("name", "directive"):
            parts.append(_STATIC.sub("inline", token.text))
        else:
            parts.append(text[token.start : last])
    return "".join(parts)


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

    A cell is compiled in a copy of the process first, so that a text of which the compiler dies, or an initializer that
    crashes, is an error. An exception of a function is one of Python. What nothing can catch ends the kernel, with all
    that is in it: `abort`, `exit`, a read or write outside of memory, a stack without end, and an exception that leaves
    a thread of C++ or, by way of other functions, a `noexcept` one or a destructor. Return a number that tells instead,
    use `.at(i)` in the place of `[i]`, and catch in a thread what it throws.
    """
    cells = Cells()

    def cpp(line: str, cell: str) -> None:
        name = line.strip() or "cell"
        if not _NAME.fullmatch(name):
            raise ArgumentError(f"%%cpp takes the name of the cell, such as `%%cpp kernels`, not {shown(name)}.")
        try:
            shell.user_ns.update(cells.run(cell, name))
        except CompileError as error:
            raise error.with_traceback(None) from None  # the message is all that concerns the user

    cpp.__doc__ = cell_magic.__doc__
    return cpp
