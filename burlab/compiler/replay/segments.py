"""Stretches of the replay gear: loops over single numbers or a few lanes, as terms of `kernels/replay/stretch.hpp`."""

from collections import Counter
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import numpy as np

from burlab.compiler.ir.library import LibraryKernel
from burlab.compiler.ir.plan import ExtraStore, Kind, Loop, Place, Plan
from burlab.compiler.ir.spelling import C_TYPES, NAMES, has_lanes, rule
from burlab.compiler.ir.strides import View, elements, is_whole
from burlab.graph import Node

from .multiply_add import MulAdd, Operand, multiply_adds
from .terms import ReplayPlan, Run, Stretches, Term, Values, in_runs, numbers_of, placed
from .threaded import (
    DIFFERENCE,
    FETCH,
    GATHER,
    KEEP,
    MULTIPLY_ADD,
    PRODUCT,
    SCATTER,
    SPREAD,
    SUM,
    in_chains,
    paired,
    suits,
    thread,
)

_BITS = {1: "std::uint8_t", 4: "std::uint32_t", 8: "std::uint64_t"}


def stretches_of(plan: Plan) -> tuple[Values, list[list[Run]]]:
    """All values of a plan's loops, and the runs of each loop."""
    loops = [step for step in plan.steps if isinstance(step, Loop)]
    uses = Counter(plan.views[x].base for step in loops for n in step.nodes for x in n.inputs)
    uses.update(plan.views[put.node].base for step in loops for put in step.extra_stores)
    threads = suits([n for step in loops for n in step.nodes], any(elements(step.shape) > 1 for step in loops))
    values = Values()
    numbers: dict[Node, int] = {}
    written: list[tuple[LibraryKernel | None, list[Term]]] = []
    for step in loops:
        width = elements(step.shape)
        dtype = _usual(step) if threads else None
        writer = _Writer(plan, values, width, dtype, numbers, uses)
        written.append((thread(dtype, width) if dtype else None, writer.terms_of(step)))
    reads = Counter(x for _, terms in written for t in terms for x in t.operands)
    return values, [[Run(kind, paired(in_chains(terms), reads))] if kind else _runs(terms) for kind, terms in written]


def laid_out(plan: Plan) -> ReplayPlan:
    """The plan with the stretches of its loops, whose values lie behind its workspace."""
    values, runs = stretches_of(plan)
    allocations, end = placed(values, runs, plan.workspace_bytes)
    own = {f.name: getattr(plan, f.name) for f in fields(Plan)}
    own["workspace_bytes"] = end if values.sizes else plan.workspace_bytes
    return ReplayPlan(**own, stretches=Stretches(runs, allocations, numbers_of(values, allocations)))


def _runs(terms: list[Term]) -> list[Run]:
    """Runs of the terms. What is kept may replace what is fetched, so it is kept at the end."""
    made, kept = ([t for t in terms if (t.result < 0) == ends] for ends in (False, True))
    return [*in_runs(made), *in_runs(kept)]


def _usual(step: Loop) -> np.dtype[Any] | None:
    """The dtype of most numbers of a loop."""
    dtypes = Counter(n.dtype for n in step.nodes if n.dtype.kind == "f")
    return dtypes.most_common(1)[0][0] if dtypes else None


@dataclass(slots=True)
class _Writer:
    """Turns the nodes of one loop into terms.

    width: lanes. threaded: the dtype of whose sums, products and moves the threaded code takes care; None: all goes in
    runs. numbers: the values of single numbers, which last beyond their loop; uses: how often a node is read.
    members: the values of the loop's nodes; fetched: those of what it reads from elsewhere.
    """

    plan: Plan
    values: Values
    width: int
    threaded: np.dtype[Any] | None
    numbers: dict[Node, int]
    uses: Counter[Node]
    terms: list[Term] = field(default_factory=list[Term])
    members: dict[Node, int] = field(default_factory=dict[Node, int])
    fetched: dict[Any, int] = field(default_factory=dict[Any, int])

    def terms_of(self, step: Loop) -> list[Term]:
        """Every operand before its use, what is kept at the end."""
        if self.width == 1:
            self.members = self.numbers
        absorbed = self._absorbed(step)
        for n in step.nodes:
            if n not in absorbed and n.op != "concatenate":
                self.members[n] = self._node(n, absorbed)
        for n, place in step.finite_checks:
            self._keep(self._differences(n.dtype, step), n.dtype, ExtraStore(n, place, n.itemsize))
        for n in step.stores:
            self._keep(self.members[n], n.dtype, ExtraStore(n, self.plan.allocations[n], n.itemsize))
        for put in step.extra_stores:
            self._keep(self._read(put.node), put.node.dtype, put)
        return self.terms

    def _differences(self, dtype: np.dtype[Any], step: Loop) -> int:
        """The sum of x - x over all values of a dtype: 0 if they are finite, else nan."""
        total = -1
        for n in step.nodes:
            if n.dtype == dtype and n in self.members:
                nothing = self._step(n, MulAdd(0, -1.0, 0), [self.members[n]])
                total = nothing if total < 0 else self._step(n, MulAdd(0, 1.0, 1), [nothing, total])
        return total

    def _keep(self, value: int, dtype: np.dtype[Any], put: ExtraStore) -> None:
        if not self._threads(dtype):
            kind = _mover("Keep", dtype.itemsize, self.width)
        else:
            kind = KEEP if self.width == 1 or put.step == dtype.itemsize else SCATTER
        self.terms.append(Term(kind, -1, (value,), _where(put.place, put.step)))

    def _threads(self, dtype: np.dtype[Any]) -> bool:
        """Whether the threaded code takes care of numbers of a dtype."""
        return self.threaded is not None and dtype == self.threaded  # any dtype equals None where it is float64

    def _absorbed(self, step: Loop) -> set[Node]:
        """Products that only one sum reads, which takes them in."""
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
        kind = _applier(n.op, rule(n) if n.op != "convert" else "", has_lanes(n), self.width, n.dtype, types)
        return self._term(kind, n.itemsize, tuple([self._read(x) for x in inputs]))

    def _step(self, n: Node, step: MulAdd, known: list[int]) -> int:
        """A sum or product of what is known."""

        def value(v: int | float) -> int:
            return self._number(v, n.dtype) if isinstance(v, float) else known[v]

        if self._threads(n.dtype) and (simple := _simple(step)):
            kind, *operands = simple
            return self._term(kind, n.itemsize, tuple(map(value, operands)))
        x, y, z = map(value, step)
        if step.is_sum and x > z:  # what comes later should have to wait for one operation only
            x, z = z, x
        return self._multiply_add(n, x, y, z)

    def _multiply_add(self, n: Node, *xyz: int) -> int:
        kind = MULTIPLY_ADD if self._threads(n.dtype) else _multiply_adder(n.dtype, self.width)
        return self._term(kind, n.itemsize, xyz)

    def _fetcher(self, dtype: np.dtype[Any], step: int) -> LibraryKernel:
        if not self._threads(dtype):
            return _mover("Fetch", dtype.itemsize, self.width)
        return FETCH if step == 1 or self.width == 1 else GATHER if step else SPREAD

    def _term(self, kind: LibraryKernel, size: int, operands: tuple[int, ...], said: tuple[int, ...] = ()) -> int:
        result = self.values.new(size * self.width)
        self.terms.append(Term(kind, result, operands, said))
        return result

    def _read(self, x: Node) -> int:
        """The value of an operand: one that is there, a known number, or fetched from where it lies."""
        ref = self.plan.views[x]
        base = ref.base
        if self.width == 1:
            if base in self.numbers:
                return self.numbers[base]
        elif base in self.members and is_whole(ref, x):
            return self.members[base]
        if base.op == "constant" and base.size == 1:
            return self._number(base.params, base.dtype)
        step = _step(ref, x)
        key = base, ref.offset, step
        if key not in self.fetched:
            size = base.itemsize
            if base in self.numbers:
                self.fetched[key] = self._spread(self.numbers[base], base.dtype)
            else:
                said = _where(self.plan.allocations[base].plus(ref.offset * size), step * size)
                self.fetched[key] = self._term(self._fetcher(base.dtype, step), size, (), said)
        return self.fetched[key]

    def _spread(self, number: int, dtype: np.dtype[Any]) -> int:
        """A number in all lanes."""
        return self._term(self._fetcher(dtype, 0), dtype.itemsize, (number,), (Kind.WORKSPACE.value,))

    def _number(self, value: Any, dtype: np.dtype[Any]) -> int:
        content = np.asarray(value, dtype).tobytes()
        if self._threads(dtype):
            return self.values.number(content * self.width)
        one = self.values.number(content)
        if self.width == 1:
            return one
        if one not in self.fetched:
            self.fetched[one] = self._spread(one, dtype)
        return self.fetched[one]


def _simple(step: MulAdd) -> tuple[LibraryKernel, Operand, Operand] | None:
    """What of x y + z is only a product, a sum or a difference."""
    x, y, z = step
    if isinstance(z, float) and repr(z) == "-0.0":
        return PRODUCT, x, y
    if step.is_sum:
        return SUM, x, z
    return (DIFFERENCE, z, x) if isinstance(y, float) and y == -1.0 else None


def _step(ref: View, x: Node) -> int:
    """Elements between two lanes: at most one axis of x is longer than 1."""
    return next((s for s, size in zip(ref.strides, x.shape, strict=True) if size > 1), 0)


def _where(place: Place, step: int) -> tuple[int, int, int]:
    """A place and the bytes between two lanes, as words say it."""
    return place.kind | place.number << 2, place.offset, step % 2**32


@cache
def _multiply_adder(dtype: np.dtype[Any], width: int) -> LibraryKernel:
    return _kind(f"muladd_{NAMES[dtype]}_{width}", f"MulAdd<{C_TYPES[dtype]}, {width}>")


@cache
def _mover(name: str, size: int, width: int) -> LibraryKernel:
    return _kind(f"{name.lower()}_{8 * size}bit_{width}", f"{name}<{_BITS[size]}, {width}>")


@cache
def _applier(
    op: str, struct: str, lanes: bool, width: int, result: np.dtype[Any], operands: tuple[np.dtype[Any], ...]
) -> LibraryKernel:
    types = ", ".join(C_TYPES[dtype] for dtype in (result, *operands))
    struct = struct or f"burlab::kernels::As<{C_TYPES[result]}>"
    name = f"{op.replace(chr(39), '_')}_{NAMES[operands[-1]]}_{NAMES[result]}_{width}"
    return _kind(f"apply_{name}", f"Apply<{str(lanes).lower()}, {struct}, {width}, {types}>", "apply")


def _kind(name: str, template: str, header: str = "stretch") -> LibraryKernel:
    symbol = f"burlab_{name}"
    return LibraryKernel(symbol, f"BURLAB_TURNS({symbol}, {template}::run)\n", f"burlab/kernels/replay/{header}.hpp")
