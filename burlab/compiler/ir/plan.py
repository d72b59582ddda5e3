"""A plan and its parts: places in memory, generated loops, and calls of library kernels."""

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from burlab.graph import Graph, Node
from burlab.graph.executions import work
from burlab.runtime.coerce import Array
from burlab.runtime.gate import NativeFunction

from .library import LibraryKernel
from .options import After, PlanOptions
from .strides import Shape, StridedView, elements


class MemoryKind(enum.IntEnum):
    """The owner of an array's bytes; numbered as the tables of `kernels/replay/program.hpp`."""

    INPUT = 0
    OUTPUT = 1
    CONSTANT = 2
    WORKSPACE = 3


class MemoryPlace(NamedTuple):
    """Byte `offset` of array `number` of a kind. The workspace is one array."""

    kind: MemoryKind
    number: int
    offset: int = 0

    def plus(self, nbytes: int) -> "MemoryPlace":
        """The place some bytes further on."""
        return MemoryPlace(self.kind, self.number, self.offset + nbytes)

    @property
    def pointer(self) -> str:
        """The address as generated code writes it."""
        if self.kind is MemoryKind.WORKSPACE:
            base = "w"
        else:
            name = {MemoryKind.INPUT: "in", MemoryKind.OUTPUT: "out", MemoryKind.CONSTANT: "constants"}[self.kind]
            base = f"{name}[{self.number}]"
            if self.offset:
                base = f"({'char*' if self.kind is MemoryKind.OUTPUT else 'const char*'}){base}"
        return f"{base} + {self.offset}" if self.offset else base


class ExtraStore(NamedTuple):
    """A number, or lanes of them, and a further place to store it. step: bytes from one lane to the next."""

    node: Node
    place: MemoryPlace
    step: int = 0


class LoopStep(NamedTuple):
    """A generated loop over `shape`: it computes `nodes` element by element and stores some of them in arrays.

    reduced: how many of the last axes some of the nodes reduce; others then have one element per row (`fusion.py`).
    extra_stores: what is written besides, into a part of an array or into a further result; for numbers and short lanes
    only. finite_checks: in replay, for each dtype of floats one of its nodes, and where a number goes that is 0 if all
    are finite. partials: where several threads leave the sums of their blocks, if the loop ends in sums.
    """

    shape: Shape
    nodes: tuple[Node, ...]
    stores: tuple[Node, ...]
    reduced: int = 0
    extra_stores: tuple[ExtraStore, ...] = ()
    finite_checks: tuple[tuple[Node, MemoryPlace], ...] = ()
    partials: MemoryPlace | None = None


class Count(NamedTuple):
    """The integer of a call that holds the number of samples of a tile that count: `unit` times their number.

    in_box: whether it is one of the box, else of the descriptor.
    """

    in_box: bool
    position: int
    unit: int


class Invoke(NamedTuple):
    """A call of a library kernel for a node."""

    node: Node
    kernel: LibraryKernel
    descriptor: tuple[int, ...]
    box: tuple[int, ...]
    result: MemoryPlace
    operands: tuple[MemoryPlace, ...]
    may_fail: bool = False
    samples: Count | None = None


class PartContext(NamedTuple):
    """The integer of a call that is the context of a sub-graph's function, by how many samples of a tile count."""

    position: int
    contexts: Callable[[int | None], int]


class Execute(NamedTuple):
    """Control flow: a library function that runs the plans of sub-graphs.

    nodes: the results that the graph uses. results, operands: all of them, in order. scratch: memory for the function,
    at a multiple of 64 bytes, behind `table` bytes for the replay gear. firsts: the number of the first node of each
    part, in the outcome of the whole. contexts: of the parts, once `link` has made their functions.
    """

    nodes: tuple[Node, ...]
    kernel: LibraryKernel
    descriptor: tuple[int, ...]
    parts: tuple["KernelPlan", ...]
    firsts: tuple[int, ...]
    results: tuple[MemoryPlace, ...]
    operands: tuple[MemoryPlace, ...]
    scratch: MemoryPlace
    table: int
    contexts: tuple[PartContext, ...] = ()


Step = LoopStep | Invoke | Execute


class KernelCall(NamedTuple):
    """A kernel call before memory is given out.

    descriptor: integers, see the kernel; box: what `each` walks around it, if anything. operands: the base of each and
    the element of it where the kernel starts; result: the element of the result where it starts. in_place: whether the
    result may take an operand's bytes. samples: of a tile, where the call adds them up.
    """

    kernel: LibraryKernel
    descriptor: tuple[int, ...]
    operands: tuple[tuple[Node, int], ...] = ()
    box: tuple[int, ...] = ()
    result: int = 0
    may_fail: bool = False
    in_place: bool = False
    samples: Count | None = None


NUMBER_BYTES = 8  # of the place of a known number in the table
_ENDLESS = 10**9  # elements of work of a loop whose iterations are not known


class Runnable(NamedTuple):
    """A C++ function that carries out a plan. source: generated C++, or the listing of a plan that is replayed."""

    function: NativeFunction
    source: str

    def __str__(self) -> str:
        return self.source


@dataclass(frozen=True)
class KernelPlan:
    """The steps that compute a graph. Printed, it has one line per step.

    Args:
        graph: its nodes, numbered as in error outcomes.
        views: the value of each node, as a view of its base.
        allocations: the place of each base.
        steps: loops, kernel calls and control flow, in order.
        constants: the known arrays that must be in memory.
        workspace_bytes: bytes of memory that a call needs for itself.
        options: of the build.
        after: nodes that wait for others besides their operands.
        numbers: known numbers that lie in a table behind the constants, not in the text.
        note: the integer that becomes 1 where an inf or nan is met; None: that is not checked.
        linked: what carries out the plans of sub-graphs, once `link` has made it.
    """

    graph: Graph
    views: dict[Node, StridedView]
    allocations: dict[Node, MemoryPlace]
    steps: tuple[Step, ...]
    constants: tuple[Node, ...]
    workspace_bytes: int
    options: PlanOptions
    after: After = field(default_factory=dict[Node, tuple[Node, ...]])
    numbers: tuple[Node, ...] = ()
    note: MemoryPlace | None = None
    linked: tuple[Runnable, ...] = ()

    @property
    def tables(self) -> list[Array]:
        """The arrays that are places of the kind CONSTANT, in order."""
        arrays: list[Array] = [c.params for c in self.constants]
        if not self.numbers:
            return arrays
        slots = (n.params.tobytes().ljust(NUMBER_BYTES, b"\0") for n in self.numbers)
        return [*arrays, np.frombuffer(b"".join(slots), np.uint8)]

    def is_in_text(self, base: Node) -> bool:
        """Return True if a base is a known number that is written in the text."""
        return base.is_constant and base.size == 1 and base not in self._in_table

    @cached_property
    def _in_table(self) -> frozenset[Node]:
        return frozenset(self.numbers)

    @cached_property
    def memory(self) -> dict[str, int]:
        """Bytes that a call touches, by whose they are."""
        return {
            "inputs": sum(x.nbytes for x in self.graph.inputs),
            "outputs": sum(y.nbytes for y in self.graph.outputs),
            "constants": sum(c.nbytes for c in self.constants) + sum(p.memory["constants"] for p in self.parts),
            "workspace": self.workspace_bytes,
        }

    @cached_property
    def parts(self) -> tuple["KernelPlan", ...]:
        """The plans of sub-graphs."""
        return tuple(part for step in self.steps if isinstance(step, Execute) for part in step.parts)

    @cached_property
    def statements(self) -> int:
        """Lines of generated code that compute something: compile time is proportional to them."""
        own = sum(len(step.nodes) + len(step.extra_stores) if isinstance(step, LoopStep) else 1 for step in self.steps)
        return own + sum(part.statements for part in self.parts)

    @property
    def seconds(self) -> float:
        """About how long compiling takes; measured for straight lines, loops and calls."""
        straight = sum(len(step.nodes) for step in self.steps if isinstance(step, LoopStep) and not step.shape)
        inside = sum(len(step.nodes) for step in self.steps if isinstance(step, LoopStep) and step.shape)
        loops = sum(isinstance(step, LoopStep) and bool(step.shape) for step in self.steps)
        calls = sum(isinstance(step, Invoke) for step in self.steps)
        own = 0.002 + 1e-4 * straight + 1e-3 * loops + 5e-5 * inside + 1.5e-4 * calls
        return own + sum(part.seconds for part in self.parts)

    @cached_property
    def work(self) -> int:
        """Roughly the number of elements that a call reads and computes; that of loops is not known."""
        return sum(map(work_of, self.steps))

    def __str__(self) -> str:
        lines = [f"{k}: {_described(step, self.graph.index)}" for k, step in enumerate(self.steps)]
        return "\n".join([*lines, "bytes: " + ", ".join(f"{count} {name}" for name, count in self.memory.items())])


def nodes_of(step: Step) -> tuple[Node, ...]:
    """Return the nodes that a step computes, or helps to compute."""
    return (step.node,) if isinstance(step, Invoke) else step.nodes


def work_of(step: Step) -> int:
    """Roughly the number of elements that a step reads and computes."""
    if isinstance(step, Execute):
        return _ENDLESS
    if isinstance(step, LoopStep):
        return len(step.nodes) * elements(step.shape)
    n = step.node
    return max(work(n), n.size + sum(x.size for x in n.inputs))


def _described(step: Step, index: dict[Node, int]) -> str:
    if isinstance(step, LoopStep):
        stored = set(step.stores)
        names = (f"%{index[n]}{'' if n in stored else '*'}={n.op}" for n in step.nodes)
        return f"loop {list(step.shape)} {' '.join(names)}"
    if isinstance(step, Execute):
        inner = "".join(f"\n  {line}" for part in step.parts for line in str(part).splitlines())
        return f"{step.nodes[0].op} {' '.join(f'%{index[n]}' for n in step.nodes)}{inner}"
    return f"{step.kernel.symbol.removeprefix('burlab_')} {list(step.node.shape)} %{index[step.node]}"
