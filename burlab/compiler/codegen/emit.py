"""The C++ text of a plan: straight lines for scalars, loops with literal bounds for arrays, calls of the library.

The text is lean on purpose, because compiling it is most of a small kernel's cost: it includes nothing, instantiates
nothing, and reaches shapes of library calls through a table.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from burlab.compiler.ir.descriptors import Descriptor, descriptors_of
from burlab.compiler.ir.interrupts import HALT_CHECK, is_long
from burlab.compiler.ir.library import EACH, LibraryKernel
from burlab.compiler.ir.plan import Execute, Invoke, Loop, Place, Plan
from burlab.compiler.ir.spelling import C_TYPES, ROOTS, literal, spell
from burlab.compiler.ir.strides import elements
from burlab.graph import Node
from burlab.graph.operation import operation
from burlab.graph.origin import short_place
from burlab.runtime.quoting import comment, without_comments
from burlab.runtime.status import Status

from .loops import LoopWriter, unfit
from .nest import find_nest
from .reducing_loops import epilogue_loop, epilogue_of
from .row_loops import row_loop


@dataclass(frozen=True, slots=True)
class Source:
    """Generated C++: its text with comments, the library functions it calls, and the descriptors in their order."""

    text: str
    calls: tuple[LibraryKernel, ...]
    descriptors: tuple[Descriptor, ...]

    @property
    def bare(self) -> str:
        """The text without comments, equal for equal computations."""
        return without_comments(self.text)


END_STEP = LibraryKernel(
    "burlab_end_step",
    'extern "C" void burlab_end_step(void* clock, std::int64_t k) noexcept'
    " { burlab::kernels::end_step((burlab::kernels::StepClock*)clock, k); }\n",
    "burlab/kernels/clock.hpp",
)


ROWS = LibraryKernel("burlab_rows", "", "burlab/kernels/reduce/row.hpp")  # what loops call that reduce rows


def emit(plan: Plan, timed: bool = False) -> Source:
    """Write a plan as one C++ function; `@unit` stands for the namespace it will live in.

    timed: it tells a clock, whose address is the third of its context, when each step is done.
    """
    return _Emitter(plan, timed).source()


@dataclass(slots=True)
class _Emitter:
    plan: Plan
    timed: bool = False
    lines: list[str] = field(default_factory=list[str])
    names: dict[Node, str] = field(default_factory=dict[Node, str])  # scalars that have a C++ variable
    calls: dict[LibraryKernel, None] = field(default_factory=dict[LibraryKernel, None])
    descriptors: dict[Descriptor, int] = field(default_factory=dict[Descriptor, int])
    loops: dict[str, int] = field(default_factory=dict[str, int])  # the text of each, without its name

    def source(self) -> Source:
        self.end_step(0)
        for k, step in enumerate(self.plan.steps):
            if isinstance(step, Invoke):
                self.invoke(step)
            elif isinstance(step, Execute):
                self.execute(step)
            elif not step.shape:
                self.scalars(step)
            elif elements(step.shape):
                self.loop(step)
            self.end_step(k + 1)
        body = "\n".join(f"  {line}" for line in self.lines)
        result = "std::int64_t" if self.plan.note else "void"
        kind = "__attribute__((noinline, min_vector_width(512)))"  # whole AVX-512 registers, where there are any
        loops = "".join(f"{kind} {result} loop{k}{text}\n" for text, k in self.loops.items())
        bases = "".join(f"{line}\n" for name, line in ROOTS.items() if f"{name}(" in body or f"{name}(" in loops)
        text = f"{bases}{_ARITHMETIC}{loops}{_head(self.plan)}{body}\n  return 0;\n}}\n#pragma float_control(pop)\n"
        return Source(text, tuple(self.calls), tuple(self.descriptors))

    def end_step(self, k: int) -> None:
        if self.timed:
            self.calls[END_STEP] = None
            self.lines.append(f"{END_STEP.symbol}(((void* const*)context)[2], {k});")

    def invoke(self, step: Invoke) -> None:
        """A library call; a kernel that can fail passes its status on, with the number of the node."""
        self.calls[step.kernel] = None
        descriptor, box = descriptors_of(step)
        arguments = [
            self.shape(descriptor),
            step.result.pointer,
            *(p.pointer for p in step.operands or [step.result]),
        ]
        if step.box:
            self.calls[EACH] = None
            arguments = [step.kernel.symbol, self.shape(box), *arguments]
        call = f"{EACH.symbol if step.box else step.kernel.symbol}({', '.join(arguments)})"
        index = self.plan.graph.index[step.node]
        if step.may_fail:
            call = f"if (const std::int64_t s = {call}) return s == {Status.STOPPED:d} ? s : s | {index << 8}"
        self.lines.append(f"{call};{_comment(self.plan, [step.node])}")

    def execute(self, step: Execute) -> None:
        """A call of a function that runs sub-graphs, with the addresses of what it reads and writes."""
        self.calls[step.kernel] = None
        place = f"{self.shape(Descriptor(step.descriptor))}, r, a, {step.scratch.plus(step.table).pointer}"
        self.lines += (
            f"{{{_comment(self.plan, step.nodes)}",
            f"  void* const r[] = {{{', '.join(p.pointer for p in step.results)}}};",
            f"  const void* const a[] = {{{', '.join(p.pointer for p in step.operands)}}};",
            f"  if (const std::int64_t s = {step.kernel.symbol}({place})) return s;",
            "}",
        )

    def shape(self, descriptor: Descriptor) -> str:
        return f"shapes[{self.descriptors.setdefault(descriptor, len(self.descriptors))}]"

    def scalars(self, step: Loop) -> None:
        """Numbers: one variable each, in sight of every later step."""
        nodes = [n for n in step.nodes if n.op != "concatenate"]
        for n in nodes:
            arguments = [self.scalar(x) for x in n.inputs]
            name = self.names[n] = f"v{self.plan.graph.index[n]}"
            kind = C_TYPES[n.dtype] if self.timed else f"const {C_TYPES[n.dtype]}"
            self.lines.append(f"{kind} {name} = {self.spelled(n, arguments)};{comment(_line(n))}")
        if self.timed:  # what is computed between two looks at the clock has to stay there
            self.lines.extend(f'__asm__ volatile("" : "+m"({self.names[n]}));' for n in nodes)
        if self.plan.note:
            self.lines.append(f"{self.finite_checks} |= {unfit(self.names[n] for n in nodes if n.dtype.kind == 'f')};")
        for n in step.stores:
            self.put(n, self.plan.allocations[n])
        for n, place, _ in step.extra_stores:
            self.put(n, place)

    def put(self, n: Node, place: Place) -> None:
        self.lines.append(f"*({C_TYPES[n.dtype]}*)({place.pointer}) = {self.scalar(n)};")

    def scalar(self, x: Node) -> str:
        """The name or literal of a value whose elements are all one number in memory."""
        ref = self.plan.views[x]
        base = ref.base
        if base.is_constant and base.size == 1:
            return literal(base.params.item(), base.dtype)
        if base in self.names:
            return self.names[base]
        place = self.plan.allocations[base].plus(ref.offset * base.itemsize)
        kind = C_TYPES[base.dtype]
        if base.size > 1:  # one element of an array: what it holds may change, so it gets no lasting name
            return f"*(const {kind}*)({place.pointer})"
        name = self.names[base] = f"v{self.plan.graph.index[base]}"
        self.lines.append(f"const {kind} {name} = *(const {kind}*)({place.pointer});")
        return name

    def spelled(self, n: Node, arguments: list[str], lanes: bool = False) -> str:
        text, called = spell(n, arguments, lanes)
        if called:
            self.calls[called] = None
        return text

    @property
    def finite_checks(self) -> str:
        """The integer in memory that becomes 1 where a value is inf or nan."""
        assert self.plan.note
        return f"*(std::int64_t*)({self.plan.note.pointer})"

    def loop(self, step: Loop) -> None:
        """A call of a function with a nest of loops; equal ones share it."""
        self.calls.update(dict.fromkeys([HALT_CHECK] if is_long(step) else []))
        epilogues = [n for n in step.nodes if operation(n).epilogue and not step.reduced]
        self.calls.update(dict.fromkeys([ROWS] if step.reduced else map(epilogue_of, epilogues)))
        nest = find_nest(self.plan, step, self.scalar, self.spelled)
        written = row_loop(nest) if step.reduced else epilogue_loop(nest) if epilogues else LoopWriter(nest).lines()
        lines = [f"  {line}" for line in written]
        if self.plan.note:
            lines = ["  std::int64_t bad = 0;", *lines, "  return bad;"]
        parameters = ", ".join(f"{kind} const {name}" for kind, name, _ in nest.parameters)
        text = "\n".join([f"({parameters}) noexcept {{", *lines, "}"])
        name = f"loop{self.loops.setdefault(text, len(self.loops))}"
        call = f"{name}({', '.join(argument for *_, argument in nest.parameters)})"
        if self.plan.note:
            call = f"{self.finite_checks} |= {call}"
        self.lines.append(f"{call};{_comment(self.plan, step.nodes, step.shape)}")


_ARITHMETIC = "#pragma float_control(precise, on, push)\n#pragma clang fp contract(off)\n"


def _head(plan: Plan) -> str:
    memory = ", ".join(f"{count} bytes of {name}" for name, count in plan.memory.items())
    return (
        f"{comment(f'{len(plan.graph.nodes)} nodes, {memory}')}\n"
        'extern "C" std::int64_t @unit_run(const void* context, const void* const* in, void* const* out,'
        " void* workspace) noexcept {\n"
        "  const auto shapes = ((const std::int64_t* const* const*)context)[0];\n"
        "  const auto constants = ((const void* const* const*)context)[1];\n"
        "  char* const w = (char*)workspace;\n"
    )


def _comment(plan: Plan, nodes: Iterable[Node], shape: tuple[int, ...] | None = None) -> str:
    """What is computed, over which shape, and the user's lines."""
    nodes = list(nodes)
    lines = dict.fromkeys(line for n in nodes if (line := _line(n)))
    over = "" if shape is None else f"{list(shape)} "
    return comment(", ".join([over + " ".join(f"%{plan.graph.index[n]} {n.op}" for n in nodes), *lines]))


def _line(n: Node) -> str:
    return short_place(n.origin)
