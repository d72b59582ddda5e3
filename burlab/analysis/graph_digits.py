"""A graph in random rounding: the right digits of its nodes, from three runs."""

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
from burlab.transforms.numbers.random_rounding import RandomRounding
from burlab.transforms.random import key

_RUNS = 3
_RESERVE = 4096  # random numbers, at least
_STUDENT = 4.302653  # the mean of three normal numbers is known to this many of its standard errors, at 95 %


class _Kernels(NamedTuple):
    """value: of the outputs of a graph. rounded: of its outputs and nodes in random rounding, by a key."""

    value: Executable
    rounded: Callable[..., list[Array]]


KERNELS = TraceCache[_Kernels](lambda kernels: [kernels.value.graph], most=16)


class NodeDigits(NamedTuple):
    """A node, its right digits relative to its largest entry, and those of the least right one of its operands."""

    node: Node
    right: float
    before: float

    @property
    def loss(self) -> float:
        """How many digits the operation loses."""
        return max(0.0, min(self.before, most_digits(self.node.dtype)) - self.right)


class GraphDigits(NamedTuple):
    """values: of the outputs. right: the digits of each of their entries. nodes: those outside of sub-graphs."""

    values: list[Array]
    right: list[Array]
    nodes: list[NodeDigits]


def graph_digits(graph: Graph, arrays: Sequence[Array], seed: int = 0) -> GraphDigits:
    """Compute a graph in random rounding."""
    nodes = topological(graph.outputs, graph.inputs)
    kernels = _kernels(graph, nodes, arrays)
    draws = ((key(seed), False), (key(seed + 1), False), (key(seed + 1), True))  # the third run mirrors the second
    runs = [kernels.rounded(k, np.array(mirrored), *arrays) for k, mirrored in draws]
    samples = [np.stack([np.asarray(one) for one in each]) for each in zip(*runs, strict=True)]
    count = len(graph.outputs)
    right = [_of_entries(y) for y in samples[:count]]
    return GraphDigits(list(kernels.value(*arrays)), right, _digits_of(nodes, samples[count:]))


def _kernels(graph: Graph, nodes: Sequence[Node], arrays: Sequence[Array]) -> _Kernels:
    """Return the kernels of a graph, which are found again for equal graphs."""
    name = (graph.key, tuple(n.op for n in nodes), tuple((n.shape, n.dtype) for n in graph.inputs))
    found = KERNELS.find(name)
    if found is None:
        found = _Kernels(build(graph, gear="replay"), _rounded(graph, nodes, arrays))
        KERNELS.put(name, found)
    return found


def _rounded(graph: Graph, nodes: Sequence[Node], arrays: Sequence[Array]) -> Any:
    reserve = 2 * max((n.size for n in nodes if n.dtype.kind == "f"), default=0) + _RESERVE
    whole = Graph(graph.inputs, (*graph.outputs, *nodes))

    def run(key: Any, mirrored: Any, *inputs: Any) -> list[Any]:
        return interpret(whole, [as_node(x) for x in inputs], RandomRounding(key, mirrored, reserve))

    return compile(run, key(0), np.array(False), *arrays, gear="replay")


def most_digits(dtype: "np.dtype[Any]") -> float:
    """Return how many decimal digits a number has: inf for whole numbers and masks."""
    return -math.log10(np.finfo(dtype).epsneg) if dtype.kind == "f" else math.inf


def _digits_of(nodes: Sequence[Node], samples: Sequence[Array]) -> list[NodeDigits]:
    known: dict[Node, float] = {}
    finite: dict[Node, bool] = {}
    found: list[NodeDigits] = []
    for n, values in zip(nodes, samples, strict=True):
        before = min((known[x] for x in n.inputs if x in known), default=math.inf)
        finite[n] = bool(np.all(np.isfinite(values)))
        if not n.row.leaf and not finite[n] and all(finite.get(x, True) for x in n.inputs):
            known[n] = 0.0  # an inf or nan of finite numbers
        elif n.op == "lu":  # where two rows are as good as pivots, the factors may be others, as good
            known[n] = min(before, most_digits(n.dtype))
        else:
            known[n] = _of_array(values)
        found.append(NodeDigits(n, known[n], before))
    return found


def _of_entries(values: Array) -> Array:
    """The right digits of each entry. values: of the runs, which are the first axis."""
    if values.dtype.kind != "f":
        return np.where(np.all(values == values[0], axis=0), math.inf, 0.0)
    with np.errstate(all="ignore"):
        return _right(_size(values), values)


def _of_array(values: Array) -> float:
    """The right digits of the least right entry, relative to the largest one."""
    if values.size == 0 or values.dtype.kind != "f":
        return math.inf if np.all(values == values[:1]) else 0.0
    with np.errstate(all="ignore"):
        size = _size(values)
        largest = float(np.max(size, where=np.isfinite(size), initial=0.0))
        return float(np.min(_right(np.where(np.isfinite(size), largest, size), values)))


def _right(size: Array, values: Array) -> Array:
    """The right digits of numbers that differ in the runs, relative to a size."""
    most = most_digits(values.dtype)
    scale, scaled = _scaled(values)
    found = np.log10(math.sqrt(_RUNS) / _STUDENT * (size / scale) / _deviation(scaled))
    alike = np.all((values == values[0]) | (np.isnan(values) & np.isnan(values[0])), axis=0)
    return np.where(alike, most, np.clip(np.nan_to_num(found, nan=0.0), 0.0, most))


def _size(values: Array) -> Array:
    """The size of the mean of the runs."""
    scale, scaled = _scaled(values)
    return np.abs(np.mean(scaled, axis=0)) * scale


def _scaled(values: Array) -> tuple[Array, Array]:
    """The largest size in the runs, and the numbers divided by it: their squares neither overflow nor underflow."""
    wide = values.astype(np.float64)
    scale = np.max(np.abs(wide), axis=0)
    scale = np.where(scale == 0, 1.0, scale)
    return scale, wide / scale


def _deviation(values: Array) -> Array:
    """The standard deviation of the runs, as `np.std(values, axis=0, ddof=1)` but several times as fast."""
    mean = sum(values) / _RUNS
    return np.sqrt(sum((one - mean) ** 2 for one in values) / (_RUNS - 1))
