"""Lowering of operations along axes: sums, extremes, their positions, and running sums."""

from collections.abc import Sequence

from burlab.compiler.ir.library import kernel, register
from burlab.compiler.ir.plan import Count, KernelCall
from burlab.compiler.ir.spelling import C_TYPES, NAMES, RINGS
from burlab.compiler.ir.strides import POINT, Shape, StrideAxis, StridedView, box, dense_strides, elements, joined
from burlab.graph import Node

from .descriptors import (
    Bytes,
    DenseRows,
    ExtremeColumns,
    Position,
    PositionColumns,
    Reduced,
    StridedRows,
    SumAccumulate,
    SumColumns,
)

Views = dict[Node, StridedView]
ZERO = kernel("zero", "Zero", "move/layout")
_MIN_COLUMNS = 4  # results in a row below which sums along rows are cheaper than sums down columns


def zero(n: Node) -> KernelCall:
    """Clear the result."""
    return KernelCall(ZERO, Bytes(n.nbytes))


def _split(n: Node, x: Node, view: StridedView, axes: Shape) -> tuple[list[StrideAxis], list[StrideAxis]]:
    """The axes that are reduced, and those that stay."""
    remaining = [a for a in range(x.ndim) if a not in axes]
    out = dict(zip(remaining, dense_strides(n.shape), strict=True))
    return (
        joined(StrideAxis(x.shape[a], 0, view.strides[a]) for a in axes),
        joined(StrideAxis(x.shape[a], out[a], view.strides[a]) for a in remaining),
    )


def _rows(reduced: Sequence[StrideAxis], remaining: Sequence[StrideAxis], add: bool) -> Reduced:
    """Results in a row, rows of one result, numbers of a row."""
    results = [POINT, *remaining][-1]
    rows, row = [POINT, POINT, *reduced][-2:]
    return Reduced(results.size, results.a, rows.size, rows.a, row.size, row.a, int(add))


def _down(reduced: Sequence[StrideAxis], remaining: Sequence[StrideAxis]) -> bool:
    """Return True if what stays is contiguous and long enough: then rows are added, down all columns."""
    return (
        bool(remaining and reduced)
        and remaining[-1].a == 1
        and remaining[-1].size >= _MIN_COLUMNS
        and reduced[-1].a != 1
    )


def sum_(n: Node, views: Views, strict: bool) -> list[KernelCall]:
    """Down columns where what stays is contiguous, else along rows; beyond two walks of reduced axes, add to zeros."""
    x = n.inputs[0]
    view = views[x]
    reduced, remaining = _split(n, x, view, n.params)
    dtype, size = NAMES[n.dtype], n.itemsize
    strict = strict and n.dtype.kind == "f"
    name, arguments = f"{dtype}{'_strict' * strict}", f"{RINGS[n.dtype]}, {str(strict).lower()}"
    operands = ((view.base, view.offset),)
    if _down(reduced, remaining) and len(reduced) in (1, 2):
        rows, row = [POINT, *reduced][-2:]
        descriptor = SumColumns(remaining[-1].size, rows.size, rows.a, row.size, row.a)
        made = kernel(f"sum_columns_{name}", f"SumColumns<{arguments}>", "reduce/reduce")
        return [KernelCall(made, descriptor, operands, box(remaining[:-1], size, size))]
    made = kernel(f"sum_{name}", f"Sum<{arguments}>", "reduce/reduce")
    far, near = reduced[:-2], reduced[-2:]
    walked = box([*remaining[:-1], *far], size, size)
    task = KernelCall(made, _rows(near, remaining, bool(far)), operands, walked)
    return [zero(n), task] if far else [task]


def sum_accumulate(n: Node, views: Views) -> list[KernelCall]:
    """Add to what the result holds, in plain order; the first reduced axis counts samples of a tile."""
    x = n.inputs[0]
    view = views[x]
    reduced, remaining = _split(n, x, view, n.params)
    tile = x.shape[0]
    walked = [*remaining[:-1], *reduced[:-2]]
    rows, row = [POINT, POINT, *reduced][-2:]
    width = [POINT, *remaining][-1]
    descriptor = SumAccumulate(width.size, width.a, width.out, rows.size, rows.a, row.size, row.a)
    samples = None
    if tile > 1:  # else there is no such axis
        in_box = len(reduced) > 2
        own = SumAccumulate._fields.index("rows" if len(reduced) == 2 else "size")
        position = 1 + len(remaining[:-1]) if in_box else own
        samples = Count(in_box, position, reduced[0].size // tile)
    template = f"SumAccumulate<{RINGS[n.dtype]}, {register()}>"
    made = kernel(f"sum_accumulate_{NAMES[n.dtype]}", template, "reduce/reduce")
    return [
        KernelCall(made, descriptor, ((view.base, view.offset),), box(walked, n.itemsize, n.itemsize), samples=samples)
    ]


def extreme(n: Node, views: Views) -> list[KernelCall]:
    """Largest or smallest value over axes; more than two walks of them start from the first and go on from there."""
    x = n.inputs[0]
    view = views[x]
    reduced, remaining = _split(n, x, view, n.params)
    arguments = f"{C_TYPES[x.dtype]}, {str(n.row.largest).lower()}"
    operands, size = ((view.base, view.offset),), x.itemsize
    far, near = reduced[:-2], _rows(reduced[-2:], remaining, add=False)
    if _down(reduced, remaining):
        made = kernel(f"{n.op}_columns_{NAMES[x.dtype]}", f"ExtremeColumns<{arguments}>", "reduce/extreme")
        near = ExtremeColumns(near.results, *near[Reduced._fields.index("rows") :])
    else:
        made = kernel(f"{n.op}_{NAMES[x.dtype]}", f"Extreme<{arguments}>", "reduce/extreme")
    first = KernelCall(made, near, operands, box(remaining[:-1], size, size))
    return (
        [first, KernelCall(made, near._replace(add=1), operands, box([*remaining[:-1], *far], size, size))]
        if far
        else [first]
    )


def argument(n: Node, views: Views) -> list[KernelCall]:
    """Position of the largest or smallest value along an axis."""
    x = n.inputs[0]
    view = views[x]
    axis: int = n.params
    reduced, remaining = _split(n, x, view, (axis,))
    rows = [POINT, *remaining][-1]
    arguments = f"{C_TYPES[x.dtype]}, {str(n.row.largest).lower()}"
    descriptor = Position(rows.size, rows.a, x.shape[axis], view.strides[axis])
    if _down(reduced, remaining):
        made = kernel(f"{n.op}_columns_{NAMES[x.dtype]}", f"WhereColumns<{arguments}>", "reduce/where")
        descriptor = PositionColumns(rows.size, x.shape[axis], view.strides[axis])
    else:
        made = kernel(f"{n.op}_{NAMES[x.dtype]}", f"Where<{arguments}>", "reduce/where")
    return [KernelCall(made, descriptor, ((view.base, view.offset),), box(remaining[:-1], n.itemsize, x.itemsize))]


def cumsum(n: Node, views: Views) -> list[KernelCall]:
    """Running sums along an axis, from its end if reversed."""
    x = n.inputs[0]
    view = views[x]
    axis: int = n.params[0]
    reverse: bool = n.params[1]
    out = dense_strides(n.shape)
    others = joined(StrideAxis(x.shape[a], out[a], view.strides[a]) for a in range(x.ndim) if a != axis)
    rows = [POINT, *others][-1]
    length = x.shape[axis]
    sign, last = (-1, max(length - 1, 0)) if reverse else (1, 0)
    descriptor = StridedRows(rows.size, rows.out, rows.a, length, sign * out[axis], sign * view.strides[axis])
    operands = ((view.base, view.offset + last * view.strides[axis]),)
    made = kernel(f"cumsum_{NAMES[n.dtype]}", f"Cumsum<{RINGS[n.dtype]}>", "reduce/cumsum")
    return [KernelCall(made, descriptor, operands, box(others[:-1], n.itemsize, n.itemsize), last * out[axis])]


def sort(n: Node, views: Views) -> list[KernelCall]:
    """Values, or their positions, in the order of rows."""
    (x,) = n.inputs
    made = kernel(f"{n.op}_{NAMES[x.dtype]}", f"{n.op.capitalize()}<{C_TYPES[x.dtype]}>", "move/sort")
    descriptor = DenseRows(elements(x.shape[:-1]), x.shape[-1])
    return [KernelCall(made, descriptor, ((views[x].base, views[x].offset),), may_fail=True)]


def select(n: Node, views: Views) -> list[KernelCall]:
    """Entries, or their positions, at places of rows in order."""
    (x,) = n.inputs
    made = kernel(f"{n.op}_{NAMES[x.dtype]}", f"{n.op.capitalize()}<{C_TYPES[x.dtype]}>", "move/select_rows")
    places = (n.params,) if n.op == "argtop" else (len(n.params), *n.params)
    descriptor = (*DenseRows(elements(x.shape[:-1]), x.shape[-1]), *places)
    return [KernelCall(made, descriptor, ((views[x].base, views[x].offset),), may_fail=True)]
