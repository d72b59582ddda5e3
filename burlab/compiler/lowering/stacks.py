"""Lowering of stacks of products whose numbers lie next to each other in the result or in an operand.

An axis that all three arrays have counts products. An array whose stride along it is 1 is interleaved. There are three
ways: all as `Gemm` does it, in strides; packets of a number each of several products (`Stacked`); copies of interleaved
blocks, from which and to which `Gemm` computes (`Interleaved`). Which one is chosen changes no bit.
"""

import math
from typing import NamedTuple

from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.strides import POINT, StrideAxis
from burlab.graph import Node
from burlab.runtime.cpu import instruction_set

from . import contraction_kernels as kernels
from .descriptors import SumOrder

_MIN_SIDE = 12  # rows, columns and products in a sum, from which `Gemm` is worth copies of its operands and results
_GEMM_SIDE = 8  # rows and columns of results that `Gemm` computes so fast that copies of these alone pay
_MAX_TRANSPOSED = 16  # numbers of a result up to which packets of it and of the second operand are transposed
_L1_WAYS, _L1_SETS, _L1_LINE = 8, 64, 64  # of the first cache: lines of a set, sets, bytes of a line
_MIN_COPIED = 2.5  # numbers to copy for each that packets would turn, from which packets pay


class ContractionLoops(NamedTuple):
    """A kernel, and the axes of the result that its loops run over.

    Args:
        kernel: the kernel.
        swaps: whether it takes the second operand first; the axes are those after that.
        columns, rows: the axes that it walks itself: n and m of its descriptor.
        walked: other axes, of which it takes one index at a time.
        last: an axis that it walks itself, besides.
        more_rows: axes that count rows, too.
    """

    kernel: LibraryKernel
    swaps: bool
    columns: StrideAxis
    rows: StrideAxis
    walked: list[StrideAxis]
    last: tuple[StrideAxis, ...] = ()
    more_rows: tuple[StrideAxis, ...] = ()


def swapped(axes: list[StrideAxis]) -> list[StrideAxis]:
    """The axes as they are if the operands change places."""
    return [StrideAxis(x.size, x.out, x.b, x.a) for x in axes]


def find_stack(n: Node, remaining: list[StrideAxis], depth: StrideAxis, adds: bool) -> ContractionLoops | None:
    """A stack of products that is worth a kernel of its own, for sums of floats in order.

    remaining: the axes of the result. adds: whether anything is added to what the result holds.
    """
    shared = [x for x in remaining if x.a and x.b]
    last = next((x for x in reversed(remaining) if x.out == 1), POINT)
    interleaved = last in shared
    products = last if interleaved else next((x for x in shared if 1 in (x.a, x.b)), POINT)
    if products is POINT or (adds and not interleaved):
        return None
    swaps = _own(remaining, 1).size > _own(remaining, 0).size if interleaved else last.b == 0
    if swaps:
        (products,), remaining = swapped([products]), swapped(remaining)
    near = None if interleaved else next(x for x in remaining if x.out == 1)
    rows = _own([x for x in remaining if x is not near], 0)  # an axis that both operands repeat is one of them only
    columns = near or _own([x for x in remaining if x is not rows], 1)
    if adds:
        made = kernels.stacked(n)
    elif instruction_set().name == "avx2":
        made = _by_copies(n, products, rows, columns, depth, interleaved)
    elif interleaved:
        made = _for_interleaved(n, products, rows, columns, depth)
    else:
        made = _for_interleaved_operands(n, products, rows, columns, depth)
    walked = [x for x in remaining if x not in (products, rows, columns)]
    return made and ContractionLoops(made, swaps, products, rows, walked, (columns,))


def find_vector_stack(
    n: Node, remaining: list[StrideAxis], depth: StrideAxis, order: SumOrder
) -> ContractionLoops | None:
    """A stack of products of a vector and a matrix, for long sums of floats: with strides in the result, or packets.

    The matrix becomes the second operand.
    """
    swaps = _own(remaining, 0).size > _own(remaining, 1).size
    if swaps:
        (depth,), remaining = swapped([depth]), swapped(remaining)
    columns = _own(remaining, 1)
    if order == SumOrder.IN_LANES and depth.a == depth.b == 1 and columns is not POINT:
        return ContractionLoops(kernels.dots(n), swaps, columns, POINT, [x for x in remaining if x is not columns])
    if order != SumOrder.IN_PHASES:
        return None
    if columns.b == 1:
        return ContractionLoops(kernels.phases(n), swaps, columns, POINT, [x for x in remaining if x is not columns])
    products = next((x for x in remaining if x.a and x.b == 1), POINT)
    if products is POINT and columns is POINT:  # of two vectors: either may be interleaved
        products = next((x for x in swapped(remaining) if x.a and x.b == 1), POINT)
        swaps, remaining = not swaps, swapped(remaining)
    if products is POINT:
        return None
    walked = [x for x in remaining if x not in (products, columns)]
    return ContractionLoops(kernels.stacked_phases(n), swaps, products, POINT, walked, (columns,))


def _own(axes: list[StrideAxis], operand: int) -> StrideAxis:
    """The longest axis of the result that only the first operand has, or only the second one; none repeats both."""
    own = (x for x in axes if (x.a, x.b)[operand] != 0 and (x.a, x.b)[1 - operand] == 0)
    return max(own, key=lambda x: x.size, default=POINT)


def _by_copies(
    n: Node, products: StrideAxis, rows: StrideAxis, columns: StrideAxis, depth: StrideAxis, interleaved: bool
) -> LibraryKernel | None:
    """Packets where few numbers are not interleaved, which are then turned, else copies of those that are.

    With registers of half a line of the cache, packets read and write what is not interleaved more slowly than `Gemm`.
    """
    if 2 * products.size <= instruction_set().register // n.itemsize:
        return kernels.interleaved(n) if interleaved else None
    turned, copied = 0, 0
    for size, apart in (
        (rows.size * depth.size, products.a != 1),
        (depth.size * columns.size, products.b != 1),
        (rows.size * columns.size, not interleaved),
    ):
        turned += size * apart
        copied += size * (not apart)
    return kernels.stacked(n) if _MIN_COPIED * turned <= copied else kernels.interleaved(n)


def _for_interleaved(
    n: Node, products: StrideAxis, rows: StrideAxis, columns: StrideAxis, depth: StrideAxis
) -> LibraryKernel:
    """For an interleaved result: packets, if they are mostly full, and copies would take long."""
    lanes = instruction_set().register // n.itemsize
    if 2 * products.size <= lanes:
        return kernels.interleaved(n)
    operands_are_whole = 1 not in (products.a, products.b)
    if operands_are_whole and rows.size == columns.size == _GEMM_SIDE:
        return kernels.interleaved(n)
    small = min(rows.size, columns.size) < _MIN_SIDE
    if small or (_fills(products.size, lanes) and (depth.size < _MIN_SIDE or not operands_are_whole)):
        return kernels.stacked(n)
    return kernels.interleaved(n)


def _for_interleaved_operands(
    n: Node, products: StrideAxis, rows: StrideAxis, columns: StrideAxis, depth: StrideAxis
) -> LibraryKernel | None:
    """For interleaved operands only: packets, which have to turn the result and an operand, if these are small.

    Sides of one or two, and a first operand that stays in the first cache, are read as they are.
    """
    lanes = instruction_set().register // n.itemsize
    side = min(rows.size, columns.size)
    if 2 * products.size <= lanes:
        return None
    if products.b == 1:
        if side < _MIN_SIDE and (products.a == 1 or rows.size < 2 * columns.size):
            return kernels.stacked(n)
        enough = _fills(products.size, lanes)
    else:
        step = n.itemsize * min(abs(rows.a), abs(depth.a))
        far = not _fit_first_cache(rows.size * depth.size, step)
        enough = products.size >= 2 * lanes and (side >= _MIN_SIDE or far)
        if enough and side > 2 and rows.size * columns.size <= _MAX_TRANSPOSED:
            return kernels.stacked(n)
    return kernels.interleaved(n) if enough and side > 2 else None


def _fit_first_cache(lines: int, step: int) -> bool:
    """Return True if so many lines that are `step` bytes apart stay in the first cache."""
    return lines * math.gcd(_L1_SETS, step // _L1_LINE if step % _L1_LINE == 0 else 1) <= _L1_WAYS * _L1_SETS


def _fills(size: int, lanes: int) -> bool:
    """Return True if at most a quarter of the lanes stays empty."""
    return 4 * size >= 3 * lanes * -(-size // lanes)
