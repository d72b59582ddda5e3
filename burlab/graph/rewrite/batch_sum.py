"""From the graph of one sample to that of a tile, which adds its samples to the sums over a batch.

The outputs of one sample's graph are averaged over a batch. Batched, they would be one result per sample. But a
gradient ends in contractions, sums and scatters of what belongs to samples, and these take the sum over the samples
along: the weight gradient of a layer is one matrix product over all rows of all samples. So the graph of a tile ends at
these reduction points, and the linear operations that follow are done once, with the mean: this is a linear cut.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from burlab.graph.graph import Graph, Region, Result, topological
from burlab.graph.linear_nodes import sum_over
from burlab.graph.node import Node
from burlab.graph.operation import make_node
from burlab.graph.origin import derived_from
from burlab.graph.signatures import letters_of
from burlab.graph.substitute import copy, keep, rebuild

from .batching import batch
from .branch_sums import with_branch_sums
from .linear_cut import LinearCut, ReductionPoint, bare, is_shared_choice, of_samples, reduction_point
from .sink_transposes import sink_transposes


@dataclass(frozen=True)
class Tiled:
    """The graph of a tile, and the graph from the mean to the result.

    graph: as that of one sample, but inputs that belong to samples have a leading axis, of the size of the tile;
    outputs are sums over it: nodes `contract`, `sum`, `scatter` or `sampled_product`, with that axis first among the
    summed ones, or first results of a `cond` whose sub-graphs give such sums. finish: from the other inputs and the
    mean of the sums; None where they are the result.
    """

    graph: Graph
    finish: Graph | None


def tiled(graph: Graph, sampled: Sequence[bool], size: int, total: int) -> Tiled:
    """The graph for `size` samples of a batch. graph: simplified; sampled: which inputs belong to samples.

    total: how many samples the batch has at least. Where the graph ends depends on it, and not on the size.
    """
    graph = with_branch_sums(graph, sampled, total)
    points = LinearCut(graph, of_samples(graph, sampled), total).points
    inputs, totals = _totals(graph, sampled, points, (), size)
    tile = Graph(inputs, totals)
    if any(n.op == "sparse_product" for n in graph.nodes):
        tile = sink_transposes(tile)
    return Tiled(tile, _finish(graph, sampled, [point.node for point in points]))


def inside(graph: Graph, sampled: Sequence[bool], total: int) -> Graph:
    """Return a tile's graph for one sample, up to its sums. graph: simplified, of one sample; total: as above."""
    graph = with_branch_sums(graph, sampled, total)
    points = LinearCut(graph, of_samples(graph, sampled), total).points
    return Graph(graph.inputs, tuple(point.node for point in points))


def _totals(
    graph: Graph, sampled: Sequence[bool], points: Sequence[ReductionPoint], rows: Sequence[Node], size: int
) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The inputs for many samples; then the sums over them at the points, and `rows` for each sample."""
    own = of_samples(graph, sampled)
    needed = list(dict.fromkeys((*(x for point in points for x in point.operands), *rows)))
    executions: dict[Any, Any] = {}
    many = batch(Graph(graph.inputs, tuple(needed)), sampled, size, executions)
    found = dict(zip(needed, many.outputs, strict=True))
    choices = _choices(points, topological(needed), own, size)
    totals: list[Node] = []
    for point in points:
        n = point.node
        with derived_from(n):
            if point.is_choice:
                total = choices[_execution(n)].result(
                    n.params.item, tuple(found[x] if x in own else x for x in n.inputs)
                )
            else:
                total = _total(point, [found[x] for x in point.operands])
        totals.append(total)
    joint = {executions[key].region: choice for key, choice in choices.items() if key in executions}
    return many.inputs, tuple(_joined([*totals, *(found[x] for x in rows)], joint))


def _total(point: ReductionPoint, operands: Sequence[Node]) -> Node:
    """The sum over samples of a value that is no choice. operands: of all samples."""
    n = point.node
    if point.is_whole:
        return sum_over(operands[0], (0,))
    if n.op != "transpose":
        return n.row.summed(n, operands)
    product = n.inputs[0]
    left, right, out = letters_of(product.params)
    permuted = make_node(product.op, f"{left},{right}->{''.join(out[k] for k in n.params)}", *product.inputs)
    return product.row.summed(permuted, operands)


class _Choice(NamedTuple):
    """A `cond` of a tile, which samples share. sums, rows: the number of each result that is summed, or of each sample.

    Sums come first: they are added to what their arrays hold.
    """

    region: Region
    sums: Mapping[int, int]
    rows: Mapping[int, int]

    def result(self, item: int, inputs: tuple[Node, ...]) -> Node:
        """The sum of a result of one sample's `cond`."""
        return make_node("cond", Result(self.region, self.sums[item]), *inputs)


def _execution(n: Node) -> tuple[tuple[Node, ...], Region, tuple[int, ...]]:
    return n.inputs, n.params.region, n.params.batch


def _choices(points: Sequence[ReductionPoint], needed: Sequence[Node], own: set[Node], size: int) -> dict[Any, _Choice]:
    """The choices for many samples, each with all of its results that the tile reads, by execution."""
    sums: dict[Any, list[int]] = {}
    for point in points:
        if point.is_choice:
            sums.setdefault(_execution(point.node), []).append(point.node.params.item)
    rows: dict[Any, list[int]] = {key: [] for key in sums}
    for n in needed:
        if n.op == "cond" and _execution(n) in rows:
            rows[_execution(n)].append(n.params.item)
    found: dict[Any, _Choice] = {}
    for key, items in sums.items():
        inputs, region, _ = key
        flags = [x in own for x in inputs[1:]]
        graphs = tuple(_branch(graph, items, rows[key], flags, size) for graph in region.graphs)
        first = {item: k for k, item in enumerate(items)}
        found[key] = _Choice(Region(graphs), first, {item: len(items) + k for k, item in enumerate(rows[key])})
    return found


def _branch(graph: Graph, sums: Sequence[int], rows: Sequence[int], flags: Sequence[bool], size: int) -> Graph:
    """A sub-graph for many samples. A sum that is zero has no point."""
    own = of_samples(graph, flags)
    ends = [graph.outputs[item] for item in sums]
    points = {y: reduction_point(y, own, is_shared_choice(y, own)) for y in ends if y in own}
    inputs, outputs = _totals(graph, flags, [*points.values()], [graph.outputs[item] for item in rows], size)
    totals = dict(zip(points, outputs, strict=False))
    return Graph(inputs, (*(totals.get(y, y) for y in ends), *outputs[len(points) :]))


def _joined(outputs: Sequence[Node], choices: Mapping[Region, _Choice]) -> list[Node]:
    """The outputs, where results of each sample and sums of one choice are given by one execution."""

    def rule(n: Node, inputs: tuple[Node, ...]) -> Node:
        choice = choices.get(n.params.region) if n.op == "cond" else None
        if choice is None:
            return keep(n, inputs)
        new = copy(n, inputs)
        new.params = Result(choice.region, choice.rows[n.params.item])
        return new

    return rebuild(outputs, {}, rule) if choices else [*outputs]


def _finish(graph: Graph, sampled: Sequence[bool], points: list[Node]) -> Graph | None:
    ends = [bare(y) for y in graph.outputs]
    if len(ends) == len(points) and all(y is n for y, n in zip(ends, points, strict=True)):
        return None
    means: list[Node] = []
    for n in points:
        with derived_from(n):
            means.append(Node("input", (), "", n.shape, n.dtype))
    shared = [x for x, own in zip(graph.inputs, sampled, strict=True) if not own]
    known = dict(zip([*points, *shared], [*means, *shared], strict=True))
    return Graph((*shared, *means), tuple(rebuild(graph.outputs, known, keep)))
