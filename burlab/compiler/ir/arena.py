"""The workspace: values that live at different times share bytes.

Offsets are multiples of 64 bytes. A value may take over the bytes of an operand that dies in the same step, where the
step reads that operand only at the element it is about to write.
"""

import heapq
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from burlab.graph.node import Node, described
from burlab.runtime.memory import physical, rounded, too_large

_MIN_BYTES = 1 << 20  # of a workspace that is worth another order
_PARTS = 16  # another order saves at least one of so many parts
_LARGE = 64  # blocks of at least one of so many parts of the peak are ordered by size
_MAX_LARGE = 512  # blocks ordered by size, each of which meets those before


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
    offsets, roots, end = _in_order(lives, reuse)
    if not reuse or end < _MIN_BYTES:
        return Arena(tuple(offsets), end)
    blocks = _blocks(lives, roots)
    least = _peak(blocks.values())
    if end * (_PARTS - 1) <= least * _PARTS:
        return Arena(tuple(offsets), end)
    places, other = _large_first(blocks, max(least // _LARGE, 1))
    if other * _PARTS > end * (_PARTS - 1):
        return Arena(tuple(offsets), end)
    return Arena(tuple(places[root] for root in roots), other)


def _in_order(lives: Sequence[Life], reuse: bool) -> tuple[list[int], list[int], int]:
    """Offsets as arrays are written, for each array the one that had its bytes first, and the bytes in all."""
    offsets, roots = [0] * len(lives), list(range(len(lives)))
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
            offsets[k], roots[k] = offsets[heir], roots[heir]
            inherited.add(heir)
        if reuse:
            heapq.heappush(deaths, (life.dies, k))
    return offsets, roots, free.end


def _fits(new: Life, old: Life) -> bool:
    return old.dies == new.born and rounded(old.nbytes) == rounded(new.nbytes)


def _blocks(lives: Sequence[Life], roots: Sequence[int]) -> dict[int, Life]:
    """The lives of bytes that arrays take over from each other, by the first array."""
    blocks: dict[int, Life] = {}
    for k in sorted(range(len(lives)), key=lambda k: lives[k].born):
        first = blocks.get(roots[k], lives[k])
        blocks[roots[k]] = Life(rounded(first.nbytes), first.born, max(first.dies, lives[k].dies))
    return blocks


def _peak(blocks: Iterable[Life]) -> int:
    """The most bytes that live at one time."""
    changes: dict[int, int] = {}
    for life in blocks:
        changes[life.born] = changes.get(life.born, 0) + life.nbytes
        changes[life.dies + 1] = changes.get(life.dies + 1, 0) - life.nbytes
    alive = most = 0
    for step in sorted(changes):
        alive += changes[step]
        most = max(most, alive)
    return most


def _large_first(blocks: dict[int, Life], large: int) -> tuple[dict[int, int], int]:
    """Offsets of blocks, and the bytes in all: the large ones by their size, the others behind, as they are written.

    Pisarchyk and Lee 2020, "Efficient memory management for deep neural net inference", arXiv:2001.03288, Algorithm 3:
    the largest block comes first, into the smallest gap between those that live at the same time.
    """
    chosen = sorted((k for k, life in blocks.items() if life.nbytes >= large), key=lambda k: -blocks[k].nbytes)
    chosen = chosen[:_MAX_LARGE]
    places: dict[int, int] = {}
    for k in chosen:
        life = blocks[k]
        together = [o for o in places if blocks[o].born <= life.dies and life.born <= blocks[o].dies]
        places[k] = _gap(sorted((places[o], places[o] + blocks[o].nbytes) for o in together), life.nbytes)
    bottom = max((places[k] + blocks[k].nbytes for k in chosen), default=0)
    rest = [k for k in blocks if k not in places]
    offsets, _, above = _in_order([blocks[k] for k in rest], True)
    return places | {k: bottom + at for k, at in zip(rest, offsets, strict=True)}, bottom + above


def _gap(taken: Iterable[tuple[int, int]], nbytes: int) -> int:
    """The start of the smallest gap that holds so many bytes. taken: start and end of what is taken, in order."""
    at = best = 0
    size: int | None = None
    for start, end in taken:
        if start - at >= nbytes and (size is None or start - at < size):
            best, size = at, start - at
        at = max(at, end)
    return at if size is None else best


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
