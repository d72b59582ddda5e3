"""The C++ text of one loop: a function of what it reads and writes, the nest over the fewest axes, and its body.

Loops that differ only in where their arrays lie are one function: a network of equal layers compiles each loop once.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from burlab.compiler.ir.library import register
from burlab.compiler.ir.spelling import C_TYPES, has_lanes, is_chain, is_own, spelled
from burlab.compiler.ir.strides import elements
from burlab.graph import Node

from .nest import Array, LoopNest, Span

_MAX_UNROLLED = 3  # iterations that are written out: cheaper to compile than a loop
_MIN_LANE_ITERATIONS = 8  # iterations of an inner loop for which SIMD code is worth compiling; half of it ...
_MIN_TOTAL_ITERATIONS = 64  # ... where there are so many in all
_MIN_GATHERED_OPERATIONS = 8  # operations that are worth putting together what lies apart
_MASKS = 64  # bytes of the registers whose lanes can be left out at no cost: those of AVX-512
_LANES = "#pragma clang loop vectorize(assume_safety) {}interleave_count({}) unroll(disable)"
ONE_BY_ONE = "#pragma clang loop vectorize(disable) interleave(disable) unroll(disable)"
WRITTEN_OUT = "#pragma clang loop vectorize(disable) interleave(disable) unroll(full)"
FEW_TERMS = 4  # of a sum that `sum_of_few` of kernels/reduce/few.hpp writes out


def element_loop(nest: LoopNest) -> list[str]:
    """The text of a loop whose nodes are computed element by element; written out where that is shorter."""
    if elements(nest.sizes) > _MAX_UNROLLED:
        return _loops(nest, [])
    bodies = (_element(nest, [str(i) for i in index], nest.spans, False) for index in np.ndindex(*nest.sizes))
    return [line for body in bodies for line in ("{", *(f"  {statement}" for statement in body), "}")]


def _loops(nest: LoopNest, spans: list[Span]) -> list[str]:
    """The nest inside of the loops with these spans."""
    axis = len(spans)
    if axis == len(nest.sizes):
        return _element(nest, [f"i{k}" for k in range(axis)], spans, in_lanes(nest, spans))
    lines: list[str] = []
    for span in nest.pieces(axis):
        inside = [*spans, span]
        inner = [*(f"  {line}" for line in _loops(nest, inside)), "}"]
        lines += _in_chunks(nest, axis, span, innermost_pragma(nest, inside), inner)
    return lines


def _in_chunks(nest: LoopNest, axis: int, span: Span, pragma: list[str], inner: list[str]) -> list[str]:
    """A loop along an axis, of which the rest is given; a long one checks for an interrupt between chunks."""
    size, (low, high) = _chunk(nest, axis), span
    if size == 0:
        return [*pragma, f"for (std::int64_t i{axis} = {low}; i{axis} < {high}; ++i{axis}) {{", *inner]
    return [
        f"for (std::int64_t c = {low}; c < {high}; c += {size}) {{",
        nest.halt_check,
        f"const std::int64_t d = {high} - c < {size} ? {high} : c + {size};",
        *pragma,
        f"for (std::int64_t i{axis} = c; i{axis} < d; ++i{axis}) {{",
        *inner,
        "}",
    ]


def _chunk(nest: LoopNest, axis: int) -> int:
    """Iterations along an axis between two checks; 0 on all axes but the outermost whose iterations are short."""
    sizes, patience = nest.sizes, nest.patience
    if not patience:
        return 0
    inside = [elements(sizes[k + 1 :]) <= patience for k in range(len(sizes))]
    return max(patience // elements(sizes[axis + 1 :]), 1) if axis == inside.index(True) else 0


def innermost_pragma(nest: LoopNest, spans: list[Span]) -> list[str]:
    """The text before the last of the loops with these spans, if it is the innermost of the nest."""
    if len(spans) < len(nest.sizes):
        return []
    low, high = spans[-1]
    if not in_lanes(nest, spans):
        return [ONE_BY_ONE]
    return [_masked(high - low, nest.widest, nest.members) or lanes_pragma(high - low, nest.widest, nest.members)]


def in_lanes(nest: LoopNest, spans: list[Span]) -> bool:
    """Return True if the innermost loop over these spans is worth lanes, and can have them.

    Numbers that do not lie together are put together one by one, which a long chain repays, or many operations.
    """
    repaid = any(map(is_chain, nest.members))
    apart = sum(a.strides[-1] not in (0, 1) for a in nest.all_arrays)
    together = repaid or apart * _MIN_GATHERED_OPERATIONS <= len(nest.members)
    together = together and all(a.surely(axis, spans[axis]) for a in nest.all_arrays for axis in a.bounds)
    low, high = spans[-1]
    many = high - low >= (2 if repaid else _MIN_LANE_ITERATIONS) or (
        high - low == _MIN_LANE_ITERATIONS // 2 and elements(nest.sizes) >= _MIN_TOTAL_ITERATIONS
    )
    return together and many and all(map(has_lanes, nest.members))


class LoopValues(NamedTuple):
    """The text that loads and computes the values of one element, and the names of their variables."""

    lines: list[str]
    names: dict[Node, str]


def values(nest: LoopNest, indices: list[str], spans: list[Span], lanes: bool) -> LoopValues:
    """One element, but for its stores: loads, and a variable for each node."""
    lines: list[str] = []
    names = dict(nest.values)
    loaded: dict[Array, str] = {}
    for x, array in nest.arrays.items():
        if array not in loaded:
            loaded[array] = f"a{len(loaded)}"
            lines.append(f"const {C_TYPES[x.dtype]} {loaded[array]} = {array.at(indices, spans)};")
        names[x] = loaded[array]
    for k, n in enumerate(nest.members):
        text = spelled(n, [nest.named(x, names) for x in n.inputs], lanes)
        names[n] = f"v{k}"
        lines.append(f"const {C_TYPES[n.dtype]} {names[n]} = {text};")
    if nest.plan.note:
        lines.append(f"bad |= {unfit(names[n] for n in nest.members if n.dtype.kind == 'f')};")
    return LoopValues(lines, names)


def stores(nest: LoopNest, indices: list[str], spans: list[Span], names: dict[Node, str]) -> list[str]:
    """The stores of one element."""
    return [f"{a.at(indices, spans)} = {names[n]};" for n, a in nest.results.items() if n in names]


def _element(nest: LoopNest, indices: list[str], spans: list[Span], lanes: bool) -> list[str]:
    """One element; no store before a load, so that bytes may be reused."""
    lines, names = values(nest, indices, spans, lanes)
    return [*lines, *stores(nest, indices, spans, names)]


def lanes_pragma(size: int, itemsize: int, nodes: Iterable[Node] = ()) -> str:
    """The pragma that makes lanes of a loop: whole registers, of which LLVM would choose halves on AVX-512.

    Where the iterations are few, as many at once as leave the fewest in all; where they are many and a node waits for
    itself most of the time, two registers abreast.
    """
    widest = max(register() // itemsize, 2)
    widths = [widest >> k for k in range(widest.bit_length() - 1)]
    width = widest if size >= 8 * widest else min(widths, key=lambda w: size // w + size % w)
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


def unfit(names: Iterable[str]) -> str:
    """1 if one of the floating variables is inf or nan, else 0."""
    return " | ".join(f"({v} - {v} == 0 ? 0 : 1)" for v in names) or "0"
