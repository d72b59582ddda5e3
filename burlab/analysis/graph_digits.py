"""Right digits of a graph's nodes: by a shadow in double-double arithmetic, and by three runs in random rounding."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from burlab.compiler.executable import Executable, build
from burlab.graph import Graph, Node
from burlab.graph.graph import topological
from burlab.graph.node import as_node
from burlab.graph.rewrite.interpret import interpret
from burlab.graph.tracing.trace_cache import TraceCache
from burlab.runtime.coerce import Array
from burlab.transforms.compile import compile
from burlab.transforms.numbers.doubled import Doubled
from burlab.transforms.numbers.random_rounding import RandomRounding
from burlab.transforms.numbers.shadow import Shadow
from burlab.transforms.random import key

from .digit_counts import believed, least_of_errors, least_of_runs, most_digits, of_errors, of_runs

_RESERVE = 4096  # random numbers, at least


class _Kernels(NamedTuple):
    """Kernels of a graph: of its outputs, of all nodes in random rounding, and of all nodes and their errors.

    errors: for each node the number of its error among the results of the shadow; None where there is none.
    """

    value: Executable
    rounded: Callable[..., list[Array]]
    shadow: Executable
    errors: list[int | None]
    complete: list[bool]


KERNELS = TraceCache[_Kernels](lambda kernels: [kernels.value.graph], most=16)


class NodeDigits(NamedTuple):
    """A node, its right digits relative to its largest entry, and those of the least right one of its operands.

    shadow, rounding: the digits by either count. complete: whether the shadow knows all rounding errors before the
    node, and its own.
    """

    node: Node
    right: float
    before: float
    shadow: float
    rounding: float
    complete: bool

    @property
    def loss(self) -> float:
        """The number of digits that the operation loses."""
        return max(0.0, min(self.before, most_digits(self.node.dtype)) - self.right)


class GraphDigits(NamedTuple):
    """values: of the outputs. right: the digits of each of their entries. nodes: those outside of sub-graphs."""

    values: list[Array]
    right: list[Array]
    nodes: list[NodeDigits]


class _Measured(NamedTuple):
    """The values of a node in the three runs, its value in the shadow, and what that lacks."""

    runs: Array
    value: Array
    error: Array | None
    complete: bool


def graph_digits(graph: Graph, arrays: Sequence[Array], seed: int = 0) -> GraphDigits:
    """Compute a graph with its shadow, and in random rounding."""
    nodes = topological((*graph.outputs, *graph.inputs))
    kernels = _kernels(graph, nodes, arrays)
    draws = ((key(seed), False), (key(seed + 1), False), (key(seed + 1), True))  # the third run mirrors the second
    runs = [kernels.rounded(k, np.array(mirrored), *arrays) for k, mirrored in draws]
    found = kernels.shadow(*arrays)
    measured: dict[Node, _Measured] = {}
    for k, n in enumerate(nodes):
        at = kernels.errors[k]
        error = None if at is None else np.asarray(found[at])
        samples = np.stack([np.asarray(run[k]) for run in runs])
        measured[n] = _Measured(samples, np.asarray(found[k]), error, kernels.complete[k])
    values = list(kernels.value(*arrays))
    digits, overflown = _digits_of([n for n in nodes if not n.is_input], measured)
    outputs = zip(graph.outputs, values, strict=True)
    right = [_of_entries(measured[y], np.asarray(value), y in overflown) for y, value in outputs]
    return GraphDigits(values, right, digits)


def _kernels(graph: Graph, nodes: Sequence[Node], arrays: Sequence[Array]) -> _Kernels:
    """Return the kernels of a graph, which are found again for equal graphs."""
    name = (graph.key, tuple(n.op for n in nodes), tuple((n.shape, n.dtype) for n in graph.inputs))
    found = KERNELS.find(name)
    if found is None:
        whole = Graph(graph.inputs, tuple(nodes))
        found = _Kernels(build(graph, gear="replay"), _rounded(whole, arrays), *_shadow(whole))
        KERNELS.put(name, found)
    return found


def _rounded(graph: Graph, arrays: Sequence[Array]) -> Any:
    reserve = 2 * max((n.size for n in graph.outputs if n.dtype.kind == "f"), default=0) + _RESERVE

    def run(key: Any, mirrored: Any, *inputs: Any) -> list[Any]:
        return interpret(graph, [as_node(x) for x in inputs], RandomRounding(key, mirrored, reserve))

    return compile(run, key(0), np.array(False), *arrays, gear="replay")


def _shadow(graph: Graph) -> tuple[Executable, list[int | None], list[bool]]:
    """The kernel of the outputs and their errors, where the errors are, and which of them are complete."""
    found = Shadow().of(graph, graph.inputs)
    values, errors = list[Node](), list[Node]()
    places: list[int | None] = []
    for y in found:
        if isinstance(y.value, Doubled):
            places.append(len(found) + len(errors))
            values.append(y.value.value)
            errors.append(y.value.error)
        else:
            places.append(None)
            values.append(y.value)
    shadow = build(Graph(graph.inputs, (*values, *errors)), gear="replay")
    return shadow, places, [y.complete for y in found]


def _digits_of(nodes: Sequence[Node], measured: dict[Node, _Measured]) -> tuple[list[NodeDigits], set[Node]]:
    """The digits of nodes, and those of them that are inf or nan though their exact values may be numbers."""
    known: dict[Node, float] = {}
    overflown = set[Node]()
    finite = {n: bool(np.all(np.isfinite(found.value))) for n, found in measured.items()}
    digits: list[NodeDigits] = []
    for n in nodes:
        found = measured[n]
        before = min((known[x] for x in n.inputs if x in known), default=math.inf)
        shadow, rounding = least_of_errors(found.value, found.error), least_of_runs(found.runs)
        right = float(believed(shadow, rounding, found.complete)) if n.dtype.kind == "f" else rounding
        if not n.row.leaf and not finite[n] and (all(map(finite.get, n.inputs)) or overflown.intersection(n.inputs)):
            overflown.add(n)
            right = 0.0
        elif n.op == "lu":  # where two rows are as good as pivots, the factors may be others, as good
            right = min(before, most_digits(n.dtype))
        known[n] = right
        digits.append(NodeDigits(n, right, before, shadow, rounding, found.complete))
    return digits, overflown


def _of_entries(found: _Measured, value: Array, overflown: bool) -> Array:
    """The digits of each entry of an output. value: what the kernel without a shadow gives."""
    rounding = of_runs(found.runs)
    if value.dtype.kind != "f":
        return rounding
    error = found.error
    if error is not None:
        with np.errstate(all="ignore"):
            error = np.where(value == found.value, error, (found.value - value) + error)
    right = believed(of_errors(value, error), rounding, found.complete)
    return np.where(overflown & ~np.isfinite(value), 0.0, right)
