"""Lowering of products with sparse matrices: `graph/sparse_products.py`."""

from burlab.compiler.ir.library import LibraryKernel, kernel
from burlab.compiler.ir.plan import Count, KernelCall
from burlab.compiler.ir.spelling import C_TYPES, NAMES
from burlab.compiler.ir.strides import StridedView, elements
from burlab.graph import Node

from .descriptors import SampledEntries, SparseEntries

Views = dict[Node, StridedView]


def sparse_product(n: Node, views: Views) -> list[KernelCall]:
    """Entries times rows of an array, added to rows of the result."""
    values, x, _, _ = n.inputs
    size, *wraps = n.params
    descriptor = SparseEntries(size, x.shape[0], values.size, elements(n.shape[1:]), *map(int, wraps))
    return [KernelCall(_kernel("SparseProduct", n), descriptor, _dense(n, views), may_fail=True)]


def sampled_product(n: Node, views: Views) -> list[KernelCall]:
    """Products of rows of two arrays, summed in double."""
    return [_sampled(n, views, _kernel("SampledProduct", n, "double"))]


def sampled_accumulate(n: Node, views: Views) -> list[KernelCall]:
    """The same, added to what the result holds; the second axis of both arrays counts samples of a tile."""
    call = _sampled(n, views, _kernel("SampledProduct", n, C_TYPES[n.dtype], accumulates=True))
    tile, *row = n.inputs[0].shape[1:]
    samples = Count(False, SampledEntries._fields.index("width"), elements(tuple(row))) if tile > 1 else None
    return [call._replace(samples=samples)]


def _sampled(n: Node, views: Views, made: LibraryKernel) -> KernelCall:
    x, y, _, _ = n.inputs
    width = elements(x.shape[1:])
    descriptor = SampledEntries(x.shape[0], y.shape[0], n.size, width, width, *map(int, n.params))
    return KernelCall(made, descriptor, _dense(n, views), may_fail=True)


def _kernel(template: str, n: Node, total: str = "", accumulates: bool = False) -> LibraryKernel:
    columns, rows = (x.dtype for x in n.inputs[2:])
    names = "_".join((n.op + "_accumulate" * accumulates, NAMES[n.dtype], NAMES[columns], NAMES[rows]))
    types = ", ".join(filter(None, (C_TYPES[n.dtype], total, C_TYPES[columns], C_TYPES[rows])))
    return kernel(names, f"{template}<{types}{', true' * accumulates}>", "move/sparse_product")


def _dense(n: Node, views: Views) -> tuple[tuple[Node, int], ...]:
    return tuple((views[x].base, views[x].offset) for x in n.inputs)
