"""Lowering of control flow: sub-graphs become plans, run by a C++ function of `kernels/control/control.hpp`."""

from collections.abc import Callable, Mapping
from operator import is_not
from typing import NamedTuple

from burlab.compiler.ir.in_place_updates import loop_carries
from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.options import NO_ALIASES, Aliases
from burlab.compiler.ir.plan import KernelPlan
from burlab.compiler.ir.spelling import C_TYPES, NAMES, rule
from burlab.compiler.ir.strides import StridedView, elements
from burlab.graph import Graph, Node
from burlab.graph.blocks import blocks_of
from burlab.graph.control_nodes import inner_ranks
from burlab.graph.executions import Execution
from burlab.graph.scan_nodes import iterations_of
from burlab.runtime.memory import rounded

from .descriptors import BlocksCall, Choices, ScanCall

_RUN = (
    'extern "C" std::int64_t burlab_{0}(const std::int64_t* d, void* const* out, const void* const* in, void* scratch)'
    " noexcept {{ return burlab::kernels::run_{1}(d, out, in, static_cast<char*>(scratch)); }}\n"
)


ACCUMULATED = ("mul", "maximum", "minimum")  # np.cumprod, np.maximum.accumulate, np.minimum.accumulate


PlanPart = Callable[[Graph, int, Aliases], KernelPlan]
"""Makes the plan of a sub-graph: see `routine`."""


class RoutineCall(NamedTuple):
    """The call of a C++ function for an execution.

    own: bytes that it lays out for itself. spare: bytes of each result that go to scratch memory if the graph does not
    use it.
    """

    descriptor: tuple[int, ...]
    own: int
    spare: tuple[int, ...]


class Routine(NamedTuple):
    """An execution before memory is given out.

    operands: the base of each and the element of it where it starts. table: bytes at the start of the scratch memory
    where the replay gear puts the addresses of results and operands. spare: for each result the byte of the scratch
    memory where it goes if the graph does not use it.
    """

    nodes: tuple[Node, ...]
    kernel: LibraryKernel
    descriptor: tuple[int, ...]
    parts: tuple[KernelPlan, ...]
    firsts: tuple[int, ...]
    operands: tuple[tuple[Node, int], ...]
    spare: tuple[int, ...]
    table: int
    scratch: int


def routine(
    execution: Execution,
    views: dict[Node, StridedView],
    make_part: PlanPart,
    is_added: Callable[[Node], bool],
) -> Routine:
    """A function that runs sub-graphs. Its scratch memory: the table, its own arrays, unused results.

    make_part: the plan of a sub-graph, of which so many results are added to what is there, with the pairs of inputs
    and results that are in place. is_added: whether a node is so.
    """
    first = execution.nodes[0]
    used = {n.params.item: is_added(n) for n in execution.nodes}
    sums = blocks_of(execution.region).carries if first.op == "blocks" else sum(used.values())
    graphs = execution.region.graphs
    pairs = _carries_in_place(first, used)
    parts = tuple(make_part(graph, sums, pairs if graph is graphs[-1] else NO_ALIASES) for graph in graphs)
    header, called = _ROUTINES[first.op]
    call = called(first, used)
    if first.op in ("while", "scan"):
        call = call._replace(descriptor=(*call.descriptor, *_updates(first, parts[-1])))
    table = rounded(8 * (1 + len(call.spare) + len(first.inputs)))
    spare: list[int] = []
    end = table + call.own + rounded(max(part.workspace_bytes for part in parts))
    for k, size in enumerate(call.spare):
        spare.append(end)
        end += 0 if k in used else rounded(size)
    kernel = _accumulation(first, parts)
    if kernel is None:
        kernel = LibraryKernel(
            f"burlab_{first.op}", _RUN.format(first.op, first.op), f"burlab/kernels/control/{header}.hpp"
        )
    operands = tuple((views[x].base, views[x].offset) for x in first.inputs)
    return Routine(
        execution.nodes, kernel, call.descriptor, parts, execution.firsts, operands, tuple(spare), table, end
    )


def _accumulation(n: Node, parts: tuple[KernelPlan, ...]) -> LibraryKernel | None:
    """The loop of a scan whose body is one operation of the carry and an element, as that of a running product."""
    if n.op != "scan" or parts[0].note is not None:
        return None
    body, iterations = n.params.region.graphs[0], iterations_of(n.params.region)
    total, stacked = body.outputs[0], body.outputs[-1]
    if (iterations.carries, iterations.sequences, len(body.inputs), len(body.outputs)) != (1, 1, 2, 2):
        return None
    if total is not stacked or total.op not in ACCUMULATED or any(map(is_not, total.inputs, body.inputs)):
        return None
    name = f"accumulate_{total.op}_{NAMES[total.dtype]}"
    text = _RUN.format(name, f"accumulate<{rule(total)}, {C_TYPES[total.dtype]}>")
    return LibraryKernel(f"burlab_{name}", text, "burlab/kernels/control/accumulate.hpp")


def _while(n: Node, _used: Mapping[int, bool]) -> RoutineCall:
    """Two states, and the condition's answer."""
    sizes = [y.nbytes for y in n.params.region.graphs[1].outputs]
    return _by_rows(n, sizes, rounded(8 * (len(n.inputs) + 2 * len(sizes))) + 64 + sum(map(rounded, sizes)))


def _carries(n: Node) -> int:
    """The number of values that a loop carries from one iteration to the next."""
    if n.op == "while":
        return len(n.params.region.graphs[1].outputs)
    return iterations_of(n.params.region).carries if n.op == "scan" else 0


def _carries_in_place(n: Node, used: Mapping[int, bool]) -> Aliases:
    """The carries of a loop that its body updates in place: none of which the values at all iterations are stored."""
    body = n.params.region.graphs[-1]
    return frozenset((k, k) for k, _ in loop_carries(body, _carries(n)) if len(body.outputs) + k not in used)


def _updates(n: Node, body: KernelPlan) -> list[int]:
    """1 for each carry of a loop that its body updates in place, else 0."""
    return [int((k, k) in body.options.in_place) for k in range(_carries(n))]


def _cond(n: Node, _used: Mapping[int, bool]) -> RoutineCall:
    """The addresses of the sub-graphs' inputs and outputs."""
    sizes = [y.nbytes for y in n.params.region.graphs[1].outputs]
    return _by_rows(n, sizes, rounded(8 * (len(n.inputs) - 1 + len(sizes))))


def _by_rows(n: Node, sizes: list[int], own: int) -> RoutineCall:
    """Return the call that is executed for every row of a batch."""
    rows = elements(n.params.batch)
    ranks = inner_ranks(n)
    steps = [x.nbytes // max(rows, 1) if x.ndim > rank else 0 for x, rank in zip(n.inputs, ranks, strict=True)]
    return RoutineCall(
        (*Choices(rows, len(sizes), len(steps)), *sizes, *steps), own, tuple(size * rows for size in sizes)
    )


def _scan(n: Node, used: Mapping[int, bool]) -> RoutineCall:
    """An unused result needs only the room that one iteration writes; a trail, which is a copy, not even that."""
    (body,), iterations = n.params.region.graphs, iterations_of(n.params.region)
    count = len(body.outputs)
    sizes = [y.nbytes for y in body.outputs]
    steps = [x.nbytes for x in body.inputs[iterations.carries : iterations.carries + iterations.sequences]]
    stacked = [sizes[k] if k in used else 0 for k in range(iterations.carries, count)]
    trails = [int(count + k in used) for k in range(iterations.carries)]
    head = ScanCall(
        iterations.length, int(iterations.reverse), iterations.carries, iterations.sequences, len(n.inputs), count
    )
    own = rounded(8 * (len(n.inputs) + count)) + sum(map(rounded, sizes[: iterations.carries]))
    return RoutineCall((*head, *sizes, *steps, *stacked, *trails), own, (*sizes, *[0] * iterations.carries))


def _blocks(n: Node, used: Mapping[int, bool]) -> RoutineCall:
    """A sum that is added to its array does not start from zero."""
    (block, last), repeated = n.params.region.graphs, blocks_of(n.params.region)
    sums, count = repeated.carries, len(block.outputs)
    sizes = [y.nbytes for y in block.outputs]
    steps = [x.nbytes for x in block.inputs[: repeated.sequences]]
    rows = [0] * sums + sizes[sums:]
    zeros = [0 if used.get(k) else size for k, size in enumerate(sizes[:sums])]
    head = BlocksCall(repeated.length, repeated.sequences, len(n.inputs), count, sums)
    whole = [repeated.length * step + y.nbytes for step, y in zip(rows, last.outputs, strict=True)]
    return RoutineCall((*head, *steps, *rows, *zeros), rounded(8 * (len(n.inputs) + count)), tuple(whole))


_ROUTINES: dict[str, tuple[str, Callable[[Node, Mapping[int, bool]], RoutineCall]]] = {
    "while": ("control", _while),
    "cond": ("control", _cond),
    "scan": ("scan", _scan),
    "blocks": ("blocks", _blocks),
}  # the header of each, and how it is called
