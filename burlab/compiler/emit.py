"""The C++ text of a plan: straight lines for scalars, loops with literal bounds for arrays, calls of the library.

The text is lean on purpose, because compiling it is most of a small kernel's cost: it includes nothing, instantiates
nothing, and reaches shapes of library calls through a table.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from burlab.graph import Node
from burlab.graph.origin import short_place

from .layout import Ref, dense_strides, elements, grouped
from .library import EACH, Instance
from .plan import Plan, is_local
from .spelling import C_TYPES, has_lanes, literal, spell
from .steps import Invoke, Kind, Loop, Place

_UNROLLED = 3  # turns that are written out: cheaper to compile than a loop
_SHORT = 16  # turns of an inner loop for which SIMD code costs more to compile than it saves


@dataclass(frozen=True, slots=True)
class Source:
    """Generated C++: its text with comments, the library functions it calls, and the descriptors in their order."""

    text: str
    calls: tuple[Instance, ...]
    descriptors: tuple[tuple[int, ...], ...]

    @property
    def bare(self) -> str:
        """The text without comments, equal for equal computations."""
        return "\n".join(line.partition("  // ")[0] for line in self.text.splitlines())


def emit(plan: Plan) -> Source:
    """Write a plan as one C++ function; `@unit` stands for the namespace it will live in."""
    return _Emitter(plan).source()


def pointer(place: Place) -> str:
    """The C++ expression of an address."""
    if place.kind is Kind.WORKSPACE:
        base = "w"
    else:
        name = {Kind.INPUT: "in", Kind.OUTPUT: "out", Kind.CONSTANT: "constants"}[place.kind]
        base = f"{name}[{place.number}]"
        if place.offset:
            base = f"({'char*' if place.kind is Kind.OUTPUT else 'const char*'}){base}"
    return f"{base} + {place.offset}" if place.offset else base


@dataclass(slots=True)
class _Array:
    """An array that a loop reads or writes: its C++ name, and its strides along the loop's axes.

    bounds: axes along which it is read only from an index on and below another; elsewhere it is 0.
    """

    name: str
    strides: list[int]
    bounds: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])

    def at(self, indices: list[str], sizes: list[int]) -> str:
        """The element at these indices, which run from 0 to `sizes`."""
        terms = [i if s == 1 else f"{s} * {i}" for i, s in zip(indices, self.strides, strict=True) if s and i != "0"]
        element = f"{self.name}[{' + '.join(terms) or '0'}]"
        inside = [
            condition
            for axis, (low, high) in self.bounds.items()
            for condition in (
                f"{indices[axis]} >= {low}" * (low > 0),
                f"{indices[axis]} < {high}" * (high < sizes[axis]),
            )
            if condition
        ]
        return f"{' && '.join(inside)} ? {element} : 0" if inside else element


@dataclass(slots=True)
class _Emitter:
    plan: Plan
    lines: list[str] = field(default_factory=list[str])
    names: dict[Node, str] = field(default_factory=dict[Node, str])  # scalars that have a C++ variable
    calls: dict[Instance, None] = field(default_factory=dict[Instance, None])
    descriptors: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])

    def source(self) -> Source:
        for step in self.plan.steps:
            if isinstance(step, Invoke):
                self.invoke(step)
            elif not step.shape:
                self.scalars(step)
            elif elements(step.shape):
                self.loop(step)
        body = "\n".join(f"  {line}" for line in self.lines)
        text = f"{_head(self.plan)}{body}\n  return 0;\n}}\n#pragma float_control(pop)\n"
        return Source(text, tuple(self.calls), tuple(self.descriptors))

    def invoke(self, step: Invoke) -> None:
        """A library call; a kernel that can fail passes its status on, with the number of the node."""
        self.calls[step.kernel] = None
        arguments = [self.shape(step.descriptor), pointer(step.result), *map(pointer, step.operands or [step.result])]
        if step.box:
            self.calls[EACH] = None
            arguments = [step.kernel.symbol, self.shape(step.box), *arguments]
        call = f"{EACH.symbol if step.box else step.kernel.symbol}({', '.join(arguments)})"
        index = self.plan.graph.index[step.node]
        if step.may_fail:
            call = f"if (const std::int64_t s = {call}) return s | {index << 8}"
        self.lines.append(f"{call};  // {_comment(self.plan, [step.node])}")

    def shape(self, descriptor: tuple[int, ...]) -> str:
        return f"shapes[{self.descriptors.setdefault(descriptor, len(self.descriptors))}]"

    def scalars(self, step: Loop) -> None:
        """Numbers: one variable each, in sight of every later step."""
        for n in step.nodes:
            arguments = [self.scalar(x) for x in n.inputs]
            name = self.names[n] = f"v{self.plan.graph.index[n]}"
            self.lines.append(f"const {C_TYPES[n.dtype]} {name} = {self.spelled(n, arguments)};  // {_line(n)}")
        if self.plan.note:
            self.lines.append(f"{self.noted} |= {self.unfit(step.nodes)};")
        for n in step.stores:
            self.lines.append(f"*({C_TYPES[n.dtype]}*)({pointer(self.plan.places[n])}) = {self.names[n]};")

    def scalar(self, x: Node) -> str:
        """The name or literal of a value whose elements are all one number in memory."""
        ref = self.plan.refs[x]
        root = ref.root
        if root.op == "constant" and root.size == 1:
            return literal(root.params.item(), root.dtype)
        if is_local(root):
            return self.names[root]
        place = self.plan.places[root].plus(ref.offset * root.itemsize)
        kind = C_TYPES[root.dtype]
        if root.size > 1:  # one element of an array: what it holds may change, so it gets no lasting name
            return f"*(const {kind}*)({pointer(place)})"
        if root not in self.names:
            self.names[root] = f"v{self.plan.graph.index[root]}"
            self.lines.append(f"const {kind} {self.names[root]} = *(const {kind}*)({pointer(place)});")
        return self.names[root]

    def spelled(self, n: Node, arguments: list[str]) -> str:
        text, called = spell(n, arguments)
        if called:
            self.calls[called] = None
        return text

    @property
    def noted(self) -> str:
        """The integer in memory that becomes 1 where a value is inf or nan."""
        assert self.plan.note
        return f"*(std::int64_t*)({pointer(self.plan.note)})"

    def unfit(self, nodes: tuple[Node, ...]) -> str:
        """1 if one of the floating variables is inf or nan, else 0."""
        names = [f"v{self.plan.graph.index[n]}" for n in nodes if n.dtype.kind == "f"]
        return " | ".join(f"({v} - {v} == 0 ? 0 : 1)" for v in names) or "0"

    def loop(self, step: Loop) -> None:
        """A nest of loops over the fewest axes that serve all arrays of the step."""
        values, arrays, lines = self.operands(step)
        results = {n: _Array(f"y{k}", list(dense_strides(step.shape))) for k, n in enumerate(step.stores)}
        distinct = list({a.name: a for a in [*arrays.values(), *results.values()]}.values())
        alone = {axis for a in distinct for axis in a.bounds}
        groups = grouped(step.shape, [tuple(a.strides) for a in distinct], alone)
        sizes = [elements(step.shape[axis] for axis in group) for group in groups]
        for array in distinct:
            array.strides = [array.strides[group[-1]] for group in groups]
            array.bounds = {k: array.bounds[group[0]] for k, group in enumerate(groups) if group[0] in array.bounds}
        for n, array in results.items():
            lines.append(_declaration(f"{C_TYPES[n.dtype]}*", array.name, pointer(self.plan.places[n])))
        self.lines.append(f"{{  // {list(step.shape)} {_comment(self.plan, step.nodes)}")
        lines.extend(self.nest(step, sizes, values, arrays, results))
        if self.plan.note:
            lines = ["std::int64_t bad = 0;", *lines, f"{self.noted} |= bad;"]
        self.lines.extend(f"  {line}" for line in lines)
        self.lines.append("}")

    def operands(self, step: Loop) -> tuple[dict[Node, str], dict[Node, _Array], list[str]]:
        """What the loop takes from outside: numbers by name, arrays, and the declarations of both."""
        members = set(step.nodes)
        values: dict[Node, str] = {}
        arrays: dict[Node, _Array] = {}
        known: dict[Ref, _Array] = {}
        lines: list[str] = []
        for x in (x for n in step.nodes for x in n.inputs if x not in members):
            ref = self.plan.refs[x]
            kind = C_TYPES[x.dtype]
            if ref.is_number:
                if x not in values:
                    text = self.scalar(x)
                    values[x] = f"s{len(lines)}" if text.startswith("*") else text
                    if values[x] is not text:
                        lines.append(f"const {kind} {values[x]} = {text};")
            elif x not in arrays:
                if ref not in known:
                    bounds = {axis: span for axis, span in enumerate(ref.window) if span}
                    known[ref] = _Array(f"x{len(known)}", list(ref.strides), bounds)
                    place = self.plan.places[ref.root].plus(ref.offset * x.itemsize)
                    lines.append(_declaration(f"const {kind}*", known[ref].name, pointer(place)))
                arrays[x] = known[ref]
        return values, arrays, lines

    def nest(
        self,
        step: Loop,
        sizes: list[int],
        values: dict[Node, str],
        arrays: dict[Node, _Array],
        results: dict[Node, _Array],
    ) -> list[str]:
        """The loops around the body; written out where that is shorter."""

        def body(indices: list[str]) -> list[str]:
            return self.body(step, indices, sizes, values, arrays, results)

        if elements(sizes) <= _UNROLLED:
            turns = (body(list(map(str, index))) for index in np.ndindex(*sizes))
            return [line for turn in turns for line in ("{", *(f"  {statement}" for statement in turn), "}")]
        indices = [f"i{k}" for k in range(len(sizes))]
        lanes = sizes[-1] >= _SHORT and all(map(has_lanes, step.nodes)) and self.contiguous(arrays, results)
        lines: list[str] = []
        for k, size in enumerate(sizes):
            indent = "  " * k
            if k == len(sizes) - 1:
                lines.append(_LANES if lanes else _ONE_BY_ONE)
            lines.append(f"{indent}for (std::int64_t i{k} = 0; i{k} < {size}; ++i{k}) {{")
        lines.extend("  " * len(sizes) + line for line in body(indices))
        lines.extend("  " * k + "}" for k in reversed(range(len(sizes))))
        return lines

    def contiguous(self, arrays: dict[Node, _Array], results: dict[Node, _Array]) -> bool:
        return all(a.strides[-1] in (0, 1) and not a.bounds for a in [*arrays.values(), *results.values()])

    def body(
        self,
        step: Loop,
        indices: list[str],
        sizes: list[int],
        values: dict[Node, str],
        arrays: dict[Node, _Array],
        results: dict[Node, _Array],
    ) -> list[str]:
        """One element: loads, a variable for each node, stores; no store before a load, so that bytes may be reused."""
        lines: list[str] = []
        names = dict(values)
        loaded: dict[str, str] = {}
        for x, array in arrays.items():
            if array.name not in loaded:
                loaded[array.name] = f"a{len(loaded)}"
                lines.append(f"const {C_TYPES[x.dtype]} {loaded[array.name]} = {array.at(indices, sizes)};")
            names[x] = loaded[array.name]
        for n in step.nodes:
            text = self.spelled(n, [names[x] for x in n.inputs])
            names[n] = f"v{self.plan.graph.index[n]}"
            lines.append(f"const {C_TYPES[n.dtype]} {names[n]} = {text};")
        if self.plan.note:
            lines.append(f"bad |= {self.unfit(step.nodes)};")
        lines.extend(f"{array.at(indices, sizes)} = {names[n]};" for n, array in results.items())
        return lines


_LANES = "#pragma clang loop vectorize(assume_safety) interleave_count(1) unroll(disable)"
_ONE_BY_ONE = "#pragma clang loop vectorize(disable) interleave(disable) unroll(disable)"


def _declaration(kind: str, name: str, address: str) -> str:
    return f"{kind} const {name} = ({kind})({address});"


def _head(plan: Plan) -> str:
    memory = ", ".join(f"{count} bytes of {name}" for name, count in plan.memory.items())
    return (
        "#pragma float_control(precise, on, push)\n"
        "#pragma clang fp contract(off)\n"
        f"  // {len(plan.graph.nodes)} nodes, {memory}\n"
        'extern "C" std::int64_t @unit_run(const void* context, const void* const* in, void* const* out,'
        " void* workspace) noexcept {\n"
        "  const auto shapes = ((const std::int64_t* const* const*)context)[0];\n"
        "  const auto constants = ((const void* const* const*)context)[1];\n"
        "  char* const w = (char*)workspace;\n"
    )


def _comment(plan: Plan, nodes: Iterable[Node]) -> str:
    """What is computed, and the user's lines."""
    nodes = list(nodes)
    lines = dict.fromkeys(line for n in nodes if (line := _line(n)))
    return ", ".join([" ".join(f"%{plan.graph.index[n]} {n.op}" for n in nodes), *lines])


def _line(n: Node) -> str:
    return short_place(n.origin)
