"""How steps of a plan can be cut, so that several threads compute one: along an axis of what they write.

A cut is valid if units write different elements, each in the order that one thread would take. So it changes no bit.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from burlab.compiler.ir.interrupts import is_halt_check
from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.options import PlanOptions
from burlab.compiler.ir.partials import partials_of
from burlab.compiler.ir.plan import Execute, Invoke, KernelPlan, LoopStep, MemoryPlace, Step
from burlab.compiler.ir.spelling import is_own
from burlab.compiler.ir.strides import elements
from burlab.compiler.lowering.descriptors import (
    Blocks,
    Bytes,
    Contraction,
    Indexed,
    Matrices,
    OuterAxis,
    Reduced,
    StridedRows,
    SumAccumulate,
    SumColumns,
)
from burlab.compiler.lowering.reduction_blocks import BLOCKS
from burlab.compiler.lowering.reductions import ZERO

from .nest import LoopNest, find_nest
from .reducing_loops import unit_of_sums
from .short_calls import written_out

_UNITS = 64  # of an axis whose size is a multiple of them
_PRODUCTS, _BYTES = 50.0, 20.0  # of float32 in a nanosecond; that a thread reads in one
_FUNCTION, _PLAIN = 0.1, 0.05  # nanoseconds of a byte that a function of its own computes; of an element of arithmetic
_MOVE = 0.3  # nanoseconds of an element of all else
_PRODUCTS_OF_ROWS = ("gemm", "gemm_axes", "gemm_few", "row_dots", "row_sums", "dots", "phases")
_CONTRACTIONS = ("contract", "stacked", "stacked_phases", "interleaved", *_PRODUCTS_OF_ROWS)
_MATRICES = {
    "cholesky": 0.06,
    "lu": 0.09,
    "lu_solve": 0.17,
    "solve_triangular": 0.2,
    "qr": 0.4,
    "expm": 0.8,
    "eigh": 2.0,
    "svd": 3.0,
}  # nanoseconds, times the rows of a matrix, times the numbers of its result
_MAX_ROWS = 512  # of a matrix, beyond which LAPACK has threads of its own
_BLOCKS = tuple(f"{kind}_each_blocks" for kind in BLOCKS)
_OF_BLOCKS = tuple(f"{kind}_all_blocks" for kind in BLOCKS)
_REDUCED = 0.12  # nanoseconds of a number that a block reduces
_CACHED = 1 << 23  # bytes that caches may hold
_LINE = 64  # bytes of a line of the cache, which a thread reads as a whole
_WHOLE_UNITS = ("gather", "scatter", "scatter_accumulate", *_BLOCKS, *_MATRICES)  # read and write units as they lie
_DTYPE = re.compile(r"_(float|int|uint|bool|\d+bit).*")


class Touch(NamedTuple):
    """Bytes [first, end) of an array that a step reads or writes: unit u of its cut those [u * stride, ...) further on.

    stride: 0 if every unit may touch all of them.
    """

    place: MemoryPlace
    nbytes: int
    stride: int
    writes: bool


class Cut(NamedTuple):
    """A step in `units`, of which a thread takes several in a row.

    touches: what a unit reads and writes. nanoseconds: about how long the step takes on the threads of a team; alone:
    on one. each: of a loop, indices of the outermost axis in a unit; of a call, the value of the integer at `position`
    for a unit. in_box: whether that is one of the box. steps: of a call, bytes from one unit to the next, of the result
    and of operands. leaves_sums: of a loop that ends in sums, which one thread adds up after the section; the last unit
    may be smaller.
    """

    units: int
    touches: tuple[Touch, ...]
    nanoseconds: float
    alone: float
    each: int = 0
    in_box: bool = False
    position: int = 0
    steps: tuple[int, ...] = ()
    leaves_sums: bool = False


def cuts_of(plan: KernelPlan, step: Step) -> list[Cut]:
    """The cuts of a step that a section may hold; the last one is no cut: one thread does all."""
    if isinstance(step, Execute) or (isinstance(step, LoopStep) and (not step.shape or step.extra_stores)):
        return []
    if isinstance(step, LoopStep):
        return list(_loop_cuts(plan, step)) if elements(step.shape) else []
    return list(_call_cuts(plan, step))


def _units_of(size: int, options: PlanOptions) -> list[int]:
    """Into how many units an axis may be cut, the samples of a tile first."""
    samples = options.shared
    found = [samples] if samples > 1 and size % samples == 0 else []
    if samples < options.team or not found:
        found.append(_UNITS if size % _UNITS == 0 else size)
    return [units for units in found if units > 1]


def _part(units: int, options: PlanOptions) -> float:
    """The part of a step that one thread of a team takes, at most."""
    return -(-units // options.team) / units


def _loop_cuts(plan: KernelPlan, step: LoopStep) -> Iterator[Cut]:
    nest = find_nest(plan, step)
    nanoseconds = elements(step.shape) * sum(_FUNCTION * n.itemsize if is_own(n) else _PLAIN for n in step.nodes)
    nanoseconds = max(nanoseconds, _from_memory(nest))
    ends = any(n.row.epilogue for n in step.nodes) and not step.reduced
    if ends and step.partials:
        yield from _cuts_with_sums(nest, nanoseconds)
    elif nest.depth > 0 and not ends and (step.reduced or len(nest.pieces(0)) == 1):
        for units in _units_of(nest.sizes[0], plan.options):
            each = nest.sizes[0] // units
            took = nanoseconds * _part(units, plan.options)
            yield Cut(units, tuple(_loop_touches(nest, each)), took, nanoseconds, each)
    yield Cut(1, tuple(_loop_touches(nest, 0)), nanoseconds, nanoseconds)


def _from_memory(nest: LoopNest) -> float:
    """Nanoseconds in which a thread reads and writes what no cache holds."""
    nbytes = sum(touch.nbytes for touch in _loop_touches(nest, 0))
    return nbytes / _BYTES if nbytes > _CACHED else 0.0


def _cuts_with_sums(nest: LoopNest, nanoseconds: float) -> Iterator[Cut]:
    """Of a loop that ends in sums, in units of whole blocks."""
    size, least, place = nest.sizes[0], unit_of_sums(nest), nest.step.partials
    if place is None or least == 0:
        return
    each = -(-size // (_UNITS * least)) * least
    units = -(-size // each)
    if units > 1:
        left = Touch(place, partials_of(nest.step.nodes, nest.step.shape), 0, True)
        touches = (*_loop_touches(nest, each), left)
        took = nanoseconds * _part(units, nest.plan.options)
        yield Cut(units, touches, took, nanoseconds, each, leaves_sums=True)


def _loop_touches(nest: LoopNest, each: int) -> Iterator[Touch]:
    """each: indices of the outermost axis in a unit, 0: all of them."""
    plan, step = nest.plan, nest.step
    members = set(step.nodes)
    for x in dict.fromkeys(x for n in step.nodes for x in n.inputs):
        view = plan.views[x]
        if view.base in members or view.base not in plan.allocations:
            continue
        array = nest.arrays.get(x)
        place = plan.allocations[view.base]
        if array is None or 0 in array.bounds or array.is_number or min(array.strides) < 0:
            yield Touch(place, view.base.nbytes, 0, False)
        else:
            spans = [array.bounds.get(axis, (0, size)) for axis, size in enumerate(nest.sizes)]
            first = sum(low * stride for (low, _), stride in zip(spans, array.strides, strict=True))
            start = place.plus((view.offset + first) * x.itemsize)
            yield _strided(start, [high - low for low, high in spans], array.strides, x.itemsize, each, False)
    for n in step.stores:
        yield _strided(plan.allocations[n], nest.sizes, nest.results[n].strides, n.itemsize, each, True)


def _strided(
    start: MemoryPlace, sizes: Sequence[int], strides: Sequence[int], itemsize: int, each: int, writes: bool
) -> Touch:
    ends = [(size - 1) * stride for size, stride in zip(sizes, strides, strict=True)]
    if each == 0 or strides[0] == 0:
        return Touch(start, (sum(ends) + 1) * itemsize, 0, writes)
    unit = (sum(ends[1:]) + (each - 1) * strides[0] + 1) * itemsize
    stride = each * strides[0] * itemsize
    return Touch(start, unit, stride, writes)


class _Axis(NamedTuple):
    """An axis of a call: where its size stands, the size, and bytes along it in the result and in the operands."""

    position: int
    size: int
    steps: tuple[int, ...]
    in_box: bool = False


def _name(kernel: LibraryKernel) -> str:
    """The name of a kernel without the dtype that follows it."""
    return _DTYPE.sub("", kernel.symbol.removeprefix("burlab_"))


def _is(kernel: LibraryKernel, *names: str) -> bool:
    """Return True if a kernel has one of these names, which a dtype follows."""
    return _name(kernel) in names


def _axes(step: Invoke) -> list[_Axis]:
    """The axes of a call, none for kernels that are not cut."""
    d, out = step.descriptor, step.node.itemsize
    k = step.kernel
    a = step.node.inputs[0].itemsize if step.node.inputs else out
    found: list[_Axis] = []
    if _is(k, *_CONTRACTIONS) and all(x.dtype == step.node.dtype for x in step.node.inputs):
        c = Contraction(*d[: len(Contraction._fields)])
        found = [
            _Axis(0, c.m, (c.c_m * out, c.a_m * out, c.b_m * out)),
            _Axis(1, c.n, (c.c_n * out, c.a_n * out, c.b_n * out)),
            _Axis(2, c.k, (0, c.a_k * out, c.b_k * out)),
        ]
        for j in range(c.rank):
            first = len(Contraction._fields) + len(OuterAxis._fields) * j
            axis = OuterAxis(*d[first : first + len(OuterAxis._fields)])
            found.append(_Axis(first, axis.size, (axis.c * out, axis.a * out, axis.b * out)))
    elif _is(k, "gather"):
        found = _gathered(Indexed(*d), out, step.node.inputs[1].itemsize)
    elif _is(k, "scatter", "scatter_accumulate"):
        found = _scattered(Indexed(*d), out, step.node.inputs[1].itemsize)
    elif _is(k, "copy"):
        s = StridedRows(*d)
        found = [_Axis(0, s.rows, (s.out * out, s.a * out)), _Axis(3, s.size, (s.out_step * out, s.a_step * out))]
    elif k is ZERO:
        found = [_Axis(0, Bytes(*d).nbytes, (1,))]
    else:
        found = _reduced(step, a) or _stacked(step)
    return found + _boxed(step.box) if found else []


def _reduced(step: Invoke, a: int) -> list[_Axis]:
    """The axes of a reduction of numbers of so many bytes."""
    k, d, out = step.kernel, step.descriptor, step.node.itemsize
    if _is(k, "sum_accumulate"):
        s = SumAccumulate(*d)
        found = [_Axis(0, s.width, (s.out * out, s.a * out)), _Axis(3, s.rows, (0, s.row_step * out))]
        return [*found, _Axis(5, s.size, (0, s.step * out))]
    if _is(k, "sum_columns", "reduce_max_columns", "reduce_min_columns"):
        s = SumColumns(*d[: len(SumColumns._fields)])
        return [_Axis(0, s.width, (out, a)), _Axis(1, s.rows, (0, s.row_step * a)), _Axis(3, s.size, (0, s.step * a))]
    if _is(k, "sum", "reduce_max", "reduce_min"):
        s = Reduced(*d)
        found = [_Axis(0, s.results, (out, s.result_step * a)), _Axis(2, s.rows, (0, s.row_step * a))]
        return [*found, _Axis(4, s.size, (0, s.step * a))]
    if _is(k, *_BLOCKS):
        b = Blocks(*d)
        return [_Axis(0, b.blocks, (b.width * out, *[b.size * b.width * a] * 2))]
    return []


def _stacked(step: Invoke) -> list[_Axis]:
    """Matrices of a stack, whose operands lie one behind the other. LAPACK has threads of its own for large ones."""
    if not _is(step.kernel, *_MATRICES):
        return []
    d = Matrices(*step.descriptor)
    if d.matrices < 2 or d.rows > _MAX_ROWS:
        return []
    first, *more = step.node.inputs
    arrays = [step.node, first, *more[-1:]]
    return [_Axis(0, d.matrices, tuple(x.nbytes // d.matrices for x in arrays))]


def _gathered(d: Indexed, out: int, index: int) -> list[_Axis]:
    """A table in each batch, or one for all indices."""
    row, all_indices = d.width * out, d.indices
    if d.batches > 1:
        return [_Axis(0, d.batches, (all_indices * row, d.rows * row, all_indices * index))]
    return [_Axis(2, d.indices, (row, 0, index))]


def _scattered(d: Indexed, out: int, index: int) -> list[_Axis]:
    """A table in each batch; rows of one table may be added to each other."""
    row = d.width * out
    return [_Axis(0, d.batches, (d.rows * row, d.indices * row, d.indices * index))] if d.batches > 1 else []


def _boxed(box: Sequence[int]) -> list[_Axis]:
    rank = box[0] if box else 0
    return [
        _Axis(1 + k, box[1 + k], tuple(box[1 + rank * row + k] for row in (1, 2, 3)), in_box=True) for k in range(rank)
    ]


def _call_cuts(plan: KernelPlan, step: Invoke) -> Iterator[Cut]:
    places = [step.result, *step.operands]
    plain = len(places) <= 3 and not written_out(step)
    axes = _axes(step) if plain and step.node.size else []
    nanoseconds = _call_nanoseconds(step, axes)
    for axis in axes:
        counted = step.samples and (step.samples.in_box, step.samples.position) == (axis.in_box, axis.position)
        if axis.steps[0] == 0 or counted or any(min(other.steps) < 0 for other in axes):
            continue
        for units in _units_of(axis.size, plan.options):
            each = axis.size // units
            touches = _call_touches(step, axes, axis, each)
            part = _part(units, plan.options)
            took = max(nanoseconds * part, _bytes_of_a_thread(step, axes, axis, part) / _BYTES)
            steps = tuple(each * s for s in axis.steps[: len(places)])
            yield Cut(units, touches, took, nanoseconds, each, axis.in_box, axis.position, steps)
    yield Cut(1, tuple(_whole(plan, step)), nanoseconds, nanoseconds)


def _call_nanoseconds(step: Invoke, axes: Sequence[_Axis]) -> float:
    size = elements(axis.size for axis in axes) if axes else step.node.size + sum(x.size for x in step.node.inputs)
    if is_halt_check(step):
        return 0.0
    if _is(step.kernel, "norm"):  # which reads its numbers a second time where squares are out of range
        return _MOVE * step.node.size
    if _is(step.kernel, *_OF_BLOCKS):
        return _MOVE * step.node.inputs[0].size
    if _is(step.kernel, *_BLOCKS):
        return _REDUCED * sum(x.size for x in step.node.inputs)
    if _is(step.kernel, *_MATRICES):
        return _nanoseconds_of_matrices(step)
    if _is(step.kernel, *_CONTRACTIONS):
        return size * step.node.itemsize / (4 * _PRODUCTS)
    return _MOVE * size


def _nanoseconds_of_matrices(step: Invoke) -> float:
    d, name = Matrices(*step.descriptor), _name(step.kernel)
    return _MATRICES[name] * d.matrices * d.rows * d.rows * d.columns


def _bytes_of_a_thread(step: Invoke, axes: Sequence[_Axis], cut: _Axis, part: float) -> int:
    """Number of bytes that a thread reads and writes, each once, which takes a part of an axis."""
    size, total = round(cut.size * part), 0
    for k in range(1 + len(step.operands)):
        of_all = elements(axis.size for axis in axes if axis is not cut and len(axis.steps) > k and axis.steps[k])
        each = cut.steps[k] if len(cut.steps) > k else 0
        line = min(_LINE, cut.size * each) if each < _LINE else 0
        total += of_all * max((size if each else 1) * step.node.itemsize, line)
    return total


def _call_touches(step: Invoke, axes: Sequence[_Axis], cut: _Axis, each: int) -> tuple[Touch, ...]:
    found = list[Touch]()
    for k, place in enumerate([step.result, *step.operands]):
        stride = each * cut.steps[k]
        if _is(step.kernel, *_WHOLE_UNITS):  # of a table any row
            unit = stride or step.node.inputs[0].nbytes
        else:
            others = sum((axis.size - 1) * axis.steps[k] for axis in axes if axis is not cut and len(axis.steps) > k)
            unit = others + (each - 1) * cut.steps[k] + _itemsize(step, k)
        found.append(Touch(place, unit, stride, k == 0))
    return tuple(found)


def _itemsize(step: Invoke, k: int) -> int:
    """Bytes of a number of the result, or of operand k - 1."""
    if step.kernel is ZERO:
        return 1
    alike = k == 0 or _is(step.kernel, "copy", *_CONTRACTIONS)
    return step.node.itemsize if alike else step.node.inputs[0].itemsize


def _whole(plan: KernelPlan, step: Invoke) -> Iterator[Touch]:
    """Yield what a call touches at most: all of its arrays. A copy to an output reads the node that it is for."""
    n = step.node
    yield Touch(step.result, n.nbytes, 0, True)
    if n in plan.allocations:
        yield Touch(plan.allocations[n], n.nbytes, 0, True)
    for base in dict.fromkeys(plan.views[x].base for x in (n, *n.inputs)):
        if base in plan.allocations:
            yield Touch(plan.allocations[base], base.nbytes, 0, False)
