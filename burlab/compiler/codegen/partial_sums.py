"""Sums that end a loop of several threads: each leaves the sums of its blocks, and one thread adds them in their order.

Blocks are those of one thread, so the bits are too.
"""

import math
from collections.abc import Iterable

from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.partials import BLOCK, bytes_of_partials
from burlab.compiler.ir.spelling import C_TYPES, NAMES, RINGS
from burlab.compiler.ir.strides import elements
from burlab.graph import Node

from .nest import LoopNest

PARTIALS = "partials"  # the last parameter of a loop's function: where they lie


def left_at(nest: LoopNest, n: Node, kind: str) -> str:
    """The address of what blocks leave for a sum, numbers of a C++ type."""
    number = next(k for k, end in enumerate(end for end in nest.step.nodes if end.row.epilogue) if end is n)
    return f"(({kind}*)({PARTIALS} + {number * bytes_of_partials(nest.step.shape)}))"


def block_sums_of(n: Node) -> LibraryKernel:
    """The library's part in a thread's part of a sum: functions that take its blocks and leave their sums."""
    name, kind = f"burlab_block_sums_{NAMES[n.dtype]}", RINGS[n.dtype]
    head = 'extern "C" BURLAB_WIDE'
    text = (
        f"using {name}_type = burlab::kernels::BlockSums<{kind}>;\n"
        f"{head} void {name}({name}_type* sums, std::int64_t n) noexcept {{ sums->added(n); }}\n"
        f"{head} void {name}_end({name}_type* sums) noexcept {{ sums->end(); }}\n"
    )
    return LibraryKernel(name, text, "burlab/kernels/reduce/epilogue.hpp")


def whole_blocks(nest: LoopNest) -> int:
    """Number of indices of the outermost axis that have whole blocks."""
    return BLOCK // math.gcd(BLOCK, elements(nest.sizes[1:]))


def sums_of_blocks(nest: LoopNest, sums: Iterable[Node]) -> list[str]:
    """The lines that add up what blocks have left for sums, and store it."""
    results = {n: f"y{k}" for k, n in enumerate(nest.step.stores)}
    count, lines = -(-elements(nest.sizes) // BLOCK), list[str]()
    for n in sums:
        kind, at = C_TYPES[n.dtype], left_at(nest, n, "const double")
        lines.append(f"*{results[n]} = burlab::kernels::sum_of_blocks<{kind}>({at}, {count});")
    return lines
