"""From a graph to something that runs: `build` and its result."""

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from burlab import runtime
from burlab.compiler.codegen.emit import emit
from burlab.compiler.faults.culprit import culprit
from burlab.compiler.faults.fault import fault
from burlab.compiler.ir.descriptors import Contexts, Descriptor, table_of
from burlab.compiler.ir.interrupts import is_interruptible
from burlab.compiler.ir.plan import Loop, Plan
from burlab.compiler.ir.poison import poisoned
from burlab.compiler.planning.columns import in_columns
from burlab.compiler.planning.in_place import Pairs, waiting
from burlab.compiler.planning.options import Gear, PlanOptions
from burlab.compiler.planning.outer_products import for_loops
from burlab.compiler.planning.plan import make_plan
from burlab.compiler.planning.remat import After, Remat, rematerialized
from burlab.compiler.planning.row_blocks import by_blocks
from burlab.compiler.replay.program import linked, replayed
from burlab.compiler.replay.segments import laid_out
from burlab.errors import BurlabError
from burlab.graph import Graph, Node
from burlab.graph.rewrite.batch import batch
from burlab.graph.rewrite.simplify import simplify
from burlab.runtime.coerce import Array, ArraySpec
from burlab.runtime.gate import Face, FallbackCall, Function, gate_is_open, make_callable, pointers
from burlab.runtime.gc_pause import gc_paused
from burlab.runtime.status import Status, split

from .ir import library
from .map import in_tiles, map_rows, prepare, stacked

MOST_STATEMENTS = 3000  # beyond, compiling takes longer than replaying some 100,000 times
_PATIENCE = 2.0  # seconds of compiling that need no announcement
_LANES = 16  # rows that the replay gear maps at a time where there are only numbers
_LONG = 20_000  # elements of work from which a call lets other Python threads run


@dataclass(frozen=True, slots=True)
class Explain:
    """Raises the exception for an outcome of a graph's kernel; strict: as the kernel was built."""

    graph: Graph
    strict: bool

    def __call__(self, outcome: int, arrays: Sequence[Array]) -> None:
        """Returns only for infinities that are no fault, after which the kernel has computed all its results."""
        if split(outcome)[0] != Status.NON_FINITE:
            raise fault(self.graph, outcome)
        error = culprit(self.graph, arrays, self.strict)
        if error:
            raise error


class Executable:
    """A graph that runs: `exe(*arrays)` gives the tuple of its outputs; several threads may call at once.

    inputs, outputs: ArraySpec of each. 0-d outputs are NumPy scalars, so `exe(x)[0]` of a loss is a number with a
    dtype. `exe(*arrays, out=(buffer, ...))` writes into arrays of the caller and returns them. gear: which one runs it.
    address, context, workspace_bytes: the C++ function `int64 run(context, in, out, workspace)`, valid as long as this
    object; it answers 0, or a Status and above its low 8 bits the node at fault, which `error` explains.
    """

    __slots__ = (
        "__call__",
        "__weakref__",
        "_wider",
        "explain",
        "function",
        "gear",
        "graph",
        "inputs",
        "outputs",
        "plan",
        "slow",
        "source",
    )

    def __init__(self, plan: Plan, function: Function, gear: Gear, source: str, explain: Explain) -> None:
        self.plan = plan
        self.graph = plan.graph
        self.function = function
        self.gear = gear
        self.source = source
        self.inputs = _specs(plan.graph.inputs, "argument")
        self.outputs = _specs(plan.graph.outputs, "result")
        self.explain = explain
        self._wider: dict[tuple[bool, ...], Executable] = {}
        self.slow = FallbackCall(function, self.inputs, self.outputs, explain)
        # A slot of this name is what a call looks up: once the gate is in it, no Python runs between caller and kernel.
        self.__call__ = self._first

    def _first(self, *arrays: Any, out: Any = None) -> tuple[Array, ...]:
        """The first call in a process goes around the gate, whose compilation costs as much as a tenth of the start."""
        if gate_is_open():
            self.__call__ = self.gate()
            return self(*arrays, out=out)
        self.__call__ = self._second
        return self.slow(*arrays, out=out)

    def _second(self, *arrays: Any, out: Any = None) -> tuple[Array, ...]:
        self.__call__ = self.gate()
        return self(*arrays, out=out)

    def gate(self, fallback: Callable[..., Any] | None = None, **options: Any) -> Callable[..., Any]:
        """A builtin function of the arrays; options: those of `runtime.gate.make_callable`."""
        face, releases = Face(self.inputs, self.outputs), self.plan.work > _LONG
        return make_callable(self.function, face, fallback or self.slow, releases=releases, **options)

    def error(self, outcome: int) -> BurlabError:
        """The exception for an outcome of the C++ function that is not 0."""
        return fault(self.graph, outcome)

    @property
    def address(self) -> int:
        """Of the C++ function."""
        return self.function.address

    @property
    def context(self) -> int:
        """The address that the C++ function takes first."""
        return self.function.context

    def context_for(self, samples: int) -> int:
        """The context with which only the first `samples` of a tile count."""
        return self.function.contexts(samples)

    @property
    def workspace_bytes(self) -> int:
        """Bytes of memory, aligned to 64, that a call of the C++ function needs for itself."""
        return self.function.workspace_bytes

    @property
    def memory(self) -> Mapping[str, int]:
        """Bytes that a call touches: inputs, outputs, constants, workspace."""
        return {**self.plan.memory, "workspace": self.workspace_bytes}

    def map(self, arrays: Sequence[Any], batched: Sequence[bool], n: int, threads: int = 1) -> tuple[Array, ...]:
        """The outputs for n rows, each with a leading axis of size n.

        arrays: one per input; where `batched`, with a leading axis of size n, else shared by all rows. The number of
        threads changes no bit. Other Python threads run meanwhile, and an interrupt stops the work within 0.1 s.
        """
        ready = prepare(arrays, self.inputs, batched, n, threads)
        buffers = [spec.empty() for spec in stacked(self.outputs, [True] * len(self.outputs), n)]

        def explain(outcome: int, row: int) -> None:
            self.explain(outcome, [x[row] if many else x for x, many in zip(ready, batched, strict=True)])

        def run(exe: Executable, arrays: Sequence[Array], buffers: Sequence[Array], rows: int) -> None:
            map_rows(exe.function, arrays, exe.inputs, buffers, rows, threads, explain)

        rest = n % _LANES if self._widens else n
        blocks, rows = [slice(0, n - rest), slice(n - rest, n)]
        if rest < n:
            tiled = [in_tiles(x[blocks], _LANES) if many else x for x, many in zip(ready, batched, strict=True)]
            run(self._wide(tuple(batched)), tiled, [in_tiles(y[blocks], _LANES) for y in buffers], n // _LANES)
        left = [x[rows] if many else x for x, many in zip(ready, batched, strict=True)]
        run(self, left, [y[rows] for y in buffers], rest)
        return tuple(buffers)

    @property
    def _widens(self) -> bool:
        """Whether rows may be taken in lanes, with the same code: the replay gear does where there are only numbers."""
        return self.gear == "replay" and all(isinstance(step, Loop) and not step.shape for step in self.plan.steps)

    def _wide(self, batched: tuple[bool, ...]) -> "Executable":
        """The same for as many rows at a time as there are lanes."""
        if batched not in self._wider:
            graph = simplify(batch(self.graph, batched, _LANES))
            self._wider[batched] = _built(graph, PlanOptions("replay", self.explain.strict))
        return self._wider[batched]

    def __repr__(self) -> str:
        specs = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        return f"<Executable {specs[0]} -> {specs[1]}, {self.gear}, {len(self.graph)} nodes>"


def _specs(nodes: tuple[Node, ...], what: str) -> tuple[ArraySpec, ...]:
    return tuple(
        ArraySpec(n.shape, n.dtype, n.params if n.is_input and what == "argument" and n.params else f"{what} {k}")
        for k, n in enumerate(nodes)
    )


def build_tile(graph: Graph, size: int, remat: Remat | None = None) -> Executable:
    """Make the graph of a tile run (`graph/rewrite/batch_sum.py`), as `build`, but adding to what outputs' arrays hold.

    Each sum runs in the order of the samples, in the dtype of its result, from what is there: so the sum over a batch
    has the same bits in tiles of any size. size: how many samples; the rows of a single one go in blocks.
    """
    graph = by_blocks(graph) if size == 1 else graph
    return _built(graph, PlanOptions(accumulate=len(graph.outputs)), remat)


def build(
    graph: Graph,
    *,
    gear: Gear = "compiled",
    strict: bool = False,
    check_finite: bool = False,
    remat: Remat | None = None,
    in_place: Pairs = frozenset(),
) -> Executable:
    """Simplify a graph, plan it, and make it run.

    gear: "compiled", one C++ function for this graph, or "replay", general kernels called one after the other, where
    only kernels that were never used before are compiled; a graph too large to compile is replayed. The same generated
    text is compiled once in a process, so building an equal graph again is cheap. strict: the same bits in both gears.
    check_finite: raise NonFiniteError naming the node that made the first inf or nan. remat: what the backward pass of
    a graph, whose first output is the value, computes again, see `remat.py`. in_place: inputs and outputs that callers
    give the same memory, see `in_place.py`.
    """
    simple = simplify(graph)
    whole = simple if strict or check_finite else by_blocks(simple)
    return _built(whole, PlanOptions(gear, strict, check_finite, in_place=in_place), remat)


@gc_paused()
def _built(graph: Graph, options: PlanOptions, remat: Remat | None = None) -> Executable:
    if options.compiled:
        plain = options.strict or options.check_finite or options.accumulate
        for one in dict.fromkeys((graph if plain else in_columns(graph), graph)):
            plan = _planned(one, options, remat)
            if plan.statements <= MOST_STATEMENTS:
                return _compiled(plan, Explain(plan.graph, options.strict))
    plan = _planned(graph, replace(options, gear="replay"), remat)
    return Executable(plan, replayed(plan), "replay", str(plan), Explain(plan.graph, options.strict))


def _planned(graph: Graph, options: PlanOptions, remat: Remat | None) -> Plan:
    def make(graph: Graph, after: After) -> Plan:
        own = replace(options, after=after)
        return make_plan(graph, own) if options.compiled else make_plan(graph, own, laid_out)

    # Once: the nodes that one plan shows have to be those of the next.
    whole = for_loops(graph) if options.compiled and not (options.strict or options.check_finite) else graph
    return make(whole, waiting(whole, options.in_place)) if remat is None else rematerialized(whole, remat, make)


def _compiled(plan: Plan, explain: Explain) -> Executable:
    if plan.seconds > _PATIENCE:  # a compile cannot be interrupted
        sys.stderr.write(
            f"burlab compiles {plan.statements} operations, about {plan.seconds:.0f} s; replay would not.\n"
        )
    function, text = compiled(plan)
    return Executable(plan, function, "compiled", text, explain)


def compiled(plan: Plan, ticks: Array | None = None) -> tuple[Function, str]:
    """A plan compiled, and its text; sub-graphs are functions of their own.

    ticks: where it writes how long each step takes, see `timed.py`.
    """
    texts: list[str] = []

    def part(inner: Plan) -> Function:
        function, text = compiled(inner)
        texts.append(text)
        return function

    plan, parts = linked(plan, part)
    source = emit(plan, timed=ticks is not None)
    unit = library.unit(source.bare, source.calls)
    constants = plan.tables
    table = pointers(constants)

    def link(addresses: dict[Descriptor, int]) -> tuple[int, Any]:
        shapes = table_of([addresses[d] for d in source.descriptors])
        clock = [] if ticks is None else [ticks.ctypes.data]
        context = table_of([ctypes.addressof(shapes), ctypes.addressof(table), *clock])
        return ctypes.addressof(context), (context, shapes)

    contexts = Contexts(source.descriptors, link)
    keep = (table, constants, parts, ticks)
    function = Function(
        runtime.address(f"{unit}_run"), contexts, plan.workspace_bytes, keep, is_interruptible(plan.steps)
    )
    return poisoned(plan, function), "\n".join([*texts, source.text.replace("@unit", unit)])
