"""Arrays that may be written to while a function is traced, and their present contents."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

PRESENT: dict[type, Callable[[Any], Any]] = {}
"""What an array of a kind holds now: a node, or a plain array where all numbers are known. `buffers` fills it."""


class Level:
    """One trace under way. An array that was made in it may be written to in it, and in no trace inside of it.

    nodes: all that were made in it, in order. inputs: its arguments; replaced: what stands for one that was written to.
    views: of a node that shares memory with another, that one, and how it is made of it. holders: the arrays that hold
    a node.
    """

    __slots__ = ("holders", "inputs", "nodes", "replaced", "views")

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.inputs: tuple[Any, ...] = ()
        self.replaced: dict[Any, Any] = {}
        self.views: dict[Any, tuple[Any, Callable[[Any], Any]]] = {}
        self.holders: dict[Any, list[Any]] = {}

    def hold(self, node: object, holder: object) -> None:
        """Note that an array holds a node: later writes to that node do not change the array."""
        self.holders.setdefault(node, []).append(holder)


class _Levels(threading.local):
    """The traces under way on this thread, outermost first."""

    stack: tuple[Level, ...] = ()


_levels = _Levels()


def level() -> Level | None:
    """The innermost trace under way on this thread."""
    stack = _levels.stack
    return stack[-1] if stack else None


@contextmanager
def one_level_deeper() -> Generator[Level]:
    """While a function is traced."""
    before, current = _levels.stack, Level()
    _levels.stack = (*before, current)
    try:
        yield current
    finally:
        _levels.stack = before
        if before:
            before[-1].nodes.extend(current.nodes)


def record(node: object) -> None:
    """A node was made."""
    if _levels.stack:
        _levels.stack[-1].nodes.append(node)


def present(value: object) -> Any:
    """Return the current content of an array that can be written to; anything else as it is."""
    held = PRESENT.get(cast("Any", type(value)))
    return value if held is None else held(value)
