"""Instructions of segments: in groups of one operation each, or as threaded code, and where their values lie."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.plan import KernelPlan
from burlab.runtime.memory import rounded

from .opcodes import Opcode


class Instruction(NamedTuple):
    """An operation on values, which are numbered. result: -1 where there is none.

    operation: a kernel that carries out a list of instructions, or an operation of threaded code. immediates: operands
    that stand in the instruction itself; its encoding has them before the others.
    """

    operation: LibraryKernel | Opcode
    result: int
    operands: tuple[int, ...]
    immediates: tuple[int, ...] = ()


class InstructionGroup(NamedTuple):
    """Instructions of one operation: a loop in `kernel` carries them out."""

    kernel: LibraryKernel
    instructions: Sequence[Instruction]


class ThreadedCode(NamedTuple):
    """Instructions of any operations, carried out by `kernel` as threaded code (`threaded.py`)."""

    kernel: LibraryKernel
    instructions: Sequence[Instruction]


Segment = ThreadedCode | tuple[InstructionGroup, ...]  # a loop of a plan


def instructions_of(segment: Segment) -> list[Instruction]:
    """The instructions of a segment, in order."""
    groups = (segment,) if isinstance(segment, ThreadedCode) else segment
    return [i for group in groups for i in group.instructions]


class SegmentValues:
    """The values of a plan's segments, by number: the bytes of each, and which are literals."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.literals: dict[bytes, int] = {}

    def new(self, nbytes: int) -> int:
        """The number of a further value."""
        self.sizes.append(max(nbytes, 8))
        return len(self.sizes) - 1

    def literal(self, content: bytes) -> int:
        """The value that holds a known number, or many lanes of it."""
        if content not in self.literals:
            self.literals[content] = self.new(len(content))
        return self.literals[content]

    @property
    def ordered(self) -> list[tuple[bytes, int]]:
        """The literals, those in many lanes first: so they are aligned without gaps."""
        return sorted(self.literals.items(), key=lambda item: -len(item[0]))


def in_groups(instructions: Sequence[Instruction]) -> list[InstructionGroup]:
    """The instructions, each after its operands, in few groups: the next is always the one with most ready members.

    Within a group the order is the one they came in.
    """
    maker = {i.result: k for k, i in enumerate(instructions)}
    users: dict[int, list[int]] = defaultdict(list)
    waits = [0] * len(instructions)
    ready: dict[LibraryKernel, list[int]] = defaultdict(list)
    for k, i in enumerate(instructions):
        for made in {maker[x] for x in i.operands if x in maker}:
            users[made].append(k)
            waits[k] += 1
        if not waits[k]:
            ready[_kernel(i)].append(k)
    groups: list[InstructionGroup] = []
    done = 0
    while done < len(instructions):
        kernel, heap = max(ready.items(), key=lambda item: len(item[1]))
        members: list[Instruction] = []
        while heap:
            k = heappop(heap)
            members.append(instructions[k])
            for user in users[k]:
                waits[user] -= 1
                if not waits[user]:
                    heappush(ready[_kernel(instructions[user])], user)
        groups.append(InstructionGroup(kernel, members))
        done += len(members)
    return groups


def _kernel(instruction: Instruction) -> LibraryKernel:
    assert isinstance(instruction.operation, LibraryKernel), "an operation of threaded code in a group"
    return instruction.operation


class Literals(NamedTuple):
    """The literals of a plan as bytes, and where in the workspace they go."""

    start: int
    content: bytes


def literals_of(values: SegmentValues, allocations: Sequence[int]) -> Literals | None:
    """The literals of a plan's segments, if any."""
    if not values.literals:
        return None
    content = b"".join(c.ljust(8, b"\0") for c, _ in values.ordered)
    start = min(allocations[k] for k in values.literals.values())
    return Literals(start, content.ljust(rounded(len(content)), b"\0"))


class Segments(NamedTuple):
    """The loops of a plan, where each of their values lies in the workspace, and the literals to begin with."""

    segments: list[Segment]
    allocations: list[int]
    literals: Literals | None


@dataclass(frozen=True, kw_only=True)
class ReplayPlan(KernelPlan):
    """A plan whose loops are segments."""

    replay: Segments


def encoded(instruction: Instruction, allocations: Sequence[int]) -> list[int]:
    """An instruction of a group as 32-bit words, a multiple of four: its result, its immediates, its operands."""
    words = [allocations[instruction.result]] if instruction.result >= 0 else []
    words += instruction.immediates
    words += [allocations[x] for x in instruction.operands]
    return words + [0] * (-len(words) % 4)


def placed(values: SegmentValues, segments: Iterable[Segment], start: int) -> tuple[list[int], int]:
    """The first byte of each value in the workspace, and where they end.

    A place is taken again after its last use, also by the instruction that uses it: but only by a value of the same
    size, so that a lane is written where it was read.
    """
    allocations = [-1] * len(values.sizes)
    end = rounded(start)
    for _, number in values.ordered:
        allocations[number] = end
        end += values.sizes[number]
    end = rounded(end)
    order = [i for segment in segments for i in instructions_of(segment)]
    last = {x: k for k, i in enumerate(order) for x in i.operands}
    last.update(dict.fromkeys(values.literals.values(), -1))  # they stay
    free: dict[int, list[int]] = defaultdict(list)
    for k, i in enumerate(order):
        for x in set(i.operands):
            if last[x] == k:
                free[values.sizes[x]].append(allocations[x])
        if i.result < 0:
            continue
        size = values.sizes[i.result]
        if free[size]:
            allocations[i.result] = free[size].pop()
        else:
            allocations[i.result] = end if size == 8 else rounded(end)
            end = allocations[i.result] + size
    return allocations, rounded(end)
