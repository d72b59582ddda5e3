"""From a graph to something that runs: `build` and its result."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from burlab.compiler.faults.culprit import culprit
from burlab.compiler.faults.fault import fault
from burlab.compiler.ir.options import Aliases, Gear, PlanOptions, Remat, team_of
from burlab.compiler.ir.plan import KernelPlan, LoopStep, Runnable
from burlab.errors import BurlabError
from burlab.graph import Graph, Node
from burlab.graph.rewrite.batching import batch
from burlab.runtime.coerce import Array, ArraySpec
from burlab.runtime.gate import CallSignature, FallbackCall, gate_is_open, make_callable
from burlab.runtime.gc_pause import gc_paused
from burlab.runtime.status import Status, split
from burlab.runtime.thread_limit import hire

from .map import in_tiles, map_rows, prepare, stacked
from .passes import make_runnable, run_passes

MAX_STATEMENTS = 3000  # beyond, compiling takes longer than replaying some 100,000 times
MAX_SILENT_SECONDS = 2.0  # of compiling; more is announced, because a compile cannot be interrupted
_MAP_LANES = 16  # rows that the replay gear maps at a time where there are only numbers
MIN_WORK_WITHOUT_GIL = 20_000  # elements of work from which a call lets other Python threads run


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
    """A graph that runs: `exe(*arrays)` returns the tuple of its outputs; several threads may call at once.

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

    def __init__(self, plan: KernelPlan, runnable: Runnable, gear: Gear, explain: Explain) -> None:
        self.plan = plan
        self.graph = plan.graph
        function, self.source = runnable
        self.function = replace(function, folder=plan.options.spill) if plan.options.spill else function
        self.gear = gear
        self.inputs = _specs(plan.graph.inputs, "argument")
        self.outputs = _specs(plan.graph.outputs, "result")
        self.explain = explain
        self._wider: dict[tuple[bool, ...], Executable] = {}
        self.slow = FallbackCall(self.function, self.inputs, self.outputs, explain)
        # A call reads the slot of this name: once the gate is in it, no Python runs between caller and kernel.
        self.__call__ = self._first

    def _first(self, *arrays: ArrayLike, out: Sequence[Array] | None = None) -> tuple[Array, ...]:
        """The first call in a process goes around the gate, whose compilation costs as much as a tenth of the start."""
        if gate_is_open():
            self.__call__ = self.gate()
            return self(*arrays, out=out)
        self.__call__ = self._second
        return self.slow(*arrays, out=out)

    def _second(self, *arrays: ArrayLike, out: Sequence[Array] | None = None) -> tuple[Array, ...]:
        self.__call__ = self.gate()
        return self(*arrays, out=out)

    def gate(self, fallback: Callable[..., Any] | None = None, **options: Any) -> Callable[..., Any]:
        """A builtin function of the arrays; options: those of `runtime.gate.make_callable`."""
        face, releases = CallSignature(self.inputs, self.outputs), self.plan.work > MIN_WORK_WITHOUT_GIL
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

    def map(self, arrays: Sequence[ArrayLike], batched: Sequence[bool], n: int, threads: int = 1) -> tuple[Array, ...]:
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

        rest = n % _MAP_LANES if self._widens else n
        blocks, rows = [slice(0, n - rest), slice(n - rest, n)]
        if rest < n:
            tiled = [in_tiles(x[blocks], _MAP_LANES) if many else x for x, many in zip(ready, batched, strict=True)]
            run(self._wide(tuple(batched)), tiled, [in_tiles(y[blocks], _MAP_LANES) for y in buffers], n // _MAP_LANES)
        left = [x[rows] if many else x for x, many in zip(ready, batched, strict=True)]
        run(self, left, [y[rows] for y in buffers], rest)
        return tuple(buffers)

    @property
    def _widens(self) -> bool:
        """Return True if rows may be taken in lanes, as the replay gear does where there are only numbers."""
        return self.gear == "replay" and all(isinstance(step, LoopStep) and not step.shape for step in self.plan.steps)

    def _wide(self, batched: tuple[bool, ...]) -> "Executable":
        """The same for as many rows at a time as there are lanes."""
        if batched not in self._wider:
            graph = batch(self.graph, batched, _MAP_LANES)
            self._wider[batched] = _build(graph, PlanOptions("replay", self.explain.strict))
        return self._wider[batched]

    def __repr__(self) -> str:
        specs = ", ".join(map(str, self.inputs)), ", ".join(map(str, self.outputs))
        return f"<Executable {specs[0]} -> {specs[1]}, {self.gear}, {len(self.graph)} nodes>"


def _specs(nodes: tuple[Node, ...], what: str) -> tuple[ArraySpec, ...]:
    return tuple(
        ArraySpec(n.shape, n.dtype, n.params if n.is_input and what == "argument" and n.params else f"{what} {k}")
        for k, n in enumerate(nodes)
    )


def build(  # noqa: PLR0913 - all options of a build
    graph: Graph,
    *,
    gear: Gear = "compiled",
    strict: bool = False,
    check_finite: bool = False,
    remat: Remat | None = None,
    in_place: Aliases = frozenset(),
    threads: int = 1,
    spill: str | None = None,
    lends: bool = False,
) -> Executable:
    """Run a graph through the passes of `passes.py`.

    The same generated text is compiled once in a process, so building an equal graph again is cheap.

    Args:
        graph: as it was traced, or any other.
        gear: "compiled", one C++ function for this graph, or "replay", general kernels called one after the other,
            where only kernels that were never used before are compiled. A graph too large to compile is replayed.
        strict: the same bits in both gears.
        check_finite: calls raise NonFiniteError, which names the node that made the first inf or nan.
        remat: what the backward pass of a graph, whose first output is the value, computes again: "sqrt" or bytes.
        in_place: the inputs and outputs to which callers give the same memory, see `planning/in_place.py`.
        threads: how many compute each step at most, in the compiled gear; they change no bit.
        spill: a folder for a file that holds the workspace.
        lends: whether arrays may lie in the memory of results until these are written.
    """
    options = PlanOptions(gear, strict, check_finite, in_place, remat=remat, spill=spill, lends=lends)
    return _build(graph, replace(options, shared=1, threads=threads, team=team_of(threads)) if threads > 1 else options)


def build_tile(graph: Graph, size: int, remat: Remat | None = None, threads: int = 1) -> Executable:
    """Build the graph of a tile (`graph/rewrite/batch_sum.py`), adding to what the arrays of its outputs hold.

    Each sum runs in the order of the samples, in the dtype of its result, from what is there: so the sum over a batch
    has the same bits in tiles of any size.

    Args:
        graph: simplified.
        size: the number of samples; the rows of a single one go in blocks.
        remat: as for `build`.
        threads: how many compute each step of a call.
    """
    options = PlanOptions(remat=remat, accumulate=len(graph.outputs))
    if threads > 1:
        options = replace(options, shared=size, team=team_of(threads))
    return _build(graph, options, first="block_rows" if size == 1 else "split_columns")


@gc_paused()
def _build(graph: Graph, options: PlanOptions, first: str = "simplify") -> Executable:
    """Run the passes from the first one on."""
    if options.shared:
        hire()
    plan = _fitting_plan(graph, options, first)
    if plan.options.compiled and plan.seconds > MAX_SILENT_SECONDS:
        sys.stderr.write(
            f"burlab compiles {plan.statements} operations, about {plan.seconds:.0f} s; replay would not.\n"
        )
    explain = Explain(plan.graph, options.strict)
    return Executable(plan, make_runnable(plan), "compiled" if plan.options.compiled else "replay", explain)


def _fitting_plan(graph: Graph, options: PlanOptions, first: str) -> KernelPlan:
    """The plan of a graph: if it is too large to compile without split columns, and then for the replay gear."""
    whole = graph if first == "split_columns" else run_passes(graph, options, first, "split_columns")
    if options.compiled:
        split = run_passes(whole, options, "split_columns", "expand_products")
        for candidate in dict.fromkeys((split, whole)):
            plan = run_passes(candidate, options, "expand_products", "link")
            if plan.statements <= MAX_STATEMENTS:
                return plan
    return run_passes(whole, replace(options, gear="replay"), "split_columns", "link")
