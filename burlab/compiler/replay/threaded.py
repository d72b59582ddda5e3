"""Stretches as threaded code, see `kernels/replay/threaded.hpp`: which, its terms, their order and words."""

import ctypes
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from heapq import heappop, heappush
from itertools import groupby, islice
from typing import Any

import numpy as np

from burlab.compiler.ir import library
from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.plan import Kind
from burlab.compiler.ir.spelling import C_TYPES, NAMES
from burlab.graph import Node
from burlab.runtime.coerce import Array

from .multiply_add import multiply_adds
from .terms import Numbers, Term, words_of

# How many jumps a CPU learns, told apart by the operations before them: measured, as the size from which on random
# graphs are faster in runs. A jump that was not learned costs less beside an operation on lanes.
LEARNED, LEARNED_IN_LANES = 2500, 4500
_BEFORE = 16  # operations that tell a jump from others
_CALLED = 50  # nodes for each that is neither sum nor product, at least, where there are many

# terms that the threaded code carries out itself: x y, x + y, x - y, x y + z; moves, of lanes with a stride or without
PRODUCT, SUM, DIFFERENCE, MULTIPLY_ADD, FETCH, SPREAD, GATHER, KEEP, SCATTER = (
    LibraryKernel(name, "", "") for name in "mul add sub mul_add fetch spread gather keep scatter".split()
)
# two of them, where nothing else reads the first: by the second, and by which of its operands the first is
_PAIRS = {
    (first, second, k): LibraryKernel(f"{first.symbol}_{name}", "", "")
    for first, second, k, name in [
        *((first, SUM, k, "add") for first in (PRODUCT, SUM, DIFFERENCE) for k in (0, 1)),
        *((first, PRODUCT, k, "mul") for first in (PRODUCT, SUM, DIFFERENCE) for k in (0, 1)),
        *((first, DIFFERENCE, 0, "sub") for first in (PRODUCT, SUM, DIFFERENCE)),
        (PRODUCT, DIFFERENCE, 1, "from"),
    ]
}

# in the order of `kernels/replay/threaded.hpp`; m and l: operands in memory, and the result before
_CODES = """
    end numbers call fetch spread gather keep scatter mul_mm mul_lm mul_ll add_mm add_lm add_ll sub_mm sub_lm
    sub_ml mul_add_mmm mul_add_lmm mul_add_mml mul_sub_mmm mul_sub_lmm mul_from_mmm mul_from_lmm mul_mul_mmm
    mul_mul_lmm add_mul_mmm add_mul_lmm add_mul_llm sub_mul_mmm sub_mul_lmm add_add_mmm add_add_lmm add_sub_mmm
    add_sub_lmm sub_add_mmm sub_add_lmm sub_sub_mmm sub_sub_lmm
""".split()
_MOVES = {FETCH, SPREAD, GATHER, KEEP, SCATTER}
OWN = {PRODUCT, SUM, DIFFERENCE, MULTIPLY_ADD, *_PAIRS.values(), *_MOVES}
_TURN = np.dtype([("code", "u8"), ("result", "u4"), ("x", "u4"), ("y", "u4"), ("z", "u4")])
_CALL = np.dtype([("turns", "u8"), ("words", "u8"), ("end", "u8")])


@cache
def thread(dtype: np.dtype[Any], width: int) -> LibraryKernel:
    """The threaded code for numbers of a dtype, or so many lanes of them."""
    symbol = f"burlab_threaded_{NAMES[dtype]}_{width}"
    text = f"BURLAB_TURNS({symbol}, Threaded<{C_TYPES[dtype]}, {width}>::run)\n"
    return LibraryKernel(symbol, text, "burlab/kernels/replay/threaded.hpp")


def is_thread(kind: LibraryKernel) -> bool:
    """Whether a run is of threaded code."""
    return kind.header.endswith("threaded.hpp")


def suits(nodes: Sequence[Node], lanes: bool) -> bool:
    """Whether threaded code carries out all nodes of a plan's loops faster than runs do.

    It does where a CPU learns each jump: where the nodes are few, or the same sequences of operations come again and
    again. Most of many nodes must be sums and products: other functions are faster in runs. lanes: whether some nodes
    have more than one number.
    """
    learned = LEARNED_IN_LANES if lanes else LEARNED
    if len(nodes) <= learned:
        return True
    calls = sum(n.dtype.kind != "f" or multiply_adds(n.op, len(n.inputs)) is None for n in nodes)
    if calls * _CALLED > len(nodes):
        return False
    names = [n.op for n in nodes]
    seen = set[tuple[str, ...]]()
    for sequence in zip(*(islice(names, k, None) for k in range(_BEFORE)), strict=False):
        seen.add(sequence)
        if len(seen) > learned:
            return False
    return True


def in_chains(terms: Sequence[Term]) -> list[Term]:
    """The terms, operands first, each if possible right after that which makes one of its operands.

    What goes to the workspace, where it may replace what the stretch fetches, goes there at the end.
    """
    late = [t for t in terms if t.result < 0 and t.said[0] & 3 == Kind.WORKSPACE]
    terms = [t for t in terms if t.result >= 0 or t.said[0] & 3 != Kind.WORKSPACE]
    maker = {t.result: k for k, t in enumerate(terms)}
    users: dict[int, list[int]] = defaultdict(list)
    waits = [0] * len(terms)
    for k, t in enumerate(terms):
        for made in {maker[x] for x in t.operands if x in maker}:
            users[made].append(k)
            waits[k] += 1
    ready = [k for k, count in enumerate(waits) if not count]
    order: list[Term] = []
    follower: int | None = None
    while ready or follower is not None:
        k = heappop(ready) if follower is None else follower
        follower = None
        order.append(terms[k])
        for user in users[k]:
            waits[user] -= 1
            if waits[user]:
                continue
            if terms[user].result < 0:
                order.append(terms[user])
            elif follower is None:
                follower = user
            else:
                heappush(ready, user)
    return order + late


def paired(terms: Sequence[Term], uses: Mapping[int, int]) -> list[Term]:
    """The terms, with two in a row as one where a code does both. uses: how often each value is read."""
    result: list[Term] = []
    for t in terms:
        before = result[-1] if result else None
        if before and t.operands.count(before.result) == uses.get(before.result) == 1:
            k = t.operands.index(before.result)
            if pair := _PAIRS.get((before.kind, t.kind, k)):
                result[-1] = Term(pair, t.result, (*before.operands, t.operands[1 - k]))
                continue
        result.append(t)
    return result


def turns_of(
    kind: LibraryKernel, terms: Sequence[Term], allocations: Sequence[int], numbers: Numbers | None
) -> tuple[Array, list[Array]]:
    """The turns of a stretch, and the arrays that they lead to."""
    codes = _codes(kind.symbol)
    turns: list[tuple[int, int, int, int, int]] = []
    held: list[Array] = []
    if numbers:
        held.append(np.frombuffer(numbers.content, np.uint8))
        turns.append((codes["numbers"], numbers.start, len(numbers.content), *_halves(held[-1].ctypes.data)))
    last = -1
    for called, group in groupby(terms, lambda t: None if t.kind in OWN else t.kind):
        if called is not None:
            words: Array = np.array([w for t in group for w in words_of(t, allocations)], np.uint32)
            first = words.ctypes.data
            call = np.array([(library.address(called.symbol), first, first + words.nbytes)], _CALL)
            held += (words, call)
            turns.append((codes["call"], 0, 0, *_halves(call.ctypes.data)))
            last = -1
            continue
        for t in group:
            name, operands = _spelled(t, last)
            if t.result < 0:
                x, y, z = t.said
                turns.append((codes[name], allocations[t.operands[0]], x, y, z))
                continue
            said = (*t.said, *(allocations[x] for x in operands))
            x, y, z, *_ = (*said, 0, 0)
            turns.append((codes[name], allocations[t.result], x, y, z))
            last = t.result
    turns.append((codes["end"], 0, 0, 0, 0))
    return np.array(turns, _TURN), held


def _spelled(t: Term, last: int) -> tuple[str, tuple[int, ...]]:
    """The code of a term whose operands are in memory or the last result, and the operands in its order."""
    name, operands = t.kind.symbol, t.operands
    if t.kind in _MOVES:
        return name, operands
    x, y, *z = operands
    if y == last != x and not name.startswith("sub"):
        operands = (y, x, *z)
    where = "".join("l" if x == last else "m" for x in operands)
    allocations = (where, where[:2] + "m" * len(z), where[0] + "m" * (1 + len(z)), "m" * (2 + len(z)))
    return next(code for w in allocations if (code := f"{name}_{w}") in _CODES), operands


def _halves(address: int) -> tuple[int, int]:
    return address % 2**32, address >> 32


@cache
def _codes(symbol: str) -> dict[str, int]:
    """Where the codes of a kind start: it tells that where it gets no words."""
    addresses = (ctypes.c_uint64 * len(_CODES))()
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    function(library.address(symbol))(None, None, addresses, None)
    return dict(zip(_CODES, addresses, strict=True))
