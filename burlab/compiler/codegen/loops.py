"""The C++ text of one loop: a function of what it reads and writes, the nest over the fewest axes, and its body.

Loops that differ only in where their arrays lie are one function: a network of equal layers compiles each loop once.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from burlab.compiler.ir.interrupts import CALL, PATIENCE, is_long
from burlab.compiler.ir.library import register
from burlab.compiler.ir.plan import Loop, Plan
from burlab.compiler.ir.spelling import C_TYPES, has_lanes, waits
from burlab.compiler.ir.strides import Shape, View, dense_strides, elements, grouped
from burlab.graph import Node

_UNROLLED = 3  # turns that are written out: cheaper to compile than a loop
_PIECES = 6  # ends of pieces of an axis beyond which it is not cut
_SHORT = 8  # turns of an inner loop for which SIMD code costs more to compile than it saves; half of it ...
_MANY = 64  # ... where there are so many in all
_LANES = "#pragma clang loop vectorize(assume_safety) {}interleave_count({}) unroll(disable)"
ONE_BY_ONE = "#pragma clang loop vectorize(disable) interleave(disable) unroll(disable)"


Span = tuple[int, int]  # the first index, and the one behind the last


@dataclass(eq=False, slots=True)
class Array:
    """Something that a loop reads or writes by its index: its C++ name, and its strides along the loop's axes.

    bounds: axes along which it is read only from an index on and below another; elsewhere it is 0. A number is the same
    at every index, but for its bounds.
    """

    name: str
    strides: list[int]
    bounds: dict[int, Span] = field(default_factory=dict[int, Span])
    is_number: bool = False

    def at(self, indices: list[str], spans: Sequence[Span]) -> str:
        """The element at these indices, which run from the first to before the last of their spans."""
        terms = [i if s == 1 else f"{s} * {i}" for i, s in zip(indices, self.strides, strict=True) if s and i != "0"]
        element = self.name if self.is_number else f"{self.name}[{' + '.join(terms) or '0'}]"
        inside: list[str] = []
        for axis, (low, high) in self.bounds.items():
            first, last = spans[axis]
            if last <= low or high <= first:
                return "0"
            if low > first:
                inside.append(f"{indices[axis]} >= {low}")
            if high < last:
                inside.append(f"{indices[axis]} < {high}")
        return f"{' && '.join(inside)} ? {element} : 0" if inside else element

    def surely(self, axis: int, span: Span) -> bool:
        """Whether all of a span along a bounded axis is inside, or all of it outside."""
        low, high = self.bounds[axis]
        return (low <= span[0] and span[1] <= high) or span[1] <= low or high <= span[0]


class LoopWriter:
    """Writes one loop of a plan.

    scalar: the C++ name of a value that is one number, declared before the loop where need be. spelled: the expression
    of a node from those of its arguments.
    """

    def __init__(
        self, plan: Plan, step: Loop, scalar: Callable[[Node], str], spelled: Callable[[Node, list[str], bool], str]
    ) -> None:
        self.plan = plan
        self.step = step
        self.scalar = scalar
        self.spelled = spelled
        self.parameters: list[tuple[str, str, str]] = []  # C++ type and name, and what the loop is called with
        self.values: dict[Node, str] = {}  # operands that are numbers, by name
        self.arrays: dict[Node, Array] = {}
        self.results: dict[Node, Array] = {}
        self.sizes: list[int] = []

    def lines(self) -> list[str]:
        """The loop."""
        self.find_operands()
        for k, n in enumerate(self.step.stores):
            self.point(f"{C_TYPES[n.dtype]}*", f"y{k}", self.plan.allocations[n].pointer)
            self.results[n] = Array(f"y{k}", self.strides_of(n))
        self._group_axes()
        return self.nest()

    def strides_of(self, n: Node) -> list[int]:
        """Strides of a result along the axes of the shape."""
        return list(dense_strides(n.shape))

    @property
    def members(self) -> Sequence[Node]:
        """What is computed for each element."""
        return self.step.nodes

    def point(self, kind: str, name: str, address: str) -> None:
        """A pointer among the parameters."""
        self.parameters.append((kind, name, f"({kind})({address})"))

    def find_operands(self) -> None:
        """Numbers by name, arrays by a pointer; equal views share one."""
        members = set(self.step.nodes)
        known: dict[tuple[View, Shape], Array] = {}
        for x in (x for n in self.step.nodes for x in n.inputs):
            ref = self.plan.views[x]
            if ref.base in members or x in self.values or x in self.arrays:
                continue
            if ref.is_number:
                self.values[x] = self._number(x)
                continue
            if (ref, x.shape) not in known:
                known[ref, x.shape] = self.array(x, ref, f"x{len(known)}")
            self.arrays[x] = known[ref, x.shape]

    def _number(self, x: Node) -> str:
        text = self.scalar(x)
        if not text.startswith(("*", "v")):
            return text  # a literal
        name = f"s{len(self.parameters)}"
        self.parameters.append((C_TYPES[x.dtype], name, text))
        return name

    def array(self, x: Node, ref: View, name: str) -> Array:
        """An operand that the loop reads by its indices."""
        bounds = {axis: span for axis, span in enumerate(ref.window) if span}
        if not any(ref.strides):
            return Array(self._number(x), list(ref.strides), bounds, is_number=True)
        place = self.plan.allocations[ref.base].plus(ref.offset * x.itemsize)
        self.point(f"const {C_TYPES[x.dtype]}*", name, place.pointer)
        return Array(name, list(ref.strides), bounds)

    def everything(self) -> list[Array]:
        """The arrays that the loop reads and writes."""
        return list(dict.fromkeys([*self.arrays.values(), *self.results.values()]))

    def _group_axes(self) -> None:
        """Turn strides along the axes of the shape into strides along the loop's, which are as few as may be."""
        arrays = self.everything()
        shape = self.step.shape
        alone = {axis for a in arrays for axis in a.bounds}
        self.apply_groups(grouped(shape, [tuple(a.strides) for a in arrays], alone))

    def apply_groups(self, groups: list[list[int]]) -> None:
        """One index of the loop for each group of axes."""
        self.sizes = [elements(self.step.shape[axis] for axis in group) for group in groups]
        for array in self.everything():
            array.strides = [array.strides[group[-1]] for group in groups]
            array.bounds = {k: array.bounds[group[0]] for k, group in enumerate(groups) if group[0] in array.bounds}

    def nest(self) -> list[str]:
        """The loops around the body; written out where that is shorter."""
        if elements(self.sizes) <= _UNROLLED:
            spans = [(0, size) for size in self.sizes]
            turns = (self.body([str(i) for i in index], spans, False) for index in np.ndindex(*self.sizes))
            return [line for turn in turns for line in ("{", *(f"  {statement}" for statement in turn), "}")]
        return self.loops([])

    def loops(self, spans: list[Span]) -> list[str]:
        """The nest inside of the loops with these spans."""
        k = len(spans)
        if k == len(self.sizes):
            return self.body([f"i{axis}" for axis in range(k)], spans, self.has_lanes(spans))
        lines: list[str] = []
        for low, high in self.pieces(k):
            inner = self.loops([*spans, (low, high)])
            pragma: list[str] = []
            if k == len(self.sizes) - 1:
                lanes = self.has_lanes([*spans, (low, high)])
                pragma = [lanes_pragma(high - low, self.widest(), self.members) if lanes else ONE_BY_ONE]
            lines += self.in_stretches(k, low, high, pragma, [*(f"  {line}" for line in inner), "}"])
        return lines

    def in_stretches(self, axis: int, low: int, high: int, pragma: list[str], inner: list[str]) -> list[str]:
        """A loop along an axis, of which the rest is given; a long one asks between stretches whether to give up."""
        size = self.stretch(axis)
        if size == 0:
            return [*pragma, self.turns(axis, low, high), *inner]
        return [
            f"for (std::int64_t c = {low}; c < {high}; c += {size}) {{",
            self.question,
            f"const std::int64_t d = {high} - c < {size} ? {high} : c + {size};",
            *pragma,
            f"for (std::int64_t i{axis} = c; i{axis} < d; ++i{axis}) {{",
            *inner,
            "}",
        ]

    @property
    def question(self) -> str:
        """Ask whether to give up, and do so."""
        return f"if ({CALL}) return{' bad' if self.plan.note else ''};"

    @property
    def counter(self) -> list[str]:
        """What a nest that asks by the block begins with."""
        return [f"std::int64_t left = {self.patience};"] if self.patience else []

    def counted(self, size: int) -> list[str]:
        """What a block of so many elements begins with."""
        return [f"if ((left -= {size}) < 0) {{ {self.question} left = {self.patience}; }}"] if self.patience else []

    @property
    def patience(self) -> int:
        """Elements of the shape between two questions, 0 where there are none."""
        return max(PATIENCE // len(self.step.nodes), 1) if is_long(self.step) else 0

    def stretch(self, axis: int) -> int:
        """Turns along an axis between two questions; 0 on all axes but the outermost whose turns are short."""
        if not self.patience:
            return 0
        inside = [elements(self.sizes[k + 1 :]) <= self.patience for k in range(len(self.sizes))]
        return max(self.patience // elements(self.sizes[axis + 1 :]), 1) if axis == inside.index(True) else 0

    def widest(self) -> int:
        """Bytes of the largest number that is read or computed."""
        return max(x.itemsize for x in (*self.members, *(x for n in self.step.nodes for x in n.inputs)))

    def turns(self, axis: int, low: int, high: int) -> str:
        """The head of a loop along an axis."""
        return f"for (std::int64_t i{axis} = {low}; i{axis} < {high}; ++i{axis}) {{"

    def pieces(self, axis: int) -> list[Span]:
        """An axis, cut where the arrays that are bounded along it begin and end, unless these are many."""
        size = self.sizes[axis]
        cuts = {cut for a in self.everything() if axis in a.bounds for cut in a.bounds[axis]} | {0, size}
        ends = sorted(cuts) if len(cuts) <= _PIECES else [0, size]
        return list(itertools.pairwise(ends))

    def has_lanes(self, spans: list[Span]) -> bool:
        """Whether the innermost loop over these spans is worth lanes, and can have them.

        Numbers that do not lie together are put together one by one, which only a long chain repays.
        """
        repaid = any(map(waits, self.members))
        together = all(
            (repaid or a.strides[-1] in (0, 1)) and all(a.surely(axis, spans[axis]) for axis in a.bounds)
            for a in self.everything()
        )
        low, high = spans[-1]
        many = high - low >= _SHORT or (high - low == _SHORT // 2 and elements(self.sizes) >= _MANY)
        return together and many and all(map(has_lanes, self.members))

    def body(self, indices: list[str], spans: list[Span], lanes: bool) -> list[str]:
        """One element: loads, a variable for each node, stores; no store before a load, so that bytes may be reused."""
        lines: list[str] = []
        names = dict(self.values)
        loaded: dict[Array, str] = {}
        for x, array in self.arrays.items():
            if array not in loaded:
                loaded[array] = f"a{len(loaded)}"
                lines.append(f"const {C_TYPES[x.dtype]} {loaded[array]} = {array.at(indices, spans)};")
            names[x] = loaded[array]
        for k, n in enumerate(self.members):
            text = self.spelled(n, [self.named(x, names) for x in n.inputs], lanes)
            names[n] = f"v{k}"
            lines.append(f"const {C_TYPES[n.dtype]} {names[n]} = {text};")
        if self.plan.note:
            lines.append(f"bad |= {unfit(names[n] for n in self.members if n.dtype.kind == 'f')};")
        return lines + self.stores(indices, spans, names)

    def named(self, x: Node, names: dict[Node, str]) -> str:
        """The variable of an operand: of what was read, or of the member whose own element it shows."""
        return names[x] if x in names else names[self.plan.views[x].base]

    def stores(self, indices: list[str], spans: list[Span], names: dict[Node, str]) -> list[str]:
        """What of an element is kept."""
        return [f"{array.at(indices, spans)} = {names[n]};" for n, array in self.results.items() if n in names]


def lanes_pragma(size: int, itemsize: int, nodes: Iterable[Node] = ()) -> str:
    """What makes lanes of a loop: whole registers, of which LLVM would choose halves on AVX-512.

    Where the turns are few, as many at once as leave the fewest turns in all; where they are many and a node waits for
    itself most of the time, two registers abreast.
    """
    widest = max(register() // itemsize, 2)
    widths = [widest >> k for k in range(widest.bit_length() - 1)]
    width = widest if size >= 8 * widest else min(widths, key=lambda w: size // w + size % w)
    abreast = 2 if size >= 8 * widest and any(map(waits, nodes)) else 1
    return _LANES.format(f"vectorize_width({width}) ", abreast)


def unfit(names: Iterable[str]) -> str:
    """1 if one of the floating variables is inf or nan, else 0."""
    return " | ".join(f"({v} - {v} == 0 ? 0 : 1)" for v in names) or "0"
