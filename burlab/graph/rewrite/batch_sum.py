"""From the graph of one sample to that of a tile, which adds its samples to the sums over a batch.

The outputs of one sample's graph are averaged over a batch. Batched, they would be one result per sample. But a
gradient ends in contractions, sums and scatters of what belongs to samples, and these take the sum over the samples
along: the weight gradient of a layer is one matrix product over all rows of all samples. So the graph of a tile ends at
these reduction points, and the linear operations that follow are done once, with the mean: this is a linear cut.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from burlab.graph.executions import work
from burlab.graph.graph import Graph, topological
from burlab.graph.linear_nodes import sum_over
from burlab.graph.node import Node
from burlab.graph.operation import make_node
from burlab.graph.origin import derived_from
from burlab.graph.signatures import letters_of
from burlab.graph.substitute import keep, rebuild

from .batching import batch

MAX_SUMMED_ELEMENTS = 16  # elements: a result of this size is added up sample by sample
_MUCH = 20_000  # additions in a batch, for which it is worth to compile what follows from means
_LITTLE = (
    1000  # of the work of a sample: what saves less than one of so many parts is not worth another result in memory
)


@dataclass(frozen=True)
class Tiled:
    """The graph of a tile, and the graph from the mean to the result.

    graph: as that of one sample, but inputs that belong to samples have a leading axis, of the size of the tile;
    outputs are sums over it: nodes `contract`, `sum` or `scatter`, with that axis first among the summed ones. finish:
    from the other inputs and the mean of the sums; None where they are the result.
    """

    graph: Graph
    finish: Graph | None


class _ReductionPoint(NamedTuple):
    """A node whose sum over samples is taken: from what of all samples, and how."""

    node: Node
    operands: tuple[Node, ...]
    total: Callable[[Sequence[Node]], Node]


def tiled(graph: Graph, sampled: Sequence[bool], size: int, total: int) -> Tiled:
    """The graph for `size` samples of a batch. graph: simplified; sampled: which inputs belong to samples.

    total: how many samples the batch has at least. Where the graph ends depends on it, and not on the size.
    """
    points = _reduction_points(graph, of_samples(graph, sampled), total)
    needed = list(dict.fromkeys(x for point in points for x in point.operands))
    many = batch(Graph(graph.inputs, tuple(needed)), sampled, size)
    found = dict(zip(needed, many.outputs, strict=True))
    totals: list[Node] = []
    for point in points:
        with derived_from(point.node):
            totals.append(point.total([found[x] for x in point.operands]))
    return Tiled(Graph(many.inputs, tuple(totals)), _finish(graph, sampled, [point.node for point in points]))


def inside(graph: Graph, sampled: Sequence[bool], total: int) -> Graph:
    """Return a tile's graph for one sample, up to its sums. graph: simplified, of one sample; total: as above."""
    return Graph(
        graph.inputs, tuple(point.node for point in _reduction_points(graph, of_samples(graph, sampled), total))
    )


def of_samples(graph: Graph, sampled: Sequence[bool]) -> set[Node]:
    """The nodes that depend on the sample."""
    known = {x for x, own in zip(graph.inputs, sampled, strict=True) if own}
    for n in graph.nodes:
        if any(x in known for x in n.inputs):
            known.add(n)
    return known


def _reduction_points(graph: Graph, own: set[Node], total: int) -> list[_ReductionPoint]:
    """Return the nodes that end the graph of a tile; those that are outputs first, in their order."""
    nodes = topological(graph.outputs)
    linear = {n: inputs for n in nodes if n in own and (inputs := _linear_inputs(n, own))}
    shallow = _shallow(nodes, own, linear)
    outputs = [y for y in dict.fromkeys(graph.outputs) if y in own]
    candidates = [(_cut(y, shallow), _cut(y, linear)) for y in outputs]
    needed = _needed([n for _, deepest in candidates for n in deepest.points], own)
    chosen = [_cheaper(*pair, needed, total) for pair in candidates]
    first = {n: k for k, n in reversed(list(enumerate(map(_bare, graph.outputs))))}
    points = dict.fromkeys(n for cut in chosen for n in cut.points)
    return [_reduction_point(n, own) for n in sorted(points, key=lambda n: first.get(n, len(first)))]


def _shallow(nodes: Sequence[Node], own: set[Node], linear: dict[Node, list[Node]]) -> dict[Node, list[Node]]:
    """Linear operations on nothing but sums over something that samples have, which make numbers no fewer."""
    found: dict[Node, list[Node]] = {}
    for n in nodes:
        inputs = linear.get(n, [])
        large = n.size > MAX_SUMMED_ELEMENTS and not n.row.shrinks
        if inputs and large and all(x in found or _adds_up(x, own) for x in inputs):
            found[n] = inputs
    return found


class _Cut(NamedTuple):
    """A linear cut of an output: the linear operations done with means, and the points where sums are taken."""

    after: list[Node]
    points: list[Node]


def _cut(output: Node, linear: dict[Node, list[Node]]) -> _Cut:
    cut = _Cut([], [])
    seen = {output}
    stack = [output]
    while stack:
        n = stack.pop()
        (cut.after if n in linear else cut.points).append(n)
        stack += [x for x in linear.get(n, ()) if x not in seen]
        seen.update(linear.get(n, ()))
    return cut


def _needed(points: list[Node], own: set[Node]) -> set[Node]:
    """Return the nodes that a tile computes in any case."""
    return set(topological([x for n in points for x in _reduction_point(n, own).operands]))


def _cheaper(shallow: _Cut, deep: _Cut, needed: set[Node], total: int) -> _Cut:
    """The cut that leaves less to do in the tiles of a batch.

    A deep cut is better where a parameter is a function of others, such as a softmax: what leads there is done once. A
    shallow one is better where what is added up is small, and what it is made of is needed in the tile anyway.
    """
    between = set(deep.after) - set(shallow.after) - needed
    more = sum(map(work, between)) + sum(n.size for n in set(shallow.points) - set(deep.points))
    less = sum(map(work, set(deep.points) - set(shallow.points)))
    return deep if more > less + max(_MUCH // total, sum(map(work, needed)) // _LITTLE) else shallow


def _linear_inputs(n: Node, own: set[Node]) -> list[Node]:
    """The inputs of a linear operation whose means decide its own; none where its sum over samples is to be taken."""
    ours = [x for x in n.inputs if x in own]
    if any(x.dtype != n.dtype for x in ours) or _is_transposed_product(n, own):  # of `where` the mask has another
        return []
    row = n.row
    return ours if row.follows_sums and row.is_linear(n, ours) else []


def _adds_up(n: Node, own: set[Node]) -> bool:
    """Return True if the sum over samples is cheaper together with the node's own sum."""
    if _is_transposed_product(n, own):
        return True
    return n.row.sums_along(n) and all(x in own for x in n.inputs)


def _reduction_point(n: Node, own: set[Node]) -> _ReductionPoint:
    if _is_transposed_product(n, own):
        product = n.inputs[0]
        left, right, out = letters_of(product.params)
        permuted = make_node(product.op, f"{left},{right}->{''.join(out[k] for k in n.params)}", *product.inputs)
        return _ReductionPoint(n, product.inputs, partial(product.row.summed, permuted))
    if not _adds_up(n, own):
        return _ReductionPoint(n, (n,), _sum)
    return _ReductionPoint(n, n.inputs, partial(n.row.summed, n))


def _sum(xs: Sequence[Node]) -> Node:
    return sum_over(xs[0], (0,))


def _is_transposed_product(n: Node, own: set[Node]) -> bool:
    """Return True for a contraction with its axes in another order."""
    return n.op == "transpose" and n.inputs[0].row.multiplies and all(x in own for x in n.inputs[0].inputs)


def _bare(y: Node) -> Node:
    """A node without the reshapes on it: the same numbers in the same order."""
    while y.op == "reshape":
        y = y.inputs[0]
    return y


def _finish(graph: Graph, sampled: Sequence[bool], points: list[Node]) -> Graph | None:
    bare = [_bare(y) for y in graph.outputs]
    if len(bare) == len(points) and all(y is n for y, n in zip(bare, points, strict=True)):
        return None
    means: list[Node] = []
    for n in points:
        with derived_from(n):
            means.append(Node("input", (), "", n.shape, n.dtype))
    shared = [x for x, own in zip(graph.inputs, sampled, strict=True) if not own]
    known = dict(zip([*points, *shared], [*means, *shared], strict=True))
    return Graph((*shared, *means), tuple(rebuild(graph.outputs, known, keep)))
