"""From the graph of one sample to that of a tile: what its samples add to the sums over a batch.

The outputs of one sample's graph are averaged over a batch. Batched, they would be one result per sample; but what a
gradient is made of in the end are contractions, sums and scatters of things that belong to samples, and those take the
sum over the samples along: the weight gradient of a layer is one matrix product over all rows of all samples. So the
graph of a tile ends there, and what linear operations make of these sums is done once, with their mean.
"""

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from .batch import batch
from .graph import Graph
from .linear import contract, scatter, sum_over
from .node import Node
from .order import topological
from .origin import derived_from
from .substitute import keep, rebuild

_SMALL = 16  # elements: a result of this size is added up sample by sample
_LINEAR = {"reshape", "transpose", "pad", "broadcast", "concatenate", "add", "sub", "neg"}


@dataclass(frozen=True)
class Tiled:
    """The graph of a tile, and what makes the result of the mean.

    graph: as that of one sample, but inputs that belong to samples have a leading axis, of the size of the tile;
    outputs are sums over it: nodes `contract`, `sum` or `scatter`, with that axis first among the summed ones. finish:
    from the other inputs and the mean of the sums; None where they are the result.
    """

    graph: Graph
    finish: Graph | None


class _End(NamedTuple):
    """A node whose sum over samples is taken: from what of all samples, and how."""

    node: Node
    operands: tuple[Node, ...]
    total: Callable[[list[Node]], Node]


def tiled(graph: Graph, sampled: Sequence[bool], size: int) -> Tiled:
    """The graph for `size` samples. graph: simplified; sampled: which inputs belong to samples."""
    ends = _ends(graph, of_samples(graph, sampled))
    needed = list(dict.fromkeys(x for end in ends for x in end.operands))
    many = batch(Graph(graph.inputs, tuple(needed)), sampled, size)
    found = dict(zip(needed, many.outputs, strict=True))
    totals: list[Node] = []
    for end in ends:
        with derived_from(end.node):
            totals.append(end.total([found[x] for x in end.operands]))
    return Tiled(Graph(many.inputs, tuple(totals)), _finish(graph, sampled, [end.node for end in ends]))


def of_samples(graph: Graph, sampled: Sequence[bool]) -> set[Node]:
    """The nodes that depend on the sample."""
    known = {x for x, own in zip(graph.inputs, sampled, strict=True) if own}
    for n in graph.nodes:
        if any(x in known for x in n.inputs):
            known.add(n)
    return known


def _ends(graph: Graph, own: set[Node]) -> list[_End]:
    """Where the graph of a tile ends; those that are outputs first, in their order."""
    nodes = topological(graph.outputs)
    inside: dict[Node, list[Node]] = {}  # linear operations on nothing but sums over something that samples have
    for n in nodes:
        if n in own and (through := _through(n, own)) and all(x in inside or _reduces(x, own) for x in through):
            inside[n] = through
    wanted = own.intersection(graph.outputs)
    ends: list[_End] = []
    for n in reversed(nodes):
        if n in wanted:
            wanted.update(inside.get(n, ()))
            if n not in inside:
                ends.append(_end(n, own))
    first = {n: k for k, n in reversed(list(enumerate(map(_bare, graph.outputs))))}
    return sorted(ends, key=lambda end: first.get(end.node, len(first)))


def _through(n: Node, own: set[Node]) -> list[Node]:
    """The inputs of a linear operation whose means decide its own; none where its sum over samples is to be taken."""
    ours = [x for x in n.inputs if x in own]
    if n.size <= _SMALL or any(x.dtype != n.dtype for x in ours) or _turned(n, own):
        return []
    if n.op in _LINEAR:
        return ours
    first, second = (*n.inputs, None, None)[:2]
    if n.op in ("mul", "contract"):
        return ours if len(ours) == 1 and first is not second else []
    return ours if n.op in ("div", "gather", "scatter") and second not in own else []


def _reduces(n: Node, own: set[Node]) -> bool:
    """Whether the sum over samples is cheaper together with the node's own sum."""
    return _turned(n, own) or (
        n.op in ("contract", "sum", "scatter") and all(x in own for x in n.inputs) and not _is_batched_scatter(n)
    )


def _is_batched_scatter(n: Node) -> bool:
    return n.op == "scatter" and n.params[0] > 0


def _end(n: Node, own: set[Node]) -> _End:
    if _turned(n, own):
        product = n.inputs[0]
        spec, _, out = product.params.partition("->")
        return _product(n, product.inputs, f"{spec}->{''.join(out[k] for k in n.params)}")
    if not _reduces(n, own):
        return _End(n, (n,), partial(_sum, axes=(0,)))
    if n.op == "contract":
        return _product(n, n.inputs, n.params)
    if n.op == "sum":
        return _End(n, n.inputs, partial(_sum, axes=(0, *(axis + 1 for axis in n.params))))
    return _End(n, n.inputs, partial(_scatter, size=n.params[1]))


def _sum(xs: list[Node], axes: tuple[int, ...]) -> Node:
    return sum_over(xs[0], axes)


def _scatter(xs: list[Node], size: int) -> Node:
    return scatter(xs[0], xs[1], 0, size)


def _contract(xs: list[Node], spec: str) -> Node:
    return contract(spec, xs[0], xs[1])


def _turned(n: Node, own: set[Node]) -> bool:
    """Whether a node is a contraction with its axes in another order."""
    return n.op == "transpose" and n.inputs[0].op == "contract" and all(x in own for x in n.inputs[0].inputs)


def _product(n: Node, inputs: tuple[Node, ...], spec: str) -> _End:
    sample = next(c for c in string.ascii_letters if c not in spec)
    terms, _, out = spec.partition("->")
    left, right = terms.split(",")
    return _End(n, inputs, partial(_contract, spec=f"{sample}{left},{sample}{right}->{out}"))


def _bare(y: Node) -> Node:
    """A node without the reshapes on it: the same numbers in the same order."""
    while y.op == "reshape":
        y = y.inputs[0]
    return y


def _finish(graph: Graph, sampled: Sequence[bool], ends: list[Node]) -> Graph | None:
    bare = [_bare(y) for y in graph.outputs]
    if len(bare) == len(ends) and all(y is n for y, n in zip(bare, ends, strict=True)):
        return None
    means: list[Node] = []
    for n in ends:
        with derived_from(n):
            means.append(Node("input", (), "", n.shape, n.dtype))
    shared = [x for x, own in zip(graph.inputs, sampled, strict=True) if not own]
    known = dict(zip([*ends, *shared], [*means, *shared], strict=True))
    return Graph((*shared, *means), tuple(rebuild(graph.outputs, known, keep)))
