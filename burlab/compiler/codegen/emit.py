"""The C++ text of a plan: straight lines for scalars, loops with literal bounds for arrays, calls of the library.

The text is lean on purpose, because compiling it is most of a small kernel's cost: it includes nothing, instantiates
nothing, and reaches shapes of library calls through a table.
"""

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple, TypeGuard, TypeVar

from burlab.compiler.ir.descriptor_table import Descriptor, descriptor_of, descriptors_of
from burlab.compiler.ir.interrupts import HALT_CHECK, is_long
from burlab.compiler.ir.iteration import ends_columns
from burlab.compiler.ir.library import EACH, LibraryKernel
from burlab.compiler.ir.plan import Execute, Invoke, KernelPlan, LoopStep, Step
from burlab.compiler.ir.spelling import C_TYPES, ROOTS, called, spelled
from burlab.compiler.ir.strides import elements
from burlab.graph import Node
from burlab.graph.origin import short_place
from burlab.runtime.quoting import comment, without_comments
from burlab.runtime.status import Status

from .column_loops import column_loop
from .cuts import Cut
from .element_loops import element_loop
from .lane_sums import LANE_SUMS, lane_sums, sums_in_lanes
from .loops import indented, unfit
from .nest import LoopNest, find_nest, in_memory, number
from .partial_sums import PARTIALS, block_sums_of
from .reducing_loops import ending_of_sums, epilogue_loop, epilogue_of
from .row_loops import row_loop
from .section_text import SHARE, Membership, cut_call, loop_range, memberships, wrapped
from .sections import sections
from .short_calls import written_out


@dataclass(frozen=True, slots=True)
class GeneratedSource:
    """Generated C++. Printed, it is its text.

    Args:
        plan: the plan that it executes.
        text: C++ with comments; `@unit` stands for the namespace it will live in.
        calls: the library functions that it calls.
        descriptors: those that its context has, in order.
        spans: for each step of the plan its own lines of the text, from the first to the one after the last.
    """

    plan: KernelPlan
    text: str
    calls: tuple[LibraryKernel, ...]
    descriptors: tuple[Descriptor, ...]
    spans: tuple[tuple[int, int], ...]

    @property
    def bare(self) -> str:
        """The text without comments, equal for equal computations."""
        return without_comments(self.text)

    def __str__(self) -> str:
        return self.text


END_STEP = LibraryKernel(
    "burlab_end_step",
    'extern "C" void burlab_end_step(void* clock, std::int64_t k) noexcept'
    " { burlab::kernels::end_step((burlab::kernels::StepClock*)clock, k); }\n",
    "burlab/kernels/clock.hpp",
)


ROWS = LibraryKernel("burlab_rows", "", "burlab/kernels/reduce/row.hpp")  # what loops call that reduce rows


def emit(plan: KernelPlan) -> GeneratedSource:
    """Write a plan as one C++ function.

    With `options.ticks` it reports the end of each step to a clock, whose address is the third of its context.
    """
    timed = plan.options.ticks is not None
    descriptors = _numbered(descriptor for step in plan.steps for descriptor in _descriptors(step))
    members = memberships(sections(plan)) if plan.options.shared and not timed and not plan.note else {}
    functions = {k: _function(plan, step, _cut(members, k)) for k, step in enumerate(plan.steps) if _is_nest(step)}
    loops = _numbered(text for function in functions.values() for text in (function.text, function.ending) if text)
    written = [_end_step(0)] if timed else []
    known: set[Node] = set()  # numbers that have a C++ variable
    inside: set[Node] = set()  # and those that have one in this section
    for k, step in enumerate(plan.steps):
        if isinstance(step, Invoke):
            part = _invoke(plan, step, descriptors, _cut(members, k))
        elif isinstance(step, Execute):
            part = _execute(plan, step, descriptors)
        elif k in functions:
            part = _call(plan, step, functions[k], loops, known | inside, _cut(members, k))
        else:
            part = _Written([]) if step.shape else _scalars(plan, step, known, timed)
        if k in members:
            seen = set[Node]() if members[k].is_alone else part.names
            inside = set[Node]() if members[k].is_last else inside | seen
            ending = _ending(plan, functions[k], loops, known) if k in functions and functions[k].ending else []
            part = _Written(wrapped(part.lines, members[k], ending), [*part.calls, SHARE])
        known |= part.names
        written += [part, _end_step(k + 1)] if timed else [part]
    body = "\n".join(f"  {line}" for part in written for line in part.lines)
    calls = dict.fromkeys(call for part in written for call in part.calls)
    text = _text(plan, body, loops)
    return GeneratedSource(plan, text, tuple(calls), tuple(descriptors), _spans(text, body, written, timed))


class _Written(NamedTuple):
    """The text of a step: lines, library functions that they call, numbers that have a C++ variable now."""

    lines: Sequence[str]
    calls: Sequence[LibraryKernel] = ()
    names: AbstractSet[Node] = frozenset()


class _Function(NamedTuple):
    """A function with a nest of loops. text: all of it but its name. calls: its library functions.

    ending: a function that adds up the sums that parts of threads have left, if they leave any.
    """

    nest: LoopNest
    text: str
    calls: Sequence[LibraryKernel]
    ending: str = ""


_Item = TypeVar("_Item")


def _numbered(items: Iterable[_Item]) -> dict[_Item, int]:
    """Different items, by their numbers in order."""
    return {item: k for k, item in enumerate(dict.fromkeys(items))}


def _text(plan: KernelPlan, body: str, loops: Mapping[str, int]) -> str:
    result = "std::int64_t" if plan.note else "void"
    kind = "__attribute__((noinline, min_vector_width(512)))"  # whole AVX-512 registers, where there are any
    functions = "".join(f"{kind} {result} loop{k}{text}\n" for text, k in loops.items())
    bases = "".join(f"{line}\n" for name, line in ROOTS.items() if f"{name}(" in body or f"{name}(" in functions)
    return f"{bases}{_ARITHMETIC}{functions}{_head(plan)}{body}\n  return 0;\n}}\n#pragma float_control(pop)\n"


def _spans(text: str, body: str, written: Sequence[_Written], timed: bool) -> tuple[tuple[int, int], ...]:
    """The lines of each step. timed: whether every step is reported to the clock."""
    first = text[: text.rindex(body)].count("\n")
    ends = list(accumulate((len(part.lines) for part in written), initial=first))
    return tuple(pairwise(ends)) if not timed else tuple(pairwise(ends))[1::2]


def _end_step(k: int) -> _Written:
    return _Written([f"{END_STEP.symbol}(((void* const*)context)[2], {k});"], [END_STEP])


def _descriptors(step: Step) -> list[Descriptor]:
    if isinstance(step, Invoke) and written_out(step):
        return []
    if isinstance(step, Invoke):
        descriptor, box = descriptors_of(step)
        return [descriptor, box] if step.box else [descriptor]
    return [descriptor_of(step)] if isinstance(step, Execute) else []


def _shape(descriptors: Mapping[Descriptor, int], descriptor: Descriptor) -> str:
    return f"shapes[{descriptors[descriptor]}]"


def _cut(members: Mapping[int, Membership], k: int) -> Cut | None:
    """The way in which several threads share a step; None if they do not."""
    cut = members[k].cut if k in members else None
    return cut if cut and cut.units > 1 else None


def _invoke(plan: KernelPlan, step: Invoke, descriptors: Mapping[Descriptor, int], cut: Cut | None) -> _Written:
    """A library call; a kernel that can fail passes its status on, with the number of the node."""
    if text := written_out(step):
        return _Written([f"{text}{_comment(plan, [step.node])}"])
    shapes = [_shape(descriptors, descriptor) for descriptor in _descriptors(step)]
    places = [step.result.pointer, *(p.pointer for p in step.operands or [step.result])]
    made_by = EACH if step.box else None
    if cut:
        call, made_by = cut_call(step, cut, dict(zip(("descriptor", "box"), shapes, strict=False)), places)
    elif step.box:
        call = f"{EACH.symbol}({', '.join([step.kernel.symbol, *shapes[::-1], *places])})"
    else:
        more = ["more"] if len(places) > _PLAIN_PLACES else []
        call = f"{step.kernel.symbol}({', '.join([*shapes, *places[:_PLAIN_PLACES], *more])})"
    if step.may_fail:
        index = plan.graph.index[step.node]
        call = f"if (const std::int64_t s = {call}) return s == {Status.STOPPED:d} ? s : s | {index << 8}"
    guard = f"if (f{cut.units} < l{cut.units}) " if cut else ""
    lines = [f"{guard}{call};{_comment(plan, [step.node])}"]
    if others := places[_PLAIN_PLACES:]:
        lines = ["{", f"  const void* const more[] = {{{', '.join(others)}}};", f"  {lines[0]}", "}"]
    return _Written(lines, [step.kernel, made_by] if made_by else [step.kernel])


def _execute(plan: KernelPlan, step: Execute, descriptors: Mapping[Descriptor, int]) -> _Written:
    """A call of a function that runs sub-graphs, with the addresses of its inputs and outputs."""
    (descriptor,) = _descriptors(step)
    place = f"{_shape(descriptors, descriptor)}, r, a, {step.scratch.plus(step.table).pointer}"
    lines = (
        f"{{{_comment(plan, step.nodes)}",
        f"  void* const r[] = {{{', '.join(p.pointer for p in step.results)}}};",
        f"  const void* const a[] = {{{', '.join(p.pointer for p in step.operands)}}};",
        f"  if (const std::int64_t s = {step.kernel.symbol}({place})) return s;",
        "}",
    )
    return _Written(lines, [step.kernel])


def _scalars(plan: KernelPlan, step: LoopStep, known: AbstractSet[Node], timed: bool) -> _Written:
    """Numbers: one variable each, in sight of every later step."""
    nodes = [n for n in step.nodes if not n.row.joins]
    names, lines = set(known), list[str]()
    for n in nodes:
        loads = _loads(plan, n.inputs, names)
        kind = C_TYPES[n.dtype] if timed else f"const {C_TYPES[n.dtype]}"
        text = spelled(n, [number(plan, x) for x in n.inputs])
        lines += [*loads.values(), f"{kind} {number(plan, n)} = {text};{comment(_line(n))}"]
        names.update(loads, [n])
    if timed:  # work between two clock reads has to stay between them
        lines.extend(f'__asm__ volatile("" : "+m"({number(plan, n)}));' for n in nodes)
    if plan.note:
        floats = (number(plan, n) for n in nodes if n.dtype.kind == "f")
        lines.append(f"{_finite_checks(plan)} |= {unfit(floats)};")
    stores = [*((n, plan.allocations[n]) for n in step.stores), *((n, place) for n, place, _ in step.extra_stores)]
    for n, place in stores:
        loads = _loads(plan, [n], names)
        lines += [*loads.values(), f"*({C_TYPES[n.dtype]}*)({place.pointer}) = {number(plan, n)};"]
        names.update(loads)
    return _Written(lines, called(nodes, "\n".join(lines)), names)


def _loads(plan: KernelPlan, xs: Iterable[Node], known: AbstractSet[Node]) -> dict[Node, str]:
    """The declarations of numbers in memory that have no variable yet."""
    bases = (plan.views[x].base for x in xs)
    missing = (base for base in bases if base.size == 1 and not plan.is_in_text(base) and base not in known)
    return {x: f"const {C_TYPES[x.dtype]} {number(plan, x)} = {in_memory(plan, x, 0)};{_known(x)}" for x in missing}


def _known(x: Node) -> str:
    """A known number in words; no part of what is compiled."""
    return comment(repr(x.params.item())) if x.is_constant else ""


def _finite_checks(plan: KernelPlan) -> str:
    """The integer in memory that becomes 1 if a value is inf or nan."""
    assert plan.note
    return f"*(std::int64_t*)({plan.note.pointer})"


def _is_nest(step: Step) -> TypeGuard[LoopStep]:
    return isinstance(step, LoopStep) and bool(step.shape) and elements(step.shape) > 0


def _function(plan: KernelPlan, step: LoopStep, cut: Cut | None) -> _Function:
    nest = find_nest(plan, step, cut.each if cut else 0)
    epilogues = [n for n in step.nodes if n.row.epilogue and not step.reduced]
    columns = any(map(ends_columns, epilogues))
    in_lanes = bool(epilogues) and not columns and sums_in_lanes(nest)
    leaves_sums = cut is not None and cut.leaves_sums
    if step.reduced:
        written = row_loop(nest)
    elif epilogues and not columns and not in_lanes:
        written = epilogue_loop(nest).lines()
    else:
        written = (column_loop if columns else lane_sums if in_lanes else element_loop)(nest)
    lines = ["std::int64_t bad = 0;", *written, "return bad;"] if plan.note else written
    own = [f"{kind} const {name}" for kind, name, _ in nest.parameters]
    ends = ["const std::int64_t first", f"const std::int64_t {'stop' if leaves_sums else 'last'}"] if cut else []
    partials = [f"char* const {PARTIALS}"] if leaves_sums else []
    last = [f"const std::int64_t last = stop < {nest.sizes[0]} ? stop : {nest.sizes[0]};"] if leaves_sums else []
    text = _function_text([*own, *ends, *partials], [*last, *lines])
    ending = _function_text([*own, *partials], ending_of_sums(nest)) if leaves_sums else ""
    of_sum = block_sums_of if leaves_sums else epilogue_of
    ends = [] if columns else [LANE_SUMS] if in_lanes else [of_sum(n) for n in epilogues]
    library = [ROWS] if step.reduced else ends
    elementwise = [n for n in step.nodes if n.row.elementwise]
    halts = [HALT_CHECK] if is_long(step) else []
    return _Function(nest, text, [*halts, *library, *called(elementwise, text)], ending)


def _function_text(parameters: Iterable[str], lines: Iterable[str]) -> str:
    return "\n".join([f"({', '.join(parameters)}) noexcept {{", *indented(lines), "}"])


def _ending(plan: KernelPlan, function: _Function, loops: Mapping[str, int], known: AbstractSet[Node]) -> list[str]:
    """The call of a function that adds up sums. known: numbers that have a C++ variable outside of the section."""
    loads = _loads(plan, function.nest.numbers, known)
    arguments = [*(argument for *_, argument in function.nest.parameters), _partials(function)]
    return [*loads.values(), f"loop{loops[function.ending]}({', '.join(arguments)});"]


def _partials(function: _Function) -> str:
    """The place where parts of threads leave sums."""
    place = function.nest.step.partials
    assert place
    return place.pointer


def _call(
    plan: KernelPlan,
    step: LoopStep,
    function: _Function,
    loops: Mapping[str, int],
    known: AbstractSet[Node],
    cut: Cut | None,
) -> _Written:
    """A call of a function with a nest of loops; equal ones share it."""
    loads = _loads(plan, function.nest.numbers, known)
    arguments = [argument for *_, argument in function.nest.parameters]
    arguments += loop_range(cut) if cut else []
    arguments += [_partials(function)] if function.ending else []
    call = f"loop{loops[function.text]}({', '.join(arguments)})"
    if plan.note:
        call = f"{_finite_checks(plan)} |= {call}"
    return _Written([*loads.values(), f"{call};{_comment(plan, step.nodes, step.shape)}"], function.calls, {*loads})


_PLAIN_PLACES = 3  # arguments of a kernel that are no table: the result, the first and the second operand
_ARITHMETIC = "#pragma float_control(precise, on, push)\n#pragma clang fp contract(off)\n"


def _head(plan: KernelPlan) -> str:
    memory = ", ".join(f"{count} bytes of {name}" for name, count in plan.memory.items())
    return (
        f"{comment(f'{len(plan.graph.nodes)} nodes, {memory}')}\n"
        'extern "C" std::int64_t @unit_run(const void* context, const void* const* in, void* const* out,'
        " void* workspace) noexcept {\n"
        "  const auto shapes = ((const std::int64_t* const* const*)context)[0];\n"
        "  const auto constants = ((const void* const* const*)context)[1];\n"
        "  char* const w = (char*)workspace;\n"
    )


def _comment(plan: KernelPlan, nodes: Iterable[Node], shape: tuple[int, ...] | None = None) -> str:
    """Return a comment: nodes, the shape, and the user's lines."""
    nodes = list(nodes)
    lines = dict.fromkeys(line for n in nodes if (line := _line(n)))
    over = "" if shape is None else f"{list(shape)} "
    return comment(", ".join([over + " ".join(f"%{plan.graph.index[n]} {n.op}" for n in nodes), *lines]))


def _line(n: Node) -> str:
    return short_place(n.origin)
