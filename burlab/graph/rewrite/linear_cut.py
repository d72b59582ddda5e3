"""Where the graph of a tile ends: behind it there are only operations that are linear in means over samples.

A reduction point is a value whose sum over samples is taken. A cut of an output goes through linear operations down to
such points: a deep one as far as possible, a shallow one no further than sums, products and choices that samples share,
which take the sum over samples along.
"""

from collections.abc import Sequence
from typing import NamedTuple

from burlab.graph.control_nodes import chosen_inputs
from burlab.graph.executions import work
from burlab.graph.graph import Graph, topological
from burlab.graph.node import Node

MAX_SUMMED_ELEMENTS = 16  # elements: a result of this size is added up sample by sample
_MUCH = 20_000  # additions in a batch, for which it is worth to compile what follows from means
_LITTLE = (
    1000  # of the work of a sample: what saves less than one of so many parts is not worth another result in memory
)


class ReductionPoint(NamedTuple):
    """A value whose sum over samples is taken, and the values of all samples from which: its inputs, or itself."""

    node: Node
    operands: tuple[Node, ...]

    @property
    def is_whole(self) -> bool:
        """Return True if the values of all samples are computed before they are summed."""
        return self.operands[0] is self.node

    @property
    def is_choice(self) -> bool:
        """Return True for a `cond` in whose sub-graphs the sum is taken."""
        return self.node.op == "cond" and not self.is_whole


class _Cut(NamedTuple):
    """A linear cut of an output: the linear operations done with means, and the points where sums are taken."""

    after: list[Node]
    points: list[Node]


def of_samples(graph: Graph, sampled: Sequence[bool]) -> set[Node]:
    """The nodes that depend on the sample."""
    known = {x for x, own in zip(graph.inputs, sampled, strict=True) if own}
    for n in graph.nodes:
        if any(x in known for x in n.inputs):
            known.add(n)
    return known


class LinearCut:
    """The cut of a graph's outputs that leaves the least to do in the tiles of a batch.

    points: those that are outputs first, in their order. choices: results of `cond` at the end of deep cuts, which
    nothing but linear operations of a cut uses. Where samples share the bool, sums are taken in the sub-graphs.
    """

    def __init__(self, graph: Graph, own: set[Node], total: int) -> None:
        """own: the nodes that depend on the sample. total: how many samples the batch has at least."""
        self._own = own
        nodes = topological(graph.outputs)
        linear = {n: inputs for n in nodes if n in own and (inputs := linear_inputs(n, own))}
        outputs = [y for y in dict.fromkeys(graph.outputs) if y in own]
        deep = [_cut(y, linear) for y in outputs]
        self.choices = self._choices(graph, deep)
        shallow = self.shallow(nodes, linear)
        needed = set(topological([x for cut in deep for n in cut.points for x in self._point(n).operands]))
        chosen = [_cheaper(_cut(y, shallow), cut, needed, total) for y, cut in zip(outputs, deep, strict=True)]
        first = {n: k for k, n in reversed(list(enumerate(map(bare, graph.outputs))))}
        points = dict.fromkeys(n for cut in chosen for n in cut.points)
        self.points = [self._point(n) for n in sorted(points, key=lambda n: first.get(n, len(first)))]

    def _choices(self, graph: Graph, cuts: Sequence[_Cut]) -> set[Node]:
        after = {n for cut in cuts for n in cut.after}
        ends = {n for cut in cuts for n in cut.points}
        return {n for n in ends if n.op == "cond" and not n.params.batch and after.issuperset(graph.users[n])}

    def shallow(self, nodes: Sequence[Node], linear: dict[Node, list[Node]]) -> dict[Node, list[Node]]:
        """Linear operations on nothing but sums over something that samples have, which make numbers no fewer."""
        found: dict[Node, list[Node]] = {}
        for n in nodes:
            inputs = linear.get(n, [])
            large = n.size > MAX_SUMMED_ELEMENTS and not n.row.shrinks
            if inputs and large and all(x in found or self._adds_up(x) for x in inputs):
                found[n] = inputs
        return found

    def _adds_up(self, n: Node) -> bool:
        return _adds_up(n, self._own, n in self.choices)

    def _point(self, n: Node) -> ReductionPoint:
        return reduction_point(n, self._own, n in self.choices)


def reduction_point(n: Node, own: set[Node], choice: bool) -> ReductionPoint:
    """Return the point of a value. choice: whether it is a `cond` whose sum is to be taken in its sub-graphs."""
    if not _adds_up(n, own, choice):
        return ReductionPoint(n, (n,))
    if is_transposed_product(n, own):
        return ReductionPoint(n, n.inputs[0].inputs)
    return ReductionPoint(n, tuple(x for x in n.inputs if x in own))


def _adds_up(n: Node, own: set[Node], choice: bool) -> bool:
    """Return True if the sum over samples is cheaper together with the node's own sum."""
    if choice and is_shared_choice(n, own):
        return _sums_inside(n, own)
    if is_transposed_product(n, own):
        return True
    return n.row.sums_along(n) and own.intersection(n.inputs) == set(n.row.summed_inputs(n))


def is_shared_choice(n: Node, own: set[Node]) -> bool:
    """Return True for a result of `cond` whose bool is the same for all samples."""
    return n.op == "cond" and n.inputs[0] not in own and not n.params.batch


def _sums_inside(n: Node, own: set[Node]) -> bool:
    """Return True if the sum over samples of a choice that they share can be taken in its sub-graphs."""
    flags = [x in own for x in chosen_inputs(n)]
    ends = (graph.outputs[n.params.item] for graph in n.params.region.graphs)
    return all(
        y.is_zero or y in of_samples(graph, flags) for graph, y in zip(n.params.region.graphs, ends, strict=True)
    )


def linear_inputs(n: Node, own: set[Node]) -> list[Node]:
    """The inputs of a linear operation whose means decide its own; none where its sum over samples is to be taken."""
    ours = [x for x in n.inputs if x in own]
    if any(x.dtype != n.dtype for x in ours) or is_transposed_product(n, own):  # of `where` the mask has another
        return []
    row = n.row
    return ours if row.follows_sums and row.is_linear(n, ours) else []


def is_transposed_product(n: Node, own: set[Node]) -> bool:
    """Return True for a contraction with its axes in another order."""
    return n.op == "transpose" and n.inputs[0].row.multiplies and all(x in own for x in n.inputs[0].inputs)


def bare(y: Node) -> Node:
    """A node without the reshapes on it: the same numbers in the same order."""
    while y.op == "reshape":
        y = y.inputs[0]
    return y


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


def _cheaper(shallow: _Cut, deep: _Cut, needed: set[Node], total: int) -> _Cut:
    """The cut that leaves less to do in the tiles of a batch.

    A deep cut is better where a parameter is a function of others, such as a softmax: what leads there is done once. A
    shallow one is better where what is added up is small, and what it is made of is needed in the tile anyway.
    """
    between = set(deep.after) - set(shallow.after) - needed
    more = sum(map(work, between)) + sum(n.size for n in set(shallow.points) - set(deep.points))
    less = sum(map(work, set(deep.points) - set(shallow.points)))
    return deep if more > less + max(_MUCH // total, sum(map(work, needed)) // _LITTLE) else shallow
