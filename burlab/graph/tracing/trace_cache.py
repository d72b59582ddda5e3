"""Results of traces, by the structure of the traced functions: a second run of equal functions traces nothing."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

from burlab.graph.executions import every_node
from burlab.graph.graph import Graph

from .chance import frozen_count
from .function_structure import Structure, structure_of
from .trace import is_tracing

MAX_ENTRIES = 64
MAX_CONSTANT_BYTES = 64 << 20  # of the arrays in the graphs of all entries of a cache

T = TypeVar("T")

_caches: "list[TraceCache[Any]]" = []
"""All of them: each belongs to a module."""


class TraceCache(Generic[T]):
    """Results by keys: the ones used last, as long as the arrays in their graphs are not too large together.

    graphs: those of a result. Several threads may use it at once.
    """

    def __init__(self, graphs: Callable[[T], Sequence[Graph]], most: int = MAX_ENTRIES) -> None:
        self._graphs = graphs
        self._most = most
        self._entries: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._nbytes = 0
        self._lock = threading.Lock()
        _caches.append(self)

    def find(self, key: Hashable) -> T | None:
        """Return the result of a key, if it is there."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: T) -> None:
        """Store a result in place of those that were used the longest ago."""
        nbytes = sum(map(constant_bytes, self._graphs(value)))
        with self._lock:
            self._nbytes += nbytes - self._entries.pop(key, (None, 0))[1]
            self._entries[key] = value, nbytes
            while len(self._entries) > self._most or self._nbytes > MAX_CONSTANT_BYTES:
                self._nbytes -= self._entries.popitem(last=False)[1][1]

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._entries.clear()
            self._nbytes = 0

    def traced(self, key: Hashable, values: Sequence[Any], structure: Structure | None, make: Callable[[], T]) -> T:
        """Return the result for values of this structure; trace them if it is not there: see `traced_anew`."""
        if structure is not None and (found := self.find((key, structure))) is not None:
            return found
        made, lasts = traced_anew(values, structure, make)
        if lasts:
            self.put((key, structure), made)
        return made


def traced_anew(values: Sequence[Any], structure: Structure | None, make: Callable[[], T]) -> tuple[T, bool]:
    """Return what tracing the values gives, and whether it stays right for values of this structure.

    It does not if the values changed themselves, or a warning said that numbers were frozen. structure: None for values
    inside of another trace.
    """
    count = frozen_count()
    made = make()
    return made, structure is not None and count == frozen_count() and structure_of(values) == structure


def forget_traces() -> None:
    """Forget the results of all traces, for tests that change burlab itself."""
    for cache in _caches:
        cache.clear()


def structure_outside(values: Sequence[Any]) -> Structure | None:
    """Return the structure of values; None inside of a trace, whose own values they may hold."""
    return None if is_tracing() else structure_of(values)


def constant_bytes(graph: Graph) -> int:
    """Return the bytes of the arrays in a graph."""
    return sum(n.nbytes for n in every_node(graph) if n.is_constant)
