"""Preprocessed text of a `%%cpp` cell, which the compiler itself writes into a string.

Between the lines of the preprocessor, which stay what they are, the text of the cell is the argument of a macro that
expands it and makes a string of it. A mark stands before each statement, by which its place in the cell is found again.
"""

import ctypes
import re
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path

from burlab.errors import CompileError
from burlab.runtime import address, compile_text, header_folder
from burlab.runtime.quoting import line_directive

from .cell_tokens import Token, scan, unmatched, within_limits
from .cell_words import RESERVED

_MARK = "@burlab"
_DEFINES = re.compile(r"(?:#|%:|\?\?=)\s*(?:define|undef)\s+([^\W\d]\w*)")
_WORD = re.compile(r"(?:#|%:|\?\?=)\s*(\w*)")
_CONDITIONS = ("if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif")
_ERROR = re.compile(r"^(.*?:\d+:)\d+: ((?:fatal )?error: .*)$", re.MULTILINE)
_HEADER = re.compile(r"[\"<]([^\">\0]+)[\">]")
_numbers = count(1)


def directive(token: Token) -> str:
    """The word of a line of the preprocessor, such as `include`; empty for other tokens."""
    found = _WORD.match(token.text) if token.kind == "directive" else None
    return found[1] if found else ""


def headers(row: list[Token], name: str) -> str:
    """The cell's `#include` lines, under their conditions and after its macros, which end with this text.

    Raises CompileError where a path is that of a device or a pipe, which may never end.
    """
    kept = [token for token in row if directive(token) in ("include", "define", "undef", *_CONDITIONS)]
    for token in kept:
        header = _HEADER.search(token.text) if directive(token) == "include" else None
        if header and Path(header[1]).exists() and not Path(header[1]).is_file():
            raise CompileError(f"{name}:{token.line}: error: {header[1]} is not a file. Give the path of a header.")
        macro = _DEFINES.match(token.text)
        if macro and macro[1] in RESERVED:
            raise CompileError(f"{name}:{token.line}: error: {macro[1]} is a word of C++. Give the macro another name.")
    before, after = _keeping_macros(kept)
    lines = "".join(f"{line_directive(token.line, name)}{token.text}\n" for token in kept)
    return f"{before}{lines}{after}"


def burlab_headers(row: list[Token]) -> list[str]:
    """The headers of burlab that a cell includes."""
    found = [_HEADER.search(token.text) for token in row if directive(token) == "include"]
    names = [header[1] for header in found if header]
    return [name for name in names if name.startswith("burlab/") and (header_folder() / name).is_file()]


def macros(row: list[Token]) -> list[str]:
    """The macros that a cell defines."""
    return [found[1] for token in row if (found := _DEFINES.match(token.text)) and directive(token) == "define"]


def has_own_headers(row: list[Token]) -> bool:
    """Return True if a cell includes a file of the user's, by its path."""
    found = [_HEADER.search(token.text) for token in row if directive(token) == "include"]
    return any(header is not None and Path(header[1]).is_file() for header in found)


def expanded(text: str, row: list[Token], name: str) -> tuple[list[Token], dict[int, Token]]:
    """The tokens of the cell without macros and conditions, and which of them begin at which tokens of the cell.

    The line of a token, and its column for `start`, are those of the cell at which its statement begins. Raises
    CompileError.
    """
    marked: list[Token] = []
    pieces: list[str] = []
    part: list[Token] = []
    for token in (*row, None):
        if token and token.kind != "directive":
            part.append(token)
            continue
        pieces.extend(_pieces(text, part, marked, name))
        part = []
        if token and directive(token) in (*_CONDITIONS, "define", "undef"):
            pieces.append(f"{line_directive(token.line, name)}{token.text}\n")
    starts = [token._replace(start=token.start - text.rfind("\n", 0, token.start)) for token in marked]
    found, places = _without_marks(scan(_compiled("".join(pieces), row), name), starts)
    places = {index: marked[number] for index, number in places.items()}
    return list(within_limits(found, name)), places


def _pieces(text: str, part: list[Token], marked: list[Token], name: str) -> Iterator[str]:
    """A part of the cell as arguments of the macro; a bracket without a partner would end or lengthen one."""
    alone, depth, fresh = unmatched(part), 0, True
    row: list[str] = []
    last = part[0].start if part else 0
    for token in part:
        row.append(text[last : token.start])
        last = token.end
        if token.start in alone:
            yield f'BURLAB_CELL_TEXT({"".join(row)}\n)"{token.text} "\n{line_directive(token.line, name)}'
            row = []
            continue
        if fresh and not depth:
            row.append(f" {_MARK}{len(marked)} ")
            marked.append(token)
        depth += (token.text == "(") - (token.text == ")")
        fresh = token.text in (";", "{", "}")
        row.append(text[token.start : last])
    if part:
        yield f"{line_directive(part[0].line, name)}BURLAB_CELL_TEXT({''.join(row)}\n)\n"


def _compiled(pieces: str, row: list[Token]) -> str:
    """The string that the compiler makes of the pieces."""
    before, after = _keeping_macros(row)
    symbol = f"burlab_cell_text_{next(_numbers)}"
    text = (
        '#pragma clang diagnostic push\n#pragma clang diagnostic ignored "-Weverything"\n'
        "#define BURLAB_CELL_STRING(...) #__VA_ARGS__\n"
        '#define BURLAB_CELL_TEXT(...) BURLAB_CELL_STRING(__VA_ARGS__) " "\n'
        f'{before}extern "C" const char* {symbol}() {{ return ""\n{pieces};\n}}\n{after}'
        "#undef BURLAB_CELL_STRING\n#undef BURLAB_CELL_TEXT\n#pragma clang diagnostic pop\n"
    )
    try:
        compile_text(text, users=True)
    except CompileError as error:  # without columns and lines of text, which are of the generated text
        raise CompileError("\n".join(f"{m[1]} {m[2]}" for m in _ERROR.finditer(str(error))) or str(error)) from None
    return ctypes.CFUNCTYPE(ctypes.c_char_p)(address(symbol))().decode(errors="replace")


def _keeping_macros(row: list[Token]) -> tuple[str, str]:
    """Text before and after which all macros that these lines define are what they were."""
    found = dict.fromkeys(match[1] for token in row if (match := _DEFINES.match(token.text)))
    before = "".join(f'#pragma push_macro("{macro}")\n' for macro in found)
    return before, "".join(f'#pragma pop_macro("{macro}")\n' for macro in found)


def _without_marks(row: Iterable[Token], starts: list[Token]) -> tuple[list[Token], dict[int, int]]:
    """The tokens at the places of the marks before them, and the number of the mark before each that has one."""
    found: list[Token] = []
    places: dict[int, int] = {}
    line, column, after_at = 1, 1, False
    for token in row:
        if after_at:
            number = int(token.text.removeprefix(_MARK[1:]))
            places[len(found)] = number
            line, column = starts[number].line, starts[number].start
        elif token.text != "@":
            found.append(token._replace(line=line, start=column))
        after_at = token.text == "@" and not after_at
    return found, places
