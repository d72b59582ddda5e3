"""Lowering of products with rows of a sparse matrix: `graph/sparse/row_operations.py`."""

from burlab.compiler.ir.library import LibraryKernel, kernel
from burlab.compiler.ir.plan import Count, KernelCall
from burlab.compiler.ir.spelling import C_TYPES, NAMES
from burlab.compiler.ir.strides import StridedView, elements
from burlab.graph import Node

from .descriptors import RowEntries

Views = dict[Node, StridedView]

_TEMPLATES = {"row_products": "RowProducts", "spread_rows": "SpreadRows", "row_samples": "RowSamples"}


def sparse_rows(n: Node, views: Views) -> list[KernelCall]:
    """A call of the kernel of a node."""
    return [_call(n, views, _kernel(n))]


def spread_accumulate(n: Node, views: Views) -> list[KernelCall]:
    """Rows added to what the result holds; the first axis of starts and ends counts samples of a tile."""
    starts = n.inputs[3]
    each = elements(starts.shape[1:])
    samples = Count(False, RowEntries._fields.index("rows"), each) if starts.ndim and starts.shape[0] > 1 else None
    return [_call(n, views, _kernel(n, accumulates=True))._replace(samples=samples)]


def _call(n: Node, views: Views, made: LibraryKernel) -> KernelCall:
    size, _, apart = n.params
    _, y, columns, starts, _ = n.inputs
    rows = elements(starts.shape)
    width = elements((n if n.op == "row_products" else y).shape[starts.ndim :])
    descriptor = RowEntries(rows, size, columns.size, width, int(apart))
    operands = tuple((views[x].base, views[x].offset) for x in n.inputs)
    return KernelCall(made, descriptor, operands, may_fail=True)


def _kernel(n: Node, accumulates: bool = False) -> LibraryKernel:
    columns, starts = n.inputs[2], n.inputs[3]
    name = "_".join((n.op + "_accumulate" * accumulates, NAMES[n.dtype], NAMES[columns.dtype], NAMES[starts.dtype]))
    types = ", ".join((C_TYPES[n.dtype], C_TYPES[columns.dtype], C_TYPES[starts.dtype]))
    return kernel(name, f"{_TEMPLATES[n.op]}<{types}{', true' * accumulates}>", "move/sparse_rows")
