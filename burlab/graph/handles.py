"""Arrays that may be written to while a function is traced, and what they hold at present."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

PRESENT: dict[type, Callable[[Any], Any]] = {}
"""What an array of a kind holds now: a node, or a plain array where all numbers are known. `buffers` fills it."""


class Level:
    """One trace under way. An array that was made in it may be written to in it, and in no trace inside of it."""


class _Levels(threading.local):
    """The traces under way on this thread, outermost first."""

    stack: tuple[Level, ...] = ()


_levels = _Levels()


def level() -> Level | None:
    """The innermost trace under way on this thread."""
    stack = _levels.stack
    return stack[-1] if stack else None


@contextmanager
def one_level_deeper() -> Generator[None]:
    """While a function is traced."""
    before = _levels.stack
    _levels.stack = (*before, Level())
    try:
        yield
    finally:
        _levels.stack = before


def present(value: Any) -> Any:
    """What an array that can be written to holds now; anything else as it is."""
    held = PRESENT.get(cast("Any", type(value)))
    return value if held is None else held(value)
