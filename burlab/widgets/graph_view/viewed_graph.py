"""Graphs that can be shown: from a user's object to a network with numbers, sweeps, costs and code."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from burlab.analysis.digit_counts import most_digits
from burlab.analysis.graph_digits import graph_digits
from burlab.compiler.executable import Executable, build
from burlab.compiler.inspection.account import Entry
from burlab.compiler.ir.plan import KernelPlan
from burlab.compiler.kernel import Kernel
from burlab.compiler.passes import make_plan
from burlab.compiler.planning.expand_products import expand_products
from burlab.eager import Value
from burlab.eager.ancestry import Recorded, ancestors
from burlab.errors import ArgumentError
from burlab.graph import Graph, Node, tree
from burlab.graph.rewrite.simplify import simplify
from burlab.graph.tracing.trace import Spec, spec_of, trace
from burlab.runtime.coerce import Array
from burlab.runtime.plain import as_array

from .network import Network, gradient_names, network_of, recorded_network
from .sweep_steps import SweepSteps, graph_sweep, recorded_sweep
from .vertex_costs import PlanPlace, nanoseconds, places_of

MAX_NODES = 20_000  # nodes behind a Value that are shown


class ViewedGraph:
    """A network, and what is found out about it when it is asked for. Abstract: a graph, or what is behind a Value.

    missing: why there are no numbers, "" if there are.
    """

    network: Network
    missing: str = ""

    @cached_property
    def sweep(self) -> SweepSteps:
        """The forward and the backward sweep, with all values and gradients. Raises what computing them raises."""
        raise NotImplementedError

    @cached_property
    def places(self) -> Sequence[PlanPlace | None]:
        """The step of a plan that computes each vertex, and its C++; None where there is none."""
        return [None] * len(self.network.vertices)

    @cached_property
    def times(self) -> Sequence[int]:
        """Nanoseconds of each step of the plan, measured at the first use; () where nothing can be measured."""
        return ()

    @cached_property
    def digits(self) -> Mapping[int, tuple[float, float]]:
        """The right digits of each vertex that is a number, and how many it has; {} where nothing can be measured."""
        return {}

    @property
    def entries(self) -> dict[int, Entry]:
        """The steps of the plan that compute some vertex."""
        return {place.step: place.entry for place in self.places if place}


@dataclass
class TracedGraph(ViewedGraph):
    """A graph, with arrays for its inputs if there are any. kernel: what runs it, if there is a kernel."""

    graph: Graph
    title: str = ""
    arrays: Sequence[Array] | None = None
    kernel: Kernel | None = None

    def __post_init__(self) -> None:
        self._gradients = gradient_names(self.graph)
        self.network = network_of(self.graph, self.title, self._gradients)
        if self.arrays is None:
            self.missing = "" if not self.graph.inputs else "no numbers: give arrays, bl.GraphView(graph, *arrays)"

    @cached_property
    def sweep(self) -> SweepSteps:
        """See `ViewedGraph`."""
        derived = _knows_derivatives(self.graph)
        return graph_sweep(self.network, self.graph, self.arrays or (), self._gradients, derived)

    @cached_property
    def _executable(self) -> Executable:
        return self.kernel.executable if self.kernel else build(self.graph)

    @cached_property
    def _plan(self) -> KernelPlan:
        return self._executable.plan if self.kernel else make_plan(expand_products(self.graph))

    @cached_property
    def places(self) -> Sequence[PlanPlace | None]:
        """See `ViewedGraph`."""
        compiled = self.kernel is None or self._executable.gear == "compiled"
        return places_of(self.graph, self.network, self._plan, compiled)

    @cached_property
    def times(self) -> Sequence[int]:
        """See `ViewedGraph`."""
        if self.missing:
            return ()
        self._plan = self._executable.plan  # the measured plan is the displayed one
        return nanoseconds(self._executable, self.arrays or ())

    @cached_property
    def digits(self) -> Mapping[int, tuple[float, float]]:
        """See `ViewedGraph`."""
        if self.missing:
            return {}
        right = {of.node: of.right for of in graph_digits(self.graph, self.arrays or ()).nodes}
        numbers = ((k, n, right[n]) for k, n in enumerate(self.network.nodes) if n in right and n.dtype.kind == "f")
        return {k: (right, most_digits(n.dtype)) for k, n, right in numbers}


class RecordedGraph(ViewedGraph):
    """The graph behind a Value, nearest nodes first, up to a size that can be shown."""

    def __init__(self, root: Value) -> None:
        self._rows: list[Recorded] = ancestors(root, MAX_NODES)
        self.network = recorded_network(self._rows, repr(root))

    @cached_property
    def sweep(self) -> SweepSteps:
        """See `ViewedGraph`."""
        return recorded_sweep(self._rows)


def subjects_of(thing: Any, args: tuple[Any, ...]) -> dict[str, Callable[[], ViewedGraph]]:
    """Return the graphs of an object that can be shown, by name; a view opens with the first one.

    A `Graph`, with arrays for its inputs or without; a `Kernel`, with arguments in place of its examples; a `Value`;
    any other callable, such as a function or a layer, with arguments. Raises ArgumentError for anything else.
    """
    if isinstance(thing, Graph):
        return {"graph": lambda: _of_graph(thing, args)}
    if isinstance(thing, Kernel):
        return _of_kernel(thing, args)
    if isinstance(thing, cast("type", Value)):
        if args:
            raise ArgumentError(f"a Value has its numbers, but {len(args)} arguments came with it. Leave them out.")
        return {"value": lambda: RecordedGraph(thing)}
    if callable(thing):
        if not args:
            raise ArgumentError(
                f"{_name(thing)} is a function, whose graph depends on its arguments. Pass examples of them: "
                f"bl.GraphView({_name(thing)}, x)."
            )
        return {"graph": lambda: _of_function(thing, args)}
    raise ArgumentError(
        f"a GraphView shows a Graph, a Kernel, a Value, a layer or a function, but got {type(thing).__name__}."
    )


def _of_graph(graph: Graph, args: tuple[Any, ...]) -> ViewedGraph:
    graph = graph if all(n.op != "call" for n in graph.nodes) else simplify(graph, derivable=True)
    if args and len(args) != len(graph.inputs):
        raise ArgumentError(f"the graph has {len(graph.inputs)} inputs, but {len(args)} arrays came with it.")
    arrays = [np.asarray(as_array(x, str(n.params)), n.dtype) for x, n in zip(args, graph.inputs, strict=False)]
    return TracedGraph(graph, f"graph of {len(graph):,} nodes", arrays if args else None)


def _knows_derivatives(graph: Graph) -> bool:
    """Return True if a simplified graph has all derivatives: those of extremes and factors need nodes it may lack."""
    left, seen = list(graph.outputs), set[Node]()
    while left:
        n = left.pop()
        if n in seen or n.dtype.kind != "f":
            continue
        seen.add(n)
        row = n.row
        if row.constant and (row.reduction or row.dense_operands):
            return False
        left += () if row.constant else [n.inputs[k] for k in row.differentiable_inputs(n)]
    return True


def _of_kernel(kernel: Kernel, args: tuple[Any, ...]) -> dict[str, Callable[[], ViewedGraph]]:
    arrays, title = kernel.arrays(*args), f"the kernel of {kernel.__name__}"
    whole = kernel.gradient_graph if len(kernel.executable.outputs) > len(kernel.graph.outputs) else None
    found: dict[str, Callable[[], ViewedGraph]] = {}
    if whole is not None:
        found["value and gradient"] = lambda: TracedGraph(whole, title, arrays, kernel)
    found["value"] = lambda: TracedGraph(kernel.graph, title, arrays, None if whole else kernel)
    return found


def _of_function(f: Callable[..., Any], args: tuple[Any, ...]) -> ViewedGraph:
    if hasattr(f, "__dataclass_fields__"):  # a layer, displayed with its parameters

        def call(self: Any, *xs: Any) -> Any:
            return self(*xs)

        args, traced = (f, *args), trace(call, (f, *args))
    else:
        traced = trace(f, args)
    given: list[Any] = tree.flatten(args)[0]
    leaves = [leaf for leaf in given if isinstance(spec_of(leaf), Spec)]
    graph = simplify(traced.graph, derivable=True)
    arrays = [np.asarray(as_array(x, "an argument"), n.dtype) for x, n in zip(leaves, graph.inputs, strict=True)]
    return TracedGraph(graph, _name(f), arrays)


def _name(f: Any) -> str:
    return getattr(f, "__name__", None) or repr(f)
