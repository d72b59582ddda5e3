"""The feed of a loop in C++: `cpp/burlab/run/record/feed.hpp`."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from burlab.run.record.feed import Fresh
from burlab.runtime.structs import CFeedView
from burlab.runtime.wait import SLICE


class LoopFeed:
    """The rows of a loop that predicates have not tested."""

    def __init__(self, call: Callable[..., Any], columns: int) -> None:
        self._call = call
        self._columns = columns

    def wait(self, seconds: float) -> None:
        """Wait until there are many, or the loop rests."""
        self._call("loop_fed", int(min(seconds, SLICE) * 1e3))

    def pending(self) -> bool:
        """Return True if there are new rows."""
        view = self._view()
        return view.taken < view.head

    def fresh(self) -> Fresh:
        """Return the new rows."""
        view = self._view()
        columns = [np.empty(view.head - view.taken) for _ in range(self._columns)]
        for k, column in enumerate(columns):
            self._call("loop_feed_copy", k, view.taken, len(column), column.ctypes.data)
        return Fresh(view.taken, view.generation, columns)

    def take(self, rows: Fresh, hit: int | None, number: int = 0) -> None:
        """Mark rows as tested. hit: the row at which to rest; number: of its breakpoint, 0 for `Stop.when`."""
        end = rows.first + (len(rows) if hit is None else hit + 1)
        self._call("loop_feed_take", rows.generation, end, hit is not None, number)

    def _view(self) -> CFeedView:
        view = CFeedView()
        self._call("loop_feed", ctypes.byref(view))
        return view
