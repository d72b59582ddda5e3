"""The only way of names, paths and labels into C++ text: as literals and comments, never as code."""

import re

from burlab.errors import ConfigurationError
from burlab.runtime.checks.numbers import shown

_SPECIAL = frozenset('"\\?*@')  # ends of literals and comments, escapes, trigraphs, and our own `@unit`
_COMMENT = "  // "
_UNQUOTABLE = re.compile(r'["\\\n\r\0]|\?\?')


def escaped(text: str) -> str:
    r"""Text for a comment or a string literal: what is not printable on one line stands as octal bytes of UTF-8.

    A literal of it is the text again, for the compiler and its messages. It never ends a line, a comment or a literal.

    >>> print(escaped('a"b\n\u2028??/'))
    a\042b\012\342\200\250\077\077/
    """
    if text.isprintable() and _SPECIAL.isdisjoint(text):
        return text
    return "".join(c if c.isprintable() and c not in _SPECIAL else _octal(c) for c in text)


def _octal(c: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in c.encode("utf-8", "surrogatepass"))


def literal(text: str) -> str:
    """A string literal of C++ that is the text."""
    return f'"{escaped(text)}"'


def comment(text: str) -> str:
    """A comment for the end of a line of generated C++."""
    return f"{_COMMENT}{escaped(text)}"


def without_comments(text: str) -> str:
    """Generated C++ without its comments, equal for equal computations."""
    return "\n".join(line.partition(_COMMENT)[0] for line in text.split("\n"))


def line_directive(number: int, name: str) -> str:
    """The line of C++ after which the compiler counts lines from `number` on, of a text called `name`."""
    return f"#line {number} {literal(name)}\n"


def include(header: str) -> str:
    """The line of C++ that includes a header, whose name knows no escapes. Raises ConfigurationError."""
    if _UNQUOTABLE.search(header):
        raise ConfigurationError(
            f"C++ cannot include {shown(header)}: a path with quotes, backslashes, line ends or ?? has no name there. "
            "Move burlab to a folder without them."
        )
    return f'#include "{header}"\n'
