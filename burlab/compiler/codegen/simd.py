"""The loops that become SIMD code, and the pragmas that tell the compiler so."""

from collections.abc import Iterable, Sequence

from burlab.compiler.ir.library import register
from burlab.compiler.ir.spelling import has_lanes, is_chain, is_own
from burlab.compiler.ir.strides import elements
from burlab.graph import Node

from .nest import LoopNest, Span

_MIN_LANE_ITERATIONS = 8  # iterations of an inner loop for which SIMD code is worth compiling; half of it ...
_MIN_TOTAL_ITERATIONS = 64  # ... where there are so many in all
_MIN_GATHERED_OPERATIONS = 8  # operations that are worth putting together what lies apart
_FUNCTION_OPERATIONS = 8  # that a function of ours consists of, at least
_MASKS = 64  # bytes of the registers whose lanes can be left out at no cost: those of AVX-512
_LANES = "#pragma clang loop vectorize(assume_safety) {}interleave_count({}) unroll(disable)"
ONE_BY_ONE = "#pragma clang loop vectorize(disable) interleave(disable) unroll(disable)"
WRITTEN_OUT = "#pragma clang loop vectorize(disable) interleave(disable) unroll(full)"


def innermost_pragma(nest: LoopNest, spans: Sequence[Span]) -> str:
    """The pragma of the last of the loops with these spans, if it is the innermost of the nest."""
    if len(spans) < len(nest.sizes):
        return ""
    if not in_lanes(nest, spans):
        return ONE_BY_ONE
    low, high = spans[-1]
    return _masked(high - low, nest.widest, nest.members) or lanes_pragma(high - low, nest.widest, nest.members)


def lane_pieces(nest: LoopNest, outer: Sequence[Span]) -> list[Span]:
    """The pieces of the axis inside of these loops; what fills no register of long functions has narrower ones.

    Without masks, elements left over would be computed one by one, each of them as long as a register of elements.
    """
    pieces = nest.pieces(len(outer))
    if len(outer) + 1 < len(nest.sizes) or nest.each or register() >= _MASKS or not any(map(is_own, nest.members)):
        return pieces
    return [part for span in pieces for part in _cut(nest, outer, span)]


def _cut(nest: LoopNest, outer: Sequence[Span], span: Span) -> list[Span]:
    low, high = span
    size, widest = high - low, max(register() // nest.widest, 2)
    whole = size // widest * widest
    if not 0 < whole < size < 8 * widest or not in_lanes(nest, [*outer, span]):
        return [span]
    apart = lane_steps(whole, widest) + lane_steps(size - whole, widest)
    return [(low, low + whole), (low + whole, high)] if apart < lane_steps(size, widest) else [span]


def lane_steps(size: int, widest: int) -> int:
    """Return the iterations of a loop in the best width: of whole registers, and of what is left over one by one."""
    return min(size // width + size % width for width in _widths(widest))


def _widths(widest: int) -> list[int]:
    return [widest >> k for k in range(widest.bit_length() - 1)]


def in_lanes(nest: LoopNest, spans: Sequence[Span]) -> bool:
    """Return True if the innermost loop over these spans is worth lanes, and can have them."""
    return may_have_lanes(nest, spans) and all(map(has_lanes, nest.members))


def may_have_lanes(nest: LoopNest, spans: Sequence[Span]) -> bool:
    """Return True if the innermost loop over these spans is worth lanes, and its arrays allow them.

    Numbers that do not lie together are put together one by one, which a long chain repays, or many operations.
    """
    repaid = any(map(is_chain, nest.members))
    apart = sum(a.strides[-1] not in (0, 1) for a in nest.all_arrays)
    work = sum(_FUNCTION_OPERATIONS if is_own(n) else 1 for n in nest.members)
    together = repaid or apart * _MIN_GATHERED_OPERATIONS <= work
    together = together and all(a.surely(axis, spans[axis]) for a in nest.all_arrays for axis in a.bounds)
    low, high = spans[-1]
    long = repaid or (high - low < nest.sizes[len(spans) - 1] and any(map(is_own, nest.members)))
    many = high - low >= (2 if long else _MIN_LANE_ITERATIONS) or (
        high - low == _MIN_LANE_ITERATIONS // 2 and elements(nest.sizes) >= _MIN_TOTAL_ITERATIONS
    )
    return together and many


def lanes_pragma(size: int, itemsize: int, nodes: Iterable[Node] = ()) -> str:
    """The pragma that makes lanes of a loop: whole registers, of which LLVM would choose halves on AVX-512.

    Where the iterations are few, as many at once as leave the fewest in all; where they are many and a node waits for
    itself most of the time, two registers abreast.
    """
    widest = max(register() // itemsize, 2)
    width = widest if size >= 8 * widest else min(_widths(widest), key=lambda w: size // w + size % w)
    abreast = 2 if size >= 8 * widest and any(map(is_chain, nodes)) else 1
    return _LANES.format(f"vectorize_width({width}) ", abreast)


def _masked(size: int, itemsize: int, nodes: Sequence[Node]) -> str:
    """As `lanes_pragma`, but what fills no register goes into one more, whose other lanes are left out; "" for others.

    Own functions are long: an element that is left over takes as long as a register of them. What plain arithmetic
    stores is read again soon, for which it must be whole.
    """
    widest = register() // itemsize
    if register() < _MASKS or size % widest == 0 or size >= 8 * widest or not any(map(is_own, nodes)):
        return ""
    width = min(widest, 1 << (size - 1).bit_length())
    return _LANES.format(f"vectorize_width({width}) vectorize_predicate(enable) ", 2 if size > width else 1)


def widest_of(nodes: Sequence[Node]) -> int:
    """Bytes of the largest number that a loop over these nodes reads or writes."""
    return max(x.itemsize for n in nodes for x in (n, *n.inputs))
