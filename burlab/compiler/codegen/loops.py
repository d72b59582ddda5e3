"""The C++ text of one loop: a function of what it reads and writes, the nest over the fewest axes, and its body.

Loops that differ only in where their arrays lie are one function: a network of equal layers compiles each loop once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from burlab.compiler.ir.library import register
from burlab.compiler.ir.spelling import C_TYPES, has_lanes, is_chain
from burlab.compiler.ir.strides import elements
from burlab.graph import Node

from .nest import Array, LoopNest, Span

_UNROLLED = 3  # iterations that are written out: cheaper to compile than a loop
_SHORT = 8  # iterations of an inner loop for which SIMD code costs more to compile than it saves; half of it ...
_MANY = 64  # ... where there are so many in all
_LANES = "#pragma clang loop vectorize(assume_safety) {}interleave_count({}) unroll(disable)"
ONE_BY_ONE = "#pragma clang loop vectorize(disable) interleave(disable) unroll(disable)"


@dataclass(frozen=True, slots=True)
class LoopWriter:
    """Writes a loop nest whose nodes are computed element by element."""

    nest: LoopNest

    def lines(self) -> list[str]:
        """The loops around the body; written out where that is shorter."""
        sizes = self.nest.sizes
        if elements(sizes) <= _UNROLLED:
            bodies = (self.body([str(i) for i in index], self.nest.spans, False) for index in np.ndindex(*sizes))
            return [line for body in bodies for line in ("{", *(f"  {statement}" for statement in body), "}")]
        return self.loops([])

    def loops(self, spans: list[Span]) -> list[str]:
        """The nest inside of the loops with these spans."""
        nest, k = self.nest, len(spans)
        if k == len(nest.sizes):
            return self.body([f"i{axis}" for axis in range(k)], spans, self.has_lanes(spans))
        lines: list[str] = []
        for low, high in nest.pieces(k):
            inner = self.loops([*spans, (low, high)])
            pragma: list[str] = []
            if k == len(nest.sizes) - 1:
                lanes = self.has_lanes([*spans, (low, high)])
                pragma = [lanes_pragma(high - low, nest.widest, nest.members) if lanes else ONE_BY_ONE]
            lines += self.in_chunks(k, low, high, pragma, [*(f"  {line}" for line in inner), "}"])
        return lines

    def in_chunks(self, axis: int, low: int, high: int, pragma: list[str], inner: list[str]) -> list[str]:
        """A loop along an axis, of which the rest is given; a long one checks for an interrupt between chunks."""
        size = self.chunk(axis)
        if size == 0:
            return [*pragma, self.head(axis, low, high), *inner]
        return [
            f"for (std::int64_t c = {low}; c < {high}; c += {size}) {{",
            self.nest.halt_check,
            f"const std::int64_t d = {high} - c < {size} ? {high} : c + {size};",
            *pragma,
            f"for (std::int64_t i{axis} = c; i{axis} < d; ++i{axis}) {{",
            *inner,
            "}",
        ]

    def chunk(self, axis: int) -> int:
        """Iterations along an axis between two checks; 0 on all axes but the outermost whose iterations are short."""
        sizes, patience = self.nest.sizes, self.nest.patience
        if not patience:
            return 0
        inside = [elements(sizes[k + 1 :]) <= patience for k in range(len(sizes))]
        return max(patience // elements(sizes[axis + 1 :]), 1) if axis == inside.index(True) else 0

    def head(self, axis: int, low: int, high: int) -> str:
        """The head of a loop along an axis."""
        return f"for (std::int64_t i{axis} = {low}; i{axis} < {high}; ++i{axis}) {{"

    def has_lanes(self, spans: list[Span]) -> bool:
        """Whether the innermost loop over these spans is worth lanes, and can have them.

        Numbers that do not lie together are put together one by one, which only a long chain repays.
        """
        nest = self.nest
        repaid = any(map(is_chain, nest.members))
        together = all(
            (repaid or a.strides[-1] in (0, 1)) and all(a.surely(axis, spans[axis]) for axis in a.bounds)
            for a in nest.all_arrays
        )
        low, high = spans[-1]
        many = high - low >= _SHORT or (high - low == _SHORT // 2 and elements(nest.sizes) >= _MANY)
        return together and many and all(map(has_lanes, nest.members))

    def body(self, indices: list[str], spans: list[Span], lanes: bool) -> list[str]:
        """One element: loads, a variable for each node, stores; no store before a load, so that bytes may be reused."""
        nest = self.nest
        lines: list[str] = []
        names = dict(nest.values)
        loaded: dict[Array, str] = {}
        for x, array in nest.arrays.items():
            if array not in loaded:
                loaded[array] = f"a{len(loaded)}"
                lines.append(f"const {C_TYPES[x.dtype]} {loaded[array]} = {array.at(indices, spans)};")
            names[x] = loaded[array]
        for k, n in enumerate(nest.members):
            text = nest.spelled(n, [nest.named(x, names) for x in n.inputs], lanes)
            names[n] = f"v{k}"
            lines.append(f"const {C_TYPES[n.dtype]} {names[n]} = {text};")
        if nest.plan.note:
            lines.append(f"bad |= {unfit(names[n] for n in nest.members if n.dtype.kind == 'f')};")
        return lines + self.stores(indices, spans, names)

    def stores(self, indices: list[str], spans: list[Span], names: dict[Node, str]) -> list[str]:
        """The stores of one element."""
        return [f"{a.at(indices, spans)} = {names[n]};" for n, a in self.nest.results.items() if n in names]


def lanes_pragma(size: int, itemsize: int, nodes: Iterable[Node] = ()) -> str:
    """What makes lanes of a loop: whole registers, of which LLVM would choose halves on AVX-512.

    Where the iterations are few, as many at once as leave the fewest in all; where they are many and a node waits for
    itself most of the time, two registers abreast.
    """
    widest = max(register() // itemsize, 2)
    widths = [widest >> k for k in range(widest.bit_length() - 1)]
    width = widest if size >= 8 * widest else min(widths, key=lambda w: size // w + size % w)
    abreast = 2 if size >= 8 * widest and any(map(is_chain, nodes)) else 1
    return _LANES.format(f"vectorize_width({width}) ", abreast)


def widest_of(nodes: Sequence[Node]) -> int:
    """Bytes of the largest number that a loop over these nodes reads or writes."""
    return max(x.itemsize for n in nodes for x in (n, *n.inputs))


def unfit(names: Iterable[str]) -> str:
    """1 if one of the floating variables is inf or nan, else 0."""
    return " | ".join(f"({v} - {v} == 0 ? 0 : 1)" for v in names) or "0"
