"""Scalar operations of users: a struct of C++ becomes a row beside those of the tables.

The text goes into a header of its own, whose name holds a fingerprint of it, as the name of the operation in graphs
does: a rule that is changed is another operation, and a file says which one it needs.
"""

import hashlib
import json
import re
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from burlab.errors import ArgumentError, CompileError
from burlab.runtime.cache.store import cache_folder
from burlab.runtime.checks.numbers import shown
from burlab.runtime.files import read_bytes, write_whole
from burlab.runtime.quoting import line_directive

from .scalar import add
from .scalar_row import ScalarOp

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_STRUCT = re.compile(r"\bstruct\s+([A-Za-z_]\w*)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
_refused: dict[str, CompileError] = {}  # by operation: a header that failed cannot be included again


def register(name: str, text: str, struct: str = "") -> ScalarOp:
    """The row of a struct in a text, the last one by default. Raises ArgumentError and CompileError."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):  # pyright: ignore[reportUnnecessaryIsInstance] - users
        raise ArgumentError(
            f"an operation was named {shown(name)}; expected small letters, digits and _, as soft_sign."
        )
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass anything
        raise ArgumentError(f"the text of the operation {name} is a {type(text).__name__}, expected C++ as a str.")
    struct = struct or next(reversed(_STRUCT.findall(_COMMENT.sub(" ", text))), "")
    if not struct:
        raise ArgumentError(
            f"the text of the operation {name} has no struct. Write `struct {name.capitalize()} {{ ... }};` with "
            "templates `primal(x...)` and `partial<K>(x..., y)`."
        )
    op = f"{name}_{fingerprint(text, struct)}"
    if op in _refused:
        raise _refused[op]
    file = _folder() / f"{op}.hpp"
    header = _header(op, name, struct, text).encode()
    if _content(file) != header:  # the compiler takes a new file in its place for the old one
        write_whole(file, [header])
    try:
        row = add(op, str(file), f"users::{op}::Operation")
    except CompileError as error:
        _refused[op] = error
        raise
    if not row.arity:
        raise ArgumentError(
            f"the operation {name}: {struct}::primal takes no numbers of one type, or more than four. Write "
            "`template <class T> static T primal(T x)`, with up to four arguments."
        )
    return row


def fingerprint(text: str, struct: str) -> str:
    """Eight digits of a struct in a text, without comments and layout.

    >>> fingerprint("struct  A; // one", "A") == fingerprint("struct A;", "A")
    True
    """
    words = [*_COMMENT.sub(" ", text).split(), struct]
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:8]


def _header(op: str, name: str, struct: str, text: str) -> str:
    includes = "\n".join(_INCLUDE.findall(text))
    return f"""#ifndef BURLAB_{op}
#define BURLAB_{op}
#include "burlab/ops/user.hpp"
{includes}
BURLAB_BEGIN
namespace burlab::ops::users::{op} {{
{line_directive(1, name)}{_INCLUDE.sub("", text)}
struct Operation : {struct} {{
  static constexpr auto name = {json.dumps(op)};
  static constexpr int arity = arity_of<{struct}>();
  static constexpr auto doc = {json.dumps(f"The operation {name} of a user.")};
}};
}}
BURLAB_END
#endif
"""


def _content(file: Path) -> bytes | None:
    with suppress(OSError):
        return read_bytes(file)
    return None


@cache
def _folder() -> Path:
    """Return the folder of the headers: in the user's cache, or one of this process."""
    folder = cache_folder(write=True)
    if folder is None:
        return Path(_temporary().name)
    (folder / "operations").mkdir(parents=True, exist_ok=True)
    return folder / "operations"


@cache
def _temporary() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="burlab-operations-")
