"""The origin of a node: the line of the user's code, and the part of the model."""

import inspect
import linecache
import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .handles import record

if TYPE_CHECKING:
    from .node import Node

Origin = tuple[str, int]  # the user's file and line


class RecordedFile(str):
    """The file of a line in a graph that was read from a document, which may name any: it is text, never opened."""

    __slots__ = ()


# Folders, as files are named: an environment may lie behind a link.
_FOLDERS = tuple(
    str(home) + os.sep
    for home in {
        *(Path(file).parents[up] for file, up in ((__file__, 1), (np.__file__, 0))),
        *(Path(file).resolve().parents[up] for file, up in ((__file__, 1), (np.__file__, 0))),
        *(home.parents[1] / "scipy" for home in (Path(np.__file__), Path(np.__file__).resolve())),
    }
)
_DECORATORS = contextmanager.__code__.co_filename  # contextlib calls what a context manager decorates
_TABLES = tuple(f"{os.sep}{folder}{os.sep}pandas{os.sep}" for folder in ("site-packages", "dist-packages"))


class _Context(threading.local):
    """The module scope of new nodes, and the line of a node that they are derived from."""

    scope: str = ""
    origin: Origin | None = None
    recorded: list[Any] | None = None  # the nodes made since `recording` was entered


_context = _Context()


class _Placed(Protocol):
    """A node, as this module uses it."""

    origin: Origin | None
    scope: str


def current() -> tuple[Origin | None, str]:
    """The line and the scope of a node built now."""
    return _context.origin or user_line(), _context.scope


@lru_cache(maxsize=4096)
def is_users(file: str) -> bool:
    """Return True for a file of the user's: neither burlab's nor NumPy's nor SciPy's nor pandas'."""
    return not file.startswith(_FOLDERS) and file != _DECORATORS and not any(part in file for part in _TABLES)


def user_line() -> Origin | None:
    """File and line of the innermost caller whose code is the user's."""
    frame = inspect.currentframe()
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file):
            return file, frame.f_lineno
        frame = frame.f_back
    return None


def in_masked_code() -> bool:
    """Return True if NumPy's module of masked arrays called burlab."""
    frame = caller()
    return frame is not None and frame.f_globals.get("__name__", "").startswith("numpy.ma.")


def in_matrix_code() -> bool:
    """Return True if np.matrix called burlab."""
    frame = caller()
    return frame is not None and frame.f_globals.get("__name__", "") == "numpy.matrixlib.defmatrix"


def in_vectorize() -> bool:
    """Return True if np.vectorize called burlab."""
    frame = caller()
    return frame is not None and frame.f_code.co_qualname.startswith("vectorize.")


def in_poly1d() -> bool:
    """Return True if np.poly1d called burlab."""
    frame = caller()
    return frame is not None and frame.f_code.co_qualname.startswith("poly1d.")


def in_sparse_operator() -> bool:
    """Return True if an operator of one of SciPy's sparse matrices called burlab."""
    frame = caller()
    names = ("_matmul_dispatch", "_mul_dispatch", "_rmatmul_dispatch", "_rmul_dispatch")
    in_sparse = frame is not None and frame.f_globals.get("__name__", "").startswith("scipy.sparse")
    return in_sparse and frame is not None and frame.f_code.co_name in names


def in_pandas() -> bool:
    """Return True if pandas called burlab."""
    frame = caller()
    return frame is not None and package_of(frame) == "pandas"


def caller() -> FrameType | None:
    """The first frame that is not burlab's."""
    frame = inspect.currentframe()
    while frame is not None and package_of(frame) == "burlab":
        frame = frame.f_back
    return frame


def package_of(frame: FrameType) -> str:
    """The package that the code of a frame belongs to: `numpy` for a function of numpy.linalg."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


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
    """The number of the notebook cell of a file name from IPython."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    compiler: Any = getattr(shell, "compile", None)
    named = compiler.format_code_name(file) if hasattr(compiler, "format_code_name") else None
    return named[1] if named else None


def source(origin: Origin) -> str:
    """The text of a line, as far as it is the user's own code and its file can be read."""
    file = Path(origin[0])
    if isinstance(origin[0], RecordedFile) or (file.exists() and not file.is_file()):
        return ""
    return linecache.getline(*origin).strip()


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


def record_node(n: "Node") -> None:
    """A node was made."""
    record(n)
    if _context.recorded is not None:
        _context.recorded.append(n)


class derived_from:
    """Give nodes built inside the line and the scope of `node`, so that sweeps and rewrites keep the user's line."""

    __slots__ = ("_before", "_node")

    def __init__(self, node: _Placed) -> None:
        self._node = node

    def __enter__(self) -> None:
        self._before = (_context.origin, _context.scope)
        _context.origin, _context.scope = self._node.origin, self._node.scope

    def __exit__(self, *exc: object) -> None:
        _context.origin, _context.scope = self._before
