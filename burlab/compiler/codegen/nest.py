"""Reads and writes of a generated loop, and the fewest axes that walk it: found once, before any text is written."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from burlab.compiler.ir.interrupts import CALL, PATIENCE, is_long
from burlab.compiler.ir.iteration import IterationSpace, ends_columns
from burlab.compiler.ir.plan import KernelPlan, LoopStep
from burlab.compiler.ir.spelling import C_TYPES, literal
from burlab.compiler.ir.strides import Shape, StridedView, dense_strides, elements, grouped
from burlab.graph import Node

_MAX_PIECE_ENDS = 6  # ends of pieces of an axis beyond which it is not cut

Span = tuple[int, int]  # the first index, and the one behind the last


@dataclass(frozen=True, eq=False, slots=True)
class Array:
    """Something that a loop reads or writes by its index: its C++ name, and its strides along the loop's axes.

    bounds: axes along which it is read only from an index on and below another; elsewhere it is 0. A number is the same
    at every index, but for its bounds.
    """

    name: str
    strides: tuple[int, ...]
    bounds: dict[int, Span] = field(default_factory=dict[int, Span])
    is_number: bool = False

    def at(self, indices: Sequence[str], spans: Sequence[Span]) -> str:
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
        """Return True if all of a span along a bounded axis is inside, or all of it outside."""
        low, high = self.bounds[axis]
        return (low <= span[0] and span[1] <= high) or span[1] <= low or high <= span[0]

    def along(self, groups: Sequence[Sequence[int]]) -> "Array":
        """The same, with one axis for each group of axes."""
        bounds = {k: self.bounds[group[0]] for k, group in enumerate(groups) if group[0] in self.bounds}
        return Array(self.name, tuple(self.strides[group[-1]] for group in groups), bounds, self.is_number)


class Parameter(NamedTuple):
    """A parameter of the loop's function: C++ type, name, and the argument of the call."""

    kind: str
    name: str
    argument: str


@dataclass(frozen=True, slots=True)
class LoopNest:
    """A loop of a plan as a nest over few axes.

    values: operands that are numbers, by their C++ names. numbers: those of them that its caller names. sizes: of the
    axes; the first `depth` of them are not reduced. members: what is computed for each element. all_arrays: what the
    loop reads and writes. each: 0, or how many
    indices of the outermost axis a unit of several threads' work has: then the loop goes from `first` to `last`.
    """

    plan: KernelPlan
    step: LoopStep
    parameters: tuple[Parameter, ...]
    values: dict[Node, str]
    numbers: tuple[Node, ...]
    arrays: dict[Node, Array]
    results: dict[Node, Array]
    sizes: tuple[int, ...]
    depth: int
    members: tuple[Node, ...]
    all_arrays: tuple[Array, ...]
    each: int = 0

    def ends(self, axis: int, span: Span) -> tuple[int | str, int | str]:
        """The first index of a loop over a span of an axis, and the one behind the last, in C++."""
        return ("first", "last") if self.each and axis == 0 else span

    @property
    def spans(self) -> list[Span]:
        """All indices of each axis."""
        return [(0, size) for size in self.sizes]

    @property
    def widest(self) -> int:
        """Bytes of the largest number that is read or computed."""
        return max(x.itemsize for x in (*self.members, *(x for n in self.step.nodes for x in n.inputs)))

    def pieces(self, axis: int) -> list[Span]:
        """An axis, cut at the bounds of the arrays that cover a part of it, unless these are many."""
        size = self.sizes[axis]
        cuts = {cut for a in self.all_arrays if axis in a.bounds for cut in a.bounds[axis]} | {0, size}
        ends = sorted(cuts) if len(cuts) <= _MAX_PIECE_ENDS else [0, size]
        return list(itertools.pairwise(ends))

    def named(self, x: Node, names: Mapping[Node, str]) -> str:
        """The variable of an operand: of a loaded value, or of the member whose element it is."""
        return names[x] if x in names else names[self.plan.views[x].base]

    @property
    def patience(self) -> int:
        """Elements of the shape between two checks for an interrupt, 0 for no checks."""
        return max(PATIENCE // len(self.step.nodes), 1) if is_long(self.step) else 0

    @property
    def halt_check(self) -> str:
        """Check for an interrupt, and give up if there is one."""
        return f"if ({CALL}) return{' bad' if self.plan.note else ''};"

    @property
    def counter(self) -> list[str]:
        """The first lines of a nest that checks by the block."""
        return [f"std::int64_t left = {self.patience};"] if self.patience else []

    def counted(self, size: int) -> list[str]:
        """The first lines of a block of so many elements."""
        if not self.patience:
            return []
        return [f"if ((left -= {size}) < 0) {{ {self.halt_check} left = {self.patience}; }}"]


def number(plan: KernelPlan, x: Node) -> str:
    """The name or literal of a value whose elements are all one number in memory."""
    view = plan.views[x]
    base = view.base
    if base.size > 1:  # one element of an array: it may change, so it gets no lasting name
        return in_memory(plan, base, view.offset)
    return literal(base.params.item(), base.dtype) if plan.is_in_text(base) else f"v{plan.graph.index[base]}"


def in_memory(plan: KernelPlan, base: Node, offset: int) -> str:
    """One element of an array."""
    place = plan.allocations[base].plus(offset * base.itemsize)
    return f"*(const {C_TYPES[base.dtype]}*)({place.pointer})"


def find_nest(plan: KernelPlan, step: LoopStep, each: int = 0) -> LoopNest:
    """The nest of a loop. each: see `LoopNest`."""
    found = _Operands(plan, step)
    space = IterationSpace(step.shape, step.reduced)
    arrays = list(dict.fromkeys((*found.arrays.values(), *found.results.values())))
    shape, rows = step.shape, len(space.outer)
    alone = {axis for a in arrays for axis in a.bounds}
    outer = grouped(shape[:rows], [a.strides[:rows] for a in arrays], alone)
    inner = grouped(shape[rows:], [a.strides[rows:] for a in arrays], {axis - rows for axis in alone})
    groups = [*outer, *([axis + rows for axis in group] for group in inner)]
    along = {a: a.along(groups) for a in arrays}
    return LoopNest(
        plan,
        step,
        tuple(found.parameters),
        found.values,
        tuple(found.numbers),
        {x: along[a] for x, a in found.arrays.items()},
        {n: along[a] for n, a in found.results.items()},
        tuple(elements(shape[axis] for axis in group) for group in groups),
        len(outer),
        tuple(n for n in step.nodes if not n.row.epilogue),
        tuple(along.values()),
        each,
    )


class _Operands:
    """Numbers by name, arrays by a pointer; equal views share one. Their strides are along the axes of the shape."""

    def __init__(self, plan: KernelPlan, step: LoopStep) -> None:
        self.plan = plan
        self.space = IterationSpace(step.shape, step.reduced)
        self.parameters: list[Parameter] = []
        self.values: dict[Node, str] = {}
        self.numbers: list[Node] = []
        self.arrays: dict[Node, Array] = {}
        self.results: dict[Node, Array] = {}
        members = set(step.nodes)
        known: dict[tuple[StridedView, Shape], Array] = {}
        for x in (x for n in step.nodes for x in n.inputs):
            view = plan.views[x]
            if view.base in members or x in self.values or x in self.arrays:
                continue
            if view.is_number:
                self.values[x] = self._number(x)
                continue
            if (view, x.shape) not in known:
                known[view, x.shape] = self._array(x, view, f"x{len(known)}")
            self.arrays[x] = known[view, x.shape]
        for k, n in enumerate(step.stores):
            self._point(f"{C_TYPES[n.dtype]}*", f"y{k}", plan.allocations[n].pointer)
            strides = dense_strides(n.shape)
            columns = not self.space.reduced and ends_columns(n)
            over = (0, *strides) if columns else self._over_space(n.shape, strides)
            self.results[n] = Array(f"y{k}", over)

    def _point(self, kind: str, name: str, address: str) -> None:
        """A pointer among the parameters."""
        self.parameters.append(Parameter(kind, name, f"({kind})({address})"))

    def _number(self, x: Node) -> str:
        text = number(self.plan, x)
        self.numbers.append(x)
        if not text.startswith(("*", "v")):
            return text  # a literal
        name = f"s{len(self.parameters)}"
        self.parameters.append(Parameter(C_TYPES[x.dtype], name, text))
        return name

    def _array(self, x: Node, view: StridedView, name: str) -> Array:
        """An operand that the loop reads by its indices."""
        bounds = {axis: span for axis, span in enumerate(view.window) if span}
        strides = self._over_space(x.shape, view.strides)
        if not any(view.strides):
            return Array(self._number(x), strides, bounds, is_number=True)
        place = self.plan.allocations[view.base].plus(view.offset * x.itemsize)
        self._point(f"const {C_TYPES[x.dtype]}*", name, place.pointer)
        return Array(name, strides, bounds)

    def _over_space(self, shape: Shape, strides: Iterable[int]) -> tuple[int, ...]:
        """Strides along the axes of the space, of an array with one element per element or per row."""
        if shape == self.space.shape:
            return tuple(strides)
        if not self.space.reduced:  # rows times a vector, and sums
            return (*strides, *[0] * (len(self.space.shape) - len(shape)))
        steps = iter([s for s, size in zip(strides, shape, strict=True) if size != 1])
        return (*(0 if size == 1 else next(steps) for size in self.space.outer), *[0] * self.space.reduced)
