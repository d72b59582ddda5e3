"""From a node to the kernel calls that compute it: which instance of which template, and its descriptor."""

import struct
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from burlab.compiler.ir.library import LibraryKernel, kernel
from burlab.compiler.ir.plan import Count, KernelCall
from burlab.compiler.ir.spelling import C_TYPES, NAMES, RINGS, has_lanes_in_replay, loops, rule
from burlab.compiler.ir.strides import (
    POINT,
    VIEWS,
    Shape,
    StrideAxis,
    StridedView,
    box,
    dense_strides,
    elements,
    joined,
)
from burlab.graph import Node
from burlab.graph.query import CLIENT_QUERIES, QUERIES, count

from . import lower_linalg
from .contraction import contract
from .descriptors import Elements, Indexed, Keys, Norms, QueryCall, StridedRows, Transforms
from .reduction_blocks import block_results
from .reductions import argument, cumsum, extreme, select, sort, sum_, sum_accumulate, zero
from .sparse import sampled_accumulate, sampled_product, sparse_product
from .sparse_rows import sparse_rows, spread_accumulate
from .ufunc_loops import special

Views = dict[Node, StridedView]

_UNSIGNED = {1: "std::uint8_t", 2: "std::uint16_t", 4: "std::uint32_t", 8: "std::uint64_t"}


VERDICT = kernel("judge", "FiniteVerdict", "finite")


def note_kernel(n: Node) -> LibraryKernel:
    """The kernel that checks a value for inf and nan."""
    return kernel(f"note_{NAMES[n.dtype]}", f"CheckFinite<{C_TYPES[n.dtype]}>", "finite")


def copy_task(x: Node, view: StridedView, strides: Shape | None = None, result: int = 0) -> KernelCall:
    """Copy a value to where its elements have these strides (dense ones), from element `result` of the result."""
    size = x.dtype.itemsize
    axes = joined(map(StrideAxis, x.shape, strides or dense_strides(x.shape), view.strides))
    rows, row = [POINT, POINT, *axes][-2:]
    descriptor = StridedRows(rows.size, rows.out, rows.a, row.size, row.out, row.a)
    made = kernel(f"copy_{8 * size}bit", f"Copy<{_UNSIGNED[size]}>", "move/layout")
    return KernelCall(made, descriptor, ((view.base, view.offset),), box(axes[:-2], size, size), result)


def is_copy(task: KernelCall) -> bool:
    """Return True if a task copies elements as they are."""
    return isinstance(task.descriptor, StridedRows) and task.kernel.symbol.startswith("burlab_copy_")


def _copied_view(n: Node, views: Views) -> list[KernelCall]:
    """A view that cannot stay one: its elements in its own order."""
    x = n.inputs[0]
    seen = VIEWS[n.op](n, views[x])
    if seen is None:  # a reshape: copy in the order of the operand's axes
        return [copy_task(x, views[x])]
    return [copy_task(n, seen)]


def _pad(n: Node, views: Views) -> list[KernelCall]:
    x = n.inputs[0]
    start, step, _ = n.params
    return [zero(n), _placed(n, x, views[x], start, step)]


def _concatenate(n: Node, views: Views) -> list[KernelCall]:
    tasks: list[KernelCall] = []
    start = [0] * n.ndim
    for x in n.inputs:
        tasks.append(_placed(n, x, views[x], tuple(start), (1,) * n.ndim))
        start[n.params] += x.shape[n.params]
    return tasks


def _placed(n: Node, x: Node, view: StridedView, start: Shape, step: Shape) -> KernelCall:
    """Copy x to the elements start + step * i of n."""
    strides = dense_strides(n.shape)
    first = sum(a * s for a, s in zip(start, strides, strict=True)) if x.size else 0
    return copy_task(x, view, tuple(a * s for a, s in zip(step, strides, strict=True)), first)


def _dense(n: Node, views: Views) -> tuple[tuple[Node, int], ...]:
    return tuple((views[x].base, views[x].offset) for x in n.inputs)


def _gather(n: Node, views: Views) -> list[KernelCall]:
    x, index = n.inputs
    batch: int = n.params
    descriptor = Indexed(
        elements(x.shape[:batch]),
        x.shape[batch],
        elements(index.shape[batch:]),
        elements(x.shape[batch + 1 :]),
    )
    size, dtype = n.dtype.itemsize, NAMES[index.dtype]
    made = kernel(f"gather_{8 * size}bit_{dtype}", f"Gather<{_UNSIGNED[size]}, {C_TYPES[index.dtype]}>", "move/gather")
    return [KernelCall(made, descriptor, _dense(n, views), may_fail=True)]


def _scatter(n: Node, views: Views) -> list[KernelCall]:
    y, index = n.inputs
    batch: int = n.params[0]
    rows: int = n.params[1]
    descriptor = Indexed(
        elements(y.shape[:batch]), rows, elements(index.shape[batch:]), elements(y.shape[index.ndim :])
    )
    names = NAMES[n.dtype], NAMES[index.dtype]
    template = f"Scatter<{RINGS[n.dtype]}, {C_TYPES[index.dtype]}>"
    made = kernel(f"scatter_{names[0]}_{names[1]}", template, "move/gather")
    return [KernelCall(made, descriptor, _dense(n, views), may_fail=True)]


def _scatter_accumulate(n: Node, views: Views) -> list[KernelCall]:
    """Add to what the result holds; the first axis of the index counts samples of a tile."""
    (task,) = _scatter(n, views)
    index = n.inputs[1]
    samples = Count(False, Indexed._fields.index("indices"), elements(index.shape[n.params[0] :]) // index.shape[0])
    names = NAMES[n.dtype], NAMES[n.inputs[1].dtype]
    types = f"{RINGS[n.dtype]}, {C_TYPES[index.dtype]}"
    made = kernel(f"scatter_accumulate_{names[0]}_{names[1]}", f"Scatter<{types}, true>", "move/gather")
    return [task._replace(kernel=made, samples=samples)]


def _put(n: Node, views: Views) -> list[KernelCall]:
    """A copy, which is left out where the result takes the operand's bytes; then the rows."""
    x, rows, index = n.inputs
    batch, adds = n.params
    descriptor = Indexed(
        elements(x.shape[:batch]), x.shape[batch], elements(index.shape[batch:]), elements(x.shape[batch + 1 :])
    )
    types = RINGS[n.dtype] if adds else _UNSIGNED[n.itemsize], C_TYPES[index.dtype]
    name = f"scatter_accumulate_{NAMES[n.dtype]}" if adds else f"put_{8 * n.itemsize}bit"
    template = f"Scatter<{', '.join(types)}, true>" if adds else f"Put<{', '.join(types)}>"
    made = kernel(f"{name}_{NAMES[index.dtype]}", template, "move/gather")
    written = tuple((views[v].base, views[v].offset) for v in (rows, index))
    return [copy_task(x, views[x])._replace(in_place=True), KernelCall(made, descriptor, written, may_fail=True)]


def _uniform(n: Node, views: Views) -> list[KernelCall]:
    (key,) = n.inputs
    keys = key.size // 2
    made = kernel(f"uniform_{NAMES[n.dtype]}", f"Uniform<{C_TYPES[n.dtype]}>", "random")
    return [KernelCall(made, Keys(keys, n.size // keys if keys else 0), _dense(n, views))]


def _fold_in(n: Node, views: Views) -> list[KernelCall]:
    data = n.inputs[1]
    return [KernelCall(kernel("fold_in", "FoldIn", "random"), Keys(n.size // 2, int(data.size > 1)), _dense(n, views))]


def _fourier(n: Node, views: Views) -> list[KernelCall]:
    (x,) = n.inputs
    length = (x if n.op == "rfft" else n).shape[-1]
    rows = elements(n.shape[n.op != "irfft" : -1])
    made = kernel(f"{n.op}_{NAMES[n.dtype]}", f"fourier::{n.op.capitalize()}<{C_TYPES[n.dtype]}>", "fourier/fft")
    return [KernelCall(made, Transforms(rows, length, int(n.params is True)), _dense(n, views), may_fail=True)]


def _query(n: Node, views: Views) -> list[KernelCall]:
    queries, about = count(n), n.inputs[1]
    numbers, results = (x.size // queries if queries else 0 for x in (about, n))
    chosen = n.inputs[2].shape[-1] if len(n.inputs) > 2 else 0
    descriptor = QueryCall((*QUERIES, *CLIENT_QUERIES).index(n.params), queries, numbers, results, n.itemsize, chosen)
    return [KernelCall(kernel("ask", "OracleQuery", "oracle_query"), descriptor, _dense(n, views), may_fail=True)]


def _exponents(n: Node, views: Views) -> list[KernelCall]:
    made = kernel(f"exponents_{NAMES[n.dtype]}", f"Exponents<{C_TYPES[n.dtype]}>", "exponents")
    return [KernelCall(made, Elements(n.size), _dense(n, views), may_fail=True)]


def _squares(n: Node, views: Views) -> list[KernelCall]:
    (x,) = n.inputs
    made = kernel(f"squares_{NAMES[x.dtype]}", f"Squares<{C_TYPES[x.dtype]}>", "reduce/squares")
    return [KernelCall(made, Elements(x.size), _dense(n, views))]


def _norm(n: Node, views: Views) -> list[KernelCall]:
    made = kernel(f"norm_{NAMES[n.dtype]}", f"Norm<{C_TYPES[n.dtype]}>", "reduce/norm")
    (divisor,) = struct.unpack("q", struct.pack("d", n.params))
    _, x, *center = n.inputs
    centers = center[0].size if center else 0
    return [KernelCall(made, Norms(n.size, x.shape[-2], x.shape[-1], divisor, centers), _dense(n, views))]


def _map(n: Node, views: Views) -> list[KernelCall]:
    """An elementwise operation by itself, for replay."""
    made = _map_kernel(n.op, has_lanes_in_replay(n), rule(n), n.dtype, tuple([x.dtype for x in n.inputs]))
    return [KernelCall(made, Elements(n.size), _dense(n, views), in_place=True)]


@cache
def _map_kernel(
    op: str, lanes: bool, struct: str, result: np.dtype[Any], operands: tuple[np.dtype[Any], ...]
) -> LibraryKernel:
    types = ", ".join(C_TYPES[dtype] for dtype in (result, *operands))
    if not struct:
        return kernel(f"convert_{NAMES[operands[0]]}_{NAMES[result]}", f"Convert<{types}>", "elementwise")
    name = f"{op.replace(chr(39), '_')}_{NAMES[operands[-1]]}_map"
    if op == "convert":
        name = f"convert_{NAMES[operands[0]]}_{NAMES[result]}_map"
    return kernel(name, f"Map<{str(lanes).lower()}, {struct}, {types}>", loops(op, "elementwise"))


SUMS: dict[str, Callable[[Node, Views, bool], list[KernelCall]]] = {"sum": sum_, "contract": contract}
ACCUMULATING: dict[str, Callable[[Node, Views], list[KernelCall]]] = {  # what adds to an array: see `build(tile=...)`
    "sum": sum_accumulate,
    "contract": lambda n, views: contract(n, views, strict=False, accumulate=True),
    "scatter": _scatter_accumulate,
    "sampled_product": sampled_accumulate,
    "spread_rows": spread_accumulate,
}
KERNELS: dict[str, Callable[[Node, Views], list[KernelCall]]] = {
    **dict.fromkeys(VIEWS, _copied_view),
    "reduce_max": extreme,
    "reduce_min": extreme,
    "argmax": argument,
    "argmin": argument,
    "cumsum": cumsum,
    "sort": sort,
    "argsort": sort,
    **dict.fromkeys(("partition", "argpartition", "kth", "argkth", "argtop"), select),
    "pad": _pad,
    "concatenate": _concatenate,
    "gather": _gather,
    "scatter": _scatter,
    "put": _put,
    "sparse_product": sparse_product,
    "sampled_product": sampled_product,
    **dict.fromkeys(("row_products", "spread_rows", "row_samples"), sparse_rows),
    "uniform": _uniform,
    "fold_in": _fold_in,
    "ask": _query,
    "exponents": _exponents,
    "squares": _squares,
    **dict.fromkeys(("block_results", "of_all_blocks"), block_results),
    "norm": _norm,
    "special": special,
    **dict.fromkeys(("fft", "rfft", "irfft"), _fourier),
    **lower_linalg.KERNELS,
}


def kernel_calls(n: Node, views: Views, strict: bool, accumulate: bool = False) -> list[KernelCall]:
    """The kernel calls of a node.

    strict: sums in plain order, products rounded before they are added. accumulate: add to what the results hold.
    """
    if accumulate:
        return ACCUMULATING[n.op](n, views)
    summed = SUMS.get(n.op)
    return summed(n, views, strict) if summed else KERNELS.get(n.op, _map)(n, views)
