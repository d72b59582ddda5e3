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

from burlab.graph.graph import Graph
from burlab.graph.linear import contract, scatter, sum_over
from burlab.graph.node import Node
from burlab.graph.order import topological
from burlab.graph.origin import derived_from
from burlab.graph.substitute import keep, rebuild
from burlab.graph.work import work

from .batch import batch

_SMALL = 16  # elements: a result of this size is added up sample by sample
_MUCH = 20_000  # additions in a batch, for which it is worth to compile what follows from means
_LITTLE = (
    1000  # of the work of a sample: what saves less than one of so many parts is not worth another result in memory
)
_LINEAR = {"reshape", "transpose", "pad", "broadcast", "concatenate", "add", "sub", "neg", "where"}
_LESSER = {"sum", "slice"}  # linear operations whose result is smaller


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


def tiled(graph: Graph, sampled: Sequence[bool], size: int, total: int) -> Tiled:
    """The graph for `size` samples of a batch. graph: simplified; sampled: which inputs belong to samples.

    total: how many samples the batch has at least. Where the graph ends depends on it, and not on the size.
    """
    ends = _ends(graph, of_samples(graph, sampled), total)
    needed = list(dict.fromkeys(x for end in ends for x in end.operands))
    many = batch(Graph(graph.inputs, tuple(needed)), sampled, size)
    found = dict(zip(needed, many.outputs, strict=True))
    totals: list[Node] = []
    for end in ends:
        with derived_from(end.node):
            totals.append(end.total([found[x] for x in end.operands]))
    return Tiled(Graph(many.inputs, tuple(totals)), _finish(graph, sampled, [end.node for end in ends]))


def inside(graph: Graph, sampled: Sequence[bool], total: int) -> Graph:
    """What a tile computes of one sample, up to what is summed. graph: simplified, of one sample; total: as above."""
    return Graph(graph.inputs, tuple(end.node for end in _ends(graph, of_samples(graph, sampled), total)))


def of_samples(graph: Graph, sampled: Sequence[bool]) -> set[Node]:
    """The nodes that depend on the sample."""
    known = {x for x, own in zip(graph.inputs, sampled, strict=True) if own}
    for n in graph.nodes:
        if any(x in known for x in n.inputs):
            known.add(n)
    return known


def _ends(graph: Graph, own: set[Node], total: int) -> list[_End]:
    """Where the graph of a tile ends; those that are outputs first, in their order."""
    nodes = topological(graph.outputs)
    early = {n: through for n in nodes if n in own and (through := _through(n, own))}
    late = _late(nodes, own, early)
    outputs = [y for y in dict.fromkeys(graph.outputs) if y in own]
    ways = [(_way(y, late), _way(y, early)) for y in outputs]
    needed = _needed([n for _, way in ways for n in way.ends], own)
    chosen = [_cheaper(*pair, needed, total) for pair in ways]
    first = {n: k for k, n in reversed(list(enumerate(map(_bare, graph.outputs))))}
    ends = dict.fromkeys(n for way in chosen for n in way.ends)
    return [_end(n, own) for n in sorted(ends, key=lambda n: first.get(n, len(first)))]


def _late(nodes: Sequence[Node], own: set[Node], early: dict[Node, list[Node]]) -> dict[Node, list[Node]]:
    """Linear operations on nothing but sums over something that samples have, which make numbers no fewer."""
    inside: dict[Node, list[Node]] = {}
    for n in nodes:
        through = early.get(n, [])
        large = n.size > _SMALL and n.op not in _LESSER
        if through and large and all(x in inside or _reduces(x, own) for x in through):
            inside[n] = through
    return inside


class _Way(NamedTuple):
    """How to get an output: the linear operations that are done with means, and the ends where these come from."""

    passed: list[Node]
    ends: list[Node]


def _way(output: Node, inside: dict[Node, list[Node]]) -> _Way:
    way = _Way([], [])
    seen = {output}
    stack = [output]
    while stack:
        n = stack.pop()
        (way.passed if n in inside else way.ends).append(n)
        stack += [x for x in inside.get(n, ()) if x not in seen]
        seen.update(inside.get(n, ()))
    return way


def _needed(ends: list[Node], own: set[Node]) -> set[Node]:
    """What a tile computes in any case."""
    return set(topological([x for n in ends for x in _end(n, own).operands]))


def _cheaper(late: _Way, early: _Way, needed: set[Node], total: int) -> _Way:
    """The way that leaves less to do in the tiles of a batch.

    Early ends are better where a parameter is a function of others, such as a softmax: what leads there is done once.
    Late ones are better where what is added up is small, and what it is made of is needed in the tile anyway.
    """
    between = set(early.passed) - set(late.passed) - needed
    more = sum(map(work, between)) + sum(n.size for n in set(late.ends) - set(early.ends))
    less = sum(map(work, set(early.ends) - set(late.ends)))
    return early if more > less + max(_MUCH // total, sum(map(work, needed)) // _LITTLE) else late


def _through(n: Node, own: set[Node]) -> list[Node]:
    """The inputs of a linear operation whose means decide its own; none where its sum over samples is to be taken."""
    ours = [x for x in n.inputs if x in own]
    if any(x.dtype != n.dtype for x in ours) or _turned(n, own):
        return []
    if n.op in _LINEAR | _LESSER:  # also `where`: the dtype of a mask is another one
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
