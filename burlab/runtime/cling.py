"""The only way to the C++ interpreter: `declare`.

Rules of the border, each learned by measurement: the same text is never declared twice, so every unit lives in a
namespace named by the hash of its content; `#include` lines stand outside of it; success is what `Declare` returns, not
what it prints; functions are reached by their symbol, because a wrapper made by cppyy costs milliseconds to compile.
"""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence

from burlab.errors import CompileError

from .cache.background import missed
from .cache.store import code_cache, text_hash
from .compiler_turns import compiler_lock
from .cpu import instruction_set
from .interpreter import interpreter
from .quoting import escaped, include, line_directive
from .trial import death_in
from .wait import shielded


class DeadlyText(CompileError):
    """A text of which a copy of this process died."""


_declared: dict[str, str] = {}  # unit text -> namespace
_taken: set[str] = set()  # units and library functions that are in the cache
_included: set[str] = set()
_macros: dict[str, None] = {}  # of users, which burlab's own texts do not see
_OPTIMIZER = re.compile(r"remark: |(?:warning|note): <unknown>:")
_UNIT = re.compile("(burlab_[0-9a-f]{16})_")  # how the names of a unit's functions begin


def declare(body: str, headers: Sequence[str] = (), name: str = "input", needs: Sequence[str] = ()) -> str:
    """Compile C++ once and give the namespace it lives in; a text seen before costs a dictionary look-up.

    body: C++ source; `@unit` in it stands for the namespace, so `extern "C" int @unit_run()` gets a name of its own.
    headers: of burlab, such as `"burlab/ops/table.hpp"`. name: what compiler messages call the text.
    needs: texts compiled before, whose functions the body calls: with others it is another unit.
    Raises CompileError with the compiler's message; everything declared before stays usable.
    """
    text = _whole(body, headers, name, needs)
    if text not in _declared:
        shielded(lambda: _declare(text, body, headers, name))
    return _declared[text]


def is_compiled(body: str, headers: Sequence[str] = (), name: str = "input", needs: Sequence[str] = ()) -> bool:
    """Return True if an earlier call or session has compiled this: then `declare` compiles nothing."""
    text = _whole(body, headers, name, needs)
    return text in _declared or code_cache().holds(_unit(text), text)


def taken(name: str, text: str) -> bool:
    """Return True if a unit or a library function is in the cache and need not be compiled; it is used from now on."""
    if not code_cache().holds(name, text):
        return False
    _taken.add(name)
    return True


def declared() -> Mapping[str, str]:
    """The namespace of each unit so far, and its text."""
    return {unit: text for text, unit in _declared.items()}


def _whole(body: str, headers: Sequence[str], name: str, needs: Sequence[str]) -> str:
    return "\n".join((*headers, *needs, escaped(name), body))


def _unit(text: str) -> str:
    return f"burlab_{text_hash(text)}"


def _declare(text: str, body: str, headers: Sequence[str], name: str) -> None:
    with compiler_lock:
        if text not in _declared:
            unit = _unit(text)
            if not taken(unit, text):
                head = line_directive(1, name)
                _compile_all(f"namespace {unit} {{\n{head}{body.replace('@unit', unit)}\n}}\n", headers)
            _declared[text] = unit


def compile_text(text: str, headers: Sequence[str] = (), users: bool = False) -> None:
    """Hand text to the compiler as it is, for this CPU's instruction set. Use `declare` unless it must not be wrapped.

    Headers are compiled by themselves first: a header that came in with a text that fails would be lost with it, and
    `#pragma once` would keep it from ever coming back. users: whether it is a text of the user's, who sees his macros.
    """
    shielded(lambda: _compile_all(text, headers, users))


def try_text(text: str) -> None:
    """Compile a user's text in a copy of this process, where an interrupt can end that.

    The compiler dies of some texts, and so do initializers of variables. Raises DeadlyText where the copy does; what
    else is wrong is told by `compile_text`.
    """
    with compiler_lock:
        interpreter()
        if death := death_in(lambda: _compile(text, users=True)):
            raise DeadlyText(f"the process that compiles this ends: {death}")


def hide_macros(names: Iterable[str]) -> None:
    """From now on these macros, which a user's text defines, are unknown in burlab's own texts."""
    _macros.update(dict.fromkeys(names))


def _compile_all(text: str, headers: Sequence[str], users: bool = False) -> None:
    with compiler_lock:
        for header in headers:
            if header not in _included:
                _included.add(header)
                _compile(include(header))
        _compile(text, users)


def _compile(text: str, users: bool = False) -> None:
    missed()
    cling = interpreter()
    before, after = instruction_set().pragmas
    if _macros and not users:
        before += "".join(f'#pragma push_macro("{name}")\n#undef {name}\n' for name in _macros)
        after += "\n" + "".join(f'#pragma pop_macro("{name}")\n' for name in _macros)
    done, messages = cling.declare(f"{before}{text}\n{after}", users)
    if not done:
        while before and cling.declare(after)[0]:
            pass  # a text with an open bracket swallows the closing pragma: close the region, or every later text fails
        raise CompileError(_readable(messages))
    sys.stderr.write(_of_the_text(messages))  # warnings belong to the user


def address(symbol: str) -> int:
    """The address of an `extern "C"` function. Raises CompileError where it cannot be linked, for a missing symbol."""
    place, messages = shielded(lambda: _find(symbol))
    if not place:
        raise CompileError(f"The function {symbol} uses what is declared but defined nowhere.\n{messages}".strip())
    return place


def _find(symbol: str) -> tuple[int, str]:
    with compiler_lock:
        unit = _UNIT.match(symbol)
        if (unit[1] if unit else symbol) in _taken:
            return code_cache().find(symbol), ""
        return interpreter().find(symbol)


def _of_the_text(messages: str) -> str:
    """Return the compiler's messages about the text, without its optimizer's remarks on loops, which name no line."""
    return "".join(line for line in messages.splitlines(keepends=True) if not _OPTIMIZER.match(line))


def _readable(messages: str) -> str:
    """The compiler's messages without the notes on how it came there, which name only generated text."""
    lines = [line for line in messages.splitlines() if not re.match(r"In file included from input_line_", line)]
    return "\n".join(lines).strip() or "The C++ compiler gave no message."
