"""Lowering of control flow: sub-graphs become plans of their own, run by a C++ function of `kernels/control.hpp`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from burlab.graph import Graph, Node
from burlab.graph.control import Execution, inner_ranks

from .layout import Ref, elements
from .library import Instance
from .memory import rounded

if TYPE_CHECKING:
    from .plan import Plan

_RUN = (
    'extern "C" std::int64_t burlab_{0}(const std::int64_t* d, void* const* out, const void* const* in, void* scratch)'
    " noexcept {{ return burlab::kernels::run_{0}(d, out, in, static_cast<char*>(scratch)); }}\n"
)


# The bytes that a function lays out for itself, from the number of inputs and the sizes of the results.
_OWN: dict[str, Callable[[int, list[int]], int]] = {
    "while": lambda inputs, sizes: rounded(8 * (inputs + 2 * len(sizes))) + 64 + sum(map(rounded, sizes)),
    "cond": lambda inputs, sizes: rounded(8 * (inputs - 1 + len(sizes))),
}


class Routine(NamedTuple):
    """An execution before memory is given out.

    operands: the root of each and the element of it where it starts. table: bytes at the start of the scratch memory
    where the replay gear puts the addresses of results and operands. spare: for each result the byte of the scratch
    memory where it goes if nobody asks for it.
    """

    nodes: tuple[Node, ...]
    kernel: Instance
    descriptor: tuple[int, ...]
    parts: tuple["Plan", ...]
    firsts: tuple[int, ...]
    operands: tuple[tuple[Node, int], ...]
    spare: tuple[int, ...]
    table: int
    scratch: int


def routine(execution: Execution, refs: dict[Node, Ref], make_part: Callable[[Graph], "Plan"]) -> Routine:
    """What runs sub-graphs. Its scratch memory: the table, what the function lays out for itself, unused results."""
    first = execution.nodes[0]
    rows = elements(first.params.batch)
    parts = tuple(map(make_part, execution.region.graphs))
    sizes = [y.nbytes for y in execution.region.graphs[1].outputs]
    ranks = inner_ranks(first)
    steps = [x.nbytes // max(rows, 1) if x.ndim > rank else 0 for x, rank in zip(first.inputs, ranks, strict=True)]
    used = {n.params.item for n in execution.nodes}
    table = rounded(8 * (1 + len(sizes) + len(steps)))
    spare: list[int] = []
    end = table + _OWN[first.op](len(steps), sizes) + rounded(max(part.workspace_bytes for part in parts))
    for k, size in enumerate(sizes):
        spare.append(end)
        end += 0 if k in used else rounded(size * rows)
    descriptor = (rows, len(sizes), len(steps), *sizes, *steps)
    kernel = Instance(f"burlab_{first.op}", _RUN.format(first.op), "burlab/kernels/control.hpp")
    operands = tuple((refs[x].root, refs[x].offset) for x in first.inputs)
    return Routine(execution.nodes, kernel, descriptor, parts, execution.firsts, operands, tuple(spare), table, end)
