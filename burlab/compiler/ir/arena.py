"""The workspace: values that live at different times share bytes.

Offsets are multiples of 64 bytes. A value may take over the bytes of an operand that dies in the same step, where the
step reads that operand only at the element it is about to write.
"""

import heapq
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from burlab.graph.node import Node, described
from burlab.runtime.memory import physical, rounded, too_large


class Life(NamedTuple):
    """The life of an array: bytes, the steps that first write and last read it, and the arrays it may replace."""

    nbytes: int
    born: int
    dies: int
    replaces: tuple[int, ...] = ()  # numbers of arrays that die in step `born`


class Arena(NamedTuple):
    """The offset of each array, in bytes from the start of the workspace, and the size of the workspace."""

    offsets: tuple[int, ...]
    nbytes: int


def check_fits(arrays: Iterable[Node], nbytes: int) -> None:
    """Raise an error if this machine's memory is too small, with the name of the largest value."""
    if nbytes > physical():
        largest = max(arrays, key=lambda n: n.nbytes)
        raise too_large(f"{described(largest)} has to be stored, and with what lives at the same time", nbytes)


def arrange(lives: Sequence[Life], reuse: bool = True) -> Arena:
    """Allocate bytes for every array; without `reuse` it keeps them to the end, so all values can be read."""
    offsets = [0] * len(lives)
    free = _Free()
    deaths: list[tuple[int, int]] = []  # heap of (last step, array)
    inherited: set[int] = set()
    for k in sorted(range(len(lives)), key=lambda k: lives[k].born):
        life = lives[k]
        while deaths and deaths[0][0] < life.born:
            gone = heapq.heappop(deaths)[1]
            if gone not in inherited:
                free.give(offsets[gone], rounded(lives[gone].nbytes))
        heir = next((r for r in life.replaces if r not in inherited and _fits(life, lives[r])), None) if reuse else None
        if heir is None:
            offsets[k] = free.take(rounded(life.nbytes))
        else:
            offsets[k] = offsets[heir]
            inherited.add(heir)
        if reuse:
            heapq.heappush(deaths, (life.dies, k))
    return Arena(tuple(offsets), free.end)


def _fits(new: Life, old: Life) -> bool:
    return old.dies == new.born and rounded(old.nbytes) == rounded(new.nbytes)


class _Free:
    """Unused bytes: the smallest block that fits is taken, neighbours are joined when given back."""

    def __init__(self) -> None:
        self.end = 0
        self._sizes: dict[int, int] = {}  # start of a free block -> its size
        self._starts: dict[int, int] = {}  # its end -> its start
        self._by_size: list[tuple[int, int]] = []  # heap of (size, start); entries of joined blocks are stale

    def take(self, nbytes: int) -> int:
        if nbytes == 0:
            return 0
        stashed: list[tuple[int, int]] = []
        start = -1
        while self._by_size:
            size, at = heapq.heappop(self._by_size)
            if self._sizes.get(at) != size:
                continue
            if size >= nbytes:
                start = at
                self._forget(at)
                if size > nbytes:
                    self._remember(at + nbytes, size - nbytes)
                break
            stashed.append((size, at))
        for block in stashed:
            heapq.heappush(self._by_size, block)
        if start < 0:
            start = self.end
            self.end += nbytes
        return start

    def give(self, start: int, nbytes: int) -> None:
        if nbytes == 0:
            return
        if start + nbytes in self._sizes:
            nbytes += self._forget(start + nbytes)
        if start in self._starts:
            before = self._starts[start]
            nbytes += self._forget(before)
            start = before
        self._remember(start, nbytes)

    def _remember(self, start: int, size: int) -> None:
        self._sizes[start] = size
        self._starts[start + size] = start
        heapq.heappush(self._by_size, (size, start))

    def _forget(self, start: int) -> int:
        size = self._sizes.pop(start)
        del self._starts[start + size]
        return size
