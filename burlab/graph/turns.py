"""Derivatives of `scan`: each is another scan.

Forward: the tangents are carried, stacked and read beside the values. Reverse: a scan over the same elements from the
other end, which reads the trails of the carries, computes each turn again, and carries the cotangents of the carries
and the sums of the cotangents of what the body reads from around it.
"""

from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from .compose import zeros
from .elementwise import node
from .graph import Graph, Region, Turns
from .node import Node
from .order import topological
from .scan import result, turns_of

Shares = list[tuple[Node, Node]]


class _Parts(NamedTuple):
    """Numbers of inputs of a body by kind: carries, sequences, values from around it."""

    carries: tuple[int, ...]
    sequences: tuple[int, ...]
    captured: tuple[int, ...]

    @property
    def all(self) -> tuple[int, ...]:
        return (*self.carries, *self.sequences, *self.captured)


def flows(n: Node, reached: set[Node]) -> bool:
    """Whether a derivative by what is reached passes to this result."""
    region, item = n.params.region, n.params.item
    moving, active = _moving(region, _seeds(n.inputs, reached))
    count = len(region.graphs[0].outputs)
    if item >= count:
        return item - count in moving
    return item in moving if item < turns_of(region).carries else item in active


def _seeds(inputs: Sequence[Node], reached: Container[Node]) -> frozenset[int]:
    return frozenset(k for k, x in enumerate(inputs) if x in reached)


@lru_cache(maxsize=256)
def _moving(region: Region, seeds: frozenset[int]) -> tuple[frozenset[int], frozenset[int]]:
    """The inputs of the body that a derivative reaches in some turn, and the outputs."""
    from .sweep import between

    body, carries = region.graphs[0], turns_of(region).carries
    moving = set(seeds)
    while True:
        reached = set(between([body.inputs[k] for k in sorted(moving)], body.outputs))
        active = {k for k, y in enumerate(body.outputs) if y in reached}
        new = {k for k in active if k < carries} - moving
        if not new:
            return frozenset(moving), frozenset(active)
        moving |= new


def _split(numbers: Iterable[int], turns: Turns) -> _Parts:
    order = sorted(numbers)
    end = turns.carries + turns.sequences
    return _Parts(
        tuple(k for k in order if k < turns.carries),
        tuple(k for k in order if turns.carries <= k < end),
        tuple(k for k in order if k >= end),
    )


# Forward mode.


class Pushed(NamedTuple):
    """The execution that carries tangents along, and the number of each result's tangent in it."""

    inputs: tuple[Node, ...]
    region: Region
    items: dict[int, int]

    def tangent(self, n: Node) -> Node:
        """The tangent of a result of the execution that was pushed."""
        return result(self.inputs, self.region, self.items[n.params.item])


def pushed(n: Node, tangents: dict[Node, Node]) -> Pushed:
    """The execution that gives the tangents of all results of a node's execution."""
    turns = turns_of(n.params.region)
    region, moving, items = _pushed(n.params.region, _seeds(n.inputs, tangents))
    end = turns.carries + turns.sequences
    starts = [tangents[x] if x in tangents else zeros(x.shape, x.dtype) for x in (n.inputs[k] for k in moving.carries)]
    along = [[tangents[n.inputs[k]] for k in part] for part in (moving.sequences, moving.captured)]
    xs = n.inputs
    inputs = (*xs[: turns.carries], *starts, *xs[turns.carries : end], *along[0], *xs[end:], *along[1])
    return Pushed(inputs, region, items)


@lru_cache(maxsize=256)
def _pushed(region: Region, seeds: frozenset[int]) -> tuple[Region, _Parts, dict[int, int]]:
    from .sweep import jvp

    body, turns = region.graphs[0], turns_of(region)
    reached, active = _moving(region, seeds)
    moving = _split(reached, turns)
    stacks = [k for k in sorted(active) if k >= turns.carries]
    tangent = {k: _like(body.inputs[k]) for k in moving.all}
    moves = jvp(body.outputs, [body.inputs[k] for k in moving.all], [tangent[k] for k in moving.all])
    end = turns.carries + turns.sequences
    inputs = (
        *(*body.inputs[: turns.carries], *(tangent[k] for k in moving.carries)),
        *(*body.inputs[turns.carries : end], *(tangent[k] for k in moving.sequences)),
        *(*body.inputs[end:], *(tangent[k] for k in moving.captured)),
    )
    outputs = (*body.outputs[: turns.carries], *(moves[k] for k in moving.carries), *(moves[k] for k in stacks))
    carries = turns.carries + len(moving.carries)
    more = Turns(carries, turns.sequences + len(moving.sequences), turns.length, turns.reverse)
    items = {k: turns.carries + at for at, k in enumerate(moving.carries)}
    items |= {k: carries + at for at, k in enumerate(stacks)}
    trails = len(outputs) + turns.carries
    items |= {len(body.outputs) + k: trails + at for at, k in enumerate(moving.carries)}
    return Region((Graph(inputs, outputs),), more), moving, items


def _like(x: Node) -> Node:
    return Node("input", (), None, x.shape, x.dtype)


# Reverse mode.


def backward(given: Sequence[tuple[Node, Node]], active: set[Node]) -> Shares:
    """The inputs of one execution that matter, each with its share.

    given: all results of the execution that have a cotangent, with it.
    """
    first = given[0][0]
    region, inputs = first.params.region, first.inputs
    body, turns = region.graphs[0], turns_of(region)
    seeds = _seeds(inputs, active)
    cotangents: dict[int, Node] = {}
    for n, g in given:  # a result may stand in the graph as several nodes
        cotangents[n.params.item] = _added(g, cotangents.get(n.params.item))
    pull = _Pull(region, seeds, frozenset(cotangents))
    count = len(body.outputs)
    read = pull.read
    start = [
        cotangents[k] if k in cotangents else zeros(body.inputs[k].shape, body.inputs[k].dtype) for k in pull.carries
    ]
    sums = [zeros(inputs[k].shape, inputs[k].dtype) for k in pull.wanted.captured]
    trails = [result(inputs, region, count + k) for k in read.carries]
    outer = (
        *(*start, *sums),
        *(*trails, *(inputs[k] for k in read.sequences), *(cotangents[k] for k in pull.stacks)),
        *(inputs[k] for k in read.captured),
    )
    found = Region((pull.graph,), Turns(len(start) + len(sums), len(outer) - len(start) - len(sums)
                                        - len(read.captured), turns.length, not turns.reverse))  # fmt: skip
    ends = (*pull.carries, *pull.wanted.captured, *pull.wanted.sequences)
    return [(inputs[k], result(outer, found, at)) for at, k in enumerate(ends) if k in seeds]


class _Pull:
    """The body of a reverse scan.

    carries: those whose cotangents are carried. wanted: the inputs whose shares are asked for. stacks: the stacked
    results (trails among them) with a cotangent. read: the inputs of the forward body that this one needs again.
    """

    def __init__(self, region: Region, seeds: frozenset[int], given: frozenset[int]) -> None:
        from .sweep import vjp

        body, turns = region.graphs[0], turns_of(region)
        moving, active = _moving(region, seeds)
        count = len(body.outputs)
        self.carries = _split(moving, turns).carries
        self.wanted = _split(seeds, turns)
        stacked = [k for k in sorted(given) if turns.carries <= k < count and k in active]
        trails = [k for k in sorted(given) if k >= count]
        self.stacks = [*stacked, *trails]
        ends = [_like(body.inputs[k]) for k in self.carries]
        sums = [_like(body.inputs[k]) for k in self.wanted.captured]
        pulled = {k: _like(body.outputs[k] if k < count else body.inputs[k - count]) for k in self.stacks}
        by = (*self.carries, *self.wanted.captured, *self.wanted.sequences)
        shares = vjp(
            [body.outputs[k] for k in (*self.carries, *stacked)],
            [body.inputs[k] for k in by],
            [*ends, *(pulled[k] for k in stacked)],
        )
        later = iter(shares)
        outputs = [
            *(_added(next(later), pulled.get(count + k)) for k in self.carries),
            *(_added(next(later), total) for total in sums),
            *later,
        ]
        needed = {n for n in topological(outputs) if n.op == "input"}
        self.read = _split((k for k, x in enumerate(body.inputs) if x in needed), turns)
        self.graph = Graph(
            (
                *(*ends, *sums),
                *(body.inputs[k] for k in (*self.read.carries, *self.read.sequences)),
                *(*(pulled[k] for k in self.stacks), *(body.inputs[k] for k in self.read.captured)),
            ),
            tuple(outputs),
        )


def _added(x: Node, y: Node | None) -> Node:
    return x if y is None else node("add", x, y)
