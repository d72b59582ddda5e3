"""Undo and redo: every state of a document, and which one it is now."""

from dataclasses import dataclass
from typing import Any

from .document import Document

_MAX_STATES = 1000  # states that one can go back


@dataclass(frozen=True, slots=True)
class UndoHistory:
    """States in a row; `at` is the number of the present one. tag: what changed last, so that a drag is one step.

    >>> history = UndoHistory().do(Document().add("input")[0])
    >>> len(history.now), len(history.undone.now), history.undone.redone == history
    (1, 0, True)
    """

    states: tuple[Document, ...] = (Document(),)
    at: int = 0
    tag: Any = None

    @property
    def now(self) -> Document:
        """The present state."""
        return self.states[self.at]

    def do(self, document: Document, tag: Any = None) -> "UndoHistory":
        """Return the history after a change, without undone ones. A change with the tag of the last one joins it."""
        if document is self.now:
            return self
        joins = tag is not None and tag == self.tag and self.at == len(self.states) - 1 and self.at > 0
        retained = self.states[: self.at + (not joins)][-_MAX_STATES:]
        return UndoHistory((*retained, document), len(retained), tag)

    @property
    def undone(self) -> "UndoHistory":
        """One state back, if there is one."""
        return UndoHistory(self.states, max(self.at - 1, 0))

    @property
    def redone(self) -> "UndoHistory":
        """One state on, if there is one."""
        return UndoHistory(self.states, min(self.at + 1, len(self.states) - 1))

    @property
    def can_undo(self) -> bool:
        """Return True if there is an earlier state."""
        return self.at > 0

    @property
    def can_redo(self) -> bool:
        """Return True if there is a later state."""
        return self.at < len(self.states) - 1
