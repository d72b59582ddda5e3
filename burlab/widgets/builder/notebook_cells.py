"""Graphs that were built by hand in a cell of a notebook, so that the cell can be run again without a loss.

A cell that makes a builder makes it as its code says, and what was built by hand is no part of the code. So it is kept
by cell, in this process and in the folder of burlab's files, which outlives the kernel.
"""

import json
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from burlab.errors import BurlabError
from burlab.runtime.cache.store import cache_folder
from burlab.runtime.files import make_folder, read_text, write_text
from burlab.widgets.ipython_shell import ipython_shell, notebook_kernel

from .builder_json import from_json, to_json
from .document import Document
from .undo_history import UndoHistory

_FOLDER = "builders"


@dataclass(frozen=True, slots=True)
class NotebookCell:
    """A cell that shows a builder, the k-th that it shows. notebook: its path, "" where that is not known."""

    name: str
    k: int
    code: str
    notebook: str = ""

    @property
    def key(self) -> tuple[str, str, int]:
        """The identity of the cell, whatever its code."""
        return self.notebook, self.name, self.k


_built: dict[tuple[str, str, int], tuple[str, UndoHistory]] = {}  # the code of the cell, and the state of its builder
_shown: list[Any] = [None, 0]  # the number of the cell that runs, and how many builders it has shown


def history_of(cell: NotebookCell, document: Document) -> UndoHistory:
    """Return the history from which the builder of a cell starts.

    Where the same code ran in this cell before, and its graph was changed by hand, that graph: to undo it gives the one
    that the code makes. Where other code ran there, the one that the code makes: to undo it gives the one before.

    >>> made, changed = Document().add("input")[0], Document().add("input")[0].add("input")[0]
    >>> keep(NotebookCell("a", 0, "b"), UndoHistory().do(made).do(changed))
    >>> again, other = history_of(NotebookCell("a", 0, "b"), made), history_of(NotebookCell("a", 0, "c"), made)
    >>> again.now is changed, again.undone.now is made, other.now is made, other.undone.now is changed
    (True, True, True, True)
    """
    found = _built.get(cell.key) or _saved(cell)
    if found is None:
        return UndoHistory((document,))
    code, before = found
    if code == cell.code:
        return before.do(document).do(before.now)
    return before.do(document)


def keep(cell: NotebookCell, history: UndoHistory) -> None:
    """Store the graph that was built by hand in a cell. A folder that cannot be written is skipped."""
    _built[cell.key] = cell.code, history
    file = _file(cell, write=True)
    if file is None:
        return
    try:
        make_folder(file.parent)
        write_text(file, json.dumps({"code": cell.code, "graph": to_json(history.now)}))
    except (OSError, BurlabError):
        return


def forget() -> None:
    """Forget all that was built in this process: each cell begins anew."""
    _built.clear()


def running_cell() -> NotebookCell | None:
    """Return the cell that runs and shows one more builder; None outside of notebooks."""
    kernel = notebook_kernel()
    if kernel is None:
        return None
    number = ipython_shell().execution_count
    _shown[:] = [number, _shown[1] + 1 if _shown[0] == number else 0]
    parent: Any = kernel.get_parent("shell") or {}
    code = str(parent.get("content", {}).get("code", ""))
    name = str(parent.get("metadata", {}).get("cellId") or sha256(code.encode()).hexdigest())
    return NotebookCell(name, _shown[1], code, os.environ.get("JPY_SESSION_NAME", ""))


def _saved(cell: NotebookCell) -> tuple[str, UndoHistory] | None:
    """Return the graph that another process has stored for a cell."""
    file = _file(cell)
    try:
        if file is None or not file.exists():
            return None
        found: Any = json.loads(read_text(file))
        return str(found["code"]), UndoHistory((from_json(found["graph"]),))
    except (OSError, BurlabError, ValueError, KeyError, TypeError):
        return None  # a damaged file is no reason not to begin


def _file(cell: NotebookCell, write: bool = False) -> Path | None:
    """Return the file of a cell; None if its notebook is unknown, or nothing is stored."""
    folder = cache_folder(write) if cell.notebook else None
    name = sha256(json.dumps(cell.key).encode()).hexdigest()[:24]
    return None if folder is None else folder / _FOLDER / f"{name}.json"
