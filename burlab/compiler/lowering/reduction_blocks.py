"""Lowering of reductions by blocks: the results of blocks, and what is left of them."""

from typing import NamedTuple

from burlab.compiler.ir.library import kernel
from burlab.compiler.ir.plan import KernelCall
from burlab.compiler.ir.spelling import C_TYPES, NAMES
from burlab.compiler.ir.strides import StridedView
from burlab.graph import Node

from .descriptors import Blocks


class BlockKind(NamedTuple):
    """A struct of kernels/reduce/blocks.hpp, and how many numbers of a column it takes at a time."""

    struct: str
    size: int


BLOCKS = {
    "sum": BlockKind("SumBlocks<{}>", 512),
    "dot": BlockKind("DotBlocks<{}>", 256),
    "sum_columns": BlockKind("ColumnBlocks<{}>", 64),
    "reduce_max": BlockKind("ExtremeBlocks<{}, true>", 1 << 14),
    "reduce_min": BlockKind("ExtremeBlocks<{}, false>", 1 << 14),
}
"""Blocks of a reduction, by its kind: those of reduce/reduce.hpp, reduce/extreme.hpp and matrix/contraction.hpp."""


def block_results(n: Node, views: dict[Node, StridedView]) -> list[KernelCall]:
    """The results of whole blocks, or of all of them, with the end of what is reduced."""
    *results, x, y = (*n.inputs, n.inputs[-1]) if n.params != "dot" else n.inputs
    struct, size = BLOCKS[n.params]
    step, template = ("all", "AllBlocks") if results else ("each", "EachBlock")
    parts = results[0] if results else n
    blocks, width = parts.shape
    name = f"{n.params}_{step}_blocks_{NAMES[x.dtype]}"
    made = kernel(name, f"{template}<burlab::kernels::{struct.format(C_TYPES[x.dtype])}>", "reduce/blocks")
    operands = tuple((views[v].base, views[v].offset) for v in (*results, x, y))
    return [KernelCall(made, Blocks(blocks, x.size // width, width, size), operands)]
