"""The traced entries of an array, with the nodes that they come from."""

from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from burlab.graph import hooks
from burlab.graph.handles import Level, level
from burlab.graph.linear_nodes import reshape, slice_
from burlab.graph.node import Node
from burlab.runtime.plain import is_complex
from burlab.typing import Index

from .assemble import Pieces, assemble

if TYPE_CHECKING:
    from burlab.graph.complex.array import Complex

Numbers = np.ndarray[Any, np.dtype[Any]]
_KNOWN = -1


def is_symbolic(value: object) -> bool:
    """Return True for a node, or a traced complex array, which is two nodes."""
    if isinstance(value, Node):
        return True
    return is_complex(value) and not isinstance(value, (complex, np.ndarray, np.generic, list, tuple))


def by_part(f: Callable[[Node], Node], value: "Node | Complex") -> Any:
    """A function of a node, applied to each part of a complex array."""
    return f(value) if isinstance(value, Node) else hooks.complex_numbers().pair(f(value.real), f(value.imag))


class Entries:
    """The traced entries of a block of memory.

    Every node that was written gets a range of addresses, one for each of its elements, as if all of them lay in one
    long array. Each entry of the memory has the address of what it holds, or -1 where its number is known. So indexing,
    broadcasting, views and duplicates are NumPy's own work, done on addresses; no node is made before something is
    read, and what was written over never becomes part of the graph.
    """

    __slots__ = ("_bases", "_cache", "_end", "_nodes", "addresses", "level", "start", "stride")

    def __init__(self, memory: Numbers, level: Level | None) -> None:
        self.level = level
        self.addresses = np.full(memory.size, _KNOWN, np.int64)
        self.start: int = memory.__array_interface__["data"][0]
        self.stride: int = memory.itemsize
        self._nodes: list[Any] = []
        self._bases: list[int] = []
        self._end = 0
        self._cache: dict[Any, Any] = {}

    def of(self, view: Numbers) -> Numbers:
        """The addresses of the entries of a view: a view of them with the same shape."""
        if not view.size:
            return np.empty(view.shape, np.int64)
        first = (view.__array_interface__["data"][0] - self.start) // self.stride
        strides = tuple(step // self.stride * 8 for step in view.strides)
        return np.ndarray(view.shape, np.int64, self.addresses, first * 8, strides)

    def write(self, target: Numbers, key: Index, value: "Node | Complex") -> None:
        """target[key] = value, of addresses. Raises NumPy's errors if they do not fit."""
        if value.shape == ():
            target[key] = self._end
        else:
            target[key] = cast("Numbers", np.arange(self._end, self._end + value.size)).reshape(value.shape)
        self._nodes.append(value)
        self._bases.append(self._end)
        self._end += value.size
        self._hold(value)
        self._cache.clear()

    def _hold(self, value: "Node | Complex") -> None:
        if self.level is not None:
            for part in (value,) if isinstance(value, Node) else (value.real, value.imag):
                self.level.hold(part, self)

    def exchange(self, old: Node, new: Node) -> None:
        """Replace a node among the written values by another, because the first is about to be written to."""
        self._nodes = [_exchanged(n, old, new) for n in self._nodes]
        self._cache.clear()
        self._hold(new)

    def forget(self, target: Numbers, key: Index) -> None:
        """The entries at target[key] are known numbers again."""
        target[key] = _KNOWN
        self._cache.clear()

    def replace(self, value: "Node | Complex") -> None:
        """All entries of the memory, in its order, come from one node."""
        self._nodes, self._bases, self._end = [value], [0], value.size
        self.addresses[:] = np.arange(value.size)
        self._cache.clear()

    def entry(self, address: int) -> Any:
        """The node of one entry."""
        k = bisect_right(self._bases, address) - 1
        value = self._nodes[k]
        if value.shape == ():
            return value
        place = (int(address) - self._bases[k],)
        return by_part(lambda x: reshape(slice_(reshape(x, (x.size,)), place, (1,), (1,)), ()), value)

    def node(self, addresses: Numbers, numbers: Numbers) -> Any:
        """The entries at these addresses; numbers: of the same shape, those of them that are known."""
        key = addresses.__array_interface__["data"][0], addresses.shape, addresses.strides
        shared = addresses.base is not None and self.level is level()
        if shared and (found := self._cache.get(key)) is not None:
            return found
        value = self._assembled(addresses, numbers)
        if shared:
            self._cache[key] = value
            self._hold(value)
        return value

    def _assembled(self, addresses: Numbers, numbers: Numbers) -> Any:
        bases = np.array(self._bases)
        if numbers.dtype.kind != "c":
            return assemble(Pieces(addresses, numbers, self._nodes, bases))
        real = assemble(Pieces(addresses, np.ascontiguousarray(np.real(numbers)), [z.real for z in self._nodes], bases))
        imag = assemble(Pieces(addresses, np.ascontiguousarray(np.imag(numbers)), [z.imag for z in self._nodes], bases))
        return hooks.complex_numbers().pair(real, imag)


def _exchanged(held: "Node | Complex", old: Node, new: Node) -> Any:
    """Return the written values, with one node replaced by another."""
    if isinstance(held, Node) or (held.real is not old and held.imag is not old):
        return new if held is old else held
    return hooks.complex_numbers().pair(new if held.real is old else held.real, new if held.imag is old else held.imag)
