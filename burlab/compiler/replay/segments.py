"""Segments of the replay gear: loops over single numbers or a few lanes, as lists of instructions."""

from collections import Counter
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import numpy as np

from burlab.compiler.ir.library import LibraryKernel, path_of
from burlab.compiler.ir.plan import ExtraStore, KernelPlan, LoopStep, MemoryKind, MemoryPlace
from burlab.compiler.ir.spelling import C_TYPES, NAMES, has_lanes_in_replay, loops, rule
from burlab.compiler.ir.strides import StridedView, elements, is_whole
from burlab.graph import Node

from .instructions import (
    Instruction,
    ReplayPlan,
    Segment,
    Segments,
    SegmentValues,
    ThreadedCode,
    in_groups,
    literals_of,
    placed,
)
from .multiply_add import MulAdd, Operand, multiply_adds
from .opcodes import Opcode
from .threaded import in_chains, paired, suits, thread_kernel

_BITS = {1: "std::uint8_t", 2: "std::uint16_t", 4: "std::uint32_t", 8: "std::uint64_t"}


def segments_of(plan: KernelPlan) -> tuple[SegmentValues, list[Segment]]:
    """All values of a plan's loops, and each loop as a segment."""
    loops = [step for step in plan.steps if isinstance(step, LoopStep)]
    uses = Counter(plan.views[x].base for step in loops for n in step.nodes for x in n.inputs)
    uses.update(plan.views[extra.node].base for step in loops for extra in step.extra_stores)
    threads = suits([n for step in loops for n in step.nodes], any(elements(step.shape) > 1 for step in loops))
    values = SegmentValues()
    numbers: dict[Node, int] = {}
    written: list[tuple[LibraryKernel | None, list[Instruction]]] = []
    for step in loops:
        width = elements(step.shape)
        dtype = _usual(step) if threads else None
        writer = _Writer(plan, values, width, dtype, numbers, uses)
        written.append((thread_kernel(dtype, width) if dtype else None, writer.instructions_of(step)))
    reads = Counter(x for _, instructions in written for i in instructions for x in i.operands)
    return values, [
        ThreadedCode(kernel, paired(in_chains(instructions), reads)) if kernel else _grouped(instructions)
        for kernel, instructions in written
    ]


def lay_out(plan: KernelPlan) -> ReplayPlan:
    """Write each loop as a segment, with places for its values behind the workspace."""
    values, segments = segments_of(plan)
    allocations, end = placed(values, segments, plan.workspace_bytes)
    own = {f.name: getattr(plan, f.name) for f in fields(KernelPlan)}
    own["workspace_bytes"] = end if values.sizes else plan.workspace_bytes
    return ReplayPlan(**own, replay=Segments(segments, allocations, literals_of(values, allocations)))


def _grouped(instructions: list[Instruction]) -> Segment:
    """Stores may replace what is loaded, so they come at the end."""
    computed, stores = ([i for i in instructions if (i.result < 0) == last] for last in (False, True))
    return *in_groups(computed), *in_groups(stores)


def _usual(step: LoopStep) -> np.dtype[Any] | None:
    """The dtype of most numbers of a loop."""
    dtypes = Counter(n.dtype for n in step.nodes if n.dtype.kind == "f")
    return dtypes.most_common(1)[0][0] if dtypes else None


@dataclass(slots=True)
class _Writer:
    """Writes the nodes of one loop as instructions.

    width: lanes. threaded: the dtype for which threaded code has opcodes; None: all instructions call kernels.
    numbers: the values of single numbers, which last beyond their loop; uses: how often a node is read.
    members: the values of the loop's nodes; loaded: those of what it reads from elsewhere.
    """

    plan: KernelPlan
    values: SegmentValues
    width: int
    threaded: np.dtype[Any] | None
    numbers: dict[Node, int]
    uses: Counter[Node]
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    members: dict[Node, int] = field(default_factory=dict[Node, int])
    loaded: dict[Any, int] = field(default_factory=dict[Any, int])

    def instructions_of(self, step: LoopStep) -> list[Instruction]:
        """Every operand before its use, stores at the end."""
        if self.width == 1:
            self.members = self.numbers
        absorbed = self._absorbed(step)
        for n in step.nodes:
            if n not in absorbed and not n.row.joins:
                self.members[n] = self._node(n, absorbed)
        for n, place in step.finite_checks:
            self._store(self._differences(n.dtype, step), n.dtype, ExtraStore(n, place, n.itemsize))
        for n in step.stores:
            self._store(self.members[n], n.dtype, ExtraStore(n, self.plan.allocations[n], n.itemsize))
        for extra in step.extra_stores:
            self._store(self._read(extra.node), extra.node.dtype, extra)
        return self.instructions

    def _differences(self, dtype: np.dtype[Any], step: LoopStep) -> int:
        """The sum of x - x over all values of a dtype: 0 if they are finite, else nan."""
        total = -1
        for n in step.nodes:
            if n.dtype == dtype and n in self.members:
                nothing = self._step(n, MulAdd(0, -1.0, 0), [self.members[n]])
                total = nothing if total < 0 else self._step(n, MulAdd(0, 1.0, 1), [nothing, total])
        return total

    def _store(self, value: int, dtype: np.dtype[Any], extra: ExtraStore) -> None:
        if not self._threads(dtype):
            operation = _mover("Store", dtype.itemsize, self.width)
        else:
            operation = Opcode.STORE if self.width == 1 or extra.step == dtype.itemsize else Opcode.SCATTER
        self.instructions.append(Instruction(operation, -1, (value,), _address(extra.place, extra.step)))

    def _threads(self, dtype: np.dtype[Any]) -> bool:
        """Return True if threaded code has opcodes for numbers of a dtype."""
        return self.threaded is not None and dtype == self.threaded  # any dtype equals None where it is float64

    def _absorbed(self, step: LoopStep) -> set[Node]:
        """Products that only one sum reads: the sum becomes a multiply-add."""
        members, stored, found = set(step.nodes), set(step.stores), set[Node]()
        for n in step.nodes:
            if n.op == "add" and n.dtype.kind == "f" and not found.intersection(n.inputs):
                for x in n.inputs:
                    if x.op == "mul" and self.uses[x] == 1 and x in members and x not in stored:
                        found.add(x)
                        break
        return found

    def _node(self, n: Node, absorbed: set[Node]) -> int:
        inputs = n.inputs
        if n.dtype.kind == "f" and (steps := multiply_adds(n.op, len(inputs))):
            if n.op == "add" and (inputs[0] in absorbed or inputs[1] in absorbed):
                product, z = inputs if inputs[0] in absorbed else reversed(inputs)
                return self._multiply_add(n, *map(self._read, product.inputs), self._read(z))
            known = [self._read(x) for x in inputs]
            for step in steps:
                known.append(self._step(n, step, known))
            return known[-1]
        types = tuple([x.dtype for x in inputs])
        kernel = _applier(n.op, rule(n), has_lanes_in_replay(n), self.width, n.dtype, types)
        return self._add(kernel, n.itemsize, tuple([self._read(x) for x in inputs]))

    def _step(self, n: Node, step: MulAdd, known: list[int]) -> int:
        """A sum or product of known numbers."""

        def value(v: int | float) -> int:
            return self._literal(v, n.dtype) if isinstance(v, float) else known[v]

        if self._threads(n.dtype) and (simple := _simple(step)):
            opcode, *operands = simple
            return self._add(opcode, n.itemsize, tuple(map(value, operands)))
        x, y, z = map(value, step)
        if step.is_sum and x > z:  # the later operand goes where it waits for one operation only
            x, z = z, x
        return self._multiply_add(n, x, y, z)

    def _multiply_add(self, n: Node, *xyz: int) -> int:
        operation = Opcode.MUL_ADD if self._threads(n.dtype) else _multiply_adder(n.dtype, self.width)
        return self._add(operation, n.itemsize, xyz)

    def _loader(self, dtype: np.dtype[Any], step: int) -> LibraryKernel | Opcode:
        if not self._threads(dtype):
            return _mover("Load", dtype.itemsize, self.width)
        return Opcode.LOAD if step == 1 or self.width == 1 else Opcode.GATHER if step else Opcode.BROADCAST

    def _add(
        self,
        operation: LibraryKernel | Opcode,
        size: int,
        operands: tuple[int, ...],
        immediates: tuple[int, ...] = (),
    ) -> int:
        """Add an instruction, and give the number of its value. size: bytes of one lane."""
        result = self.values.new(size * self.width)
        self.instructions.append(Instruction(operation, result, operands, immediates))
        return result

    def _read(self, x: Node) -> int:
        """The value of an operand: one that exists already, a literal, or one that is loaded."""
        view = self.plan.views[x]
        base = view.base
        if self.width == 1:
            if base in self.numbers:
                return self.numbers[base]
        elif base in self.members and is_whole(view, x):
            return self.members[base]
        if base.is_constant and base.size == 1:
            return self._literal(base.params, base.dtype)
        step = _step(view, x)
        key = base, view.offset, step
        if key not in self.loaded:
            size = base.itemsize
            if base in self.numbers:
                self.loaded[key] = self._broadcast(self.numbers[base], base.dtype)
            else:
                address = _address(self.plan.allocations[base].plus(view.offset * size), step * size)
                self.loaded[key] = self._add(self._loader(base.dtype, step), size, (), address)
        return self.loaded[key]

    def _broadcast(self, number: int, dtype: np.dtype[Any]) -> int:
        """A number in all lanes."""
        return self._add(self._loader(dtype, 0), dtype.itemsize, (number,), (MemoryKind.WORKSPACE.value,))

    def _literal(self, value: Any, dtype: np.dtype[Any]) -> int:
        content = np.asarray(value, dtype).tobytes()
        if self._threads(dtype):
            return self.values.literal(content * self.width)
        one = self.values.literal(content)
        if self.width == 1:
            return one
        if one not in self.loaded:
            self.loaded[one] = self._broadcast(one, dtype)
        return self.loaded[one]


def _simple(step: MulAdd) -> tuple[Opcode, Operand, Operand] | None:
    """The opcode and operands of x y + z where it is only a product, a sum or a difference."""
    x, y, z = step
    if isinstance(z, float) and repr(z) == "-0.0":
        return Opcode.MUL, x, y
    if step.is_sum:
        return Opcode.ADD, x, z
    return (Opcode.SUB, z, x) if isinstance(y, float) and y == -1.0 else None


def _step(view: StridedView, x: Node) -> int:
    """Elements between two lanes: at most one axis of x is longer than 1."""
    return next((s for s, size in zip(view.strides, x.shape, strict=True) if size > 1), 0)


def _address(place: MemoryPlace, step: int) -> tuple[int, int, int]:
    """A place and the bytes between two lanes, as immediate operands."""
    return place.kind | place.number << 2, place.offset, step % 2**32


@cache
def _multiply_adder(dtype: np.dtype[Any], width: int) -> LibraryKernel:
    return _interpreter(f"muladd_{NAMES[dtype]}_{width}", f"MulAdd<{C_TYPES[dtype]}, {width}>")


@cache
def _mover(name: str, size: int, width: int) -> LibraryKernel:
    return _interpreter(f"{name.lower()}_{8 * size}bit_{width}", f"{name}<{_BITS[size]}, {width}>")


@cache
def _applier(
    op: str, struct: str, lanes: bool, width: int, result: np.dtype[Any], operands: tuple[np.dtype[Any], ...]
) -> LibraryKernel:
    types = ", ".join(C_TYPES[dtype] for dtype in (result, *operands))
    struct = struct or f"burlab::kernels::As<{C_TYPES[result]}>"
    name = f"{op.replace(chr(39), '_')}_{NAMES[operands[-1]]}_{NAMES[result]}_{width}"
    return _interpreter(
        f"apply_{name}", f"Apply<{str(lanes).lower()}, {struct}, {width}, {types}>", loops(op, "replay/apply")
    )


def _interpreter(name: str, template: str, header: str = "replay/segment") -> LibraryKernel:
    symbol = f"burlab_{name}"
    return LibraryKernel(symbol, f"BURLAB_INTERPRETER({symbol}, {template}::run)\n", path_of(header))
