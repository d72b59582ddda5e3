"""Lowering of contractions: which letters the kernel's inner loops take, and which kernel that is.

Mirrors `kernels/matrix/contraction.hpp`, which states the order of sums. Which kernel serves changes no bit.
"""

from typing import NamedTuple

from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.plan import Count, KernelCall
from burlab.compiler.ir.strides import POINT, StrideAxis, StridedView, dense_strides, elements, joined
from burlab.graph import Node
from burlab.graph.signatures import letter_sizes, letters_of
from burlab.runtime.cpu import instruction_set

from . import contraction_kernels as kernels
from .descriptors import Contraction, OuterAxis, SumOrder
from .reductions import zero
from .stacks import ContractionLoops, find_stack, find_vector_stack, swapped

_MIN_TUNED_PRODUCTS = 512  # multiplications that are not worth compiling a tuned kernel for
_MIN_DEPTH = 32  # products in a row, from which what is read once is read better in its own order
_MIN_TRANSPOSED_SUMS = 64  # products in a sum that are worth storing it with a stride
_MIN_PACKED_ROWS = 128  # rows for which packing columns takes no time
_MAX_SHORT_DEPTH = 128  # products in a row, from which reading and writing what they are added to takes no time
_MAX_WIDTH = 192  # bytes of columns, up to which what is not cached is not read again often
_MAX_CACHED_BYTES = 1 << 20  # of an operand that is read again for each panel of columns
_MIN_LANES_LENGTH = 64  # from which sums with a vector run in lanes or phases


def _axes(n: Node, views: dict[Node, StridedView]) -> tuple[list[StrideAxis], list[StrideAxis]]:
    """The letters of the result in its order, and the summed letters in the order of the first operand."""
    left, right, out = letters_of(n.params)
    a, b = n.inputs
    sizes = letter_sizes(n)
    strides = [
        dict(zip(letters, steps, strict=True))
        for letters, steps in ((out, dense_strides(n.shape)), (left, views[a].strides), (right, views[b].strides))
    ]

    def axis(letter: str) -> StrideAxis:
        return StrideAxis(sizes[letter], *(s.get(letter, 0) for s in strides))

    return joined(map(axis, out)), joined(axis(c) for c in left if c not in out)


def _columns_and_rows(remaining: list[StrideAxis]) -> tuple[StrideAxis, StrideAxis, list[StrideAxis]]:
    """Choose the axis that is contiguous in the result, the longest that only the first operand has, and the rest."""
    columns = next((x for x in reversed(remaining) if x.out == 1), POINT)
    others = [x for x in remaining if x is not columns]
    rows = max((x for x in others if x.b == 0), key=lambda x: x.size, default=POINT)
    return columns, rows, [x for x in others if x is not rows]


class _Tuned(NamedTuple):
    """A tuned kernel, and whether it computes all rows of the result; else it is called for one after the other."""

    kernel: LibraryKernel
    all_rows: bool


def contract(n: Node, views: dict[Node, StridedView], strict: bool, accumulate: bool = False) -> list[KernelCall]:
    """Lower a contraction. If only one operand has the last letter of the result, that one becomes the second.

    accumulate: add to what the result holds, in plain order; the first summed letter counts samples of a tile.
    """
    remaining, summed = _axes(n, views)
    if n.size == 0 or any(x.size == 0 for x in summed):
        return [] if accumulate else [zero(n)]
    swaps = bool(remaining) and remaining[-1].b == 0
    if swaps:
        remaining, summed = swapped(remaining), swapped(summed)
    depth, around = (summed[-1], summed[:-1]) if summed else (POINT, [])
    plain = n.dtype.kind != "f" or strict
    order = SumOrder.IN_ORDER if plain or accumulate else _order(n, depth)
    tunes = not plain and n.size * elements(x.size for x in summed) > _MIN_TUNED_PRODUCTS
    stack = None
    if tunes and order == SumOrder.IN_ORDER:
        stack = find_stack(n, remaining, depth, adds=accumulate or bool(around))
    loops = stack or _loops(n, remaining, depth, order, plain, tunes)
    if loops.kernel == kernels.gemm(n, few=False):
        overlaps = any(x.size > views[x].base.size for x in n.inputs)
        if overlaps or depth.size < _MIN_DEPTH:
            loops, around = _with_more_axes(n, loops, depth, around)
    if loops.swaps:
        swaps, (depth, *around) = not swaps, swapped([depth, *around])
    operands = [(views[x].base, views[x].offset) for x in n.inputs]
    descriptor = _descriptor(loops, depth, around, accumulate, order)
    samples = _samples(n, loops, depth, around) if accumulate else None
    return [KernelCall(loops.kernel, descriptor, tuple(operands[::-1] if swaps else operands), samples=samples)]


def _loops(
    n: Node, remaining: list[StrideAxis], depth: StrideAxis, order: SumOrder, plain: bool, tunes: bool
) -> ContractionLoops:
    """Return the loops of one product, or of a stack of them one after the other."""
    columns, rows, walked = _columns_and_rows(remaining)
    tuned = _tuned(n, order, rows, columns, depth) if tunes else None
    if tunes and not tuned and (stack := find_vector_stack(n, remaining, depth, order)):
        return stack
    if tuned and not tuned.all_rows and rows.size > 1:
        rows, walked = POINT, [*walked, rows]  # fastest: what is read by all rows stays in cache
    return ContractionLoops(tuned.kernel if tuned else kernels.general(n, plain, order), False, columns, rows, walked)


def _with_more_axes(
    n: Node, loops: ContractionLoops, depth: StrideAxis, around: list[StrideAxis]
) -> tuple[ContractionLoops, list[StrideAxis]]:
    """The loops of a product whose sums over further axes, or whose rows, are computed together, if that is worth it.

    Further sums then stay in registers; columns that must be packed are packed once for all rows. Of too many sums to
    read again, the outermost axes are walked: the others are returned.
    """
    rows = [x for x in loops.walked if x.b == 0]
    sums = elements(x.size for x in (*around, depth))
    if around and sums >= _MIN_TRANSPOSED_SUMS and (transposed := _transposed(n, loops)):
        return transposed, around
    worth = around or (rows and loops.columns.b != 1)
    if not worth or depth.size >= _MAX_SHORT_DEPTH:
        return loops, around
    walked = [x for x in loops.walked if x.b != 0]
    read = n.itemsize * sums * elements(x.size for x in (*rows, loops.rows))
    if loops.columns.size * n.itemsize > _MAX_WIDTH:
        while len(around) > 1 and read > _MAX_CACHED_BYTES:
            first, *around = around
            walked.append(first)
            read //= first.size
        if read > _MAX_CACHED_BYTES:
            return loops, around
    return loops._replace(kernel=kernels.gemm_axes(n), walked=walked, more_rows=tuple(rows)), around


def _transposed(n: Node, loops: ContractionLoops) -> ContractionLoops | None:
    """Return the loops with rows as columns, if these fill packets better; the result is then stored in strides."""
    lanes = instruction_set().register // n.itemsize
    (rows,) = swapped([loops.rows])
    gain = (_packets(loops.columns.size, lanes) * rows.size) / (_packets(rows.size, lanes) * loops.columns.size)
    others = swapped([loops.columns, *loops.walked])
    first, *more = (x for x in others if x.b == 0)
    if instruction_set().name == "avx2":
        least = 1.1 if rows.b == 1 or elements(x.size for x in (first, *more)) >= _MIN_PACKED_ROWS else 1.5
    else:
        least = 1.2 if rows.b == 1 else 1.5
    if gain < least:
        return None
    return ContractionLoops(
        kernels.gemm_axes(n), True, rows, first, [x for x in others if x.b != 0], more_rows=tuple(more)
    )


def _packets(columns: int, lanes: int) -> float:
    """Estimate the time of columns in packets: one by itself waits for its additions."""
    alone = columns % (3 * lanes)
    return columns // (3 * lanes) * 3 + (1.5 if 0 < alone <= lanes else -(-alone // lanes))


def _descriptor(
    loops: ContractionLoops, depth: StrideAxis, around: list[StrideAxis], accumulate: bool, order: SumOrder
) -> tuple[int, ...]:
    rows, columns = loops.rows, loops.columns
    further = [OuterAxis(x.size, x.out, x.a, x.b) for x in (*loops.walked, *loops.more_rows, *around, *loops.last)]
    head = Contraction(
        *(rows.size, columns.size, depth.size),
        *(rows.a, columns.a, depth.a),
        *(rows.b, columns.b, depth.b),
        *(rows.out, columns.out),
        accumulate=int(accumulate),
        order=int(order),
        rank=len(further),
    )
    return (*head, *(i for axis in further for i in axis))


def _samples(n: Node, loops: ContractionLoops, depth: StrideAxis, around: list[StrideAxis]) -> Count | None:
    """Find the number in the descriptor that counts the samples of a tile: the size of the first summed axis."""
    tile = n.inputs[0].shape[0]
    if tile == 1:
        return None
    outer = len(loops.walked) + len(loops.more_rows)
    first = len(Contraction._fields) + len(OuterAxis._fields) * outer
    position, size = (first, around[0].size) if around else (Contraction._fields.index("k"), depth.size)
    return Count(False, position, size // tile)


def _order(n: Node, depth: StrideAxis) -> SumOrder:
    """Return the order of sums of floats."""
    if depth.size < _MIN_LANES_LENGTH or not _of_vectors(n.params):
        return SumOrder.IN_ORDER
    return SumOrder.IN_LANES if depth.a in (0, 1) and depth.b in (0, 1) else SumOrder.IN_PHASES


def _of_vectors(spec: str) -> bool:
    """Return True if one operand has no letter of its own: a product of vectors, or of a vector and a matrix.

    Decided by letters, not sizes, so that a product of matrices has the same bits when it happens to have one row.
    """
    left, right, out = map(set, letters_of(spec))
    return not (left - right).intersection(out) or not (right - left).intersection(out)


def _tuned(n: Node, order: SumOrder, rows: StrideAxis, columns: StrideAxis, depth: StrideAxis) -> _Tuned | None:
    """The tuned kernel for sums in this order, if there is one for columns that only the second operand has."""
    if columns.a != 0 or columns.size == 1:
        return None
    if order == SumOrder.IN_LANES:
        return _Tuned(kernels.dots(n), False) if depth.a == depth.b == 1 else None
    if order == SumOrder.IN_PHASES:
        return _Tuned(kernels.phases(n), False) if columns.b == 1 else None
    one = _of_one_row(n, columns, depth) if rows.size == 1 else None
    return _Tuned(one, False) if one else _Tuned(kernels.gemm(n, few=rows.size <= 2), True)


def _of_one_row(n: Node, columns: StrideAxis, depth: StrideAxis) -> LibraryKernel | None:
    """Return a kernel of a vector and a matrix, where it pays to pack nothing, or to have more columns side by side."""
    isa, width = instruction_set(), columns.size * n.itemsize
    if isa.name != "avx2" or width <= isa.register:
        return None
    if columns.b == 1 and width <= 2 * kernels.MAX_ROW_PACKETS * isa.register:
        return kernels.row_sums(n)
    return kernels.row_dots(n) if columns.b != 1 and depth.b == 1 else None
