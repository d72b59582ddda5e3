"""The tokens of a `%%cpp` cell, before and after the preprocessor, as far as the shape of the text needs them."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from burlab.errors import CompileError

# The compiler walks these recursively, and at twice to ten times as many it runs out of stack, which ends the process.
MAX_DEPTH = 256  # brackets within brackets
MAX_OPERATORS = 1000  # of one statement
MAX_COMMAS = 5000  # of one statement, lists in braces apart
MAX_ELSE = 2000  # of one function
MAX_CONDITION = 8192  # characters of a line of the preprocessor with a condition

_TOKEN = re.compile(
    r"""(?P<space>(?:[ \t\n\f\v]|\\[ \t]*\n)+|//(?:\\[ \t]*\n|[^\n])*|/\*.*?\*/)
    |(?P<unfinished>/\*|(?:u8|[uUL])?R"(?=[^()\\\s"]{0,16}\()(?!(?P<fence>[^()\\\s"]{0,16})\(.*?\)(?P=fence)"))
    |(?P<literal>(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\(.*?\)(?P=mark)"[A-Za-z_]?\w*
       |(?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')[A-Za-z_]?\w*
       |\.?\d(?:[eEpP][+-]|'?[\w.])*)
    |(?P<name>[^\W\d]\w*)
    |(?P<sign>::|->|\.\.\.|\+\+|--|&&|\|\||<%|%>|<:|:>|<=>|<<=?|[-+*/%&|^!=<>]=|.)""",
    re.VERBOSE | re.DOTALL,
)
_DIGRAPHS = {"<%": "{", "%>": "}", "<:": "[", ":>": "]"}
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_BEFORE_BLOCKS = frozenset(") ; } else do try const noexcept override final".split())
_FLAT = frozenset(", ; { } ) ] . -> :: ...".split())
_DEEPER = frozenset(("if", "else", "for", "while", "do", "sizeof", "co_await", "new", "delete", "throw"))
_LIMITS = {
    MAX_DEPTH: "brackets within brackets",
    MAX_OPERATORS: "operators in one statement",
    MAX_COMMAS: "commas in one statement",
    MAX_ELSE: "branches in one function",
    MAX_CONDITION: "characters in one condition of the preprocessor",
}
_DIRECTIVE = re.compile(r"(?:\#|%:|\?\?=)(?:/\*.*?\*/|\\[ \t]*\n|//[^\n]*|[^\n])*", re.DOTALL)


class Token(NamedTuple):
    """A token, or a whole line of the preprocessor, and where it stands: offsets, and a line that counts from 1."""

    kind: str  # name, literal, sign, directive
    text: str
    line: int
    start: int
    end: int


def tokens(text: str, name: str = "cell") -> list[Token]:
    """The tokens of a cell, without comments. Raises CompileError where a comment or a raw string has no end.

    >>> [token.text for token in tokens('int x; // of use')]
    ['int', 'x', ';']
    """
    return list(within_limits(scan(text, name), name))


def scan(text: str, name: str) -> Iterator[Token]:
    """The tokens as they come, however many."""
    at, line, fresh = 0, 1, True
    while at < len(text):
        found = _DIRECTIVE.match(text, at) if fresh else None
        kind = "directive" if found else ""
        found = found or _TOKEN.match(text, at)
        assert found  # the last alternative takes any character
        kind = kind or found.lastgroup or ""
        kind = {"mark": "literal", "fence": "unfinished"}.get(kind, kind)
        if kind == "unfinished":
            what = "comment" if found[0] == "/*" else "raw string"
            raise CompileError(f"{name}:{line}: error: this {what} has no end. Close it: {_ends(text, at)}")
        if kind != "space":
            yield Token(kind, _DIGRAPHS.get(found[0], found[0]), line, at, found.end())
        count = found[0].count("\n")
        fresh = (fresh or count > 0) if kind == "space" else False
        at, line = found.end(), line + count


def _ends(text: str, at: int) -> str:
    return "*/" if text.startswith("/*", at) else '){}"'.format(re.split(r"[\"(]", text[at:], maxsplit=2)[1])


def within_limits(found: Iterable[Token], name: str) -> Iterator[Token]:
    """The same tokens; CompileError where the compiler would run out of stack."""
    opened: list[str] = []
    before = ""
    operators = commas = branches = 0
    for token in found:
        text = token.text
        if text in _OPENING:
            block = text == "{" and (before in _BEFORE_BLOCKS or (before == "{" and opened[-1:] == ["block"]))
            opened.append("block" if block else text)
        elif text in _CLOSING and opened:
            opened.pop()
        ends = text in (";", "{", "}") or token.kind == "directive" or (text == "," and opened[-1:] in ([], ["{"]))
        operators = 0 if ends else operators + (text in _DEEPER or (token.kind == "sign" and text not in _FLAT))
        commas = 0 if ends else commas + (text == ",")
        branches = branches + (text == "else") if opened else 0
        condition = len(text) * (token.kind == "directive" and "if" in text[:20])
        counts = (len(opened), operators, commas, branches, condition)
        for count, (most, what) in zip(counts, _LIMITS.items(), strict=True):
            if count > most:
                raise CompileError(
                    f"{name}:{token.line}: error: more than {most} {what}, for which the compiler lacks the stack. "
                    "Split it: into several statements, functions, or an array and a loop."
                )
        before = text
        yield token


def unmatched(row: list[Token]) -> set[int]:
    """The offsets of round brackets without a partner in a row of tokens."""
    opened: list[int] = []
    alone: set[int] = set()
    for token in row:
        if token.text == "(":
            opened.append(token.start)
        elif token.text == ")":
            if opened:
                opened.pop()
            else:
                alone.add(token.start)
    return alone.union(opened)
