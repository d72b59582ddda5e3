"""Terms of a stretch in runs of one kind, the places of their values, and the words that `replay/stretch.hpp` reads."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

from burlab.compiler.ir.arena import rounded
from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.plan import Plan

NUMBERS = LibraryKernel(
    "burlab_numbers", "BURLAB_TURNS(burlab_numbers, Numbers::run)\n", "burlab/kernels/replay/stretch.hpp"
)


class Term(NamedTuple):
    """An operation: the number of its result (-1: none), of its operands, and what else its words say, before these."""

    kind: LibraryKernel
    result: int
    operands: tuple[int, ...]
    said: tuple[int, ...] = ()


class Run(NamedTuple):
    """Terms of one kind."""

    kind: LibraryKernel
    terms: list[Term]


class Values:
    """The values of a plan's stretches, by number: the bytes of each, and which are known numbers."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.known: dict[bytes, int] = {}

    def new(self, nbytes: int) -> int:
        """The number of a further value."""
        self.sizes.append(max(nbytes, 8))
        return len(self.sizes) - 1

    def number(self, content: bytes) -> int:
        """The value that holds a known number, or many lanes of it."""
        if content not in self.known:
            self.known[content] = self.new(len(content))
        return self.known[content]

    @property
    def ordered(self) -> list[tuple[bytes, int]]:
        """The known numbers, those in many lanes first: so they are aligned without gaps."""
        return sorted(self.known.items(), key=lambda item: -len(item[0]))


def in_runs(terms: Sequence[Term]) -> list[Run]:
    """The terms, operands first, in as few runs as come from always taking the kind that most terms are ready for.

    Within a run the order is the one they came in.
    """
    maker = {t.result: k for k, t in enumerate(terms)}
    users: dict[int, list[int]] = defaultdict(list)
    waits = [0] * len(terms)
    ready: dict[LibraryKernel, list[int]] = defaultdict(list)
    for k, t in enumerate(terms):
        for made in {maker[x] for x in t.operands if x in maker}:
            users[made].append(k)
            waits[k] += 1
        if not waits[k]:
            ready[t.kind].append(k)
    runs: list[Run] = []
    done = 0
    while done < len(terms):
        kind, heap = max(ready.items(), key=lambda item: len(item[1]))
        run = Run(kind, [])
        runs.append(run)
        while heap:
            k = heappop(heap)
            run.terms.append(terms[k])
            for user in users[k]:
                waits[user] -= 1
                if not waits[user]:
                    heappush(ready[terms[user].kind], user)
        done += len(run.terms)
    return runs


class Numbers(NamedTuple):
    """The known numbers as bytes, and where they go."""

    start: int
    content: bytes


def numbers_of(values: Values, allocations: Sequence[int]) -> Numbers | None:
    """The known numbers of a plan's stretches, if any."""
    if not values.known:
        return None
    content = b"".join(c.ljust(8, b"\0") for c, _ in values.ordered)
    return Numbers(min(allocations[k] for k in values.known.values()), content.ljust(rounded(len(content)), b"\0"))


class Stretches(NamedTuple):
    """The loops of a plan: the runs of each, where each value lies in the workspace, the numbers to begin with."""

    runs: list[list[Run]]
    allocations: list[int]
    numbers: Numbers | None


@dataclass(frozen=True, kw_only=True)
class ReplayPlan(Plan):
    """A plan whose loops are stretches."""

    stretches: Stretches


def words_of(t: Term, allocations: Sequence[int]) -> list[int]:
    """A term in whole groups of four words: its result, what else it says, its operands."""
    words = [allocations[t.result]] if t.result >= 0 else []
    words += t.said
    words += [allocations[x] for x in t.operands]
    return words + [0] * (-len(words) % 4)


def placed(values: Values, stretches: Iterable[Sequence[Run]], start: int) -> tuple[list[int], int]:
    """The first byte of each value in the workspace, and where they end.

    A place is taken again after its last use, also by the term that uses it: but only by a value of the same size, so
    that a lane is written where it was read.
    """
    allocations = [-1] * len(values.sizes)
    end = rounded(start)
    for _, number in values.ordered:
        allocations[number] = end
        end += values.sizes[number]
    end = rounded(end)
    order = [t for runs in stretches for run in runs for t in run.terms]
    last = {x: k for k, t in enumerate(order) for x in t.operands}
    last.update(dict.fromkeys(values.known.values(), -1))  # they stay
    free: dict[int, list[int]] = defaultdict(list)
    for k, t in enumerate(order):
        for x in set(t.operands):
            if last[x] == k:
                free[values.sizes[x]].append(allocations[x])
        if t.result < 0:
            continue
        size = values.sizes[t.result]
        if free[size]:
            allocations[t.result] = free[size].pop()
        else:
            allocations[t.result] = end if size == 8 else rounded(end)
            end = allocations[t.result] + size
    return allocations, rounded(end)
