"""Where a node comes from: the line of the user's code, the part of the model, and errors that name the line."""

import inspect
import sys
import threading
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from burlab.errors import TraceError

Origin = tuple[str, int]  # the user's file and line

# As files are named: an environment may lie behind a link. contextlib calls what a context manager decorates.
_LIBRARIES = (
    *{str(home) for file, up in ((__file__, 1), (np.__file__, 0)) for home in
      (Path(file).parents[up], Path(file).resolve().parents[up])},
    contextmanager.__code__.co_filename,
)  # fmt: skip


class _Context(threading.local):
    """What the nodes made now belong to: the module scope, and the line of a node that they are derived from."""

    scope: str = ""
    origin: Origin | None = None
    fault: TraceError | None = None  # the last one made
    recorded: list[Any] | None = None  # the nodes made since `recording` was entered


_context = _Context()


class _Placed(Protocol):
    """A node, as far as this module knows."""

    origin: Origin | None
    scope: str


def current() -> tuple[Origin | None, str]:
    """The line and the scope that a node made now stands for."""
    return _context.origin or user_line(), _context.scope


def user_line() -> Origin | None:
    """File and line of the innermost caller that is neither burlab's nor NumPy's code."""
    frame = inspect.currentframe()
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_LIBRARIES):
            return file, frame.f_lineno
        frame = frame.f_back
    return None


def in_masked_code() -> bool:
    """Whether it was NumPy's module of masked arrays that called burlab."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("burlab"):
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__", "").startswith("numpy.ma")


def location() -> str:
    """The user's line as the beginning of a message: `File "model.py", line 7: ` or `In[3], line 7: `."""
    line = user_line()
    return f"{place(line)}: " if line else ""


def place(origin: Origin) -> str:
    """A line in words: `File "/home/me/model.py", line 7`, or `In[3], line 7` in a notebook."""
    cell = _cell(origin[0])
    return f"{cell}, line {origin[1]}" if cell else f'File "{origin[0]}", line {origin[1]}'


def short_place(origin: Origin | None) -> str:
    """A line in a table: `model.py:7`, or `In[3]:7` in a notebook."""
    return f"{_cell(origin[0]) or Path(origin[0]).name}:{origin[1]}" if origin else ""


def _cell(file: str) -> str | None:
    """The number of the notebook cell that a file name made by IPython stands for."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    compiler: Any = getattr(shell, "compile", None)
    named = compiler.format_code_name(file) if hasattr(compiler, "format_code_name") else None
    return named[1] if named else None


def fault(what: str, remedy: str) -> TraceError:
    """A TraceError that names the user's line, what was met there, and what to write instead."""
    return _made(TraceError(f"{location()}{what}. Use {remedy}."))


def unsupported(name: str, remedy: str) -> TraceError:
    """A TraceError for a NumPy feature that cannot be traced."""
    return _made(TraceError(f"{location()}{name} cannot be traced: {remedy}. What can be is listed in burlab.graph."))


def no_derivative(origin: Origin | None, what: str, remedy: str) -> TraceError:
    """A TraceError for a derivative through an operation, made on a line of the user's, that has none."""
    line = f"{place(origin)}: " if origin else ""
    return TraceError(f"{line}a derivative through {what} is not defined. Use {remedy}.")


def _made(error: TraceError) -> TraceError:
    _context.fault = error
    return error


def forget_fault() -> None:
    """A new trace begins: no error of it can come from a fault of an earlier one."""
    _context.fault = None


def behind(error: BaseException) -> TraceError | None:
    """The fault behind an error of NumPy's on the same line: it replaces what `__float__` or `__index__` raise."""
    found, _context.fault = _context.fault, None
    frames = [f'File "{f.filename}", line {f.lineno}: ' for f in traceback.extract_tb(error.__traceback__)]
    return found if found is not None and any(str(found).startswith(place) for place in frames) else None


def blamed(error: BaseException) -> str:
    """The innermost line of the user's among those that an error came through, as the beginning of a message."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(_LIBRARIES)]
    return f"{place((frames[-1].filename, frames[-1].lineno or 0))}: " if frames else ""


@contextmanager
def scope(name: str) -> Generator[None]:
    """Name the part of a model that the nodes made inside belong to; scopes nest as `outer/inner`.

    >>> from burlab.graph.node import constant
    >>> with scope("attention"), scope("query"):
    ...     constant(1.0).scope
    'attention/query'
    """
    before = _context.scope
    _context.scope = f"{before}/{name}" if before else name
    try:
        yield
    finally:
        _context.scope = before


@contextmanager
def recording() -> Generator[list[Any]]:
    """The nodes made inside: what a sub-graph holds itself, as opposed to what it reads from around it."""
    before, recorded = _context.recorded, list[Any]()
    _context.recorded = recorded
    try:
        yield recorded
    finally:
        _context.recorded = before
        if before is not None:
            before.extend(recorded)


def record_node(n: Any) -> None:
    """A node was made."""
    if _context.recorded is not None:
        _context.recorded.append(n)


class derived_from:
    """Nodes made inside stand for the line and the scope of `node`: sweeps and rewrites keep the user's line."""

    __slots__ = ("_before", "_node")

    def __init__(self, node: _Placed) -> None:
        self._node = node

    def __enter__(self) -> None:
        self._before = (_context.origin, _context.scope)
        _context.origin, _context.scope = self._node.origin, self._node.scope

    def __exit__(self, *exc: object) -> None:
        _context.origin, _context.scope = self._before
