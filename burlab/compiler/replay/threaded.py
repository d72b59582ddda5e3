"""Segments as threaded code (`kernels/replay/threaded.hpp`): which, in what order, and their encoding."""

import ctypes
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from functools import cache
from heapq import heappop, heappush
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np

from burlab.compiler.ir import library
from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.plan import MemoryKind
from burlab.compiler.ir.spelling import C_TYPES, NAMES
from burlab.graph import Node
from burlab.runtime.coerce import Array
from burlab.runtime.kernel_structs import CCall, CInstruction

from .instructions import Instruction, Literals, ThreadedCode, encoded
from .multiply_add import multiply_adds
from .opcodes import CODES, MOVES, PAIRS, Opcode

# How many jumps a CPU predicts, by the operations before them: measured, as the size from which on random graphs are
# faster in groups. A jump that was not predicted costs little compared with an operation on lanes.
PREDICTED, PREDICTED_IN_LANES = 2500, 4500
_BRANCH_HISTORY = 16  # operations by which a CPU predicts a jump
_MIN_NODES_PER_CALL = 50  # nodes for each that is neither sum nor product, at least, where there are many

_INSTRUCTION = np.dtype(CInstruction)
_CALL = np.dtype(CCall)


class _Encoded(NamedTuple):
    """An instruction in memory, with the fields of `_INSTRUCTION`. An address takes y and z."""

    code: int
    result: int = 0
    x: int = 0
    y: int = 0
    z: int = 0


@cache
def thread_kernel(dtype: np.dtype[Any], width: int) -> LibraryKernel:
    """The interpreter of threaded code for numbers of a dtype, `width` lanes of them."""
    symbol = f"burlab_threaded_{NAMES[dtype]}_{width}"
    text = f"BURLAB_INTERPRETER({symbol}, Threaded<{C_TYPES[dtype]}, {width}>::run)\n"
    return LibraryKernel(symbol, text, "burlab/kernels/replay/threaded.hpp")


def suits(nodes: Sequence[Node], lanes: bool) -> bool:
    """Return True if threaded code carries out all nodes of a plan's loops faster than groups do.

    It does where a CPU predicts each jump: where the nodes are few, or the same sequences of operations come again and
    again. Most of many nodes must be sums and products: other functions are faster in groups. lanes: whether some nodes
    have more than one number.
    """
    predicted = PREDICTED_IN_LANES if lanes else PREDICTED
    if len(nodes) <= predicted:
        return True
    calls = sum(n.dtype.kind != "f" or multiply_adds(n.op, len(n.inputs)) is None for n in nodes)
    if calls * _MIN_NODES_PER_CALL > len(nodes):
        return False
    names = [n.op for n in nodes]
    seen = set[tuple[str, ...]]()
    for sequence in zip(*(islice(names, k, None) for k in range(_BRANCH_HISTORY)), strict=False):
        seen.add(sequence)
        if len(seen) > predicted:
            return False
    return True


def in_chains(instructions: Sequence[Instruction]) -> list[Instruction]:
    """The instructions, operands first, each right after one that makes one of its operands where that is possible.

    Stores to the workspace come last, since they may replace what the segment loads.
    """
    last = [i for i in instructions if _fills_workspace(i)]
    instructions = [i for i in instructions if not _fills_workspace(i)]
    maker = {i.result: k for k, i in enumerate(instructions)}
    users: dict[int, list[int]] = defaultdict(list)
    waits = [0] * len(instructions)
    for k, i in enumerate(instructions):
        for made in {maker[x] for x in i.operands if x in maker}:
            users[made].append(k)
            waits[k] += 1
    ready = [k for k, count in enumerate(waits) if not count]
    order: list[Instruction] = []
    follower: int | None = None
    while ready or follower is not None:
        k = heappop(ready) if follower is None else follower
        follower = None
        order.append(instructions[k])
        for user in users[k]:
            waits[user] -= 1
            if waits[user]:
                continue
            if instructions[user].result < 0:
                order.append(instructions[user])
            elif follower is None:
                follower = user
            else:
                heappush(ready, user)
    return order + last


def _fills_workspace(i: Instruction) -> bool:
    return i.result < 0 and i.immediates[0] & 3 == MemoryKind.WORKSPACE


def paired(instructions: Sequence[Instruction], uses: Mapping[int, int]) -> list[Instruction]:
    """The instructions, with two in a row made one where a code does both. uses: how often each value is read."""
    result: list[Instruction] = []
    for i in instructions:
        before = result[-1] if result else None
        if before and i.operands.count(before.result) == uses.get(before.result) == 1:
            k = i.operands.index(before.result)
            if pair := _pair(before, i, k):
                result[-1] = Instruction(pair, i.result, (*before.operands, i.operands[1 - k]))
                continue
        result.append(i)
    return result


def _pair(first: Instruction, second: Instruction, k: int) -> Opcode | None:
    """The opcode of two operations in one, the first of which is operand k of the second."""
    if isinstance(first.operation, Opcode) and isinstance(second.operation, Opcode):
        return PAIRS.get((first.operation, second.operation, k))
    return None


def threaded(thread: ThreadedCode, allocations: Sequence[int], literals: Literals | None) -> tuple[Array, list[Array]]:
    """A segment as threaded code, and the arrays that it points to."""
    codes = _addresses(thread.kernel.symbol)
    entries: list[_Encoded] = []
    held: list[Array] = []
    if literals:
        held.append(np.frombuffer(literals.content, np.uint8))
        y, z = _halves(held[-1].ctypes.data)
        entries.append(_Encoded(codes["literals"], literals.start, len(literals.content), y, z))
    last = -1
    for called, group in groupby(thread.instructions, _called):
        if called is not None:
            words: Array = np.array([word for i in group for word in encoded(i, allocations)], np.uint32)
            call: Array = np.zeros(1, _CALL)
            call["interpreter"] = library.address(called.symbol)
            call["begin"] = words.ctypes.data
            call["end"] = words.ctypes.data + words.nbytes
            held += (words, call)
            y, z = _halves(call.ctypes.data)
            entries.append(_Encoded(codes["call"], y=y, z=z))
            last = -1
            continue
        for i in group:
            name, operands = _code(i, last, codes)
            # A store has no result; its operand stands there instead.
            at, operands = (i.result, operands) if i.result >= 0 else (operands[0], ())
            fields = (*i.immediates, *(allocations[x] for x in operands))
            entries.append(_Encoded(codes[name], allocations[at], *fields))
            last = i.result if i.result >= 0 else last
    entries.append(_Encoded(codes["end"]))
    return np.array(entries, _INSTRUCTION), held


def _called(i: Instruction) -> LibraryKernel | None:
    return None if isinstance(i.operation, Opcode) else i.operation


def _code(i: Instruction, last: int, codes: Container[str]) -> tuple[str, tuple[int, ...]]:
    """The code for operands in memory or in the last result, and the operands in its order."""
    assert isinstance(i.operation, Opcode)
    opcode, operands = i.operation, i.operands
    if opcode in MOVES:
        return opcode, operands
    x, y, *z = operands
    if y == last != x and not opcode.startswith("sub"):
        operands = (y, x, *z)
    where = "".join("l" if x == last else "m" for x in operands)
    choices = (where, where[:2] + "m" * len(z), where[0] + "m" * (1 + len(z)), "m" * (2 + len(z)))
    return next(code for suffix in choices if (code := f"{opcode}_{suffix}") in codes), operands


def _halves(address: int) -> tuple[int, int]:
    return address % 2**32, address >> 32


@cache
def _addresses(symbol: str) -> dict[str, int]:
    """The address of each code: an interpreter writes them where it is called without instructions."""
    addresses = (ctypes.c_uint64 * len(CODES))()
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    function(library.address(symbol))(None, None, addresses, None)
    return dict(zip(CODES, addresses, strict=True))
